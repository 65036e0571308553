"""Comparison of two runs: paired tests over users, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.errors import ParallaxError
from core.provenance import rng_for
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun
from evaluation.protocols.cases import Cases
from evaluation.selectors.cases import cases_of
from evaluation.selectors.paired_tests import ALPHA, RESAMPLES, is_higher_better
from evaluation.selectors.results import metrics_by_user, user_values
from evaluation.selectors.runs import measured_algorithms
from inference.bootstrap import UserInterval, mean_interval
from inference.corrections import Correction, adjust
from inference.paired import sign_test
from inference.results import SignTestResult, Undefined


@dataclass(frozen=True)
class Difference:
    """An algorithm in two runs on one metric, over the users of both (`difference` is A minus B)."""

    label: str
    metric: str
    n_users: int
    a: float
    b: float
    difference: float
    interval: UserInterval
    n_a_better: int
    n_b_better: int
    p: float | None
    p_adjusted: float | None
    is_significant: bool


@dataclass(frozen=True)
class Comparison:
    """The comparison of two runs."""

    a: EvaluationRun
    b: EvaluationRun
    settings: Mapping[str, tuple[Any, Any]]  # settings that differ
    has_same_cases: bool
    correction: Correction
    differences: tuple[Difference, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    not_compared: tuple[str, ...]  # metrics of only one of the two


def compare_runs(a: EvaluationRun, b: EvaluationRun, *, correction: Correction = "holm") -> Comparison:
    """Compare two runs by algorithm, on the metrics with values by user in both, at whole profiles.

    Algorithms correspond if key and parameters are equal. Each is tested over the users of both runs by a two-sided
    sign test; all tests of the comparison are adjusted as one family. Raises ParallaxError with code
    ``compare.not_finished``, ``compare.other_dataset``, ``compare.nothing_in_common``.
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
            f"Run {a.pk} uses {a.version} and run {b.pk} uses {b.version}, so they have no users in common.",
        )
    labels_a, labels_b = _labels(a), _labels(b)
    shared = [key for key in labels_a if key in labels_b]
    metrics = [metric for metric in metrics_by_user(a) if metric in metrics_by_user(b)]
    if not shared or not metrics:
        what, of_a, of_b = (
            ("metric", metrics_by_user(a), metrics_by_user(b))
            if shared
            else ("algorithm", labels_a.values(), labels_b.values())
        )
        raise ParallaxError(
            "compare.nothing_in_common",
            f"Runs {a.pk} and {b.pk} have no {what} in common: run {a.pk} has {', '.join(of_a)}, "
            f"run {b.pk} {', '.join(of_b)}.",
        )
    differences = [
        difference
        for metric in metrics
        for difference in _differences(a, b, metric, {labels_a[key]: labels_b[key] for key in shared})
    ]
    return Comparison(
        a=a,
        b=b,
        settings=_settings_that_differ(a, b),
        has_same_cases=a.cases_digest == b.cases_digest
        or (not (a.folds or b.folds) and _are_same(cases_of(a).cases, cases_of(b).cases)),
        correction=correction,
        differences=tuple(_adjusted(differences, correction)),
        only_a=tuple(label for key, label in labels_a.items() if key not in labels_b),
        only_b=tuple(label for key, label in labels_b.items() if key not in labels_a),
        not_compared=tuple(sorted(set(metrics_by_user(a)) ^ set(metrics_by_user(b)))),
    )


def _are_same(a: Cases, b: Cases) -> bool:
    names = ("users", "items", "is_relevant")
    if not all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names):
        return False
    return a.bits is not None and b.bits is not None and np.array_equal(a.bits, b.bits)


def _labels(run: EvaluationRun) -> dict[tuple[str, str], str]:
    return {
        (algorithm.algorithm, str(sorted(algorithm.params.items()))): algorithm.label
        for algorithm in measured_algorithms(run)
    }


def _differences(a: EvaluationRun, b: EvaluationRun, metric: str, labels: Mapping[str, str]) -> list[Difference]:
    of_a, of_b = user_values(a, metric), user_values(b, metric)
    _, rows_a, rows_b = np.intersect1d(of_a.user_ids, of_b.user_ids, return_indices=True)
    lines = []
    for label, counterpart in labels.items():
        first = of_a.values[rows_a, of_a.labels.index(label)]
        second = of_b.values[rows_b, of_b.labels.index(counterpart)]
        known = ~np.isnan(first - second)
        first, second = first[known], second[known]
        better = (first, second) if is_higher_better(metric) else (second, first)
        result = sign_test(*better)
        interval = mean_interval(first - second, RESAMPLES, rng_for(a.seed, "intervals"))
        if isinstance(interval, Undefined):
            continue
        lines.append(
            Difference(
                label=label,
                metric=metric,
                n_users=len(first),
                a=float(first.mean()),
                b=float(second.mean()),
                difference=float((first - second).mean()),
                interval=interval,
                n_a_better=result.n_a if isinstance(result, SignTestResult) else 0,
                n_b_better=result.n_b if isinstance(result, SignTestResult) else 0,
                p=result.p if isinstance(result, SignTestResult) else None,
                p_adjusted=None,
                is_significant=False,
            )
        )
    return lines


def _adjusted(differences: list[Difference], correction: Correction) -> list[Difference]:
    """Adjust the p values of all differences as one family; untested differences remain without."""
    adjusted = iter(adjust([difference.p for difference in differences if difference.p is not None], correction))
    lines = []
    for difference in differences:
        p = None if difference.p is None else next(adjusted)
        lines.append(replace(difference, p_adjusted=p, is_significant=p is not None and p < ALPHA))
    return lines


def _settings_that_differ(a: EvaluationRun, b: EvaluationRun) -> dict[str, tuple[Any, Any]]:
    names = ("split", "protocol", "task", "reserve", "seed", "n", "profile_lengths", "threads")
    pairs = {name: (getattr(a, name), getattr(b, name)) for name in names}
    pairs["dataset version"] = (a.version.content_hash, b.version.content_hash)
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
