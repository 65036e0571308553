"""Upload a model that was learned elsewhere, and print what was understood."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.core.management.base import CommandError
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from catalog.selectors.datasets import newest_version
from catalog.selectors.items import items_at
from catalog.selectors.ratings import ratings_of, user_ids_of
from core.commands import ParallaxCommand
from evaluation.management.arguments import at_least_one
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.runs import succeeded_runs
from evaluation.services.coverage import covered_users, lists_of, profiles_of
from evaluation.services.serving import recommend
from evaluation.services.uploads import model_of_upload, store_upload
from recommenders import registry
from recommenders.data import Profiles

N_PROFILES = 5
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
        for fact in upload.facts:
            self.stdout.write(f"  {fact}")
        shown = self._coverage(version, model) or _users(version)
        if not learned_from:
            self.stdout.write(
                "  The training rows are not named, so that tables of runs say: may have seen the test ratings."
            )
        self._lists(version, [model, *models], *shown)
        self.stdout.write(f'Measure it: evaluate {version.dataset.name} --algorithms "{kind}:{_written(params)}"')

    def _coverage(self, version: DatasetVersion, model: TrainedModel) -> tuple[NDArray[np.int64], Profiles] | None:
        """Say which test profiles of the newest run have a list; return some of the longest ones that do."""
        lists = lists_of(version, model.algorithm, model.params, training_rows(model.training_digest))
        runs = succeeded_runs(EvaluationRun.objects.filter(version=version))
        run, shown = next((run for run in runs if not run.folds), None), None
        if lists is None or run is None:
            return None
        for length in (0, *run.profile_lengths):
            users, covered = covered_users(run, cases_of(run), length, lists)
            of = f"of {length} ratings" if length else "as a whole"
            self.stdout.write(f"  lists for {covered.size:,} of {users.size:,} test profiles of run {run.pk} {of}")
            if covered.size and shown is None:
                shown = _some(covered), profiles_of(run, cases_of(run), length, _some(covered))
        return shown

    def _lists(
        self, version: DatasetVersion, models: list[TrainedModel], users: NDArray[np.int64], profiles: Profiles
    ) -> None:
        """The lists of users of the dataset, by title."""
        scale = (profiles.scale.low, profiles.scale.high, profiles.scale.step)
        for row, user in enumerate(users):
            own = profiles.user_items[[row]]
            self.stdout.write(f"User {user_ids_of(version)[user]}, {own.nnz} ratings")
            profile: dict[str, Any] = {"items": own.indices.tolist(), "ratings": own.data.tolist(), "scale": scale}
            lists = [recommend(model=model, n=LENGTH, **profile) for model in models]
            self.stdout.write("     " + "".join(f"{model.label[: WIDTH - 1]:<{WIDTH}}" for model in models).rstrip())
            for rank in range(max(len(served.items) for served in lists)):
                titles = [_title(version, served.items, served.is_filled, rank) for served in lists]
                self.stdout.write(f"  {rank + 1}. " + "".join(f"{title:<{WIDTH}}" for title in titles).rstrip())


def _users(version: DatasetVersion) -> tuple[NDArray[np.int64], Profiles]:
    ratings = ratings_of(version)
    users = _some(np.flatnonzero(np.diff(ratings.user_items.indptr)))
    return users, Profiles.of(ratings, users)


def _some(users: NDArray[np.int64]) -> NDArray[np.int64]:
    chosen = np.linspace(0, users.size - 1, min(N_PROFILES, users.size)).astype(int)
    return np.asarray(users[chosen], dtype=np.int64)


def _title(version: DatasetVersion, items: tuple[int, ...], is_filled: tuple[bool, ...], rank: int) -> str:
    if rank >= len(items):
        return ""
    title = str(items_at(version, [items[rank]])[0]) + (" (by popularity)" if is_filled[rank] else "")
    return title if len(title) < WIDTH else title[: WIDTH - 2] + "…"


def _stored(version: DatasetVersion, digest: str) -> TrainedModel:
    model = TrainedModel.objects.filter(version=version, digest__startswith=digest).first() if digest else None
    if model is None:
        raise CommandError(f"There is no model {digest} on {version}. The command train prints digests of models.")
    return model


def _written(params: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in params.items() if value != "")
