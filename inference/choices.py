"""Shares of participants who picked something, what their picks depended on, and mean shares of items, by condition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from inference.attrition import attrition_test
from inference.average_advantage import MeanEstimates
from inference.factorial import CellMeans, joint_test
from inference.posthoc import pairs_of_means
from inference.results import Floats, Interval, Pair, PairwiseResult, Undefined
from inference.t_tests import satterthwaite_df

NEGLIGIBLE = 1e-9
LARGEST_ERROR = 10.0  # of log odds for one standard deviation; a larger one means that no estimate is finite


@dataclass(frozen=True)
class SharesTest:
    """A test of equal shares in all conditions, with the difference of every two, whose intervals hold together."""

    method: str  # as the method of `AttritionResult`, or Wald
    statistic: float  # χ², or F of Wald's test
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

    The tests are those of `attrition_test`, with picks for losses; pairs are corrected by Bonferroni, with Newcombe's
    score intervals by statsmodels. Undefined with fewer than two conditions, or where none or all picked something.
    Source: Newcombe (1998), Statistics in Medicine 17(8):873-890, method 10.

    Examples
    --------
    >>> test = picking_test({"A": (9, 10), "B": (4, 10)})
    >>> test.method, round(test.p, 4), test.pairs.pairs[0].difference
    ('exact', 0.0573, 0.5)
    """
    from statsmodels.stats.proportion import confint_proportions_2indep

    table = {name: (n, picked) for name, (picked, n) in counts.items() if n}
    if len(table) < 2:
        return Undefined(f"A comparison needs two conditions with participants; there are {len(table)}.")
    if isinstance(test := attrition_test(table), Undefined):
        return Undefined("None or all of the participants picked something: nothing differs.")
    shares, pairs, n_pairs = {rate.condition: rate.share for rate in test.rates}, [], math.comb(len(table), 2)
    for a, b in combinations(table, 2):
        of_pair = attrition_test({name: table[name] for name in (a, b)})
        p = 1.0 if isinstance(of_pair, Undefined) else min(1.0, n_pairs * of_pair.p)
        low, high = confint_proportions_2indep(*counts[a], *counts[b], "newcomb", "diff", alpha=alpha / n_pairs)
        pairs.append(Pair(a, b, shares[a] - shares[b], p, p < alpha, float(low), float(high)))
    n = {name: size for name, (size, _picked) in table.items()}
    compared = PairwiseResult("Newcombe, Bonferroni", alpha, tuple(pairs), shares, n)
    return SharesTest(test.p_method, test.chi_squared, test.df, None, test.p, compared)


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
    means, variances = np.asarray(fit.params), np.diag(fit.cov_params()) * varies  # conditions share no participant
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

    picked = [(rank, np.array(ratings, dtype=float)) for rank, ratings in picks if len(ratings) > 1]
    if not picked:
        return Undefined("No participant picked an item from a list of two or more.")
    ranks = np.concatenate([np.arange(1.0, len(ratings) + 1) for _rank, ratings in picked])
    lists = np.repeat(np.arange(len(picked)), [len(ratings) for _rank, ratings in picked])
    chosen = ranks == np.array([rank for rank, _ratings in picked])[lists]
    popularity = np.log2(1 + np.concatenate([ratings for _rank, ratings in picked]))
    columns = {"one rank further down": ranks, "twice as many ratings": popularity}
    # Only differences within lists count.
    within = {name: own - (np.bincount(lists, own) / np.bincount(lists))[lists] for name, own in columns.items()}
    columns = {name: column for name, column in within.items() if np.ptp(column) > NEGLIGIBLE}
    sds = np.array([column.std() for column in columns.values()])
    model = ConditionalLogit(chosen.astype(float), np.column_stack(list(columns.values())) / sds, groups=lists)
    fit = model.fit(disp=False)
    if not fit.bse.max() < LARGEST_ERROR:  # neither where it is no number
        return Undefined("Rank or popularity determine every pick: the odds have no finite estimate.")
    odds = {}
    for name, value, se in zip(columns, fit.params / sds, fit.bse / sds, strict=True):
        low, high = np.exp(stats.norm.interval(0.95, value, se))
        odds[name] = Odds(math.exp(value), Interval(float(low), float(high)))
    return ItemChoice(len(picked), odds)
