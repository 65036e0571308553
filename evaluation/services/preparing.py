"""The first part of a run: reserve users, split, make the test cases, cut the rest of the work."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import artefacts
from evaluation.enums import PartKind
from evaluation.models import EvaluationRun, RunAlgorithm, RunPart, TrainedModel
from evaluation.protocols.cases import Cases
from evaluation.services.hiding import Hidden, hide
from evaluation.services.hints import hint
from evaluation.services.memory import check_memory
from evaluation.services.numerics import environment
from evaluation.services.parts import Outcome
from evaluation.services.training import features_for, recipe_of, store_training_rows
from recommenders.data import Ratings


def prepare(part: RunPart, check: Callable[[], None]) -> Outcome:
    """Make and store the cases of a run; the finishing transaction cuts fits and measurements.

    What is made depends on the run's inputs alone, so a preparation that is done again finds its own files.
    """
    started = time.perf_counter()
    run = part.run
    hidden = hide(run=run)
    check()
    cases = hidden.cases
    training_digest = store_training_rows(ratings=hidden.training, utilities=hidden.utilities)
    recipes = {
        algorithm.pk: recipe_of(
            version=run.version,
            training_digest=training_digest,
            algorithm=algorithm.algorithm,
            params=algorithm.params,
            seed=run.seed,
            threads=run.threads,
        )
        for algorithm in run.algorithms.all()
    }
    _check_memory(run, recipes, hidden.training, training_digest)
    digest = artefacts.store(
        "cases",
        _arrays(hidden),
        {
            "n_items": cases.n_items,
            "negatives": cases.negatives,
            "seed": cases.seed,
            "is_given": cases.is_given,
            "training_digest": training_digest,
        },
    )

    facts = {
        "cases_digest": digest,
        "n_relevant": cases.n_relevant,
        "n_irrelevant": cases.n_irrelevant,
        "left_out": dict(hidden.left_out),
        "counted": dict(hidden.counted),
        "environment": environment(),
    }

    def effects() -> None:
        EvaluationRun.objects.filter(pk=run.pk).update(**facts)
        for pk, recipe in recipes.items():
            RunAlgorithm.objects.filter(pk=pk).update(recipe=recipe)
        parts = cut(run=run, cases=cases)
        RunPart.objects.bulk_create(parts)
        hint(run=run, n=len(recipes))

    return Outcome(seconds=time.perf_counter() - started, effects=effects)


def _check_memory(run: EvaluationRun, recipes: dict[int, str], training: Ratings, training_digest: str) -> None:
    """Refuse a run one of whose fits would not find room; models that are there already need none."""
    there = set(TrainedModel.objects.filter(recipe__in=recipes.values()).values_list("recipe", flat=True))
    for algorithm in run.algorithms.all():
        if recipes[algorithm.pk] not in there:
            features = features_for(
                version=run.version,
                training_digest=training_digest,
                algorithm=algorithm.algorithm,
                params=algorithm.params,
            )
            check_memory(algorithm=algorithm.algorithm, params=algorithm.params, ratings=training, features=features)


def _arrays(hidden: Hidden) -> dict[str, NDArray[Any]]:
    cases = hidden.cases
    arrays: dict[str, NDArray[Any]] = {
        "users": cases.users,
        "items": cases.items,
        "is_relevant": cases.is_relevant,
        "values": cases.values,
        "rated_indptr": cases.rated_indptr,
        "rated_items": cases.rated_items,
        "closed": cases.closed,
        "trained": hidden.trained,
        "reserved": hidden.reserved,
    }
    if cases.bits is not None:
        arrays["bits"] = cases.bits
    if len(hidden.development):
        arrays["development"] = hidden.development
    if hidden.file_rows is not None:
        arrays["file_rows"] = hidden.file_rows
    return arrays


def cut(*, run: EvaluationRun, cases: Cases) -> list[RunPart]:
    """Cut a run into parts: a fit for each algorithm, its measurements by profile length and test users."""
    bounds = part_bounds(users=cases.users, part_users=run.part_users)
    algorithms = list(run.algorithms.all())
    parts = [RunPart(run=run, algorithm=algorithm, kind=PartKind.FIT) for algorithm in algorithms]
    parts += [
        RunPart(
            run=run,
            algorithm=algorithm,
            kind=PartKind.MEASURE,
            profile_length=length,
            start=int(start),
            stop=int(stop),
        )
        for algorithm in algorithms
        for length in (0, *run.profile_lengths)
        for start, stop in pairwise(bounds)
    ]
    return [*parts, RunPart(run=run, kind=PartKind.REDUCE)]


def part_bounds(*, users: NDArray[np.int32], part_users: int) -> NDArray[np.int64]:
    """Rows of the case list (ordered by user) at which parts of `part_users` test users begin and end."""
    first_rows = np.flatnonzero(np.concatenate([[True], users[1:] != users[:-1]]))
    return np.append(first_rows[::part_users], len(users))
