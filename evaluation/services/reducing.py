"""The last part of a run: what all parts measured becomes metrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from numpy.typing import NDArray
from scipy.sparse import csr_array

from catalog.importers.items import UTILITY_KIND
from catalog.selectors.ratings import features_of
from core import artefacts
from core.errors import ParallaxError
from core.transitions import move
from evaluation.enums import RUN_MOVES, PartKind, PartStatus, RunStatus
from evaluation.metrics.registry import metric as named_metric
from evaluation.models import EvaluationRun, MetricResult, RunAlgorithm, RunPart
from evaluation.protocols.blocks import Arrays, joined
from evaluation.protocols.cases import Cases
from evaluation.protocols.facts import ModelFacts
from evaluation.protocols.folds import by_user, pool
from evaluation.protocols.outcomes import Outcomes, of_users, outcomes
from evaluation.selectors.cases import RunCases, cases_of, training_rows
from evaluation.selectors.runs import DEVELOPMENT, longest_list, measured_algorithms, metric_names
from evaluation.services.parts import Outcome
from evaluation.services.tidying import remove_parts
from recommenders import registry

# Algorithms whose scores are probabilities of one event for everyone.
COMPARABLE = ("aspect", "aspect-content", "lpca", "naive-bayes")


@dataclass(frozen=True)
class TrainingSides:
    """What metrics ask of the training ratings: popularity and users have an entry for each fold."""

    low: float
    high: float
    popularity: NDArray[np.int64]
    n_users: NDArray[np.int64]
    item_terms: csr_array | None


def reduce(part: RunPart, check: Callable[[], None]) -> Outcome:
    """Join the measurements in the order of the cases and compute every metric from the whole."""
    started = time.perf_counter()
    run = part.run
    folds = [cases_of(run, fold) for fold in range(len(run.folds) or 1)]
    sides = training_sides(run, folds)
    rows: list[MetricResult] = []
    for algorithm in measured_algorithms(run):
        for length in (0, *run.profile_lengths):
            check()
            rows += _metrics(run, algorithm, length, folds, sides)
    seconds_of = dict(
        RunPart.objects.filter(run=run, kind=PartKind.MEASURE, profile_length=0, algorithm__error="")
        .order_by()
        .values_list("algorithm")
        .annotate(Sum("seconds"))
    )

    def effects() -> None:
        MetricResult.objects.bulk_create(rows)
        for pk, seconds in seconds_of.items():
            RunAlgorithm.objects.filter(pk=pk).update(score_seconds=seconds)
        moved = EvaluationRun.objects.get(pk=run.pk)
        move(moved, to=RunStatus.SUCCEEDED, allowed=RUN_MOVES, activity="", finished_at=timezone.now())
        transaction.on_commit(partial(remove_parts, run=moved))

    return Outcome(seconds=time.perf_counter() - started, effects=effects)


def training_sides(run: EvaluationRun, folds: Sequence[RunCases]) -> TrainingSides:
    """What the run's metrics ask of the training ratings of each fold."""
    counts, sizes = [], []
    for found in folds:
        ratings = training_rows(found.training_digest)
        counts.append(ratings.item_counts)
        sizes.append(ratings.n_users)
    is_asked = any(named_metric(name).key == "diversity" for name in metric_names(run))
    return TrainingSides(
        low=ratings.scale.low,
        high=ratings.scale.high,
        popularity=np.stack(counts),
        n_users=np.array(sizes, dtype=np.int64),
        item_terms=_terms(run) if is_asked else None,
    )


def _terms(run: EvaluationRun) -> csr_array | None:
    """What is known of the items, apart from what they are worth; None where nothing is."""
    features = features_of(run.version)
    says = np.array([kind != UTILITY_KIND for kind, _ in features.terms], dtype=np.bool_)
    return csr_array(features.item_terms[:, np.flatnonzero(says)]) if says.any() else None


def _metrics(
    run: EvaluationRun, algorithm: RunAlgorithm, length: int, folds: Sequence[RunCases], sides: TrainingSides
) -> list[MetricResult]:
    """Compute the metrics of one algorithm at one profile length, and store what they came from."""
    measured = [_joined(run, algorithm, length, fold, n_cases=len(found.cases)) for fold, found in enumerate(folds)]
    if run.folds:
        pooled = pool(run.protocol, [found.cases for found in folds], measured)
        arrays = pooled.arrays
        whole = by_user(outcomes_of(run, algorithm, pooled.cases, arrays, sides), pooled.n_lists)
        models = algorithm.parts.filter(kind=PartKind.FIT).order_by("fold").values_list("model__digest", flat=True)
        trained: dict[str, Any] = {"models": list(models)}
    else:
        arrays = measured[0]
        whole = _measured(run, algorithm, arrays, folds[0], sides)
        trained = {"model": algorithm.model.digest if algorithm.model else ""}
    digest = artefacts.store(
        "results",
        {**arrays, **whole.arrays},
        {
            "cases": run.cases_digest,
            **trained,
            "profile_length": length,
            "protocol": run.protocol,
            "n": list(range(1, longest_list(run) + 1)),
        },
    )
    return [
        MetricResult(
            algorithm=algorithm,
            profile_length=length,
            metric=one.metric,
            value=one.value,
            reason=one.reason,
            by_n=list(one.by_n),
            users_digest=digest,
        )
        for one in whole.values
    ]


def _measured(
    run: EvaluationRun, algorithm: RunAlgorithm, arrays: Arrays, found: RunCases, sides: TrainingSides
) -> Outcomes:
    """The metrics of all test users; where some are for choosing, those of the others, and theirs under other names."""
    if found.development is None:
        return outcomes_of(run, algorithm, found.cases, arrays, sides)
    others = np.setdiff1d(found.cases.users, found.development)
    tested = outcomes_of(run, algorithm, *of_users(found.cases, arrays, others), sides)
    chosen = outcomes_of(run, algorithm, *of_users(found.cases, arrays, found.development), sides)
    values = (*tested.values, *(replace(one, metric=f"{DEVELOPMENT}{one.metric}") for one in chosen.values))
    return Outcomes(values, tested.arrays)


def outcomes_of(
    run: EvaluationRun,
    algorithm: RunAlgorithm,
    cases: Cases,
    arrays: Arrays,
    sides: TrainingSides,
    *,
    are_curves_kept: bool = True,
) -> Outcomes:
    """The run's metrics of one algorithm on some cases, from what was measured of them."""
    kind = registry.algorithm(algorithm.algorithm)
    return outcomes(
        cases,
        arrays,
        run.protocol,
        names=metric_names(run),
        n=run.n,
        longest=longest_list(run),
        model=ModelFacts(
            score_kind=kind.score_kind,
            is_comparable=kind.score_kind == "rating" or kind.key in COMPARABLE,
            low=sides.low,
            high=sides.high,
            popularity=sides.popularity,
            n_users=sides.n_users,
            item_terms=sides.item_terms,
        ),
        are_curves_kept=are_curves_kept,
    )


def _joined(run: EvaluationRun, algorithm: RunAlgorithm, length: int, fold: int, *, n_cases: int) -> Arrays:
    """Join what an algorithm's parts measured in the order of the cases, without a gap."""
    parts = list(algorithm.parts.filter(kind=PartKind.MEASURE, profile_length=length, fold=fold).order_by("start"))
    reached = 0
    for part in parts:
        if part.start != reached or part.status != PartStatus.DONE:
            break
        reached = part.stop
    if reached != n_cases:
        raise ParallaxError(
            "run.parts_missing",
            f"The measurements of {algorithm.label} end at case {reached:,} of {n_cases:,}; start the run again.",
        )
    return joined(run.protocol, [artefacts.load("parts", part.result_digest).arrays for part in parts])
