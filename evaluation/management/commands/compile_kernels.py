"""Compile the numeric loops in advance, for example while building an image."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand

from evaluation.services.numerics import compile_kernels


class Command(BaseCommand):
    help = "Compile the numeric loops once on this machine; compiled loops are skipped."

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        for name in compile_kernels():
            self.stdout.write(f"… {name}")
        self.stdout.write(f"Compiled in {time.monotonic() - started:.0f} s.")
