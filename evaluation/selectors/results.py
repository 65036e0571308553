"""What a run measured: its table, its curves, and the values by user that tests need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Sum
from numpy.typing import NDArray

from core import artefacts
from core.errors import ParallaxError
from evaluation.enums import PartKind
from evaluation.models import EvaluationRun, MetricResult, RunPart
from evaluation.selectors.runs import algorithms_of

METRICS = ("recall", "fallout", "precision-raghavan", "f")


@dataclass(frozen=True)
class Row:
    """One algorithm's line of Table 2, at the run's N and one profile length; None: no value."""

    label: str
    algorithm: str
    params: Mapping[str, Any]
    model_id: int
    model_hash: str
    recipe: str
    was_reused: bool
    recall: float | None
    fallout: float | None
    precision: float | None
    f_measure: float | None
    fit_seconds: float
    score_seconds: float
    users_digest: str


@dataclass(frozen=True)
class Curve:
    """One algorithm's values at N = 1, 2, 3, …; None where there is no value."""

    label: str
    n: tuple[int, ...]
    recall: tuple[float | None, ...]
    fallout: tuple[float | None, ...]
    precision: tuple[float | None, ...]
    f_measure: tuple[float | None, ...]


@dataclass(frozen=True)
class UserValues:
    """A metric by user: shape (n_users, n_algorithms), NaN where a user has no case of the kind.

    `user_ids` are user indexes of the dataset's version, ascending.
    """

    user_ids: NDArray[np.int64]
    values: NDArray[np.float64]
    labels: tuple[str, ...]


def _results(run: EvaluationRun, profile_length: int) -> dict[tuple[int, str], MetricResult]:
    if profile_length not in (0, *run.profile_lengths):
        measured = ", ".join(["the whole profile", *map(str, run.profile_lengths)])
        raise ParallaxError(
            "run.no_such_profile_length",
            f"Run {run.pk} was not measured at a profile length of {profile_length}; it was at: {measured}.",
        )
    found = MetricResult.objects.filter(algorithm__run=run, profile_length=profile_length)
    by_key = {(result.algorithm_id, result.metric): result for result in found}
    if not by_key:
        raise ParallaxError(
            "run.no_results", f"Run {run.pk} has no results yet: it is {run.get_status_display().lower()}."
        )
    return by_key


def table(run: EvaluationRun, profile_length: int = 0) -> list[Row]:
    """Give the run's rows in the order its algorithms were named (`profile_length` 0: the whole profile).

    Raises
    ------
    ParallaxError
        The run has no results, or was not measured at this length.
    """
    found = _results(run, profile_length)
    seconds = dict(
        RunPart.objects.filter(run=run, kind=PartKind.MEASURE, profile_length=profile_length)
        .order_by()
        .values_list("algorithm")
        .annotate(Sum("seconds"))
    )
    rows = []
    for algorithm in algorithms_of(run):
        model = algorithm.model
        if model is None:
            raise ParallaxError("run.no_results", f"{algorithm.label} of run {run.pk} has no model.")
        value = {metric: found[algorithm.pk, metric].value for metric in METRICS}
        rows.append(
            Row(
                label=algorithm.label,
                algorithm=algorithm.algorithm,
                params=algorithm.params,
                model_id=model.pk,
                model_hash=model.digest,
                recipe=model.recipe,
                was_reused=algorithm.was_reused,
                recall=value["recall"],
                fallout=value["fallout"],
                precision=value["precision-raghavan"],
                f_measure=value["f"],
                fit_seconds=model.fit_seconds,
                score_seconds=seconds.get(algorithm.pk) or 0.0,
                users_digest=found[algorithm.pk, "recall"].users_digest,
            )
        )
    return rows


def curves(run: EvaluationRun, profile_length: int = 0) -> list[Curve]:
    """Give the values at every N, algorithm by algorithm; raises as `table` does."""
    found = _results(run, profile_length)
    return [
        Curve(
            label=algorithm.label,
            n=tuple(range(1, len(found[algorithm.pk, "recall"].by_n) + 1)),
            recall=tuple(found[algorithm.pk, "recall"].by_n),
            fallout=tuple(found[algorithm.pk, "fallout"].by_n),
            precision=tuple(found[algorithm.pk, "precision-raghavan"].by_n),
            f_measure=tuple(found[algorithm.pk, "f"].by_n),
        )
        for algorithm in algorithms_of(run)
    ]


def user_values(run: EvaluationRun, metric: str, profile_length: int = 0) -> UserValues:
    """Give recall or fallout at the run's N for each user that has a case of either kind.

    Raises
    ------
    ParallaxError
        Another metric (it has no value by user), no results, a length that was not measured.
    """
    if metric not in ("recall", "fallout"):
        raise ParallaxError(
            "run.no_user_values", f"The metric {metric} has no values by user; recall and fallout have."
        )
    found = _results(run, profile_length)
    algorithms = list(algorithms_of(run))
    kept = [artefacts.load("results", found[one.pk, metric].users_digest).arrays for one in algorithms]
    users = np.union1d(kept[0]["recall_users"], kept[0]["fallout_users"]).astype(np.int64)
    values = np.full((len(users), len(algorithms)), np.nan)
    for column, arrays in enumerate(kept):
        values[np.searchsorted(users, arrays[f"{metric}_users"]), column] = arrays[f"{metric}_values"][:, run.n - 1]
    return UserValues(user_ids=users, values=values, labels=tuple(one.label for one in algorithms))
