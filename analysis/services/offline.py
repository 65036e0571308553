"""Effect sizes of pairs of algorithms, and confidence sets of ranks on both sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.enums import Metric, Variable
from analysis.results.objective import ProfileLength
from analysis.results.offline import OfflineEffect, OfflineMetric
from analysis.services.rankings import ALPHA, Ranking
from inference.bootstrap import percentile_intervals
from inference.rank_sets import RankSets, rank_sets, relation_rank_sets
from inference.results import Interval, SignTests, Undefined
from inference.sign_effects import sign_effect


def offline_metrics(
    lengths: Sequence[ProfileLength], rankings: Mapping[Metric, Ranking], *, alpha: float = ALPHA
) -> tuple[OfflineMetric, ...]:
    """Effect sizes and rank sets of every metric at every profile length; those without values are left out."""
    by_length = {length.profile_length: length for length in lengths}
    metrics = []
    for metric, ranking in rankings.items():
        if ranking.resampled is None:
            continue
        tests = by_length[metric.length].tests(metric.kind)
        sets = rank_sets(
            ranking.values,
            ranking.resampled,
            n_users=tests.n_users,
            higher_is_better=ranking.higher_is_better,
            confidence=1 - alpha,
        )
        metrics.append(
            OfflineMetric(
                kind=metric.kind,
                profile_length=metric.length,
                effects=_effects(tests.sign_tests, ranking.values, ranking.resampled),
                rank_sets=sets,
            )
        )
    return tuple(metrics)


def perceived_rank_sets(rankings: Mapping[Variable, Ranking], *, alpha: float = ALPHA) -> dict[str, RankSets]:
    """The sets of ranks that Tukey's significant pairs leave, by variable."""
    return {
        variable.key: relation_rank_sets(ranking.order.dominates, 1 - alpha)
        for variable, ranking in rankings.items()
        if ranking.values
    }


def sign_effects(
    tests: SignTests | Undefined, differences: Iterable[tuple[float, Interval]]
) -> tuple[OfflineEffect, ...]:
    """The effect size of every sign test beside the difference of the pooled values, in the order of the pairs."""
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


def _effects(
    tests: SignTests | Undefined, values: Mapping[str, float], resampled: NDArray[np.float64]
) -> tuple[OfflineEffect, ...]:
    """The same with percentile intervals over resampled users."""
    if isinstance(tests, Undefined):
        return ()
    column = {name: index for index, name in enumerate(values)}
    first, second = ([column[name] for name in names] for names in zip(*((p.a, p.b) for p in tests.pairs), strict=True))
    intervals = percentile_intervals(resampled[:, first] - resampled[:, second])
    differences = [values[pair.a] - values[pair.b] for pair in tests.pairs]
    return sign_effects(tests, zip(differences, intervals, strict=True))
