"""The objective side: intervals over users, pairs and orders, effect sizes by user, and repetitions pooled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from analysis.enums import Metric
from analysis.read.inputs import Measured
from analysis.read.metrics import RepeatedMeasure, Repetitions
from analysis.results import objective as results
from analysis.results.rankings import ALPHA, RESAMPLES, Ranking, order_result
from core.provenance import rng_for
from evaluation.reported_kinds import ERRORS, HITS, LOWER_IS_BETTER
from inference.bootstrap import percentile_intervals, user_means
from inference.case_rates import RateLimits, rate_limits
from inference.pair_decisions import offline_pairs, within_bounds
from inference.paired import sign_effect, sign_tests_between
from inference.partial_order import partial_order
from inference.rank_sets import rank_sets
from inference.repeats import repeated_ratios
from inference.results import Interval, SignTests, Undefined

Floats = NDArray[np.float64]
_NO_LISTS = Undefined("Rating prediction makes no lists.")
_NOT_MEASURED = results.MetricTests(
    n_users=0,
    n_cases=0,
    sign_tests=_NO_LISTS,
    pairs=_NO_LISTS,
    order=order_result(partial_order({}, ()), _NO_LISTS),
)


def study_measured(
    measured: Measured,
    n: int,
    generality: float | None,
    rng: np.random.Generator,
    *,
    alpha: float = ALPHA,
    resamples: int = RESAMPLES,
) -> tuple[results.ProfileLength, dict[Metric, Ranking]]:
    """Intervals and tests of one profile length; returns the results and the ranking by each metric.

    Users are resampled whole, with all their cases of both kinds: pooled recall is hits over cases, so a user with
    many cases weighs as much as in the printed value; in means over users every user weighs the same.
    """
    resampled = _resampled(measured, rng, resamples)
    intervals = metric_intervals(measured, resampled, generality)
    rankings: dict[Metric, Ranking] = {}
    tests: dict[str, results.MetricTests] = {}
    for kind in measured.tested:
        metric = Metric(kind, measured.length, n)
        values = {name: value for name, value in measured.values[kind].items() if value is not None}
        by_user = {
            name: measured.users[kind][:, column] for column, name in enumerate(measured.conditions) if name in values
        }
        pairs = offline_pairs(by_user, measured.cases[kind], alpha=alpha)
        if not isinstance(pairs, Undefined):
            pairs = within_bounds(pairs, measured.bounds.get(kind, {}))
        order = partial_order(
            values, () if isinstance(pairs, Undefined) else pairs, higher_is_better=metric.higher_is_better
        )
        rankings[metric] = Ranking(values, pairs, order, metric.higher_is_better)
        tests[kind] = results.MetricTests(
            n_users=int(np.count_nonzero(measured.cases[kind])),
            n_cases=int(measured.cases[kind].sum()),
            sign_tests=sign_tests_between(by_user, alpha=alpha),
            pairs=pairs,
            order=order_result(order, pairs),
        )
    result = results.ProfileLength(
        profile_length=measured.length,
        alpha=alpha,
        conditions=measured.conditions,
        table=tuple(
            results.MetricValues(
                condition=name,
                **{kind: measured.values[kind][name] for kind in results.KINDS},
                errors={kind: measured.values[kind][name] for kind in measured.tested if kind in ERRORS},
                intervals=intervals[name],
            )
            for name in measured.conditions
        ),
        served={key: dict(values) for key, values in measured.served.items()},
        by_n={kind: dict(lines) for kind, lines in measured.by_n.items()},
        recall=tests.get("recall", _NOT_MEASURED),
        fallout=tests.get("fallout", _NOT_MEASURED),
        errors={kind: result for kind, result in tests.items() if kind in ERRORS},
        is_by_user=measured.is_by_user,
        rare=rare_rates(measured),
        by_popularity=measured.by_popularity,
        coverage=dict(measured.coverage),
        bounds={kind: dict(values) for kind, values in measured.bounds.items()},
    )
    return result, rankings


def _resampled(measured: Measured, rng: np.random.Generator, resamples: int) -> dict[str, Floats]:
    """Recall and fallout of every resample of users: sums of hits over sums of cases, of the same users; of means over
    users, precision and F as well.
    """
    k = len(measured.conditions)
    columns = []
    for kind in measured.users:
        cases = measured.cases[kind].astype(np.float64)
        columns += [np.nan_to_num(measured.users[kind]) * cases[:, None], cases[:, None]]
    draws = user_means(np.hstack(columns), resamples, rng)
    if isinstance(draws, Undefined):
        return {}
    resampled = {}
    for index, kind in enumerate(measured.users):
        first = index * (k + 1)
        hits, cases = draws[:, first : first + k], draws[:, first + k]
        has_cases = cases > 0
        # A resample without a case of the kind has no value of it; with the few there may be, none is drawn.
        if has_cases.any():
            ratios = hits[has_cases] / cases[has_cases, None]
            resampled[kind] = ratios if kind in ERRORS else np.clip(ratios, 0.0, 1.0)
    return resampled


def metric_intervals(
    measured: Measured, resampled: dict[str, Floats], generality: float | None
) -> dict[str, dict[str, results.Bounds | None]]:
    """95% intervals of recall, fallout, precision and F of each condition: exact limits of rates, else percentiles.

    Pooled precision and F have intervals where every resample has cases of both kinds: their values then belong to the
    same users.
    """
    draws: dict[str, Floats] = dict(resampled)
    recall, fallout = resampled.get("recall"), resampled.get("fallout")
    if recall is not None and fallout is not None and generality is not None and len(recall) == len(fallout):
        draws["precision"], draws["f"] = precision_and_f(recall, fallout, generality)
    exact = {
        kind: limits
        for kind in (() if measured.is_by_user else HITS)
        if kind in measured.users and not isinstance(limits := _exact_limits(measured, kind), Undefined)
    }
    return {
        name: {
            kind: (exact[kind].low[column], exact[kind].high[column])
            if kind in exact
            else _bounds(draws[kind][:, column] if kind in draws and measured.values[kind][name] is not None else None)
            for kind in (ERRORS if measured.tested == ERRORS else results.KINDS)
        }
        for column, name in enumerate(measured.conditions)
    }


def _exact_limits(measured: Measured, kind: str) -> RateLimits | Undefined:
    cases = measured.cases[kind].astype(np.float64)
    return rate_limits(np.nan_to_num(measured.users[kind]) * cases[:, None], cases)


def rare_rates(measured: Measured) -> dict[str, tuple[str, ...]]:
    """The conditions whose rate rests on fewer than 10 events or non-events, by metric."""
    rare: dict[str, tuple[str, ...]] = {}
    for kind in HITS if not measured.is_by_user and measured.tested == HITS else ():
        limits = _exact_limits(measured, kind)
        if not isinstance(limits, Undefined):
            rare[kind] = tuple(compress(measured.conditions, limits.is_rare))
    return rare


def precision_and_f(recall: Floats, fallout: Floats, generality: float) -> tuple[Floats, Floats]:
    """Precision and F of resampled recall and fallout, all of one shape; NaN where nothing was retrieved.

    F is then 0, its limit.
    """
    retrieved = recall * generality + fallout * (1 - generality)
    precision = np.divide(recall * generality, retrieved, out=np.full_like(recall, np.nan), where=retrieved > 0)
    total = np.nan_to_num(precision) + recall
    f = np.divide(2 * np.nan_to_num(precision) * recall, total, out=np.zeros_like(recall), where=total > 0)
    return precision, f


def _bounds(draws: Floats | None) -> results.Bounds | None:
    defined = None if draws is None else draws[~np.isnan(draws)]
    if defined is None or not len(defined):
        return None
    (interval,) = percentile_intervals(defined[:, None])
    return interval.low, interval.high


def offline_effects(
    lengths: Sequence[results.ProfileLength], kinds: Sequence[str]
) -> tuple[results.OfflineMetric, ...]:
    """Effect sizes of every pair by these metrics at every profile length; those without sign tests are left out."""
    metrics = []
    for length in lengths:
        for kind in kinds:
            tests = length.tests(kind)
            if isinstance(tests.sign_tests, Undefined) or tests.pairs is None or isinstance(tests.pairs, Undefined):
                continue
            of_pair = {
                (pair.a, pair.b): (
                    pair.difference,
                    None if pair.ci_low is None or pair.ci_high is None else Interval(pair.ci_low, pair.ci_high),
                )
                for pair in tests.pairs.pairs
            }
            differences = [of_pair[pair.a, pair.b] for pair in tests.sign_tests.pairs]
            effects = sign_effects(tests.sign_tests, differences)
            metrics.append(results.OfflineMetric(kind=kind, profile_length=length.profile_length, effects=effects))
    return tuple(metrics)


def sign_effects(
    tests: SignTests | Undefined, differences: Iterable[tuple[float, Interval | None]]
) -> tuple[results.OfflineEffect, ...]:
    """The effect size of every sign test beside the difference of the values, in the order of the pairs."""
    if isinstance(tests, Undefined):
        return ()
    return tuple(
        results.OfflineEffect(
            a=pair.a,
            b=pair.b,
            effect=sign_effect(pair.n_a, pair.n_b, pair.n_ties),
            difference=difference,
            interval=interval,
        )
        for pair, (difference, interval) in zip(tests.pairs, differences, strict=True)
    )


def pooled_repeats(
    repetitions: Repetitions | None, seed: int, *, alpha: float = ALPHA, resamples: int = RESAMPLES
) -> results.Repeats | None:
    """Pool every metric over the repetitions; None where there are none."""
    if repetitions is None:
        return None
    metrics = []
    for measure in repetitions.measures:
        stream = rng_for(seed, "report", f"repeats-{measure.kind}-{measure.profile_length}")
        result = _pooled(measure, repetitions.conditions, stream, alpha=alpha, resamples=resamples)
        metrics.append(results.RepeatedMetric(kind=measure.kind, profile_length=measure.profile_length, result=result))
    return results.Repeats(seeds=repetitions.seeds, metrics=tuple(metrics))


def _pooled(
    measure: RepeatedMeasure, names: tuple[str, ...], rng: np.random.Generator, *, alpha: float, resamples: int
) -> results.PooledMetric | Undefined:
    ratios = repeated_ratios(measure.hits, measure.cases)
    if isinstance(ratios, Undefined):
        return ratios
    is_higher_better = measure.kind not in LOWER_IS_BETTER
    # 1 the best; equal values share the better rank.
    better = ratios.by_repetition if is_higher_better else -ratios.by_repetition
    ranks = 1 + (better[:, None, :] > better[:, :, None]).sum(axis=2)
    tests = sign_tests_between(_values_by_user(measure, names), alpha=alpha)
    unit = dict(zip(names, np.eye(len(names)), strict=True))
    pairs = () if isinstance(tests, Undefined) else tests.pairs
    differences = [ratios.estimate(unit[pair.a] - unit[pair.b]) for pair in pairs]
    return results.PooledMetric(
        n_users=ratios.n_users,
        rows=tuple(
            results.RepeatedCondition(
                condition=name,
                pooled=ratios.estimate(unit[name]),
                by_repetition=tuple(values.tolist()),
                sd=float(values.std(ddof=1)),
                ranks=(int(own.min()), int(own.max())),
            )
            for name, values, own in zip(names, ratios.by_repetition.T, ranks.T, strict=True)
        ),
        sign_tests=tests,
        effects=sign_effects(tests, ((estimate.value, estimate.interval) for estimate in differences)),
        rank_sets=rank_sets(
            dict(zip(names, ratios.values.tolist(), strict=True)),
            ratios.draws(resamples, rng),
            higher_is_better=is_higher_better,
            confidence=1 - alpha,
        ),
        same_ranking=int((ranks == ranks[0]).all(axis=1).sum()),
    )


def _values_by_user(measure: RepeatedMeasure, names: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
    cases = measure.cases.sum(axis=0)
    has_cases = cases > 0
    values = measure.hits.sum(axis=0)[has_cases] / cases[has_cases, None]
    return {name: values[:, column] for column, name in enumerate(names)}
