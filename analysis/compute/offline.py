"""Effect sizes of pairs of algorithms by user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.results.objective import ProfileLength
from analysis.results.offline import OfflineEffect, OfflineMetric
from inference.paired import sign_effect
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
