"""Every metric that runs stored for the models of a study, and the repetitions of a run, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.read.inputs import conditions_of, means_of_shared_users
from analysis.results.comparison import KNOWN_USERS
from core.errors import ParallaxError
from core.provenance import digest_of
from evaluation.metrics.registry import METRICS
from evaluation.models import EvaluationRun
from evaluation.protocols.hit_metrics import UNLISTED
from evaluation.protocols.registry import PROTOCOLS
from evaluation.reported_kinds import ERRORS, tested_kinds
from evaluation.selectors import results as run_results
from evaluation.selectors.repeats import repeated_values, repeats_of, results_digest
from evaluation.selectors.runs import DEVELOPMENT, measured_algorithms, succeeded_runs
from evaluation.splitting.registry import STRANGERS
from studies.models import Study

# The same metric from all candidates instead of those drawn, or the reverse, or its bounds: another computation, not
# another metric.
SAME_METRIC = ("(mode=exact)", "(mode=sampled)", *UNLISTED.values())


@dataclass(frozen=True)
class StoredMetric:
    """One metric of a run at one profile length, by condition.

    `protocol` is empty for the run of the report; it is `STRANGERS` or `KNOWN_USERS` for a run of its protocol on the
    other kind of test users. `reasons` say why a condition has no value. `users` has shape
    (n_users, n_conditions), NaN where a user has no value; None where no values by user are stored.
    """

    name: str
    n: int
    protocol: str
    profile_length: int
    values: Mapping[str, float | None]
    reasons: Mapping[str, str]
    users: NDArray[np.float64] | None

    @property
    def key(self) -> str:
        """Unique in a report: ``recall@profile5``, or ``full-ranking/ndcg@10(gain=linear)``."""
        name = f"{self.protocol}/{self.name}" if self.protocol else self.name
        return f"{name}@profile{self.profile_length}" if self.profile_length else name


@dataclass(frozen=True)
class StoredMetrics:
    """All metrics, those of the report's run first; `digests` are of the inputs and the values of every other run."""

    metrics: tuple[StoredMetric, ...]
    digests: tuple[tuple[str, str], ...] = ()


def stored_metrics(
    study: Study, run: EvaluationRun, conditions: Sequence[str], positions: Sequence[int]
) -> StoredMetrics:
    """Read every metric of the report's run, of the newest run of each other protocol that measured all models of the
    study, and of the newest run of the same algorithms on the other kind of test users.
    """
    metrics = _metrics_of(run, conditions, positions, protocol="")
    digests = []
    sources = [
        (second_run, positions_there, second_run.protocol["name"])
        for second_run, positions_there in runs_of_other_protocols(study, run)
    ]
    if (match := run_of_other_users(study, run)) is not None:
        sources.append((*match, KNOWN_USERS if run.split["name"] == STRANGERS else STRANGERS))
    is_compared = [condition.label in conditions for condition in conditions_of(study)]
    for second_run, positions_there, source in sources:
        there = [position for position, is_in in zip(positions_there, is_compared, strict=True) if is_in]
        measured = _metrics_of(second_run, conditions, there, protocol=source)
        metrics += measured
        digests.append((second_run.inputs_hash, digest_of([[metric.key, dict(metric.values)] for metric in measured])))
    return StoredMetrics(tuple(metrics), tuple(digests))


def runs_of_other_protocols(study: Study, run: EvaluationRun) -> list[tuple[EvaluationRun, list[int]]]:
    """The newest succeeded run of each other protocol with all models of the study, and where these stand in it."""
    digests = [condition.model_digest for condition in conditions_of(study)]
    newest: dict[str, tuple[EvaluationRun, list[int]]] = {}
    comparable = EvaluationRun.objects.comparable_in(run.project_id)
    for second_run in succeeded_runs(comparable).filter(version=run.version_id).exclude(pk=run.pk):
        name = second_run.protocol["name"]
        if name == run.protocol["name"] or name in newest or second_run.folds:
            continue
        position_of = {
            algorithm.served.digest: position
            for position, algorithm in enumerate(measured_algorithms(second_run))
            if algorithm.served is not None
        }
        if all(digest in position_of for digest in digests):
            newest[name] = (second_run, [position_of[digest] for digest in digests])
    return [newest[name] for name in PROTOCOLS if name in newest]


def run_of_other_users(study: Study, run: EvaluationRun) -> tuple[EvaluationRun, list[int]] | None:
    """The newest run of the same protocol whose test users are strangers to the models, if those of `run` are not, or
    the reverse; and where the algorithms of the conditions stand in it. Its models were trained on other ratings.
    """
    wanted = [(condition.model.algorithm, condition.model.params) for condition in conditions_of(study)]
    comparable = EvaluationRun.objects.comparable_in(run.project_id)
    for second_run in succeeded_runs(comparable).filter(version=run.version_id, protocol=run.protocol, folds=[]):
        if (second_run.split["name"] == STRANGERS) == (run.split["name"] == STRANGERS):
            continue
        measured = [
            None if algorithm.model is None else (algorithm.model.algorithm, algorithm.model.params)
            for algorithm in measured_algorithms(second_run)
        ]
        if all(algorithm in measured for algorithm in wanted):
            return second_run, [measured.index(algorithm) for algorithm in wanted]
    return None


def _metrics_of(
    run: EvaluationRun, conditions: Sequence[str], positions: Sequence[int], *, protocol: str
) -> list[StoredMetric]:
    metrics = []
    # The metrics that the report tests have the names of its plan, and are resampled there.
    tested = tested_kinds(run.protocol)
    reported = (
        {} if protocol else {name: kind for kind, name in run_results.reported_metrics(run).items() if kind in tested}
    )
    by_user = set(run_results.metrics_by_user(run)) - set(reported)
    for length in (0, *run.profile_lengths):
        measured = run_results.model_rows(run, length)
        rows = [measured[position] for position in positions]
        for name in sorted({name for row in rows for name in row.cells if is_metric(name)}, key=_order):
            users = _users(run, name, length, measured) if name in by_user else None
            cells = {condition: row.cells.get(name) for condition, row in zip(conditions, rows, strict=True)}
            values = {condition: None if cell is None else cell.value for condition, cell in cells.items()}
            if reported.get(name) in ERRORS:
                errors = run_results.user_values(run, name, length, rows=measured).values[:, list(positions)]
                values = dict(zip(conditions, means_of_shared_users(errors), strict=True))
            metrics.append(
                StoredMetric(
                    name=reported.get(name, name),
                    n=run.n,
                    protocol=protocol,
                    profile_length=length,
                    values=values,
                    reasons={condition: cell.reason for condition, cell in cells.items() if cell and cell.reason},
                    users=None if users is None else users[:, list(positions)],
                )
            )
    return metrics


def _order(name: str) -> tuple[int, bool, str]:
    """Metrics in the order of their definitions, each before its variants."""
    key = _key(name)
    return list(METRICS).index(key), name != key, name


def _key(name: str) -> str:
    return name.partition("@")[0].partition("(")[0]


def is_metric(name: str) -> bool:
    """Whether a stored name is that of a metric on the test users, and not of another computation of one.

    Examples
    --------
    >>> [is_metric(name) for name in ("recall", "recall(unlisted=best)", "filled-slots", "development:ndcg@5")]
    [True, False, False, False]
    """
    return _key(name) in METRICS and not name.startswith(DEVELOPMENT) and not name.endswith(SAME_METRIC)


def _users(
    run: EvaluationRun, name: str, length: int, rows: Sequence[run_results.ModelRow]
) -> NDArray[np.float64] | None:
    """The values by user; None where the run did not store them."""
    try:
        return run_results.user_values(run, name, length, rows=rows).values
    except ParallaxError:
        return None


@dataclass(frozen=True)
class RepeatedMeasure:
    """What users add to a metric's hits, shape (n_repeats, n_users, n_conditions), and their cases, shape (n_repeats,
    n_users).
    """

    kind: str
    profile_length: int
    hits: NDArray[np.float64]
    cases: NDArray[np.float64]


@dataclass(frozen=True)
class Repetitions:
    """The run of a report and its repetitions; `digests` are of the inputs and the results of each."""

    seeds: tuple[int, ...]
    conditions: tuple[str, ...]
    measures: tuple[RepeatedMeasure, ...]
    digests: tuple[tuple[str, str], ...]


def repetitions_of(run: EvaluationRun, conditions: tuple[str, ...], positions: Sequence[int]) -> Repetitions | None:
    """Read the repetitions of a run for a study's conditions at all profile lengths; None where it has none."""
    repeats = repeats_of(run)
    if not repeats:
        return None
    runs, columns, names = [run, *repeats], list(positions), run_results.reported_metrics(run)
    measures = []
    for length in (0, *run.profile_lengths):
        for kind in tested_kinds(run.protocol):
            if kind not in names:
                continue
            values = repeated_values(runs, names[kind], length)
            measures.append(RepeatedMeasure(kind, length, values.hits[:, :, columns], values.cases))
    return Repetitions(
        seeds=tuple(each.seed for each in runs),
        conditions=conditions,
        measures=tuple(measures),
        digests=tuple((each.inputs_hash, results_digest(each)) for each in runs),
    )
