"""The base of the commands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import DataError, ParallaxError, ParameterError

INSTALLATION = "installation"  # tag of the system checks of what an installation may get wrong


class ParallaxCommand(BaseCommand):
    """A command that ends with the sentence of an error of ours, and exit status 1."""

    # The others judge the code, and import every page of the site for it: a second and 60 MB of each command.
    requires_system_checks: tuple[str, ...] = (INSTALLATION,)

    def execute(self, *args: Any, **options: Any) -> Any:
        try:
            return super().execute(*args, **options)
        except ParallaxError as refusal:
            raise CommandError(self.sentence(refusal)) from refusal
        except (ParameterError, DataError) as problem:
            raise CommandError(str(problem)) from problem

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """A line when a stage of the command begins, and one with its time when it is done."""
        before = time.monotonic()
        self.stdout.write(f"{what} …")
        self.stdout.flush()
        yield
        self.stdout.write(f"{what}: done in {time.monotonic() - before:.1f} s")

    def sentence(self, refusal: ParallaxError) -> str:
        return str(refusal)
