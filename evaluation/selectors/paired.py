"""Which algorithms of a run differ: paired tests by user, intervals from resampled users, the development choice."""

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
from evaluation.metrics.registry import metric as named_metric
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import metrics_by_user, model_rows, user_values
from evaluation.selectors.runs import DEVELOPMENT
from inference.corrections import Correction
from inference.friedman import FriedmanResult, friedman, nemenyi
from inference.hits_between import hit_tests_between
from inference.paired import sign_tests_between
from inference.partial_order import compact_letters
from inference.results import Pair, PairwiseResult, Undefined
from inference.signed_rank import signed_ranks_between
from inference.user_bootstrap import UserInterval, mean_interval, pooled_interval

RESAMPLES = 1000
ALPHA = 0.05
SAME = 1e-9  # a value and the mean over users that differ by less are one
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
    """An algorithm's value, its interval, and the letters it shares with those it is not told from."""

    label: str
    value: float | None
    interval: UserInterval | None
    letters: str
    n_users: int


@dataclass(frozen=True)
class Tested:
    """The algorithms of a run on one metric, best first, and every pair of them."""

    metric: str
    test: str
    correction: str
    lines: tuple[Line, ...]
    pairs: tuple[Pair, ...]
    together: FriedmanResult | None  # do the users rank the algorithms alike at all
    is_lower_better: bool


def is_higher_better(metric: str) -> bool:
    """Whether a metric of a run is better the higher it is."""
    return named_metric(metric if "@" in metric or "(" in metric else f"{metric}@5").definition.direction != "lower"


def paired_tests(
    run: EvaluationRun, metric: str, profile_length: int = 0, *, test: str = "sign", correction: Correction = "holm"
) -> Tested | None:
    """Test every pair of a run's algorithms by user; None with fewer than two.

    Nemenyi's test adjusts for its pairs itself, so it takes no correction. Tests of hits are of "one plus random"
    alone, and McNemar's gives None as well where a user owns several cases, or a hit is a fraction.

    Raises
    ------
    ParallaxError
        The metric has no values by user, or the run none at this length; a test that is not of its protocol.
    """
    found = user_values(run, metric, profile_length)
    by_label = {label: found.values[:, column] for column, label in enumerate(found.labels)}
    if test in HIT_TESTS:
        result = _hits_tested(run, metric, profile_length, by_label, test, correction)
    else:
        result = _tested(by_label, test, correction)
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
    lines.sort(key=lambda line: (-1 if is_higher else 1) * (means[line.label] if line.value is None else line.value))
    together = friedman(by_label)
    return Tested(
        metric=metric,
        test=test,
        correction=correction,
        lines=tuple(lines),
        pairs=tuple(result.pairs),
        together=together if isinstance(together, FriedmanResult) else None,
        is_lower_better=not is_higher,
    )


def _tested(values: Values, test: str, correction: Correction) -> PairwiseResult | Undefined:
    if test == "nemenyi":
        return nemenyi(values, ALPHA)
    between = signed_ranks_between if test == "signed-rank" else sign_tests_between
    return between(values, correction, ALPHA)


def kinds_of_test(run: EvaluationRun) -> dict[str, str]:
    """Give the tests that apply to a run, in words: those of hits to "one plus random" alone."""
    return {**TESTS, **HIT_TESTS} if run.protocol["name"] == "one-plus-random" else dict(TESTS)


def _hits_tested(
    run: EvaluationRun, metric: str, profile_length: int, values: Values, test: str, correction: Correction
) -> PairwiseResult | Undefined:
    if test not in kinds_of_test(run):
        raise ParallaxError(
            "run.no_such_test",
            f"Run {run.pk} was measured by {run.protocol['name']}, which has no hits of single cases to test. Choose "
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
    """Give each algorithm's value at the run's N with a 95 % interval by the bootstrap over users.

    Users are resampled as wholes, with all their cases: the four metrics of "one plus random", which are taken over
    cases, get theirs from resampled sums. A metric that is neither that nor a mean over users has no interval.
    """
    rows = model_rows(run, profile_length)
    values = {row.label: row.cells[metric].value for row in rows if metric in row.cells}
    if run.protocol["name"] == "one-plus-random":
        return {
            row.label: (values[row.label], _of_cases(run, row.users_digest, metric)) for row in rows if metric in HITS
        }
    if metric not in metrics_by_user(run):
        return {label: (value, None) for label, value in values.items()}
    found = user_values(run, metric, profile_length)
    lines = {}
    for column, label in enumerate(found.labels):
        interval = mean_interval(found.values[:, column], RESAMPLES, rng_for(run.seed, "intervals"))
        value = values.get(label)
        is_mean = isinstance(interval, UserInterval) and value is not None and abs(interval.value - value) < SAME
        lines[label] = (value, interval if is_mean and isinstance(interval, UserInterval) else None)
    return lines


def _of_cases(run: EvaluationRun, digest: str, metric: str) -> UserInterval | None:
    """The interval of a metric over cases: hits and cases of either kind are added up over resampled users."""
    arrays = artefacts.load("results", digest).arrays
    users = np.union1d(arrays["recall_users"], arrays["fallout_users"])
    parts = np.zeros((len(users), 4))
    for column, kind in ((0, "recall"), (2, "fallout")):
        rows = np.searchsorted(users, arrays[f"{kind}_users"])
        parts[rows, column + 1] = arrays[f"{kind}_n_cases"]
        parts[rows, column] = arrays[f"{kind}_values"][:, run.n - 1] * arrays[f"{kind}_n_cases"]
    g = run.protocol["g"]
    statistics: dict[str, Callable[[Any], Any]] = {
        "recall": resampling.recall_of_sums,
        "fallout": resampling.fallout_of_sums,
        "precision-raghavan": resampling.precision_of_sums(g),
        "f": resampling.f_of_sums(g),
    }
    found = pooled_interval(parts, statistics[metric], RESAMPLES, rng_for(run.seed, "intervals"))
    return found if isinstance(found, UserInterval) else None


@dataclass(frozen=True)
class Choice:
    """What was chosen on the development users of a run, and how many users are on either side."""

    metric: str
    label: str
    value: float
    n_development: int
    n_evaluation: int


def chosen_on_development(run: EvaluationRun) -> Choice | None:
    """Give the algorithm that is best on the development users, by the run's first metric; None without such users."""
    if run.folds:
        return None
    found = cases_of(run)
    if found.development is None:
        return None
    names = metrics_by_user(run)
    cells = {row.label: row.cells[f"{DEVELOPMENT}{names[0]}"].value for row in model_rows(run)} if names else {}
    values = {label: value for label, value in cells.items() if value is not None}
    if not values:
        return None
    best = (max if is_higher_better(names[0]) else min)(values, key=lambda label: values[label])
    n_tested = len(np.unique(found.cases.users))
    n_development = len(np.intersect1d(found.cases.users, found.development))
    return Choice(names[0], best, values[best], n_development, n_tested - n_development)


@lru_cache(maxsize=64)
def _kept_tests(run_id: int, inputs_hash: str, test: str, correction: Correction) -> tuple[Tested, ...]:
    """Results of a succeeded run do not change, and the bootstrap takes a second or two."""
    run = EvaluationRun.objects.select_related("version").get(pk=run_id)
    found = (paired_tests(run, metric, test=test, correction=correction) for metric in metrics_by_user(run))
    return tuple(one for one in found if one is not None)


def run_tests_of(run: EvaluationRun, *, test: str = "sign", correction: Correction = "holm") -> tuple[Tested, ...]:
    """Give the paired tests of a run on every metric that has values by user, at whole profiles.

    Raises
    ------
    ParallaxError
        Code ``run.no_results``: the run has none.
    """
    if run.status != RunStatus.SUCCEEDED:
        raise ParallaxError(
            "run.no_results", f"Run {run.pk} has no results yet: it is {run.get_status_display().lower()}."
        )
    return _kept_tests(run.pk, run.inputs_hash, test, correction)
