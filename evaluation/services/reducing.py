"""The last part of a run: the counts of all parts become metrics."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from django.db.models import Sum
from django.utils import timezone
from numpy.typing import NDArray

from core import artefacts
from core.errors import ParallaxError
from core.transitions import move
from evaluation.enums import RUN_MOVES, PartKind, PartStatus, RunStatus
from evaluation.metrics.ranking import RankingResult, measure_ranking
from evaluation.models import EvaluationRun, MetricResult, RunAlgorithm, RunPart
from evaluation.selectors.cases import RunCases, cases_of
from evaluation.services.parts import Outcome

CURVE_N = 20  # curves go at least this far


def reduce(part: RunPart, check: Callable[[], None]) -> Outcome:
    """Join the counts in the order of the cases and compute every metric from the whole."""
    started = time.perf_counter()
    run = part.run
    found = cases_of(run)
    rows: list[MetricResult] = []
    for algorithm in run.algorithms.select_related("model"):
        for length in (0, *run.profile_lengths):
            check()
            rows += _metrics(run, algorithm, length, found)
    seconds_of = dict(
        RunPart.objects.filter(run=run, kind=PartKind.MEASURE, profile_length=0)
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

    return Outcome(seconds=time.perf_counter() - started, effects=effects)


def _metrics(run: EvaluationRun, algorithm: RunAlgorithm, length: int, found: RunCases) -> list[MetricResult]:
    """Compute the metrics of one algorithm at one profile length, and store counts and per-user values."""
    above, tied = _joined(algorithm, length, n_cases=len(found.cases))
    ns = list(range(1, max(run.n, CURVE_N) + 1))
    result = measure_ranking(
        found.cases.users,
        found.cases.is_relevant,
        above,
        tied,
        ns,
        g=run.protocol["g"],
        ties=run.protocol["ties"],
    )
    model = algorithm.model
    digest = artefacts.store(
        "results",
        {
            "above": above,
            "tied": tied,
            "recall_users": result.user_recall.groups,
            "recall_n_cases": result.user_recall.n_cases,
            "recall_values": result.user_recall.values,
            "fallout_users": result.user_fallout.groups,
            "fallout_n_cases": result.user_fallout.n_cases,
            "fallout_values": result.user_fallout.values,
        },
        {
            "cases": run.cases_digest,
            "model": model.digest if model else "",
            "profile_length": length,
            "n": ns,
            "ties": result.ties,
        },
    )
    return [
        MetricResult(
            algorithm=algorithm,
            profile_length=length,
            metric=key,
            value=values[run.n - 1],
            by_n=values,
            users_digest=digest,
        )
        for key, values in _curves(result, len(ns)).items()
    ]


def _curves(result: RankingResult, n_lengths: int) -> dict[str, list[Any]]:
    """Values at 1, 2, 3, … of each metric; None where it has none."""
    found = {
        "recall": result.recall,
        "fallout": result.fallout,
        "precision-raghavan": result.precision,
        "f": result.f,
    }
    return {key: list(values) if values is not None else [None] * n_lengths for key, values in found.items()}


def _joined(algorithm: RunAlgorithm, length: int, *, n_cases: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Join the counts of an algorithm's parts in the order of the cases, without a gap."""
    parts = list(algorithm.parts.filter(kind=PartKind.MEASURE, profile_length=length).order_by("start"))
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
    kept = [artefacts.load("parts", part.result_digest).arrays for part in parts]
    return np.concatenate([one["above"] for one in kept]), np.concatenate([one["tied"] for one in kept])
