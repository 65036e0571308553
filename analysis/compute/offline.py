"""Inference on the offline side: effect sizes by user, and repetitions of the run pooled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.compute.rankings import ALPHA, RESAMPLES
from analysis.read.metrics import RepeatedMeasure, Repetitions
from analysis.results.objective import ProfileLength
from analysis.results.offline import (
    OfflineEffect,
    OfflineMetric,
    PooledMetric,
    RepeatedCondition,
    RepeatedMetric,
    Repeats,
)
from core.provenance import rng_for
from evaluation.reported_kinds import LOWER_IS_BETTER
from inference.paired import sign_effect, sign_tests_between
from inference.rank_sets import rank_sets
from inference.repeats import repeated_ratios
from inference.results import Interval, SignTests, Undefined


def offline_effects(lengths: Sequence[ProfileLength], kinds: Sequence[str]) -> tuple[OfflineMetric, ...]:
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
            metrics.append(OfflineMetric(kind=kind, profile_length=length.profile_length, effects=effects))
    return tuple(metrics)


def sign_effects(
    tests: SignTests | Undefined, differences: Iterable[tuple[float, Interval | None]]
) -> tuple[OfflineEffect, ...]:
    """The effect size of every sign test beside the difference of the values, in the order of the pairs."""
    if isinstance(tests, Undefined):
        return ()
    return tuple(
        OfflineEffect(
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
) -> Repeats | None:
    """Pool every metric over the repetitions; None where there are none."""
    if repetitions is None:
        return None
    metrics = []
    for measure in repetitions.measures:
        stream = rng_for(seed, "report", f"repeats-{measure.kind}-{measure.profile_length}")
        result = _pooled(measure, repetitions.conditions, stream, alpha=alpha, resamples=resamples)
        metrics.append(RepeatedMetric(kind=measure.kind, profile_length=measure.profile_length, result=result))
    return Repeats(seeds=repetitions.seeds, metrics=tuple(metrics))


def _pooled(
    measure: RepeatedMeasure, names: tuple[str, ...], rng: np.random.Generator, *, alpha: float, resamples: int
) -> PooledMetric | Undefined:
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
    return PooledMetric(
        n_users=ratios.n_users,
        rows=tuple(
            RepeatedCondition(
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
    """Each user's hits over cases of all repetitions, for the users with cases."""
    cases = measure.cases.sum(axis=0)
    has_cases = cases > 0
    values = measure.hits.sum(axis=0)[has_cases] / cases[has_cases, None]
    return {name: values[:, column] for column, name in enumerate(names)}
