"""The base of the commands."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import DataError, ParallaxError, ParameterError


class ParallaxCommand(BaseCommand):
    """A command that ends with the sentence of an error of ours, and exit status 1."""

    def execute(self, *args: Any, **options: Any) -> Any:
        """Run the command."""
        try:
            return super().execute(*args, **options)
        except ParallaxError as refusal:
            raise CommandError(self.sentence(refusal)) from refusal
        except (ParameterError, DataError) as problem:
            raise CommandError(str(problem)) from problem

    def sentence(self, refusal: ParallaxError) -> str:
        """What the command prints of a refusal."""
        return str(refusal)
