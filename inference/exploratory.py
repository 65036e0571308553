"""The exploratory family: the average advantages of further measures and metrics, corrected together by Holm."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from inference.average_advantage import AverageAdvantage
from inference.corrections import holm
from inference.partial_order import PartialOrder
from inference.results import Undefined


@dataclass(frozen=True)
class ExploratoryTest:
    """One test of the family, with every metric whose test it is."""

    measure: str
    metrics: tuple[str, ...]
    p: float  # corrected by Holm over the family
    advantage: AverageAdvantage  # with the uncorrected p


@dataclass(frozen=True)
class ExploratoryFamily:
    """The tests in the order given, at one level for all of them."""

    tests: tuple[ExploratoryTest, ...]
    alpha: float
    smallest_p_below: float | None  # the smallest uncorrected p had to be below this; None without tests
    undefined: dict[str, str]  # reasons of what could not be tested, by "measure, metric"


def same_metrics(orders: Mapping[str, PartialOrder]) -> tuple[tuple[str, ...], ...]:
    """Group metrics that order the algorithms alike: the same ranks, and the same separated pairs in one direction.

    These have the same weights, so the average advantage of a measure is one test for all of them. The groups are in
    the order of the metrics. Ranks count from the better value, so a fallout may be grouped with a recall.
    """
    groups: dict[Hashable, list[str]] = {}
    for metric, order in orders.items():
        sign = -1 if order.higher_is_better else 1
        values = {name: sign * value for name, value in order.locations.items()}
        ranks = frozenset((name, sum(rival < value for rival in values.values())) for name, value in values.items())
        groups.setdefault((ranks, frozenset(order.direct)), []).append(metric)
    return tuple(tuple(group) for group in groups.values())


def exploratory_family(
    advantages: Mapping[tuple[str, tuple[str, ...]], AverageAdvantage | Undefined], alpha: float = 0.05
) -> ExploratoryFamily:
    """Correct the average advantages of measures by groups of metrics, keyed (measure, metrics), as one family.

    What is undefined is no test of the family.

    Examples
    --------
    >>> from inference.average_advantage import MeanEstimates, average_advantage
    >>> means = MeanEstimates.independent({"A": 3.6, "B": 3.1}, [0.6, 0.7], [30, 30])
    >>> found = {("novelty", ("recall",)): average_advantage(means, [("A", "B")])}
    >>> found["satisfaction", ("recall", "ndcg")] = average_advantage(means, [("B", "A")])
    >>> family = exploratory_family(found)
    >>> [(test.measure, round(test.advantage.p, 4), round(test.p, 4)) for test in family.tests], family.smallest_p_below
    ([('novelty', 0.0044, 0.0087), ('satisfaction', 0.0044, 0.0087)], 0.025)
    """
    tested = {key: outcome for key, outcome in advantages.items() if not isinstance(outcome, Undefined)}
    corrected = holm([outcome.p for outcome in tested.values()])
    return ExploratoryFamily(
        tests=tuple(
            ExploratoryTest(measure, metrics, p, outcome)
            for ((measure, metrics), outcome), p in zip(tested.items(), corrected, strict=True)
        ),
        alpha=alpha,
        smallest_p_below=alpha / len(tested) if tested else None,
        undefined={
            f"{measure}, {' and '.join(metrics)}": outcome.reason
            for (measure, metrics), outcome in advantages.items()
            if isinstance(outcome, Undefined)
        },
    )
