"""Fit one algorithm on all ratings of a dataset."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from catalog.selectors.datasets import newest_version
from core.errors import ParallaxError
from evaluation.management.arguments import at_least_one
from evaluation.management.progress_line import ProgressLine
from evaluation.services.training import train_on_everything


class Command(BaseCommand):
    help = "Fit an algorithm on all ratings of a dataset, without reserved users or hidden ratings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the dataset; its newest version is used")
        parser.add_argument("--algorithm", required=True, metavar="KEY")
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--threads", type=at_least_one, help="numeric threads (default: NUMERIC_THREADS)")

    def handle(self, *args: Any, **options: Any) -> None:
        params = {}
        for text in options["param"]:
            key, equals, value = text.partition("=")
            if not (key and equals and value):
                raise CommandError(f"--param {text} is not valid. Write it as in --param factors=50.")
            params[key] = value
        line = ProgressLine(self.stderr)
        try:
            trained = train_on_everything(
                version=newest_version(options["name"]),
                algorithm=options["algorithm"],
                params=params,
                seed=options["seed"],
                threads=options["threads"] or settings.NUMERIC_THREADS,
                progress=line.update,
            )
        except ParallaxError as problem:
            raise CommandError(str(problem)) from problem
        except KeyboardInterrupt:
            raise CommandError("Stopped. No model was stored.", returncode=130) from None
        finally:
            line.clear()
        model = trained.model
        result = "was reused" if trained.was_reused else f"was fitted in {model.fit_seconds:.2f} s"
        self.stdout.write(f"{model.label} on {model.version} {result}: model {model.digest}, recipe {model.recipe}.")
        for comment in trained.comments:
            self.stdout.write(comment)
