"""Pool the repetitions of a run, with users as clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from analysis.compute.offline import sign_effects
from analysis.compute.rankings import ALPHA, RESAMPLES
from analysis.read.repeats import RepeatedMeasure, Repetitions
from analysis.results.offline import PooledMetric, RepeatedCondition, RepeatedMetric, Repeats
from core.provenance import rng_for
from evaluation.reported_kinds import LOWER_IS_BETTER
from inference.paired import sign_tests_between
from inference.rank_sets import rank_sets
from inference.repeats import RepeatedRatios, repeated_ratios
from inference.results import Undefined


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
    ranks = _ranks(ratios.by_repetition, is_higher_better=is_higher_better)
    tests = sign_tests_between(_values_by_user(measure, names), alpha=alpha)
    unit = dict(zip(names, np.eye(len(names)), strict=True))
    differences = [] if isinstance(tests, Undefined) else [
        ratios.estimate(unit[pair.a] - unit[pair.b]) for pair in tests.pairs
    ]  # fmt: skip
    return PooledMetric(
        n_users=ratios.n_users,
        rows=tuple(_row(ratios, ranks, names, position) for position in range(len(names))),
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


def _row(ratios: RepeatedRatios, ranks: NDArray[np.int64], names: tuple[str, ...], position: int) -> RepeatedCondition:
    values = ratios.by_repetition[:, position]
    return RepeatedCondition(
        condition=names[position],
        pooled=ratios.estimate(np.eye(len(names))[position]),
        by_repetition=tuple(values.tolist()),
        sd=float(values.std(ddof=1)),
        ranks=(int(ranks[:, position].min()), int(ranks[:, position].max())),
    )


def _ranks(values: NDArray[np.float64], *, is_higher_better: bool) -> NDArray[np.int64]:
    """Rank of each condition in each repetition, 1 the best; equal values share the better rank."""
    better = values if is_higher_better else -values
    return np.asarray(1 + (better[:, None, :] > better[:, :, None]).sum(axis=2), dtype=np.int64)


def _values_by_user(measure: RepeatedMeasure, names: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
    """Each user's hits over cases of all repetitions, for the users with cases."""
    cases = measure.cases.sum(axis=0)
    has_cases = cases > 0
    values = measure.hits.sum(axis=0)[has_cases] / cases[has_cases, None]
    return {name: values[:, column] for column, name in enumerate(names)}
