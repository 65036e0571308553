"""Fit one algorithm on all ratings of a dataset."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from catalog.selectors.datasets import newest_version
from core.commands import ParallaxCommand
from evaluation.management.arguments import at_least_one, named_values
from evaluation.management.progress_line import ProgressLine
from evaluation.services.training import train_on_everything


class Command(ParallaxCommand):
    help = "Fit an algorithm on all ratings of a dataset, without reserved users or hidden ratings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the dataset; its newest version is used")
        parser.add_argument("--algorithm", required=True, metavar="KEY")
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--threads", type=at_least_one, help="numeric threads (default: NUMERIC_THREADS)")

    def handle(self, *args: Any, **options: Any) -> None:
        params = named_values(options["param"], "factors=50")
        with ProgressLine(self.stderr, "Stopped. No model was stored.") as progress:
            trained = train_on_everything(
                version=newest_version(options["name"]),
                algorithm=options["algorithm"],
                params=params,
                seed=options["seed"],
                threads=options["threads"] or settings.NUMERIC_THREADS,
                progress=progress,
            )
        model = trained.model
        result = "was reused" if trained.was_reused else f"was fitted in {model.fit_seconds:.2f} s"
        self.stdout.write(f"{model.label} on {model.version} {result}: model {model.digest}, recipe {model.recipe}.")
        for comment in trained.comments:
            self.stdout.write(comment)
