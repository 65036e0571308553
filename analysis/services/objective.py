"""What a run measured of the same models: intervals over users, sign tests between every pair, and orders."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.enums import Metric
from analysis.selectors.inputs import Measured
from analysis.services.rankings import ALPHA, RESAMPLES, Ranking, told, told_order, uncertainty
from inference.bootstrap import percentile_intervals, user_means
from inference.paired import sign_tests_between
from inference.partial_order import partial_order
from inference.results import Undefined

KINDS = ("recall", "fallout")
Floats = NDArray[np.float64]


def study_measured(
    measured: Measured,
    n: int,
    generality: float | None,
    rng: np.random.Generator,
    *,
    alpha: float = ALPHA,
    resamples: int = RESAMPLES,
) -> tuple[dict[str, Any], dict[Metric, Ranking]]:
    """Intervals and tests of one profile length; give the results and the ranking by each metric.

    Users are resampled whole, with all their cases of both kinds: recall is hits over cases, so a user with
    many cases weighs as much as in the printed value.
    """
    resampled = _resampled(measured, rng, resamples)
    intervals = _intervals(measured, resampled, generality)
    rankings: dict[Metric, Ranking] = {}
    tests: dict[str, Any] = {}
    for kind in KINDS:
        metric = Metric(kind, measured.length, n)
        values = {name: value for name, value in measured.values[kind].items() if value is not None}
        by_user = {
            name: measured.users[kind][:, column] for column, name in enumerate(measured.conditions) if name in values
        }
        pairs = sign_tests_between(by_user, alpha=alpha)
        order = partial_order(
            values, () if isinstance(pairs, Undefined) else pairs, higher_is_better=metric.higher_is_better
        )
        drawn = resampled.get(kind)
        rankings[metric] = Ranking(values, order, metric.higher_is_better, drawn if values else None)
        tests[kind] = {
            "n_users": int(np.count_nonzero(measured.cases[kind])),
            "n_cases": int(measured.cases[kind].sum()),
            "sign_tests": told(pairs),
            "order": told_order(order, pairs),
            "bootstrap": uncertainty(rankings[metric]),
        }
    result = {
        "profile_length": measured.length,
        "alpha": alpha,
        "conditions": list(measured.conditions),
        "table": [
            {
                "condition": name,
                **{kind: measured.values[kind][name] for kind in ("recall", "fallout", "precision", "f")},
                "intervals": intervals[name],
            }
            for name in measured.conditions
        ],
        "served": {key: dict(values) for key, values in measured.served.items()},
        "by_n": {kind: {name: list(line) for name, line in lines.items()} for kind, lines in measured.by_n.items()},
        **tests,
    }
    return result, rankings


def _resampled(measured: Measured, rng: np.random.Generator, resamples: int) -> dict[str, Floats]:
    """Recall and fallout of every resample of users: sums of hits over sums of cases, of the same users."""
    k = len(measured.conditions)
    columns = []
    for kind in KINDS:
        cases = measured.cases[kind].astype(np.float64)
        columns += [np.nan_to_num(measured.users[kind]) * cases[:, None], cases[:, None]]
    drawn = user_means(np.hstack(columns), resamples, rng)
    if isinstance(drawn, Undefined):
        return {}
    found = {}
    for place, kind in enumerate(KINDS):
        hits, cases = drawn[:, place * (k + 1) : place * (k + 1) + k], drawn[:, place * (k + 1) + k]
        has_cases = cases > 0
        # A resample without a case of the kind has no value of it; with the few there may be, none is drawn.
        if has_cases.any():
            found[kind] = np.clip(hits[has_cases] / cases[has_cases, None], 0.0, 1.0)
    return found


def _intervals(
    measured: Measured, resampled: dict[str, Floats], generality: float | None
) -> dict[str, dict[str, list[float] | None]]:
    """95 % percentile intervals of recall, fallout, precision and F of each condition."""
    drawn: dict[str, Floats] = dict(resampled)
    recall, fallout = resampled.get("recall"), resampled.get("fallout")
    if recall is not None and fallout is not None and generality is not None and len(recall) == len(fallout):
        retrieved = recall * generality + fallout * (1 - generality)
        is_some = retrieved > 0
        # Where nothing was retrieved precision has no value, and F is 0, its limit.
        drawn["precision"] = np.divide(recall * generality, retrieved, out=np.full_like(recall, np.nan), where=is_some)
        together = np.nan_to_num(drawn["precision"]) + recall
        drawn["f"] = np.divide(
            2 * np.nan_to_num(drawn["precision"]) * recall, together, out=np.zeros_like(recall), where=together > 0
        )
    found: dict[str, dict[str, list[float] | None]] = {}
    for column, name in enumerate(measured.conditions):
        found[name] = {}
        for kind in ("recall", "fallout", "precision", "f"):
            values = drawn[kind][:, column] if kind in drawn and measured.values[kind][name] is not None else None
            values = None if values is None else values[~np.isnan(values)]
            if values is None or not len(values):
                found[name][kind] = None
                continue
            (interval,) = percentile_intervals(values[:, None])
            found[name][kind] = [interval.low, interval.high]
    return found
