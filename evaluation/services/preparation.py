"""Preparation, the first part of a run: reserve users, split, build the test cases, create the other parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from catalog.selectors.ratings import ratings_of
from core import artefacts
from core.errors import DataError, ParallaxError, ParameterError
from core.provenance import digest_of
from evaluation.enums import PartKind
from evaluation.models import EvaluationRun, RunAlgorithm, RunPart, TrainedModel
from evaluation.selectors.runs import package_label
from evaluation.selectors.uploads import leak_warning
from evaluation.services.memory import check_memory
from evaluation.services.numerics import environment
from evaluation.services.optional_inputs import has_times
from evaluation.services.parts import Outcome
from evaluation.services.run_holdout import Holdout, build_holdouts, draw_candidates
from evaluation.services.runs import fail_algorithms, hint
from evaluation.services.training import (
    base_recipe_of,
    expected_fit_seconds,
    features_for,
    recipe_of,
    store_training_rows,
)
from evaluation.splitting.partition import RESERVED
from evaluation.splitting.registry import SPLITS
from evaluation.splitting.temporal import SHORTFALL
from recommenders import registry
from recommenders.data import Ratings
from recommenders.data_limits import TrainingSize

NOTHING_TO_MEASURE = "folds without a case, for which nothing is trained"
SAME_IN_ALL_FOLDS = (RESERVED, "reserved users", SHORTFALL)


@dataclass(frozen=True)
class Fold:
    """A prepared fold: its training rows, the recipe of each algorithm and of what it re-ranks, and the bounds of its
    parts.

    `refusals` maps the primary keys of algorithms that cannot be fitted on it to reasons; the others have a recipe.
    """

    label: str
    training_digest: str
    recipes: Mapping[int, str]
    base_recipes: Mapping[int, str]  # empty texts where nothing is re-ranked
    refusals: Mapping[int, str]
    bounds: NDArray[np.int64]
    n_relevant: int
    n_irrelevant: int


def prepare(part: RunPart, check: Callable[[], None]) -> Outcome:
    """Build and store the cases of a run, fold by fold; the finishing transaction creates the remaining parts.

    A run with one training side starts its fits before the candidates are drawn, so that other workers fit meanwhile;
    with several, an algorithm that one of them refuses is fitted on none. The cases depend only on the run's inputs,
    so a repeated preparation finds its own artefacts and fits. Raises DataError when there is nothing to measure, or
    none of the algorithms can be fitted.
    """
    started = time.perf_counter()
    run = part.run
    has_many = run.split["name"] in SPLITS and SPLITS[run.split["name"]].trains_many
    folds: list[Fold] = []
    digests: list[str] = []
    left_out: list[Mapping[str, int]] = []
    counted: list[Mapping[str, int]] = []
    n_hidden = 0
    for holdout in (holdouts := build_holdouts(run=run)):
        check()
        left_out.append(holdout.left_out)
        counted.append(holdout.counted)
        n_hidden += holdout.n_hidden
        if not len(holdout.cases):
            continue
        fold = _fold(run, holdout)
        folds.append(fold)
        if not has_many:
            _check_cases(run, folds, n_hidden)
            _start_fits(run, fold)
            holdouts.close()  # what was split takes as much memory as the fits that begin now
        digests.append(_store_cases(run, holdout, fold.training_digest))
    if run.split["name"] != "file":
        ratings = ratings_of(run.version).user_items
        artefacts.release_memory(ratings.data, ratings.indices)  # from here on only the training rows are read
    _check_cases(run, folds, n_hidden)
    refusals = {pk: reason for fold in reversed(folds) for pk, reason in fold.refusals.items()}
    fold_list = [{"label": fold.label, "cases": digest} for fold, digest in zip(folds, digests, strict=True)]
    facts = {
        "cases_digest": digest_of(fold_list) if has_many else digests[0],
        "folds": fold_list if has_many else [],
        "n_relevant": sum(fold.n_relevant for fold in folds),
        "n_irrelevant": sum(fold.n_irrelevant for fold in folds),
        "left_out": _summed(left_out),
        "counted": _summed(counted) | ({NOTHING_TO_MEASURE: len(counted) - len(folds)} if has_many else {}),
        "environment": environment() | _packages(run),
        "comments": _comments(run, {fold.training_digest for fold in folds}),
    }

    def effects() -> None:
        EvaluationRun.objects.filter(pk=run.pk).update(**facts)
        fail_algorithms(run=run, reasons=refusals)
        started = set(run.parts.filter(kind=PartKind.FIT).values_list("algorithm", flat=True))
        RunPart.objects.bulk_create(fit for fit in _fits(run, folds) if fit.algorithm_id not in started)
        if not has_many:
            for pk, recipe in folds[0].recipes.items():
                RunAlgorithm.objects.filter(pk=pk).update(recipe=recipe)
        parts = _measurements_and_reductions(run, folds)
        RunPart.objects.bulk_create(parts)
        hint(run=run, n=sum(part.kind == PartKind.REDUCE for part in parts))

    return Outcome(seconds=time.perf_counter() - started, effects=effects)


def _comments(run: EvaluationRun, training_digests: set[str]) -> list[str]:
    warnings = [
        leak_warning(each.algorithm, each.params, each.label, training_digests, run.split)
        for each in run.algorithms.all()
    ]
    return list(dict.fromkeys([*run.comments, *filter(None, warnings)]))


def _packages(run: EvaluationRun) -> dict[str, str]:
    keys = dict.fromkeys(run.algorithms.values_list("algorithm", flat=True))
    return {
        package_label(package[0], key): package[1] for key in keys if (package := registry.package_of(key)) is not None
    }


def _fold(run: EvaluationRun, holdout: Holdout) -> Fold:
    cases = holdout.cases
    training_digest = store_training_rows(ratings=holdout.training, utilities=holdout.utilities)
    common: dict[str, Any] = {
        "version": run.version,
        "training_digest": training_digest,
        "seed": run.seed,
        "threads": run.threads,
        "users": holdout.trained,
    }
    recipes, base_recipes = (
        {each.pk: recipe(algorithm=each.algorithm, params=each.params, **common) for each in run.algorithms.all()}
        for recipe in (recipe_of, base_recipe_of)
    )
    refusals = _refusals(run, recipes, base_recipes, holdout.training, training_digest)
    return Fold(
        label=holdout.label,
        training_digest=training_digest,
        recipes={pk: recipe for pk, recipe in recipes.items() if pk not in refusals},
        base_recipes=base_recipes,
        refusals=refusals,
        bounds=part_bounds(users=cases.users, part_users=run.part_users),
        n_relevant=cases.n_relevant,
        n_irrelevant=cases.n_irrelevant,
    )


def _store_cases(run: EvaluationRun, holdout: Holdout, training_digest: str) -> str:
    cases = draw_candidates(run, holdout.cases)
    arrays = {**cases.arrays(), "closed": cases.closed, "trained": holdout.trained, "reserved": holdout.reserved}
    if len(holdout.development):
        arrays["development"] = holdout.development
    if holdout.profiled is not None:
        arrays["profiled"] = holdout.profiled
    if holdout.file_rows is not None:
        arrays["file_rows"] = holdout.file_rows
    meta = {
        "n_items": cases.n_items,
        "negatives": cases.negatives,
        "seed": cases.seed,
        "is_given": cases.is_given,
        "training_digest": training_digest,
    }
    if holdout.profiles is not None:
        meta["profiles_digest"] = store_training_rows(ratings=holdout.profiles)
    return artefacts.store("cases", arrays, meta)


def _check_cases(run: EvaluationRun, folds: Sequence[Fold], n_hidden: int) -> None:
    """Raise DataError unless there is something to measure and an algorithm to fit."""
    if folds and (run.protocol["name"] == "rating-prediction" or any(fold.n_relevant for fold in folds)):
        refusals = {pk: reason for fold in reversed(folds) for pk, reason in fold.refusals.items()}
        if run.algorithms.count() == len(refusals):
            raise DataError(" ".join(dict.fromkeys(refusals.values())))
        return
    limit = "" if run.protocol["name"] == "rating-prediction" else f"at least {run.protocol['relevant']:g} and "
    raise DataError(
        f"None of the {n_hidden:,} hidden ratings is {limit}of a user with a profile, so there is nothing to measure. "
        "Hide a larger share, or lower the limit for relevant ratings."
    )


def _summed(facts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Add the counts of all folds, except for those that are the same in each fold."""
    totals: dict[str, int] = {}
    for counts in facts:
        for name, count in counts.items():
            total = totals.get(name, 0)
            totals[name] = max(total, count) if name in SAME_IN_ALL_FOLDS else total + count
    return totals


def _refusals(
    run: EvaluationRun,
    recipes: Mapping[int, str],
    base_recipes: Mapping[int, str],
    training: Ratings,
    training_digest: str,
) -> dict[int, str]:
    """Return why algorithms cannot be fitted on the training side; algorithms with a stored model, or that re-rank the
    lists of one, need no fit.
    """
    needed = {*recipes.values(), *base_recipes.values()}
    stored = set(TrainedModel.objects.filter(recipe__in=needed).values_list("recipe", flat=True))
    refusals: dict[int, str] = {}
    for algorithm in run.algorithms.all():
        if recipes[algorithm.pk] in stored or base_recipes[algorithm.pk] in stored:
            continue
        key, params = algorithm.algorithm, algorithm.params
        features = features_for(version=run.version, training_digest=training_digest, algorithm=key, params=params)
        has_counts = training.counts is not None
        try:
            size = TrainingSize(training.n_users, training.n_items, features, has_counts, has_times(run.version))
            registry.algorithm(key).check(registry.params_of(key, params), size)
            check_memory(algorithm=key, params=params, ratings=training, features=features)
        except (ParameterError, DataError, ParallaxError) as refusal:
            refusals[algorithm.pk] = str(refusal)
    return refusals


@transaction.atomic
def _start_fits(run: EvaluationRun, fold: Fold) -> None:
    """Let other workers fit from now on; does nothing where a preparation that was not finished has done so.

    Fits that need the times of ratings begin later: only the stored cases say whose rows they are.
    """
    if run.parts.filter(kind=PartKind.FIT).exists():
        return
    late = {each.pk for each in run.algorithms.all() if registry.algorithm(each.algorithm).needs_times}
    fits = RunPart.objects.bulk_create(fit for fit in _fits(run, [fold]) if fit.algorithm_id not in late)
    hint(run=run, n=len(fits))


def _fits(run: EvaluationRun, folds: Sequence[Fold]) -> list[RunPart]:
    """A fit per fold and algorithm, the longest first: a long one that starts last keeps a single worker busy. Models
    that are re-ranked come before those that re-rank them.
    """
    refused = {pk for fold in folds for pk in fold.refusals}
    algorithms = [algorithm for algorithm in run.algorithms.all() if algorithm.pk not in refused]
    seconds = {
        algorithm.pk: expected_fit_seconds(version=run.version, algorithm=algorithm.algorithm, params=algorithm.params)
        for algorithm in algorithms
    }
    is_slow = {algorithm.pk: registry.algorithm(algorithm.algorithm).is_slow for algorithm in algorithms}
    algorithms.sort(
        key=lambda each: (
            registry.base_of(each.algorithm, each.params) is None,
            seconds[each.pk] is None and is_slow[each.pk],
            seconds[each.pk] or 0.0,
        ),
        reverse=True,
    )
    return [
        RunPart(
            run=run,
            algorithm=algorithm,
            kind=PartKind.FIT,
            fold=number,
            recipe=fold.recipes[algorithm.pk],
            base_recipe=fold.base_recipes[algorithm.pk],
            training_digest=fold.training_digest,
        )
        for number, fold in enumerate(folds)
        for algorithm in algorithms
    ]


def _measurements_and_reductions(run: EvaluationRun, folds: Sequence[Fold]) -> list[RunPart]:
    """The measurements of each algorithm by fold, profile length and test users, its reduction, and the last part.

    Algorithms that cannot be fitted on every fold, or whose fit has failed meanwhile, get no parts.
    """
    algorithms = list(run.algorithms.filter(error=""))
    measurements = [
        RunPart(
            run=run,
            algorithm=algorithm,
            kind=PartKind.MEASURE,
            fold=number,
            profile_length=length,
            start=int(start),
            stop=int(stop),
        )
        for number, fold in enumerate(folds)
        for algorithm in algorithms
        for length in (0, *run.profile_lengths)
        for start, stop in pairwise(fold.bounds)
    ]
    reductions = [RunPart(run=run, algorithm=algorithm, kind=PartKind.REDUCE) for algorithm in algorithms]
    return [*measurements, *reductions, RunPart(run=run, kind=PartKind.REDUCE)]


def part_bounds(*, users: NDArray[np.int32], part_users: int) -> NDArray[np.int64]:
    """Return the rows of the case list (ordered by user) at which parts of `part_users` test users begin and end."""
    first_rows = np.flatnonzero(np.concatenate([[True], users[1:] != users[:-1]]))
    return np.append(first_rows[::part_users], len(users))
