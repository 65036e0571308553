"""Results of a run: metrics by algorithm, and values by user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from django.db.models import Sum
from numpy.typing import NDArray

from core import artefacts
from core.errors import ParallaxError
from evaluation.enums import PartKind
from evaluation.metrics.registry import metric as named_metric
from evaluation.models import EvaluationRun, MetricResult, RunPart
from evaluation.reported_kinds import RATING_PREDICTION, tested_kinds
from evaluation.selectors.cases import cases_of
from evaluation.selectors.runs import measured_algorithms, metric_names

# The stored names of a report's metrics by protocol; {n} is replaced by the list length.
_REPORTED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "one-plus-random": {
            "recall": "recall",
            "fallout": "fallout",
            "precision": "precision-raghavan",
            "f": "f",
        },
        "full-ranking": {"recall": "recall@{n}", "precision": "precision@{n}", "f": "f-beta@{n}"},
        RATING_PREDICTION: {"rmse": "rmse", "mae": "mae"},
    }
)
REPORTED_PROTOCOLS = tuple(_REPORTED)
# The share of the test profiles for which there are lists that were made elsewhere; only these have it.
COVERED_PROFILES = "covered-profiles"
LEAST_COVERED = 0.8  # share of the test profiles, or of the ranked items, below which a row is not compared with others


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """An algorithm of a run with all its metrics by name, at one profile length.

    If the split trained several models, `model_id` is None, `model_hash` and `recipe` are empty, `fold_hashes` are the
    models of the folds, and times are totals. A row of external scores has no algorithm, model and times, and says in
    `coverage` which cases and users have scores; `scored` is as of `scored_share`.
    """

    label: str
    algorithm: str
    params: Mapping[str, Any]
    model_id: int | None
    model_hash: str
    recipe: str
    fold_hashes: tuple[str, ...]
    was_reused: bool
    fit_seconds: float | None
    score_seconds: float | None
    users_digest: str
    cells: Mapping[str, MetricResult]
    coverage: str = ""
    scored: float | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether charts compare the row: items without a score come last, which flatters a row that lacks many."""
        return self.scored is None or self.scored >= LEAST_COVERED

    @property
    def remark(self) -> str:
        """What tables say about a row of external scores; empty for models."""
        return f"not servable: {self.coverage}" if self.coverage else ""


@dataclass(frozen=True)
class UserValues:
    """A metric by user: shape (n_users, n_algorithms), NaN for users without a value.

    `user_ids` are user indexes of the dataset version, ascending.
    """

    user_ids: NDArray[np.int64]
    values: NDArray[np.float64]
    labels: tuple[str, ...]


def _results(run: EvaluationRun, profile_length: int) -> dict[tuple[int, str], MetricResult]:
    if profile_length not in (0, *run.profile_lengths):
        measured = ", ".join(["the whole profile", *map(str, run.profile_lengths)])
        raise ParallaxError(
            "run.no_such_profile_length",
            f"Run {run.pk} was not measured at a profile length of {profile_length}. Available: {measured}.",
        )
    rows = MetricResult.objects.filter(algorithm__run=run, profile_length=profile_length)
    by_key = {(result.algorithm_id, result.metric): result for result in rows}
    if not by_key:
        raise no_results(run)
    return by_key


def no_results(run: EvaluationRun) -> ParallaxError:
    """The refusal of a run that has not succeeded."""
    return ParallaxError(
        "run.no_results", f"Run {run.pk} has no results yet: it is {run.get_status_display().lower()}."
    )


def model_rows(run: EvaluationRun, profile_length: int = 0) -> list[ModelRow]:
    """Return every metric of every algorithm, in the order of the run. Raises ParallaxError when the run has no
    results, or was not measured at this length.
    """
    results = _results(run, profile_length)
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
        of_algorithm = {metric: result for (pk, metric), result in results.items() if pk == algorithm.pk}
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
                cells=of_algorithm,
            )
        )
    return rows


def table_rows(run: EvaluationRun, profile_length: int = 0) -> list[ModelRow]:
    """As `model_rows`, with those of external scores at the end. No study, report or experiment has these."""
    external = [] if profile_length else run.external_scores.all()
    return model_rows(run, profile_length) + [
        ModelRow(
            label=scores.name,
            algorithm="",
            params={},
            model_id=None,
            model_hash="",
            recipe="",
            fold_hashes=(),
            was_reused=False,
            fit_seconds=None,
            score_seconds=None,
            users_digest=scores.users_digest,
            cells={metric: MetricResult(metric=metric, **result) for metric, result in scores.results.items()},
            coverage=scores.coverage,
            scored=scored_share(run, artefacts.load("results", scores.users_digest).arrays),
        )
        for scores in external
    ]


def scored_share(run: EvaluationRun, arrays: Mapping[str, NDArray[Any]]) -> float | None:
    """The share of ranked items with a score, from measurements; None where single items are not ranked."""
    is_sampled = is_pooled(run) and run.protocol.get("mode") != "exact"
    return share_of(arrays, "" if is_sampled else "all_")


def share_of(arrays: Mapping[str, NDArray[Any]], ranking: str) -> float | None:
    """As `scored_share`, among the sampled candidates ("") or all items ("all_")."""
    if f"{ranking}scored" not in arrays:
        return None
    return float(arrays[f"{ranking}scored"].sum() / (arrays[f"{ranking}n_items"].astype(np.int64) + 1).sum())


def is_pooled(run: EvaluationRun) -> bool:
    """Whether values pool the cases of all users; those of other protocols are means over users."""
    return bool(run.protocol["name"] == "one-plus-random")


def reported_metrics(run: EvaluationRun) -> dict[str, str]:
    """Return the stored names of the metrics of a report that the run measured, by their names there: recall, fallout,
    precision and f, or rmse and mae.

    Raises ParallaxError with code ``run.other_protocol``: the protocol measures neither lists that are served nor
    predicted ratings. Code ``run.no_recall``: the run did not measure recall at its list length, or the root mean
    squared error.
    """
    protocol = run.protocol["name"]
    if protocol not in _REPORTED:
        *most, last = _REPORTED
        raise ParallaxError(
            "run.other_protocol",
            f"Run {run.pk} was measured by {protocol}, which has no recall of whole lists and no errors of predicted "
            f"ratings, so no report can use it. Choose a run with {', '.join(most)} or {last}.",
        )
    if protocol == "one-plus-random":
        return dict(_REPORTED[protocol])
    names = {kind: str(named_metric(name.format(n=run.n))) for kind, name in _REPORTED[protocol].items()}
    measured = metric_names(run)
    needed = names[tested_kinds(run.protocol)[0]]
    if needed not in measured:
        raise ParallaxError(
            "run.no_recall",
            f"Run {run.pk} did not measure {needed}, which a report needs. Evaluate the algorithms again with "
            "this metric among the metrics, which uses the trained models again.",
        )
    return {kind: name for kind, name in names.items() if name in measured}


def user_values(
    run: EvaluationRun, metric: str, profile_length: int = 0, *, rows: Sequence[ModelRow] | None = None
) -> UserValues:
    """Return a metric by user: recall or fallout at the run's N (or "recall@10"), or one of the run's metrics. Raises
    ParallaxError: a metric without values by user, no results, or a profile length that was not measured.
    """
    rows = model_rows(run, profile_length) if rows is None else rows
    arrays = [artefacts.load("results", row.users_digest).arrays for row in rows]
    labels = tuple(row.label for row in rows)
    if run.protocol["name"] != "one-plus-random":
        names = metric_names(run)
        if metric not in names or "user_values" not in arrays[0]:
            raise no_user_values(metric, names)
        column = names.index(metric)
        values = np.column_stack([stored["user_values"][:, column] for stored in arrays])
        return UserValues(user_ids=np.asarray(arrays[0]["user_ids"]), values=values, labels=labels)
    name, at, length = metric.partition("@")
    n = run.n if not at else int(length) if length.isdigit() else 0
    if name not in ("recall", "fallout") or not 1 <= n <= arrays[0]["recall_values"].shape[1]:
        raise no_user_values(metric, ("recall", "fallout"))
    users = np.union1d(arrays[0]["recall_users"], arrays[0]["fallout_users"]).astype(np.int64)
    values = np.full((len(users), len(rows)), np.nan)
    for column, stored in enumerate(arrays):
        values[np.searchsorted(users, stored[f"{name}_users"]), column] = stored[f"{name}_values"][:, n - 1]
    return UserValues(user_ids=users, values=values, labels=labels)


def no_user_values(metric: str, names: Iterable[str]) -> ParallaxError:
    """The refusal of a metric without values by user."""
    return ParallaxError(
        "run.no_user_values", f"The metric {metric} has no values by user in this run. Available: {', '.join(names)}."
    )


def metrics_by_user(run: EvaluationRun) -> list[str]:
    """Return the metrics of a run with values by user, which can be tested."""
    if run.protocol["name"] == "one-plus-random":
        return ["recall", "fallout"]
    return [name for name in metric_names(run) if named_metric(name).definition.has_user_values]


def case_counts(run: EvaluationRun, profile_length: int = 0) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Return the numbers of candidates above and tied with each case's item, by algorithm.

    Cases from a file are in the order of the file, others in the order of an export. Raises ParallaxError with code
    ``run.other_protocol``: the run has no hits of single items; or as `model_rows` does.
    """
    if not is_pooled(run):
        raise ParallaxError(
            "run.other_protocol",
            f"Run {run.pk} was measured by {run.protocol['name']}, which has no recall and fallout of single items. "
            "Choose a run with one-plus-random.",
        )
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
