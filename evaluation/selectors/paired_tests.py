"""Pairwise comparisons of a run's algorithms: paired tests, bootstrap intervals, and the development choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import artefacts
from core.errors import ParallaxError
from core.provenance import rng_for
from evaluation.enums import RunStatus
from evaluation.metrics import resampling
from evaluation.metrics.registry import direction_of
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import metrics_by_user, model_rows, no_results, table_rows, user_values
from evaluation.selectors.runs import DEVELOPMENT
from evaluation.sorting import DECIMALS
from inference.bootstrap import UserInterval, mean_interval, pooled_interval
from inference.corrections import Correction
from inference.paired import FriedmanResult, friedman, nemenyi, sign_tests_between, signed_ranks_between
from inference.paired_hits import hit_tests_between
from inference.partial_order import compact_letters
from inference.results import Pair, PairwiseResult, Undefined

RESAMPLES = 1000
ALPHA = 0.05
SAME = 1e-9  # tolerance for comparing a value with the mean over users
CORRECTIONS: Mapping[Correction, str] = {"holm": "Holm", "bonferroni": "Bonferroni", "sidak": "Šidák"}
TESTS: Mapping[str, str] = {
    "sign": "sign tests",
    "signed-rank": "Wilcoxon signed rank tests",
    "nemenyi": "Nemenyi's test after Friedman's",
}
HIT_TESTS: Mapping[str, str] = {
    "sign-flip": "sign flips of whole users, over cases",
    "mcnemar": "McNemar's tests",
}
HITS = ("recall", "fallout", "precision-raghavan", "f")
Values = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Line:
    """An algorithm's value, interval and compact letters; algorithms sharing a letter do not differ significantly."""

    label: str
    value: float | None
    interval: UserInterval | None
    letters: str
    n_users: int


@dataclass(frozen=True)
class PairedTests:
    """The algorithms of a run on one metric, best first, with all pairwise tests."""

    metric: str
    test: str
    correction: str
    lines: tuple[Line, ...]
    pairs: tuple[Pair, ...]
    together: FriedmanResult | None  # the omnibus test
    is_lower_better: bool


def is_higher_better(metric: str) -> bool:
    """Whether higher values of a metric are better."""
    return direction_of(metric) != "lower"


def paired_tests(
    run: EvaluationRun, metric: str, profile_length: int = 0, *, test: str = "sign", correction: Correction = "holm"
) -> PairedTests | None:
    """Test every pair of a run's algorithms over users; None with fewer than two.

    Nemenyi's test includes its own adjustment, so no correction applies. Tests of hits require "one plus random";
    McNemar's test is also None if a user has several cases or a hit is a fraction. Raises ParallaxError when the metric
    has no values by user, the length was not measured, or the test does not suit the protocol.
    """
    values = user_values(run, metric, profile_length, rows=table_rows(run, profile_length))
    by_label = {label: values.values[:, column] for column, label in enumerate(values.labels)}
    if test in HIT_TESTS:
        result = _compare_hits(run, metric, profile_length, by_label, test=test, correction=correction)
    elif test == "nemenyi":
        result = nemenyi(by_label, ALPHA)
    else:
        between = signed_ranks_between if test == "signed-rank" else sign_tests_between
        result = between(by_label, correction, ALPHA)
    if isinstance(result, Undefined):
        return None
    is_higher = is_higher_better(metric)
    means = (
        result.locations
        if test in HIT_TESTS
        else {label: float(np.nanmean(by_label[label])) for label in result.locations}
    )
    letters = compact_letters(means, result.pairs, is_higher)
    measured = intervals(run, metric, profile_length)
    lines = [
        Line(label, *measured.get(label, (mean, None)), letters[label], result.n[label])
        for label, mean in means.items()
    ]
    sign = -1 if is_higher else 1
    # As printed: algorithms with the same printed value stay in the order of the run.
    lines.sort(key=lambda line: sign * round(means[line.label] if line.value is None else line.value, DECIMALS))
    together = friedman(by_label)
    return PairedTests(
        metric=metric,
        test=test,
        correction=correction,
        lines=tuple(lines),
        pairs=tuple(result.pairs),
        together=together if isinstance(together, FriedmanResult) else None,
        is_lower_better=not is_higher,
    )


def kinds_of_test(run: EvaluationRun) -> dict[str, str]:
    """Return the tests that apply to a run, with labels; tests of hits require "one plus random"."""
    return {**TESTS, **HIT_TESTS} if run.protocol["name"] == "one-plus-random" else dict(TESTS)


def _compare_hits(
    run: EvaluationRun, metric: str, profile_length: int, values: Values, *, test: str, correction: Correction
) -> PairwiseResult | Undefined:
    if test not in kinds_of_test(run):
        raise ParallaxError(
            "run.no_such_test",
            f"Run {run.pk} was measured by {run.protocol['name']}, which has no hits of single cases. Choose "
            f"one of: {', '.join(TESTS)}.",
        )
    name = metric.partition("@")[0]
    arrays = artefacts.load("results", model_rows(run, profile_length)[0].users_digest).arrays
    users = np.union1d(arrays["recall_users"], arrays["fallout_users"])
    n_cases = np.zeros(len(users), dtype=np.int64)
    n_cases[np.searchsorted(users, arrays[f"{name}_users"])] = arrays[f"{name}_n_cases"]
    rng = rng_for(run.seed, f"{metric}:sign-flips")
    return hit_tests_between(values, n_cases, test, correction, ALPHA, rng=rng)  # type: ignore[arg-type]  # of HIT_TESTS


def intervals(
    run: EvaluationRun, metric: str, profile_length: int = 0
) -> dict[str, tuple[float | None, UserInterval | None]]:
    """Return each algorithm's value at the run's N with a 95% CI from a bootstrap over users.

    Users are resampled with all their cases. The four metrics of "one plus random", which are computed over cases, use
    resampled sums. Metrics that are neither these nor means over users have no interval.
    """
    rows = table_rows(run, profile_length)
    values = {row.label: row.cells[metric].value for row in rows if metric in row.cells}
    if run.protocol["name"] == "one-plus-random":
        return {
            row.label: (
                values[row.label],
                case_interval(
                    artefacts.load("results", row.users_digest).arrays,
                    metric,
                    n=run.n,
                    g=run.protocol["g"],
                    rng=rng_for(run.seed, "intervals"),
                ),
            )
            for row in rows
            if metric in HITS
        }
    if metric not in metrics_by_user(run):
        return {label: (value, None) for label, value in values.items()}
    by_user = user_values(run, metric, profile_length, rows=rows)
    lines = {}
    for column, label in enumerate(by_user.labels):
        value = values.get(label)
        rng = rng_for(run.seed, "intervals")
        lines[label] = (value, interval_of_mean(value, by_user.values[:, column], rng=rng))
    return lines


def interval_of_mean(
    value: float | None, user_values: NDArray[np.float64], *, rng: np.random.Generator
) -> UserInterval | None:
    """Return the bootstrap interval of a metric's value if it is the mean of the values by user, otherwise None."""
    interval = mean_interval(user_values, RESAMPLES, rng)
    is_mean = isinstance(interval, UserInterval) and value is not None and abs(interval.value - value) < SAME
    return interval if is_mean and isinstance(interval, UserInterval) else None


def case_interval(
    arrays: Mapping[str, NDArray[Any]], metric: str, *, n: int, g: float | None, rng: np.random.Generator
) -> UserInterval | None:
    """Return the interval of a metric over cases, from sums of hits and cases over resampled users. `metric` is one of
    `HITS`; `arrays` are those of `evaluation.protocols.outcomes` under one-plus-random.
    """
    users = np.union1d(arrays["recall_users"], arrays["fallout_users"])
    parts = np.zeros((len(users), 4))
    for column, kind in ((0, "recall"), (2, "fallout")):
        rows = np.searchsorted(users, arrays[f"{kind}_users"])
        parts[rows, column + 1] = arrays[f"{kind}_n_cases"]
        parts[rows, column] = arrays[f"{kind}_values"][:, n - 1] * arrays[f"{kind}_n_cases"]
    statistics: dict[str, Callable[[Any], Any]] = {
        "recall": resampling.recall_of_sums,
        "fallout": resampling.fallout_of_sums,
        "precision-raghavan": resampling.precision_of_sums(g),
        "f": resampling.f_of_sums(g),
    }
    interval = pooled_interval(parts, statistics[metric], RESAMPLES, rng)
    return interval if isinstance(interval, UserInterval) else None


@dataclass(frozen=True)
class Choice:
    """The algorithm chosen on the development users of a run, with the sizes of both user groups."""

    metric: str
    label: str
    value: float
    n_development: int
    n_evaluation: int


def chosen_on_development(run: EvaluationRun) -> Choice | None:
    """Return the best algorithm on the development users by the run's first metric; None without such users."""
    if run.folds:
        return None
    run_cases = cases_of(run)
    if run_cases.development is None:
        return None
    names = metrics_by_user(run)
    cells = {row.label: row.cells[f"{DEVELOPMENT}{names[0]}"].value for row in model_rows(run)} if names else {}
    values = {label: value for label, value in cells.items() if value is not None}
    if not values:
        return None
    best = (max if is_higher_better(names[0]) else min)(values, key=lambda label: values[label])
    n_tested = len(np.unique(run_cases.cases.users))
    n_development = len(np.intersect1d(run_cases.cases.users, run_cases.development))
    return Choice(names[0], best, values[best], n_development, n_tested - n_development)


@lru_cache(maxsize=64)
def _cached_tests(run_id: int, state: tuple[str, ...], test: str, correction: Correction) -> tuple[PairedTests, ...]:
    # The results of a succeeded run do not change.
    run = EvaluationRun.objects.select_related("version").get(pk=run_id)
    results = (paired_tests(run, metric, test=test, correction=correction) for metric in metrics_by_user(run))
    return tuple(result for result in results if result is not None)


def run_tests_of(run: EvaluationRun, *, test: str = "sign", correction: Correction = "holm") -> tuple[PairedTests, ...]:
    """Return the paired tests of a run for every metric with values by user, at whole profiles. Raises ParallaxError
    with code ``run.no_results``: the run has no results.
    """
    if run.status != RunStatus.SUCCEEDED:
        raise no_results(run)
    state = (run.inputs_hash, *run.external_scores.values_list("users_digest", flat=True))
    return _cached_tests(run.pk, state, test, correction)
