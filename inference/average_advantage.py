r"""The average advantage: do participants rate a metric's better algorithms higher than its worse ones?

.. math:: A = \frac{1}{M} \sum_i w_i m_i, \qquad se^2 = \frac{w' V w}{M^2}

M is the number of pairs that the metric separates, :math:`w_i` the pairs that algorithm i wins less those it loses, m
the conditions' estimates and V their covariance. A is the mean difference, in points of the measure, between the better
and the worse algorithm of these pairs. Participants' answers do not enter the weights, so the t test keeps its level.

The average advantages of further measures and metrics are one exploratory family, corrected by Holm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from inference.corrections import holm
from inference.equivalence import bound_test
from inference.groups import Groups, GroupValues
from inference.partial_order import PartialOrder
from inference.results import Floats, Interval, Undefined
from inference.t_tests import satterthwaite_df, t_test

LEAST_FOR_A_CHECK = 5  # algorithms; with fewer, too few pairs remain without one of them
Separated = Sequence[tuple[str, str]]  # (better, worse) by the metric


class Verdict(StrEnum):
    """What the average advantage says of a metric and a measure."""

    AGREE = "agree"
    DISAGREE = "disagree"
    NO_RELEVANT_RELATION = "no relevant relation"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class MeanEstimates:
    """One estimate per condition, with their covariance: observed means, or those of a model."""

    names: tuple[str, ...]
    means: Floats  # shape (k,); in points of the measure
    covariance: Floats  # shape (k, k)
    # Degrees of freedom of a contrast of the means, shape (k,); infinite for the normal distribution.
    df: Callable[[Floats], float] = lambda _contrast: math.inf

    @classmethod
    def of_groups(cls, groups: GroupValues) -> MeanEstimates:
        """Means of independent conditions, each with two observations or more."""
        read = Groups.read(groups)
        return cls.independent(
            read.means,
            [math.sqrt(group.variance) for group in read.members],
            [group.n for group in read.members],
        )

    @classmethod
    def independent(cls, means: Mapping[str, float], sds: Sequence[float], ns: Sequence[int]) -> MeanEstimates:
        """Means of independent conditions from their summaries, with the degrees of freedom of Welch (1938) and
        Satterthwaite (1946), Biometrics Bulletin 2(6):110-114. Every condition has two observations or more.
        """
        squared = np.asarray(sds, dtype=np.float64) ** 2 / np.asarray(ns, dtype=np.float64)

        def df(contrast: Floats) -> float:
            return satterthwaite_df(zip((contrast**2 * squared).tolist(), (n - 1 for n in ns), strict=True))

        return cls(tuple(means), np.array(list(means.values()), dtype=np.float64), np.diag(squared), df)


@dataclass(frozen=True)
class AverageAdvantage:
    """The average advantage of a metric's better algorithms, with its t test."""

    value: float  # A, in points of the measure; positive where participants favour the metric's better algorithms
    se: float
    df: float | None  # None where the normal distribution is used
    t: float
    p: float  # two-sided
    alpha: float
    interval: Interval  # coverage 1 - α
    narrow_interval: Interval  # coverage 1 - 2α: within the bounds exactly where the equivalence test is significant
    weights: dict[str, int]  # pairs won less pairs lost by the metric, of each condition
    n_pairs: int  # M, the separated pairs
    bound: float | None = None  # δ, the smallest effect of interest
    p_equivalence: float | None = None  # of two one-sided tests against ±δ; None without a bound

    @property
    def verdict(self) -> Verdict:
        """Agreement, disagreement, equivalence, or none of these."""
        if self.interval.low > 0:
            return Verdict.AGREE
        if self.interval.high < 0:
            return Verdict.DISAGREE
        if self.p_equivalence is not None and self.p_equivalence < self.alpha:
            return Verdict.NO_RELEVANT_RELATION
        return Verdict.CANNOT_TELL


def average_advantage(
    estimates: MeanEstimates, separated: Separated, *, alpha: float = 0.05, bound: float | None = None
) -> AverageAdvantage | Undefined:
    """Average the differences of the pairs that a metric separates, with a two-sided t test.

    `separated` names these pairs, the algorithm that the metric favours first, so that an error metric's better
    algorithm is the one with the lower error. `bound` is the smallest effect of interest in points of the measure.
    Undefined where the metric separates no pair, where every algorithm wins as many pairs as it loses, or where no
    weighted mean has a standard error. Sources: for contrasts without equal variances Welch (1938), Biometrika
    29:350-362; for equivalence Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15:657-680.

    Examples
    --------
    >>> means = MeanEstimates.independent({"A": 3.6, "B": 3.5, "C": 3.1}, [0.6, 0.5, 0.7], [30, 30, 30])
    >>> result = average_advantage(means, [("A", "C"), ("B", "C")])
    >>> result.weights, round(result.value, 2), round(result.p, 4), str(result.verdict)
    ({'A': 1, 'B': 1, 'C': -2}, 0.45, 0.0035, 'agree')
    """
    weights = dict.fromkeys(estimates.names, 0)
    for better, worse in separated:
        weights[better] += 1
        weights[worse] -= 1
    if not separated:
        return Undefined("The metric separates no pair of algorithms.")
    if not any(weights.values()):
        return Undefined("Every algorithm wins as many of the separated pairs as it loses.")
    contrast = np.array(list(weights.values())) / len(separated)
    value, variance = float(contrast @ estimates.means), float(contrast @ estimates.covariance @ contrast)
    if variance <= 0:
        return Undefined("Within the compared conditions all values are equal.")
    se, df = math.sqrt(variance), estimates.df(contrast)

    p, interval = t_test(value, se, df, 1 - alpha)
    return AverageAdvantage(
        value=value,
        se=se,
        df=None if math.isinf(df) else df,
        t=value / se,
        p=p,
        alpha=alpha,
        interval=interval,
        narrow_interval=t_test(value, se, df, 1 - 2 * alpha)[1],
        weights=weights,
        n_pairs=len(separated),
        bound=bound,
        p_equivalence=None if bound is None else bound_test(value, se, df, bound, alpha).p_equivalence,
    )


def without_each(
    estimates: MeanEstimates, separated: Separated, algorithms: Mapping[str, str] | None = None, *, alpha: float = 0.05
) -> dict[str, AverageAdvantage | Undefined]:
    """The average advantage over the pairs among the other algorithms, by the algorithm that is left out.

    `algorithms` are those of the conditions, where several conditions have the same.
    """
    of = algorithms or dict(zip(estimates.names, estimates.names, strict=True))
    return {
        name: average_advantage(estimates, [(a, b) for a, b in separated if name not in (of[a], of[b])], alpha=alpha)
        for name in dict.fromkeys(of.values())
    }


def influential_algorithms(
    overall: AverageAdvantage, without: Mapping[str, AverageAdvantage | Undefined]
) -> tuple[str, ...]:
    """The algorithms without which agreement or disagreement is no longer shown, the most influential first.

    A check, not a test. Empty for other verdicts and with fewer than five algorithms.
    """
    if overall.verdict not in (Verdict.AGREE, Verdict.DISAGREE) or len(without) < LEAST_FOR_A_CHECK:
        return ()
    p = {name: 1.0 if isinstance(rest, Undefined) else rest.p for name, rest in without.items()}
    lost = [n for n, rest in without.items() if isinstance(rest, Undefined) or rest.verdict is not overall.verdict]
    return tuple(sorted(lost, key=lambda name: -p[name]))


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
        # Turned so that lower is better for all, because ranks of a fallout and of a recall are compared.
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
