"""Fit one algorithm on all ratings of a dataset."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, OutputWrapper

from catalog.selectors.datasets import newest_version
from core.errors import ParallaxError
from evaluation.services.telling import in_words
from evaluation.services.training import train_on_everything

LINE_SECONDS = 0.2  # between two changes of the progress line


class Command(BaseCommand):
    help = "Fit an algorithm on all ratings of a dataset, with nobody reserved and nothing hidden."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the dataset; its newest version is used")
        parser.add_argument("--algorithm", required=True, metavar="KEY")
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--threads", type=int, help="numeric threads (default: NUMERIC_THREADS)")

    def handle(self, *args: Any, **options: Any) -> None:
        params = {}
        for text in options["param"]:
            key, equals, value = text.partition("=")
            if not (key and equals and value):
                raise CommandError(f"--param {text} cannot be read; write it as in --param factors=50.")
            params[key] = value
        line = ProgressLine(self.stderr)
        try:
            trained = train_on_everything(
                version=newest_version(options["name"]),
                algorithm=options["algorithm"],
                params=params,
                seed=options["seed"],
                threads=options["threads"] or settings.NUMERIC_THREADS,
                progress=line.tell,
            )
        except ParallaxError as problem:
            raise CommandError(str(problem)) from problem
        except KeyboardInterrupt:
            raise CommandError("Stopped. No model was stored.", returncode=130) from None
        finally:
            line.wipe()
        model = trained.model
        how = "was there already" if trained.was_reused else f"was fitted in {model.fit_seconds:.2f} s"
        self.stdout.write(f"{model.label} on {model.version} {how}: model {model.digest}, recipe {model.recipe}.")


class ProgressLine:
    """One line on a terminal that says how far a fit is, and goes away with it; nothing on what is no terminal."""

    def __init__(self, out: OutputWrapper) -> None:
        self._out = out
        self._started = time.monotonic()
        self._told: float | None = None

    def tell(self, share: float, what: str, /) -> None:
        now = time.monotonic()
        if not self._out.isatty() or (self._told is not None and now - self._told < LINE_SECONDS):
            return
        self._told = now
        self._write(in_words(share, what, now - self._started))

    def wipe(self) -> None:
        if self._told is not None:
            self._write("")

    def _write(self, words: str) -> None:
        # Plainly, and not as an error, which is what the wrapper's own style would make of it.
        self._out.write(f"\r\x1b[2K{words}", lambda text: text, ending="")
        self._out.flush()
