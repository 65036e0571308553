"""Collect the lists of a remote recommender for the test profiles of a run."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from core.commands import ParallaxCommand
from evaluation.enums import RunStatus
from evaluation.management.arguments import at_least_one
from evaluation.selectors.runs import run_numbered
from evaluation.services.collecting import collect_lists, depth_of
from evaluation.services.remote import recommender_named
from evaluation.services.uploads import model_of_upload, store_upload

SHOWN_EVERY = 100  # lists


class Command(ParallaxCommand):
    help = (
        "Ask a remote recommender for the list of every test profile of a succeeded run, and store the lists by key: a "
        "new run measures them without the service. A stopped collection is continued."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", type=int, help="number of a run, whose profiles are taken")
        parser.add_argument("name", metavar="NAME", help="name under which the recommender is registered")
        parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="folder of the file of lists")
        parser.add_argument("--depth", type=at_least_one, metavar="L", help="items of a list")
        parser.add_argument("--per-second", type=float, default=10.0, help="requests at most (default: %(default)s)")
        parser.add_argument(
            "--learned-from", default="", metavar="DIGEST", help="training rows of the service: training_hash of a run"
        )
        parser.add_argument(
            "--unseen-users", action="store_true", help="state that it saw no test user of the split strangers"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        run, recommender = run_numbered(options["run"]), recommender_named(options["name"])
        if run.status != RunStatus.SUCCEEDED:
            raise CommandError(f"Run {run.pk} is {run.get_status_display().lower()}; only succeeded runs have cases.")
        if options["per_second"] <= 0:
            raise CommandError(f"--per-second must be above 0; got {options['per_second']:g}.")
        options["out"].mkdir(parents=True, exist_ok=True)
        collected = collect_lists(
            run=run,
            recommender=recommender,
            folder=options["out"],
            depth=options["depth"] or depth_of(run),
            per_second=options["per_second"],
            progress=self._say,
        )
        learned_from = options["learned_from"]
        upload = store_upload(
            version=run.version,
            kind="lists",
            path=collected.path,
            learned_from=learned_from,
            are_strangers_unseen=options["unseen_users"],
            collected_from=collected.model.digest,
        )
        params = {"upload": upload.digest, "name": recommender.name}
        model = model_of_upload(
            version=run.version,
            kind="lists",
            params=params,
            learned_from=learned_from,
            seed=1,
            threads=settings.NUMERIC_THREADS,
        )
        self.stdout.write(f"{collected.n_lists:,} lists of up to {collected.depth:,} items in {collected.path}")
        self.stdout.write(
            f"{model.label} on {run.version}: upload {upload.digest}, served by {collected.model.digest[:12]}."
        )
        self.stdout.write(
            f'Measure it: evaluate {run.version.dataset.name} --algorithms "lists:upload={upload.digest},'
            f'name={recommender.name}" with the split, seed and profile lengths of run {run.pk}'
        )

    def _say(self, n: int) -> None:
        if n % SHOWN_EVERY == 0:
            self.stdout.write(f"{n:,} lists")
