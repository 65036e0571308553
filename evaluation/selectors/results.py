"""What a run measured: its table, its curves, and the values by user that tests need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from django.db.models import Sum
from numpy.typing import NDArray

from core import artefacts
from core.errors import ParallaxError
from evaluation.enums import PartKind
from evaluation.metrics.registry import metric as named_metric
from evaluation.models import EvaluationRun, MetricResult, RunPart
from evaluation.selectors.cases import cases_of
from evaluation.selectors.runs import measured_algorithms, metric_names


@dataclass(frozen=True)
class Cell:
    """A metric of an algorithm: its value, those at every list length, and why there is none or what to mind."""

    value: float | None
    by_n: tuple[float | None, ...]
    reason: str


@dataclass(frozen=True)
class ModelRow:
    """An algorithm with all its metrics by name, at one profile length.

    Where the split trained several models, `model_id` is None, `model_hash` and `recipe` are empty, and
    `fold_hashes` are those of the folds; the times are of all of them together.
    """

    label: str
    algorithm: str
    params: Mapping[str, Any]
    model_id: int | None
    model_hash: str
    recipe: str
    fold_hashes: tuple[str, ...]
    was_reused: bool
    fit_seconds: float
    score_seconds: float
    users_digest: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Row:
    """One algorithm's line of Table 2, at the run's N and one profile length; None: no value."""

    label: str
    algorithm: str
    params: Mapping[str, Any]
    model_id: int | None
    model_hash: str
    recipe: str
    fold_hashes: tuple[str, ...]
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


def model_rows(run: EvaluationRun, profile_length: int = 0) -> list[ModelRow]:
    """Give every metric of every algorithm, in the order the algorithms were named.

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
    fitted: dict[int, list[tuple[str, float]]] = {}
    if run.folds:
        fits = RunPart.objects.filter(run=run, kind=PartKind.FIT).order_by("fold")
        for pk, model_digest, took in fits.values_list("algorithm", "model__digest", "model__fit_seconds"):
            fitted.setdefault(pk, []).append((model_digest, took))
    rows = []
    for algorithm in measured_algorithms(run):
        model, of_folds = algorithm.model, fitted.get(algorithm.pk, [])
        if model is None and not run.folds:
            raise ParallaxError("run.no_results", f"{algorithm.label} of run {run.pk} has no model.")
        of_algorithm = {metric: result for (pk, metric), result in found.items() if pk == algorithm.pk}
        rows.append(
            ModelRow(
                label=algorithm.label,
                algorithm=algorithm.algorithm,
                params=algorithm.params,
                model_id=None if model is None else model.pk,
                model_hash="" if model is None else model.digest,
                recipe="" if model is None else model.recipe,
                fold_hashes=tuple(digest for digest, _ in of_folds),
                was_reused=algorithm.was_reused,
                fit_seconds=sum(took for _, took in of_folds) if model is None else model.fit_seconds,
                score_seconds=seconds.get(algorithm.pk) or 0.0,
                users_digest=next(iter(of_algorithm.values())).users_digest,
                cells={
                    metric: Cell(result.value, tuple(result.by_n), result.reason)
                    for metric, result in of_algorithm.items()
                },
            )
        )
    return rows


def table(run: EvaluationRun, profile_length: int = 0) -> list[Row]:
    """Give the run's rows of recall, fallout, precision and F (`profile_length` 0: the whole profile).

    Raises
    ------
    ParallaxError
        The run has no results, was not measured at this length, or by another protocol.
    """
    check_protocol(run)
    names = [one.name for one in fields(Row) if one.name not in ("recall", "fallout", "precision", "f_measure")]
    return [
        Row(
            **{name: getattr(row, name) for name in names},
            recall=row.cells["recall"].value,
            fallout=row.cells["fallout"].value,
            precision=row.cells["precision-raghavan"].value,
            f_measure=row.cells["f"].value,
        )
        for row in model_rows(run, profile_length)
    ]


def check_protocol(run: EvaluationRun) -> None:
    """Refuse a run without recall and fallout of single items; raises `run.other_protocol`."""
    if run.protocol["name"] != "one-plus-random":
        raise ParallaxError(
            "run.other_protocol",
            f"Run {run.pk} was measured by {run.protocol['name']}, which has no recall and fallout of single items. "
            "Choose a run of one-plus-random.",
        )


def curves(run: EvaluationRun, profile_length: int = 0) -> list[Curve]:
    """Give the values at every N, algorithm by algorithm; raises as `table` does."""
    check_protocol(run)
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
        for algorithm in measured_algorithms(run)
    ]


def user_values(run: EvaluationRun, metric: str, profile_length: int = 0) -> UserValues:
    """Give a metric's value of each user: recall or fallout at the run's N (or "recall@10"), or one of its metrics.

    Raises
    ------
    ParallaxError
        A metric without values by user, no results, a length that was not measured.
    """
    found = _results(run, profile_length)
    algorithms = list(measured_algorithms(run))
    first = {pk: result for (pk, _), result in found.items()}
    kept = [artefacts.load("results", first[one.pk].users_digest).arrays for one in algorithms]
    labels = tuple(one.label for one in algorithms)
    if run.protocol["name"] != "one-plus-random":
        names = metric_names(run)
        if metric not in names or "user_values" not in kept[0]:
            raise _no_user_values(metric, names)
        column = names.index(metric)
        values = np.column_stack([arrays["user_values"][:, column] for arrays in kept])
        return UserValues(user_ids=np.asarray(kept[0]["user_ids"]), values=values, labels=labels)
    name, at, length = metric.partition("@")
    n = run.n if not at else int(length) if length.isdigit() else 0
    if name not in ("recall", "fallout") or not 1 <= n <= kept[0]["recall_values"].shape[1]:
        raise _no_user_values(metric, ("recall", "fallout"))
    users = np.union1d(kept[0]["recall_users"], kept[0]["fallout_users"]).astype(np.int64)
    values = np.full((len(users), len(algorithms)), np.nan)
    for column, arrays in enumerate(kept):
        values[np.searchsorted(users, arrays[f"{name}_users"]), column] = arrays[f"{name}_values"][:, n - 1]
    return UserValues(user_ids=users, values=values, labels=labels)


def _no_user_values(metric: str, names: Iterable[str]) -> ParallaxError:
    return ParallaxError(
        "run.no_user_values", f"The metric {metric} has no values by user in this run; ask for {' or '.join(names)}."
    )


def metrics_by_user(run: EvaluationRun) -> list[str]:
    """Give the metrics of a run that have values by user, so that they can be tested."""
    if run.protocol["name"] == "one-plus-random":
        return ["recall", "fallout"]
    return [name for name in metric_names(run) if named_metric(name).definition.has_user_values]


def case_counts(run: EvaluationRun, profile_length: int = 0) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Give the candidates above and tied with each case's item, by algorithm.

    Cases that were given as a file come in the file's order, others as an export writes them.

    Raises
    ------
    ParallaxError
        As `table`.
    """
    check_protocol(run)
    rows = cases_of(run).file_rows
    counts = []
    for row in model_rows(run, profile_length):
        arrays = artefacts.load("results", row.users_digest).arrays
        pair = []
        for name in ("above", "tied"):
            ordered = np.array(arrays[name])
            if rows is not None:
                ordered[rows] = arrays[name]
            pair.append(ordered)
        counts.append((pair[0], pair[1]))
    return counts
