"""What participants and a metric say about every pair of algorithms: the decisions that all of a report reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from inference.agreement import pair_indexes
from inference.paired import by_algorithm
from inference.paired_hits import SAME, flip_sums
from inference.partial_order import PartialOrder, partial_order
from inference.rank_sets import RankSets, relation_rank_sets
from inference.results import Floats, Pair, PairwiseResult, Undefined

MAX_T = "Single-step max-|t|, clustered by user"
DRAWS = 40_000
SEED = 2011
FEW_USERS = 25  # users who differ, below which the normal approximation is not trusted alone


@dataclass(frozen=True)
class OfflinePair(Pair):
    """A pair of algorithms on the same users; `statistic` is t, and `ci_low` and `ci_high` hold for all pairs at once.

    Where few users differ, `p` is the larger of the adjusted p of max-`|t|` and of the sign flips.
    """

    n_differing: int = 0  # users whose values differ
    p_sign_flip: float | None = None  # unadjusted; None where enough users differ


@dataclass(frozen=True)
class OfflinePairs(PairwiseResult):
    """Every pair of algorithms by one metric, on the same users."""

    pairs: tuple[OfflinePair, ...]
    critical: float = 0.0  # |t| that the largest of all pairs exceeds with probability α
    n_users: int = 0  # users with values under every algorithm
    n_cases: int = 0  # their cases; as many as users for means over users


def offline_pairs(
    values: Mapping[str, ArrayLike], n_cases: ArrayLike | None = None, *, alpha: float = 0.05
) -> OfflinePairs | Undefined:
    r"""Compare every two algorithms by a metric on the same users, with simultaneous intervals.

    The metric is pooled over cases, :math:`\theta = \sum_u m_u v_u / \sum_u m_u`, or the mean over users. Its
    covariance is linearised and clustered by user, with the users' parts :math:`m_u (v_u - \theta) / \sum m`. The
    critical value is that of the largest `|t|` of all pairs, from 40,000 seeded draws of the normal distribution with
    this covariance. A pair in which fewer than 25 users differ is significant only if the sign flips of these users
    also reach α over the number of pairs; where all users differ by the same, they alone decide. `values` holds each
    algorithm's value of each user, such as the mean hit of the user's cases, shape (n_users,), NaN where a user has
    none; `n_cases` holds these cases, the same for all algorithms. Left out, users count equally.

    Undefined with fewer than two algorithms or two users with values. Raises DataError for arrays of different lengths
    or infinite values. Sources: Hothorn, Bretz & Westfall (2008), Biometrical Journal 50(3):346-363; for ratios Cochran
    (1977), Sampling Techniques, section 6.4; for sign flips `inference.paired_hits.flip_sums`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> result = offline_pairs({name: rng.random(200) < rate for name, rate in {"A": 0.5, "B": 0.1}.items()})
    >>> [(pair.a, pair.b, pair.is_significant, round(pair.ci_low, 2)) for pair in result.pairs]
    [('A', 'B', True, 0.28)]
    """
    by_name = by_algorithm(values)
    if len(by_name) < 2:
        return Undefined(f"A comparison needs two algorithms; there are {len(by_name)}.")
    table = np.column_stack(list(by_name.values()))
    cases = np.ones(len(table)) if n_cases is None else np.asarray(n_cases, dtype=np.float64)
    has_values = (cases > 0) & ~np.isnan(table).any(axis=1)
    n = int(has_values.sum())
    if n < 2:
        return Undefined(f"A comparison needs two users with values under every algorithm; there are {n}.")
    # The same users for every algorithm: means over different users would compare the users.
    table, cases = table[has_values], cases[has_values]
    sums = table * cases[:, None]
    estimates = sums.sum(axis=0) / cases.sum()
    parts = (sums - cases[:, None] * estimates) / cases.sum()
    # Users' parts are deviations from an estimated ratio, so one degree of freedom is used up.
    covariance = parts.T @ parts * n / (n - 1)
    first, second = pair_indexes(len(by_name))
    variances = np.diag(covariance)
    squared = variances[first] + variances[second] - 2 * covariance[first, second]
    # Rounding leaves about 1e-16 of the variances where all users differ by the same.
    se = np.sqrt(np.where(squared > 1e-12 * (variances[first] + variances[second]), squared, 0.0))
    largest = _largest_t(covariance, se)
    # The observed statistic counts as one of the draws, as in the p below: both then agree at the border.
    n_allowed = max(1, int(np.ceil(alpha * (DRAWS + 1))) - 1)
    critical = float(largest[-n_allowed])
    names, pairs = tuple(by_name), []
    for at, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        difference, apart = float(estimates[i] - estimates[j]), sums[:, i] - sums[:, j]
        n_differing = int(np.count_nonzero(np.abs(apart) > SAME))
        if not n_differing:
            reason = f"Every user has the same value under {names[i]} and {names[j]}."
            pairs.append(OfflinePair(names[i], names[j], 0.0, None, False, reason=reason))
            continue
        t, p, p_sign_flip = None, 0.0, None
        if se[at]:
            t = difference / float(se[at])
            # One is added to both, or a p of 0 would claim more than this number of draws can show.
            p = float(1 + DRAWS - np.searchsorted(largest, abs(t))) / (1 + DRAWS)
        if n_differing < FEW_USERS or t is None:
            p_sign_flip, _method = flip_sums(apart, rng=np.random.default_rng(SEED))
            # By Bonferroni over the pairs: sign flips are of one pair alone and know nothing of the others'
            # correlation.
            p = max(p, min(1.0, len(first) * p_sign_flip))
        half = critical * float(se[at])
        pairs.append(
            OfflinePair(
                a=names[i],
                b=names[j],
                difference=difference,
                p=p,
                is_significant=p < alpha,
                ci_low=difference - half,
                ci_high=difference + half,
                statistic=t,
                se=float(se[at]),
                n_differing=n_differing,
                p_sign_flip=p_sign_flip,
            )
        )
    return OfflinePairs(
        test=MAX_T,
        alpha=alpha,
        pairs=tuple(pairs),
        locations=dict(zip(names, estimates.tolist(), strict=True)),
        n=dict.fromkeys(names, n),
        critical=critical,
        n_users=n,
        n_cases=round(float(cases.sum())),
    )


def within_bounds(pairs: OfflinePairs, bounds: Mapping[str, tuple[float, float]]) -> OfflinePairs:
    """The comparisons where values are known only within bounds, as of lists that end: intervals become as wide as the
    bounds allow, and a pair is undecided, without a p, where its interval then holds 0.

    `bounds` are the lowest and the highest value by algorithm; those left out are known.

    Examples
    --------
    >>> pair = OfflinePair("A", "B", 0.1, 0.01, True, ci_low=0.02, ci_high=0.18)
    >>> known = OfflinePairs(MAX_T, 0.05, (pair,), {"A": 0.4, "B": 0.3}, {})
    >>> [within_bounds(known, {"B": (0.3, high)}).pairs[0].is_significant for high in (0.31, 0.35)]
    [True, False]
    """
    widened = []
    for pair in pairs.pairs:
        (low_a, high_a), (low_b, high_b) = (bounds.get(name, (pairs.locations[name],) * 2) for name in (pair.a, pair.b))
        below = pairs.locations[pair.a] - low_a + high_b - pairs.locations[pair.b]
        above = high_a - pairs.locations[pair.a] + pairs.locations[pair.b] - low_b
        if below or above:
            low = (pair.difference if pair.ci_low is None else pair.ci_low) - below
            high = (pair.difference if pair.ci_high is None else pair.ci_high) + above
            pair = replace(pair, ci_low=low, ci_high=high)
            if low <= 0 <= high:
                reason = "The bounds of the lists leave the sign open."
                pair = replace(pair, p=None, is_significant=False, reason=reason)
        widened.append(pair)
    return replace(pairs, pairs=tuple(widened))


@lru_cache(maxsize=4)
def _normal_draws(k: int) -> Floats:
    """The same draws for every comparison of so many algorithms, so that equal data have equal results."""
    return np.random.default_rng(SEED).standard_normal((k, DRAWS))


def _largest_t(covariance: Floats, se: Floats) -> Floats:
    roots, vectors = np.linalg.eigh(covariance)
    # Pairs whose difference does not vary take part in no draw.
    first, second = (members[se > 0] for members in pair_indexes(len(covariance)))
    if not first.size:
        return np.zeros(DRAWS)
    # By eigenvectors and not by Cholesky, as the covariance is singular where algorithms tie for all users; rounding
    # may make its smallest roots negative.
    draws = (vectors * np.sqrt(np.maximum(roots, 0))) @ _normal_draws(len(covariance))
    largest = np.zeros(DRAWS)
    for i, j, error in zip(first.tolist(), second.tolist(), se[se > 0].tolist(), strict=True):
        np.maximum(largest, np.abs(draws[i] - draws[j]) / error, out=largest)
    return np.sort(largest)


class PairClass(StrEnum):
    """What the two sides together say of a pair."""

    AGREE = "agree"
    CONTRADICT = "contradict"
    PARTICIPANTS_ONLY = "participants only"
    OFFLINE_ONLY = "offline only"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class PairDecision:
    """One pair of algorithms on both sides."""

    a: str
    b: str  # in the order of the participants' side, as in both comparisons
    decision: PairClass
    # The algorithm that each side finds significantly better; None where the pair is not significant.
    participants_favour: str | None
    offline_favours: str | None


@dataclass(frozen=True)
class PairDecisions:
    """Every pair of algorithms, decided on both sides."""

    pairs: tuple[PairDecision, ...]
    # The orders behind letters, Hasse diagrams and Table 1.
    participants: PartialOrder
    offline: PartialOrder
    participants_rank_sets: RankSets
    offline_rank_sets: RankSets

    @property
    def counts(self) -> dict[PairClass, int]:
        """Number of pairs in each class, zeros included."""
        of_class = Counter(pair.decision for pair in self.pairs)
        return {decision: of_class[decision] for decision in PairClass}


def decide_pairs(
    participants: PairwiseResult, offline: PairwiseResult, *, offline_higher_is_better: bool = True
) -> PairDecisions:
    """Combine the participants' comparisons with those of a metric, both of the same algorithms.

    A pair agrees or is contradicted only where both sides are significant at their own family-wise α, so that a false
    one has at most that probability where the sides are independent; *participants only* and *offline only* have the
    error of their own side. Pairs that only a chain of significant pairs implies are not decided: see
    `PartialOrder.implied`.

    Examples
    --------
    >>> people = PairwiseResult("Games-Howell", 0.05, (Pair("A", "B", 0.8, 0.01, True),), {"A": 4, "B": 3}, {})
    >>> recall = PairwiseResult(MAX_T, 0.05, (Pair("A", "B", -0.1, 0.02, True),), {"A": 0.2, "B": 0.3}, {})
    >>> [(pair.decision.value, pair.offline_favours) for pair in decide_pairs(people, recall).pairs]
    [('contradict', 'B')]
    """
    above = partial_order(participants.locations, participants)
    by_metric = partial_order(offline.locations, offline, offline_higher_is_better)
    pairs = []
    for a, b in combinations(above.names, 2):
        perceived, measured = above.favoured(a, b), by_metric.favoured(a, b)
        if perceived and measured:
            decision = PairClass.AGREE if perceived == measured else PairClass.CONTRADICT
        elif perceived:
            decision = PairClass.PARTICIPANTS_ONLY
        else:
            decision = PairClass.OFFLINE_ONLY if measured else PairClass.UNDECIDED
        pairs.append(PairDecision(a, b, decision, perceived, measured))
    return PairDecisions(
        pairs=tuple(pairs),
        participants=above,
        offline=by_metric,
        participants_rank_sets=relation_rank_sets(above.dominates, 1 - participants.alpha),
        offline_rank_sets=relation_rank_sets(by_metric.dominates, 1 - offline.alpha),
    )
