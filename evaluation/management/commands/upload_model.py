"""Upload a model that was learned elsewhere, and print what was understood."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from catalog.models import DatasetVersion
from catalog.selectors.datasets import newest_version
from core.commands import ParallaxCommand
from evaluation.management.arguments import at_least_one
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.services.recommend_for_profile import Line, UserTrials, try_users
from evaluation.services.upload_summary import ShownUsers, summary_of
from evaluation.services.uploads import model_of_upload, store_upload
from recommenders import registry

LENGTH = 5
WIDTH = 44


class Command(ParallaxCommand):
    help = (
        "Store a model that was learned elsewhere: item-item weights (matrix), factors of items (factors) or ranked "
        "lists by key (lists), by the dataset's own item ids. It is measured and served as models that Parallax fits."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="DATASET", help="name of the dataset; its newest version is used")
        parser.add_argument("file", metavar="FILE", type=Path, help=".npz; .csv for lists, or for a matrix")
        parser.add_argument("--kind", required=True, choices=registry.uploaded_keys())
        parser.add_argument("--name", default="", help="name in tables (default: the start of the digest)")
        parser.add_argument(
            "--learned-from", default="", metavar="DIGEST", help="training rows of the model: training_hash of a run"
        )
        parser.add_argument(
            "--unseen-users", action="store_true", help="state that it saw no test user of the split strangers"
        )
        parser.add_argument(
            "--profile", default="ratings", choices=("ratings", "likes"), help="what is multiplied (default: ratings)"
        )
        parser.add_argument(
            "--positive-from", type=float, default=4.0, help="lowest like, on a scale of 1 to 5 (default: 4)"
        )
        parser.add_argument("--beside", metavar="MODEL", help="digest of a stored model to list beside it")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--threads", type=at_least_one, help="numeric threads (default: NUMERIC_THREADS)")

    def handle(self, *args: Any, **options: Any) -> None:
        version = newest_version(options["dataset"])
        models = [] if options["beside"] is None else [_stored(version, options["beside"])]
        kind, learned_from = options["kind"], options["learned_from"]
        upload = store_upload(
            version=version,
            kind=kind,
            path=options["file"],
            learned_from=learned_from,
            are_strangers_unseen=options["unseen_users"],
        )
        own = [info.name for info in registry.algorithm(kind).Params.described() if info.name != "upload"]
        params = {name: options[name] for name in own} | {"upload": upload.digest}
        model = model_of_upload(
            version=version,
            kind=kind,
            params=params,
            learned_from=learned_from,
            seed=options["seed"],
            threads=options["threads"] or settings.NUMERIC_THREADS,
        )
        self.stdout.write(f"{model.label} on {version}: upload {upload.digest}, model {model.digest}.")
        self.stdout.write(f"  {upload.n_items:,} of {version.n_items:,} items of the dataset; 0 unknown items")
        summary = summary_of(version=version, model=model, upload=upload, runs=EvaluationRun.objects.all())
        for fact in summary["facts"]:
            self.stdout.write(f"  {fact}")
        for user in try_users(version=version, models=[model, *models], shown=ShownUsers(**summary["shown"]), n=LENGTH):
            self._lists(user)
        self.stdout.write(f'Measure it: evaluate {version.dataset.name} --algorithms "{kind}:{_written(params)}"')

    def _lists(self, user: UserTrials) -> None:
        """The lists of a user side by side, by title."""
        self.stdout.write(f"User {user.user}, {user.n_ratings} ratings")
        self.stdout.write(
            "     " + "".join(f"{tried.model.label[: WIDTH - 1]:<{WIDTH}}" for tried in user.trials).rstrip()
        )
        for rank in range(max(len(tried.lines) for tried in user.trials)):
            titles = [_title(tried.lines[rank]) if rank < len(tried.lines) else "" for tried in user.trials]
            self.stdout.write(f"  {rank + 1}. " + "".join(f"{title:<{WIDTH}}" for title in titles).rstrip())
        for tried in user.trials:
            if tried.problem:
                self.stdout.write(f"  {tried.model.label}: {tried.problem}")


def _title(line: Line) -> str:
    title = f"{line.item}{' (by popularity)' if line.is_filled else ''}"
    return title if len(title) < WIDTH else title[: WIDTH - 2] + "…"


def _stored(version: DatasetVersion, digest: str) -> TrainedModel:
    model = TrainedModel.objects.filter(version=version, digest__startswith=digest).first() if digest else None
    if model is None:
        raise CommandError(f"There is no model {digest} on {version}. The command train prints digests of models.")
    return model


def _written(params: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in params.items() if value != "")
