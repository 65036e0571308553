"""Which algorithms of a run differ, and which differ between two runs: paired tests by user, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import artefacts
from core.errors import ParallaxError
from core.provenance import rng_for
from evaluation.enums import RunStatus
from evaluation.metrics.registry import metric as named_metric
from evaluation.models import EvaluationRun
from evaluation.protocols.cases import Cases
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import model_rows, tested_metrics, user_values
from evaluation.selectors.runs import DEVELOPMENT, algorithms_of
from inference.bootstrap import percentile_intervals, user_means
from inference.corrections import Correction, adjust
from inference.paired import sign_test, sign_tests_between
from inference.partial_order import compact_letters
from inference.results import Interval, SignPair, SignTestResult, Undefined

RESAMPLES = 1000
ALPHA = 0.05
SAME = 1e-9  # a value and the mean over users that differ by less are one
HITS = ("recall", "fallout", "precision-raghavan", "f")
CORRECTIONS = ("holm", "bonferroni", "sidak")


@dataclass(frozen=True)
class Line:
    """An algorithm's value, its interval, and the letters it shares with those it is not told from."""

    label: str
    value: float | None
    interval: Interval | None
    letters: str
    n_users: int


@dataclass(frozen=True)
class Tested:
    """The algorithms of a run on one metric, best first, and every pair of them."""

    metric: str
    correction: str
    lines: tuple[Line, ...]
    pairs: tuple[SignPair, ...]


@dataclass(frozen=True)
class Difference:
    """An algorithm in two runs on one metric, over the users that both have (`difference` is A less B)."""

    label: str
    metric: str
    n_users: int
    a: float
    b: float
    difference: float
    interval: Interval
    n_a_better: int
    n_b_better: int
    p: float | None
    p_adjusted: float | None
    is_significant: bool


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side."""

    a: EvaluationRun
    b: EvaluationRun
    settings: Mapping[str, tuple[Any, Any]]  # those that differ
    has_same_cases: bool
    correction: str
    differences: tuple[Difference, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    not_compared: tuple[str, ...]  # metrics that one of the two does not have


def paired_tests(
    run: EvaluationRun, metric: str, profile_length: int = 0, correction: Correction = "holm"
) -> Tested | None:
    """Test every pair of a run's algorithms by user (two-sided sign tests); None with fewer than two.

    Raises
    ------
    ParallaxError
        The metric has no values by user, or the run none at this length.
    """
    found = user_values(run, metric, profile_length)
    by_label = {label: found.values[:, column] for column, label in enumerate(found.labels)}
    result = sign_tests_between(by_label, correction, ALPHA)
    if isinstance(result, Undefined):
        return None
    is_higher = _is_higher(metric)
    letters = compact_letters(result.locations, result.pairs, is_higher)
    measured = intervals(run, metric, profile_length)
    lines = [
        Line(label, *measured.get(label, (mean, None)), letters[label], result.n[label])
        for label, mean in result.locations.items()
    ]
    lines.sort(key=lambda line: (-1 if is_higher else 1) * result.locations[line.label])
    return Tested(metric, correction, tuple(lines), result.pairs)


def _is_higher(metric: str) -> bool:
    return named_metric(metric if "@" in metric or "(" in metric else f"{metric}@5").definition.direction != "lower"


def intervals(
    run: EvaluationRun, metric: str, profile_length: int = 0
) -> dict[str, tuple[float | None, Interval | None]]:
    """Give each algorithm's value at the run's N with a 95 % interval by the bootstrap over users.

    Users are resampled as wholes, with all their cases. So the four metrics of "one plus random", which are
    taken over cases, get theirs from resampled sums. A metric that is neither that nor a mean over users has
    no interval.
    """
    rows = model_rows(run, profile_length)
    values = {row.label: row.cells[metric].value for row in rows if metric in row.cells}
    if run.protocol["name"] == "one-plus-random":
        return {
            row.label: (values.get(row.label), _of_cases(run, row.users_digest, metric))
            for row in rows
            if metric in HITS
        }
    if metric not in tested_metrics(run):
        return {label: (value, None) for label, value in values.items()}
    found = user_values(run, metric, profile_length)
    lines = {}
    for column, label in enumerate(found.labels):
        known = found.values[:, column]
        known = known[~np.isnan(known)]
        value = values.get(label)
        is_mean = value is not None and len(known) > 0 and abs(float(known.mean()) - value) < SAME
        lines[label] = (value, _interval(known[:, None], run.seed)[0] if is_mean else None)
    return lines


def _of_cases(run: EvaluationRun, digest: str, metric: str) -> Interval | None:
    """The interval of a metric over cases: hits and cases of either kind are added up over resampled users."""
    arrays = artefacts.load("results", digest).arrays
    users = np.union1d(arrays["recall_users"], arrays["fallout_users"])
    sums = np.zeros((len(users), 4))
    for column, kind in ((0, "recall"), (2, "fallout")):
        rows = np.searchsorted(users, arrays[f"{kind}_users"])
        sums[rows, column + 1] = arrays[f"{kind}_n_cases"]
        sums[rows, column] = arrays[f"{kind}_values"][:, run.n - 1] * arrays[f"{kind}_n_cases"]
    means = user_means(sums, RESAMPLES, rng_for(run.seed, "intervals"))
    if isinstance(means, Undefined):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        recall, fallout = means[:, 0] / means[:, 1], means[:, 2] / means[:, 3]
        given = run.protocol["g"]
        g = means[:, 1] / (means[:, 1] + means[:, 3]) if given is None else given
        precision = recall * g / (recall * g + fallout * (1 - g))
        f = 2 * precision * recall / (precision + recall)
    resampled = {"recall": recall, "fallout": fallout, "precision-raghavan": precision, "f": f}[metric]
    if not np.isfinite(resampled).all():
        return None
    return percentile_intervals(resampled[:, None])[0]


def _interval(values: NDArray[np.float64], seed: int) -> tuple[Interval, ...]:
    means = user_means(values, RESAMPLES, rng_for(seed, "intervals"))
    return () if isinstance(means, Undefined) else percentile_intervals(means)


def compared(a: EvaluationRun, b: EvaluationRun, *, correction: Correction = "holm") -> Comparison:
    """Compare two runs, algorithm by algorithm, on the metrics that both have by user, at whole profiles.

    An algorithm is the same in both where key and parameters are. Each is tested over the users that both
    runs measured, by a two-sided sign test; all tests of the comparison are adjusted as one family.

    Raises
    ------
    ParallaxError
        Code ``compare.not_finished``, ``compare.other_dataset``, ``compare.nothing_in_common``.
    """
    for run in (a, b):
        if run.status != RunStatus.SUCCEEDED:
            raise ParallaxError(
                "compare.not_finished",
                f"Run {run.pk} is {run.get_status_display().lower()}; only runs that have succeeded can be compared.",
            )
    if a.version.dataset_id != b.version.dataset_id:
        raise ParallaxError(
            "compare.other_dataset",
            f"Run {a.pk} is on {a.version} and run {b.pk} on {b.version}: their users are not the same people.",
        )
    labels_a, labels_b = _labels(a), _labels(b)
    shared = [key for key in labels_a if key in labels_b]
    metrics = [metric for metric in tested_metrics(a) if metric in tested_metrics(b)]
    if not shared or not metrics:
        raise ParallaxError(
            "compare.nothing_in_common",
            f"Runs {a.pk} and {b.pk} have no {'metric' if shared else 'algorithm'} in common to compare by.",
        )
    found = [
        one
        for metric in metrics
        for one in _differences(a, b, metric, {labels_a[key]: labels_b[key] for key in shared})
    ]
    return Comparison(
        a=a,
        b=b,
        settings=_settings_that_differ(a, b),
        has_same_cases=a.cases_digest == b.cases_digest or _are_same(cases_of(a).cases, cases_of(b).cases),
        correction=correction,
        differences=tuple(_adjusted(found, correction)),
        only_a=tuple(label for key, label in labels_a.items() if key not in labels_b),
        only_b=tuple(label for key, label in labels_b.items() if key not in labels_a),
        not_compared=tuple(sorted(set(tested_metrics(a)) ^ set(tested_metrics(b)))),
    )


def _are_same(a: Cases, b: Cases) -> bool:
    """The same test items with the same candidates, however they came to be."""
    names = ("users", "items", "is_relevant")
    if not all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names):
        return False
    return a.bits is not None and b.bits is not None and np.array_equal(a.bits, b.bits)


def _labels(run: EvaluationRun) -> dict[tuple[str, str], str]:
    return {(one.algorithm, str(sorted(one.params.items()))): one.label for one in algorithms_of(run)}


def _differences(a: EvaluationRun, b: EvaluationRun, metric: str, labels: Mapping[str, str]) -> list[Difference]:
    of_a, of_b = user_values(a, metric), user_values(b, metric)
    _, rows_a, rows_b = np.intersect1d(of_a.user_ids, of_b.user_ids, return_indices=True)
    lines = []
    for label, other in labels.items():
        first = of_a.values[rows_a, of_a.labels.index(label)]
        second = of_b.values[rows_b, of_b.labels.index(other)]
        known = ~np.isnan(first - second)
        first, second = first[known], second[known]
        if not len(first):
            continue
        better = (first, second) if _is_higher(metric) else (second, first)
        result = sign_test(*better, "two-sided")
        lines.append(
            Difference(
                label=label,
                metric=metric,
                n_users=len(first),
                a=float(first.mean()),
                b=float(second.mean()),
                difference=float((first - second).mean()),
                interval=_interval((first - second)[:, None], a.seed)[0],
                n_a_better=result.n_a if isinstance(result, SignTestResult) else 0,
                n_b_better=result.n_b if isinstance(result, SignTestResult) else 0,
                p=result.p if isinstance(result, SignTestResult) else None,
                p_adjusted=None,
                is_significant=False,
            )
        )
    return lines


def _adjusted(found: list[Difference], correction: Correction) -> list[Difference]:
    """The same with p adjusted over all of them; what could not be tested stays without."""
    adjusted = iter(adjust([one.p for one in found if one.p is not None], correction))
    lines = []
    for one in found:
        p = None if one.p is None else next(adjusted)
        lines.append(replace(one, p_adjusted=p, is_significant=p is not None and p < ALPHA))
    return lines


def _settings_that_differ(a: EvaluationRun, b: EvaluationRun) -> dict[str, tuple[Any, Any]]:
    names = ("split", "protocol", "task", "reserve", "seed", "n", "profile_lengths", "threads")
    pairs = {name: (getattr(a, name), getattr(b, name)) for name in names}
    pairs["dataset version"] = (a.version.content_hash, b.version.content_hash)
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


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
    found = cases_of(run)
    if found.development is None:
        return None
    names = tested_metrics(run)
    cells = {row.label: row.cells[f"{DEVELOPMENT}{names[0]}"].value for row in model_rows(run)} if names else {}
    values = {label: value for label, value in cells.items() if value is not None}
    if not values:
        return None
    best = (max if _is_higher(names[0]) else min)(values, key=lambda label: values[label])
    n_tested = len(np.unique(found.cases.users))
    n_development = len(np.intersect1d(found.cases.users, found.development))
    return Choice(names[0], best, values[best], n_development, n_tested - n_development)


@lru_cache(maxsize=64)
def _kept_tests(run_id: int, inputs_hash: str, correction: Correction) -> tuple[Tested, ...]:
    """Results of a succeeded run do not change, and the bootstrap takes a second or two."""
    run = EvaluationRun.objects.select_related("version").get(pk=run_id)
    found = (paired_tests(run, metric, 0, correction) for metric in tested_metrics(run))
    return tuple(one for one in found if one is not None)


def run_tests_of(run: EvaluationRun, correction: Correction = "holm") -> tuple[Tested, ...]:
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
    return _kept_tests(run.pk, run.inputs_hash, correction)
