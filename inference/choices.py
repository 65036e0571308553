"""Shares of participants who picked something, what their picks depended on, and mean shares of items, by condition."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from typing import Literal

import numpy as np

from inference.average_advantage import MeanEstimates
from inference.factorial import CellMeans, joint_test
from inference.posthoc import pairs_of_means
from inference.results import Floats, Interval, Pair, PairwiseResult, Undefined
from inference.t_tests import satterthwaite_df

SMALL = 5  # an expected count below it makes Pearson's test doubtful, after Cochran (1954), Biometrics 10(4):417-451
MOST_TABLES = 1_000_000  # that the exact test enumerates for one half of the conditions
LARGEST_ERROR = 10.0  # of log odds for one standard deviation; a larger one means that no estimate is finite


@dataclass(frozen=True)
class SharesTest:
    """A test of equal shares in all conditions, with the difference of every two, whose intervals hold together."""

    method: Literal["exact", "score", "Wald"]
    statistic: float | None  # χ² of the score test, F of Wald's; the exact test has none
    df: int
    df_within: float | None  # of Wald's test
    p: float
    pairs: PairwiseResult  # its locations are the shares


@dataclass(frozen=True)
class Odds:
    """A ratio of odds for one unit more, with its 95% interval by Wald's z test."""

    ratio: float
    interval: Interval


@dataclass(frozen=True)
class ItemChoice:
    """What the picks of `n` participants depended on."""

    n: int
    odds: dict[str, Odds]


def picking_test(counts: Mapping[str, tuple[int, int]], *, alpha: float = 0.05) -> SharesTest | Undefined:
    """Test whether the share who picked something differs between conditions, from (picked, participants) of each.

    The exact test where an expected count is below `SMALL` and outcomes can be enumerated, else Pearson's score test
    without continuity correction; pairs the same, with Newcombe's score intervals by statsmodels, corrected by
    Bonferroni. Undefined with fewer than two conditions with participants, or where nobody or everybody picked
    something. Source: Newcombe (1998), Statistics in Medicine 17(8):873-890, method 10.

    Examples
    --------
    >>> test = picking_test({"A": (9, 10), "B": (4, 10)})
    >>> test.method, round(test.p, 4), test.pairs.pairs[0].difference
    ('exact', 0.0573, 0.5)
    """
    from statsmodels.stats.proportion import confint_proportions_2indep

    own = {name: counts[name] for name in counts if counts[name][1]}
    k, shares = len(own), {name: picked / n for name, (picked, n) in own.items()}
    if k < 2:
        return Undefined(f"A comparison needs two conditions with participants; there are {k}.")
    if set(shares.values()) in ({0.0}, {1.0}):
        return Undefined(f"{'Everybody' if all(shares.values()) else 'Nobody'} picked something: nothing differs.")
    pairs, n_pairs = [], math.comb(k, 2)
    for a, b in combinations(own, 2):
        difference, p = shares[a] - shares[b], min(1.0, n_pairs * _tested([own[a], own[b]])[2])
        low, high = confint_proportions_2indep(*own[a], *own[b], "newcomb", "diff", alpha=alpha / n_pairs)
        pairs.append(Pair(a, b, difference, p, p < alpha, float(low), float(high)))
    method, statistic, p = _tested(list(own.values()))
    sizes = {name: n for name, (_picked, n) in own.items()}
    compared = PairwiseResult("Newcombe, Bonferroni", alpha, tuple(pairs), shares, sizes)
    return SharesTest(method, statistic, k - 1, None, p, compared)


def _tested(counts: Sequence[tuple[int, int]]) -> tuple[Literal["exact", "score"], float | None, float]:
    """The method, its statistic and p of conditions with (picked, participants) each."""
    from scipy import stats

    n_picked, n = map(sum, zip(*counts, strict=True))
    smallest = min(n_picked, n - n_picked) * min(own for _picked, own in counts) / n
    if smallest < SMALL and (p := exact_p(counts)) is not None:
        return "exact", None, p
    found = stats.chi2_contingency([[picked, own - picked] for picked, own in counts], correction=False)
    return "score", float(found.statistic), float(found.pvalue)


def exact_p(counts: Sequence[tuple[int, int]]) -> float | None:
    """Fisher, Freeman and Halton's two-sided exact p of conditions with (picked, participants) each: the probability,
    given both totals, of all outcomes that are no more probable. None where these are too many.

    Between whole numbers, so that ties are ties; scipy's ``fisher_exact`` draws at random for more than two
    conditions. Source: Freeman & Halton (1951), Biometrika 38:141-149.

    Examples
    --------
    >>> round(exact_p([(3, 4), (1, 4), (0, 4)]), 4)
    0.2
    """
    sizes, half = [n for _picked, n in counts], len(counts) // 2
    total, is_few = sum(picked for picked, _n in counts), 2 * sum(picked for picked, _n in counts) <= sum(sizes)
    total = total if is_few else sum(sizes) - total
    if math.comb(total + len(sizes) - half, total) > MOST_TABLES:
        return None
    observed, extreme = math.prod(math.comb(n, picked) for picked, n in counts), 0
    first, second = (_products(own, total) for own in (sizes[:half], sizes[half:]))
    for count, products in first.items():
        # An outcome's probability is a product, so those of the second half are summed in the order of its products.
        others = sorted(second.get(total - count, {}).items())
        values, sums = [product for product, _n in others], [0, *accumulate(product * n for product, n in others)]
        extreme += sum(own * n * sums[bisect_right(values, observed // own)] for own, n in products.items())
    return extreme / math.comb(sum(sizes), total)


def _products(sizes: Sequence[int], most: int) -> dict[int, dict[int, int]]:
    """For every sum of counts up to `most`, the products of their binomial coefficients, each with its frequency."""
    found: dict[int, dict[int, int]] = {0: {1: 1}}
    for size in sizes:
        longer: dict[int, dict[int, int]] = {}
        for before, products in found.items():
            for count in range(min(size, most - before) + 1):
                ways, own = math.comb(size, count), longer.setdefault(before + count, {})
                for product, n in products.items():
                    own[product * ways] = own.get(product * ways, 0) + n
        found = longer
    return found


def mean_shares(counts: Mapping[str, Sequence[tuple[int, int]]], *, alpha: float = 0.05) -> SharesTest | Undefined:
    """Compare mean shares of items between conditions, from (opened, shown) of each participant, one or more shown.

    Generalised estimating equations over the items by statsmodels: identity link, exchangeable working correlation
    within participants, Mancl and DeRouen's variance. Each condition has a variance of its own, so the joint test is
    Johansen's, as `joint_test`, and pairs have Satterthwaite's degrees of freedom and the studentized range. Undefined
    with fewer than two conditions of two participants, and as `joint_test`. Sources: Liang & Zeger (1986), Biometrika
    73(1):13-22; Mancl & DeRouen (2001), Biometrics 57(1):126-134.

    Examples
    --------
    >>> test = mean_shares({"A": [(0, 5), (1, 5), (0, 5)], "B": [(3, 5), (5, 5), (4, 5)]})
    >>> {name: round(share, 3) for name, share in test.pairs.locations.items()}, round(test.p, 3)
    ({'A': 0.067, 'B': 0.8}, 0.018)
    """
    from statsmodels.genmod.cov_struct import Exchangeable, Independence
    from statsmodels.genmod.generalized_estimating_equations import GEE

    n = {name: len(own) for name, own in counts.items() if len(own) > 1}
    if len(n) < 2:
        return Undefined(f"A comparison needs two conditions of two participants or more; there are {len(n)}.")
    names, ns = tuple(n), np.array(list(n.values()))
    done, sizes = np.array([pair for name in names for pair in counts[name]]).T
    items = np.concatenate([np.arange(size) < own for own, size in zip(done, sizes, strict=True)]).astype(float)
    varies = np.array([len({own / size for own, size in counts[name]}) > 1 for name in names])
    if not varies.any():
        return Undefined("Within every condition all participants have the same share: there is no variance.")
    conditions = np.repeat(np.repeat(np.eye(len(names)), ns, axis=0), sizes, axis=0)
    groups, related = np.repeat(np.arange(len(sizes)), sizes), Exchangeable()
    fit = GEE(items, conditions, groups=groups, cov_struct=Independence()).fit(cov_type="bias_reduced")
    if (sizes * (sizes - 1)).sum() > 2 * len(names):  # enough pairs of items for the estimate of their correlation
        own_fit = GEE(items, conditions, groups=groups, cov_struct=related).fit(cov_type="bias_reduced")
        fit = own_fit if 1 + (sizes.max() - 1) * related.dep_params > 0 else fit  # it can hold in the longest list
    means, variances = np.asarray(fit.params), np.diag(fit.cov_params()) * varies  # nobody is in two conditions
    rows = [{a: 1.0, b: -1.0} for a, b in combinations(names, 2)]
    if isinstance(joint := joint_test(CellMeans(names, means, variances, ns), rows), Undefined):
        return joint

    def df(contrast: Floats) -> float:
        return satterthwaite_df(zip((contrast**2 * variances).tolist(), (ns - 1).tolist(), strict=True))

    pairs = pairs_of_means("GEE, Tukey", alpha, MeanEstimates(names, means, np.diag(variances), df), n, ())
    return SharesTest("Wald", joint.f, joint.df, joint.df_within, joint.p, pairs)


def item_choice(picks: Sequence[tuple[int, Sequence[float]]]) -> ItemChoice | Undefined:
    """Conditional logit of the picked item among those of its list, by rank and popularity, by statsmodels.

    `picks` hold for each participant who picked something the rank, from 1, and the numbers of ratings of all items
    in the list's order. Undefined without lists of two items, and where rank or popularity determine the picks.
    Source: McFadden (1974), in Zarembka (ed.), Frontiers in Econometrics, 105-142.

    Examples
    --------
    >>> chosen = item_choice([(1, (9, 3, 1)), (2, (4, 8, 2)), (3, (7, 1, 2)), (1, (1, 2, 9))])
    >>> {name: round(odds.ratio, 2) for name, odds in chosen.odds.items()}
    {'one rank further down': 0.71, 'twice as many ratings': 1.2}
    """
    from scipy import stats
    from statsmodels.discrete.conditional_models import ConditionalLogit

    own = [(rank, np.array(ratings, dtype=float)) for rank, ratings in picks if len(ratings) > 1]
    if not own:
        return Undefined("Nobody picked an item from a list of two or more.")
    ranks = np.concatenate([np.arange(1.0, len(ratings) + 1) for _rank, ratings in own])
    lists = np.repeat(np.arange(len(own)), [len(ratings) for _rank, ratings in own])
    chosen = ranks == np.array([rank for rank, _ratings in own])[lists]
    popularity = np.log2(1 + np.concatenate([ratings for _rank, ratings in own]))
    columns = {"one rank further down": ranks, "twice as many ratings": popularity}
    columns = {name: column for name, column in columns.items() if np.ptp(column) > 0}
    sds = np.array([column.std() for column in columns.values()])
    model = ConditionalLogit(chosen.astype(float), np.column_stack(list(columns.values())) / sds, groups=lists)
    fit = model.fit(disp=False)
    if not fit.bse.max() < LARGEST_ERROR:  # neither where it is no number
        return Undefined("Rank or popularity determine every pick: the odds have no finite estimate.")
    odds = {}
    for name, value, se in zip(columns, fit.params / sds, fit.bse / sds, strict=True):
        low, high = np.exp(stats.norm.interval(0.95, value, se))
        odds[name] = Odds(math.exp(value), Interval(float(low), float(high)))
    return ItemChoice(len(own), odds)
