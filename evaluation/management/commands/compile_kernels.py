"""Compile the numeric loops in advance, for example while building an image."""

from __future__ import annotations

import time
from typing import Any

from core.commands import ParallaxCommand
from evaluation.services.numerics import compile_kernels


class Command(ParallaxCommand):
    help = "Compile the numeric loops once on this machine; compiled loops are skipped."

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        for name in compile_kernels():
            self.stdout.write(f"… {name}")
        self.stdout.write(f"Compiled in {time.monotonic() - started:.0f} s.")
