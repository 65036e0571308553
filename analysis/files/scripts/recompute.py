"""Recompute the report's numbers from the raw answers in this package, and compare them with the report.

Run it in the folder of the package, or name the folder:  python scripts/recompute.py [FOLDER]
Needs Python 3.10 or later with numpy, scipy and pandas. It needs nothing of the platform that created the report;
report/numbers.csv, with the report's own numbers, is read at the end for the comparison.
"""

import math
import os
import sys
from functools import cache
from itertools import combinations, permutations
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small systems: threads wait for each other longer than they work

import numpy as np
import pandas as pd
from scipy import optimize, special, stats

ALPHA = 0.05
# By iteration: they agree within .001, all others within a millionth.
FITTED = ("ordinal", "ordinal_pair", "nested", "mixed", "mixed_pair", "mixed_contrast", "mixed_equivalence")
TIE_WITHIN = 1e-9  # of the largest value: users with a smaller difference are tied
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
recomputed, models = {}, {}


def compared(variable):
    """The conditions whose means are compared: those of two participants, or in turn those of the mixed model."""
    if not in_turn:
        return of_two[variable]
    return models[variable][0] if variable in models else ()


def sum_of_means(variable, weights):
    """A weighted sum of the conditions' means with its standard error and df: by Welch, or in turn by the mixed model;
    None without such means or without any variance."""
    if not set(weights) <= set(compared(variable)):
        return None
    if in_turn:
        names, tested_by = models[variable]
        return tested_by(np.array([weights.get(name, 0.0) for name in names]))
    squared, df = welch(of_two[variable], {name: weight for name, weight in weights.items() if weight})
    value = sum(weight * of_two[variable][name].mean() for name, weight in weights.items())
    return None if df is None else (value, math.sqrt(squared), df)


def advantage(variable, metric, pairs):
    """Mean difference between the better and the worse of the pairs that a metric separates."""
    names = compared(variable)
    pairs = [(better, worse) for better, worse in pairs if better in names and worse in names]
    weights = {name: sum((name == a) - (name == b) for a, b in pairs) / len(pairs) for name in names} if pairs else {}
    if any(weights.values()) and (estimate := sum_of_means(variable, weights)):
        t_test(variable, "mixed_contrast" if in_turn else "advantage", metric, *estimate)


def t_test(of, test, a, value, se, df, sides=2):
    p = stats.t.sf(value / se, df) if sides == 1 else 2 * stats.t.sf(abs(value) / se, df)
    keep(of, test, a, value=value, se=se, df=df, t=value / se, p=p)


def keep(of, test, a="", b="", **statistics):
    for statistic, value in statistics.items():
        if value is not None and math.isfinite(value):
            recomputed[(of, test, a, b, statistic)] = float(value)


def holm(ps):
    order, adjusted, highest = np.argsort(ps, kind="stable"), np.empty(len(ps)), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = highest
    return adjusted


POINTS, WEIGHTS = np.polynomial.legendre.leggauss(160)


def range_tail(q, k, df):
    """Probability that the studentized range of k means exceeds q, by quadrature over the spread and the largest mean.

    scipy's own function takes a second for each interval of a pair with its own degrees of freedom.
    """
    if k == 2:
        return 2 * stats.t.sf(q / math.sqrt(2), df)
    reach = 9 / math.sqrt(2 * df)
    low, high = max(0.0, 1 - reach), 1 + reach
    spread = low + (high - low) * (POINTS + 1) / 2
    log_density = df / 2 * math.log(df / 2) - special.gammaln(df / 2) + (df - 1) * np.log(spread) - df * spread**2 / 2
    density = 2 * np.exp(log_density) * WEIGHTS * (high - low) / 2
    largest = 9 * POINTS
    within = special.ndtr(largest) - special.ndtr(largest - q * spread[:, None])
    below = k * 9 * (within ** (k - 1)) @ (WEIGHTS * stats.norm.pdf(largest))
    return min(1.0, max(0.0, 1 - density @ below))


@cache
def critical_value(k, df):
    """The studentized range that k means exceed with probability alpha."""
    return optimize.brentq(lambda q: range_tail(q, k, df) - ALPHA, 0.1, 200, xtol=1e-9)


def describe(of, groups):
    for name, values in groups.items():
        n, mean = len(values), values.mean()
        q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75])
        keep(of, "described", name, n=n, mean=mean, median=median, q1=q1, q3=q3)
        if n > 1:
            sd = values.std(ddof=1)
            half = stats.t.isf(0.025, n - 1) * sd / math.sqrt(n)
            keep(of, "described", name, sd=sd, ci_low=mean - half, ci_high=mean + half)


def f_of(groups):
    """F of a one-way analysis of variance, its degrees of freedom and the sums of squares."""
    whole = np.concatenate(groups)
    between = sum(len(g) * (g.mean() - whole.mean()) ** 2 for g in groups)
    within = sum(((g - g.mean()) ** 2).sum() for g in groups)
    df_between, df_within = len(groups) - 1, len(whole) - len(groups)
    return between / df_between / (within / df_within), df_between, df_within, between, within


def simultaneous(of, test, a, b, k, difference, error, df):
    """A pair among k means by the studentized range; `error` is the standard error of one mean."""
    half, p = critical_value(k, df) * error, range_tail(abs(difference) / error, k, df)
    keep(of, test, a, b, difference=difference, p=p, ci_low=difference - half, ci_high=difference + half)


def variance_tests(of, groups):
    values = list(groups.values())
    k = len(values)
    if k < 2 or sum(((g - g.mean()) ** 2).sum() for g in values) < 1e-12:
        return
    f, df_between, df_within, between, within = f_of(values)
    p, eta_squared = stats.f.sf(f, df_between, df_within), between / (between + within)
    keep(of, "anova", f=f, df_between=df_between, df_within=df_within, p=p, eta_squared=eta_squared)
    for a, b in combinations(groups, 2):
        difference = groups[a].mean() - groups[b].mean()
        error = math.sqrt(within / df_within / 2 * (1 / len(groups[a]) + 1 / len(groups[b])))
        simultaneous(of, "tukey", a, b, k, difference, error, df_within)
        squared, df = welch(groups, {a: 1, b: -1})
        if squared >= 1e-15:
            keep(of, "games_howell", a, b, df=df)
            simultaneous(of, "games_howell", a, b, k, difference, math.sqrt(squared / 2), df)

    variances = np.array([g.var(ddof=1) for g in values])
    if (variances > 1e-15).all():
        n, means = np.array([len(g) for g in values]), np.array([g.mean() for g in values])
        weights = n / variances
        centre = (weights * means).sum() / weights.sum()
        unevenness = ((1 - weights / weights.sum()) ** 2 / (n - 1)).sum()
        f = (weights * (means - centre) ** 2).sum() / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * unevenness)
        df = (k**2 - 1) / (3 * unevenness)
        keep(of, "welch", f=f, df_between=k - 1, df_within=df, p=stats.f.sf(f, k - 1, df))

    deviations = [np.abs(g - np.median(g)).round(12) for g in values]
    if sum(((d - d.mean()) ** 2).sum() for d in deviations) > 1e-12:
        f, df_between, df_within, _, _ = f_of(deviations)
        p = stats.f.sf(f, df_between, df_within)
        keep(of, "brown_forsythe", f=f, df_between=df_between, df_within=df_within, p=p)


def welch(groups, weights):
    """Squared standard error of a weighted sum of means with variances of their own, and its degrees of freedom."""
    own = {name: weight**2 * groups[name].var(ddof=1) / len(groups[name]) for name, weight in weights.items()}
    squared = sum(own.values())
    if squared < 1e-15:
        return squared, None
    return squared, squared**2 / sum(part**2 / (len(groups[name]) - 1) for name, part in own.items())


def rank_test(of, groups):
    whole = np.concatenate(list(groups.values())) if groups else np.array([])
    if len(groups) < 2 or len(set(whole)) == 1:
        return
    result = stats.kruskal(*groups.values())
    keep(of, "kruskal", h=result.statistic, df=len(groups) - 1, p=result.pvalue)


def contrast(of, groups, weights, sides):
    """The planned contrast: a t test with the variance pooled over all conditions, and Welch's."""
    difference = sum(weight * groups[name].mean() for name, weight in weights.items())
    keep(of, "contrast", difference=difference)
    df_within = sum(len(g) - 1 for g in groups.values())
    ms_within = sum(((g - g.mean()) ** 2).sum() for g in groups.values()) / df_within
    pooled = ms_within * sum(weight**2 / len(groups[name]) for name, weight in weights.items())
    for test, squared, df in (("contrast", pooled, df_within), ("contrast_welch", *welch(groups, weights))):
        if squared < 1e-15:
            continue
        error = math.sqrt(squared)
        t, half = difference / error, stats.t.isf(ALPHA / sides, df) * error
        p = stats.t.sf(t, df) if sides == 1 else 2 * stats.t.sf(abs(t), df)
        high = None if sides == 1 else difference + half
        keep(of, test, t=t, df=df, p=p, ci_low=difference - half, ci_high=high)


def effect(of, name, weights):
    """A weighted sum of the conditions' means with its limits."""
    if estimate := sum_of_means(of, weights):
        test, (value, se, df) = "mixed_contrast" if in_turn else "effect", estimate
        half = stats.t.isf(ALPHA / 2, df) * se
        t_test(of, test, name, value, se, df)
        keep(of, test, name, ci_low=value - half, ci_high=value + half)


def joint(of, groups, term, rows):
    """Whether the contrasts of a term are all 0; of a trend, whether the doses' means leave the straight line."""
    contrasts = rows.pivot(index="effect", columns="condition", values="weight").fillna(0)
    contrasts = contrasts[contrasts.sum(axis=1).abs() < 1e-9]  # without the marginal means
    names, matrix = list(contrasts), contrasts.to_numpy()
    if term.startswith("trend over"):
        doses, at = np.unique(matrix[0].round(9), return_inverse=True)
        line = np.vander(doses, 2)
        matrix = ((np.eye(len(doses)) - line @ np.linalg.pinv(line)) / np.bincount(at))[:, at]
    own = np.array([groups[name].var(ddof=1) / len(groups[name]) for name in names])
    means, n = ([function(groups[name]) for name in names] for function in (np.mean, len))
    if test := johansen(matrix, np.array(means), own, np.array(n)):
        f, q, df_within, p = test
        keep(of, "joint", term, f=f, df=q, df_within=df_within, p=p)


def johansen(matrix, means, own, n):
    """F, its degrees of freedom and p of contrasts that are all 0, from means with their squared errors and numbers of
    participants; None where too few have an error."""
    _left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    matrix = right[sizes > 1e-9]
    spread, q = (matrix * own) @ matrix.T, len(matrix)
    if not q or np.linalg.cond(spread) >= 1e9:
        return None
    values, shares = matrix @ means, (matrix * np.linalg.solve(spread, matrix)).sum(axis=0) * own
    a = (shares**2 / (n - 1)).sum()
    f, df_within = values @ np.linalg.solve(spread, values) / (q + 2 * a - 6 * a / (q + 2)), q * (q + 2) / (3 * a)
    return f, q, df_within, stats.f.sf(f, q, df_within)


def picking(of, groups):
    """Shares of participants who picked something: all conditions by χ² or exactly, pairs with Newcombe's limits."""
    counts = {name: (int((values > 0).sum()), len(values)) for name, values in groups.items()}
    picked, n = np.array(list(counts.values())).T
    if len(counts) < 2 or not 0 < picked.sum() < n.sum():
        return
    chi_squared, p = of_table(picked, n)
    keep(of, "shares", statistic=chi_squared, df=len(counts) - 1, p=p)
    n_pairs = math.comb(len(counts), 2)
    for a, b in combinations(counts, 2):
        both = np.array([counts[a], counts[b]]).T
        p = of_table(*both)[1] if 0 < both[0].sum() < both[1].sum() else 1.0
        (share_a, low_a, high_a), (share_b, low_b, high_b) = (wilson(*counts[name], ALPHA / n_pairs) for name in (a, b))
        difference = share_a - share_b
        low = difference - math.hypot(share_a - low_a, high_b - share_b)
        high = difference + math.hypot(high_a - share_a, share_b - low_b)
        p = None if p is None else min(1.0, n_pairs * p)
        keep(of, "shares_pair", a, b, difference=difference, p=p, ci_low=low, ci_high=high)


def wilson(picked, n, alpha):
    """A share with its limits."""
    z, share = stats.norm.isf(alpha / 2), picked / n
    middle, half = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return share, (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def of_table(picked, n):
    """χ² of equal shares, and its p; with fewer than five expected in a cell that of all tables that are no likelier,
    or none where these are too many."""
    test = stats.chi2_contingency([picked, n - picked], correction=False)
    if test.expected_freq.min() >= 5:
        return test.statistic, test.pvalue
    log_counts = [np.array([math.log(math.comb(int(size), own)) for own in range(size + 1)]) for size in n]
    used, logs, room = np.zeros(1, dtype=int), np.zeros(1), n.sum()
    for size, own in zip(n, log_counts):
        room -= size
        totals = used[:, None] + np.arange(size + 1)
        can_be = (totals <= picked.sum()) & (totals >= picked.sum() - room)
        used, logs = totals[can_be], (logs[:, None] + own)[can_be]
        if len(used) > 200_000:
            return test.statistic, None
    weights, observed = np.exp(logs - logs.max()), sum(own[gone] for own, gone in zip(log_counts, picked))
    return test.statistic, weights[logs <= observed + 1e-7].sum() / weights.sum()


def mean_shares(of, groups, sizes):
    """Mean shares of items: estimating equations with an exchangeable correlation of a participant's items, and the
    variance of Mancl and DeRouen; all conditions by Johansen, pairs by the studentized range."""
    shares = {name: values for name, values in groups.items() if len(values) > 1}
    if len(shares) < 2:
        return
    names, n_items = list(shares), {name: sizes[name] for name in shares}
    all_items = np.concatenate(list(n_items.values()))
    n_pairs, correlation = (all_items * (all_items - 1)).sum() / 2, 0.0
    for _step in range(100 if n_pairs > len(names) else 0):
        fitted = means_of_shares(shares, n_items, correlation)
        left = [(shares[name] - mean) * n_items[name] for name, (mean, _squared) in zip(names, fitted)]
        squares = sum(
            (n_items[name] * (shares[name] * (1 - mean) ** 2 + (1 - shares[name]) * mean**2)).sum()
            for name, (mean, _squared) in zip(names, fitted)
        )
        products = (sum((each**2).sum() for each in left) - squares) / 2
        before = correlation
        correlation = products * (all_items.sum() - len(names)) / squares / (n_pairs - len(names))
        if abs(correlation - before) < 1e-12:
            break
    if 1 + (all_items.max() - 1) * correlation <= 0:
        correlation = 0.0
    means, squared = np.array(means_of_shares(shares, n_items, correlation)).T
    n, k = np.array([len(values) for values in shares.values()]), len(names)
    if not (test := johansen(np.eye(k) - 1 / k, means, squared, n)):
        return
    keep(of, "shares", **dict(zip(("statistic", "df", "df_within", "p"), test)))
    for i, j in combinations(range(k), 2):
        if (both := squared[i] + squared[j]) > 1e-15:
            df = both**2 / (squared[i] ** 2 / (n[i] - 1) + squared[j] ** 2 / (n[j] - 1))
            simultaneous(of, "shares_pair", names[i], names[j], k, means[i] - means[j], math.sqrt(both / 2), df)


def means_of_shares(shares, n_items, correlation):
    """Of each condition the mean share and its squared error."""
    fitted = []
    for name, own in shares.items():
        weights = n_items[name] / (1 + (n_items[name] - 1) * correlation)
        weights /= weights.sum()
        mean = weights @ own
        squared = ((weights * (own - mean) / (1 - weights)) ** 2).sum() if np.ptp(own) > 0 else 0.0
        fitted.append((mean, squared))
    return fitted


def against_bound(difference, error, df, bound):
    """p of equivalence by two one-sided t tests, and of a difference beyond the bound, two-sided."""
    same = max(stats.t.sf((difference + bound) / error, df), stats.t.cdf((difference - bound) / error, df))
    return same, min(1.0, 2 * stats.t.cdf((bound - abs(difference)) / error, df))


def bounded(of, bound, weights):
    """The planned contrast, if any, and every pair against the bound; pairs with Holm's correction in two families."""
    tested, test = [], "mixed_equivalence" if in_turn else "equivalence"
    for a, b in combinations(compared(of), 2):
        if estimate := sum_of_means(of, {a: 1, b: -1}):
            difference, error, df = estimate
            half = stats.t.isf(ALPHA, df) * error
            keep(of, test, a, b, ci_low=difference - half, ci_high=difference + half)
            tested.append((a, b, *against_bound(*estimate, bound)))
    for position, statistic in ((2, "p_equivalence"), (3, "p_minimum")):
        for row, p in zip(tested, holm([row[position] for row in tested])):
            keep(of, test, *row[:2], **{statistic: p})
    if weights and (estimate := sum_of_means(of, weights)):
        same, beyond = against_bound(*estimate, bound)
        keep(of, test, p_equivalence=same, p_minimum=beyond)


def sign_tests(of, users):
    """Two-sided sign tests between every pair over users, with Holm's correction over all pairs."""
    pairs, counts, ps = [], [], []
    for a, b in combinations(users, 2):
        difference = (users[a] - users[b]).dropna()
        tied = TIE_WITHIN * max(users[a].abs().max(), users[b].abs().max())
        n_a, n_b = int((difference > tied).sum()), int((difference < -tied).sum())
        if n_a + n_b == 0:
            continue
        pairs.append((a, b))
        counts.append((n_a, n_b, len(difference) - n_a - n_b))
        ps.append(min(1.0, 2 * stats.binom.sf(max(n_a, n_b) - 1, n_a + n_b, 0.5)))
    for (a, b), (n_a, n_b, n_ties), p, adjusted in zip(pairs, counts, ps, holm(ps)):
        keep(of, "sign_test", a, b, n_a=n_a, n_b=n_b, n_ties=n_ties, p_unadjusted=p, p=adjusted)


def preferences(of, judged):
    """Preferences between two lists; `judged` has left, right, participant and preference, below 0 for the left list.

    Returns the values that metrics are compared with: shares of two conditions, or log-worths of more.
    """
    names = [name for name in conditions if name in {*judged["left"], *judged["right"]}]
    signs = np.sign(judged["preference"].to_numpy())
    at = {name: number for number, name in enumerate(names)}
    left, right = (judged[side].map(at).to_numpy() for side in ("left", "right"))
    for a, b in combinations(range(len(names)), 2):
        n_a = int(((left == a) & (right == b) & (signs < 0)).sum() + ((left == b) & (right == a) & (signs > 0)).sum())
        n_b = int(((left == a) & (right == b) & (signs > 0)).sum() + ((left == b) & (right == a) & (signs < 0)).sum())
        n_ties = int((((left == a) & (right == b)) | ((left == b) & (right == a)))[signs == 0].sum())
        if not n_a + n_b:
            continue
        low = stats.beta.ppf(0.025, n_a, n_b + 1) if n_a else 0.0
        high = stats.beta.ppf(0.975, n_a + 1, n_b) if n_b else 1.0
        share = n_a / (n_a + n_b)
        keep(
            of, "preference", names[a], names[b], n_a=n_a, n_b=n_b, n_ties=n_ties, share=share, ci_low=low, ci_high=high
        )
        if len(conditions) == 2:
            p = stats.binomtest(n_a, n_a + n_b).pvalue
            keep(of, "sign", names[a], names[b], difference=(n_a - n_b) / (n_a + n_b + n_ties), p=p)
    if len(conditions) == 2:
        rates = {}
        for name, number in at.items():
            points = [*(1 - signs[left == number]) / 2, *(1 + signs[right == number]) / 2]
            rates[name] = float(np.mean(points))
        return rates
    return davidson(of, names, left, right, signs, judged["participant"].to_numpy())


def davidson(of, names, left, right, signs, people):
    """Davidson's model with an effect of the side, its variance clustered by participant; the log-worths by name."""
    k, n = len(names), len(left)
    effects = np.vstack([np.eye(k - 1), -np.ones(k - 1)])
    answers = [np.hstack([effects[left], np.full((n, 1), 0.5)]), np.hstack([effects[right], np.full((n, 1), -0.5)])]
    chosen = [signs < 0, signs > 0]
    if (signs == 0).any():
        answers = [np.hstack([each, np.zeros((n, 1))]) for each in answers]
        answers.append(np.hstack([(effects[left] + effects[right]) / 2, np.zeros((n, 1)), np.ones((n, 1))]))
        chosen.append(signs == 0)
    features, chosen = np.stack(answers, axis=1), np.array(chosen, dtype=float).T
    beta = np.zeros(features.shape[2])
    for _step in range(100):
        chances = special.softmax(features @ beta, axis=1)
        scores = np.einsum("na,nap->np", chosen - chances, features)
        mean = np.einsum("na,nap->np", chances, features)
        squares = np.einsum("na,nap,naq->pq", chances, features, features) - mean.T @ mean
        step = np.linalg.solve(squares, scores.sum(axis=0))
        beta = beta + step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-12:
            break
    if np.abs(beta).max() > 12:
        return {}
    clusters = np.unique(people, return_inverse=True)[1]
    sums = np.zeros((clusters.max() + 1, len(beta)))
    np.add.at(sums, clusters, scores)
    df = len(sums) - 1
    covariance = np.linalg.inv(squares) @ (sums.T @ sums) @ np.linalg.inv(squares) * len(sums) / df
    worths, own = effects @ beta[: k - 1], covariance[: k - 1, : k - 1]
    for name, worth in zip(names, worths):
        keep(of, "davidson", name, worth=worth)
    for a, b in combinations(range(k), 2):
        contrast = effects[a] - effects[b]
        error = math.sqrt(contrast @ own @ contrast / 2)
        simultaneous(of, "davidson_pair", names[a], names[b], k, worths[a] - worths[b], error, df)
    f, df_within = beta[: k - 1] @ np.linalg.solve(own, beta[: k - 1]) * (df - k + 2) / (df * (k - 1)), df - k + 2
    keep(of, "davidson", f=f, df=k - 1, df_within=df_within, p=stats.f.sf(f, k - 1, df_within))
    side, se = beta[k - 1], math.sqrt(covariance[k - 1, k - 1])
    half, p = stats.t.ppf(0.975, df) * se, 2 * stats.t.sf(abs(side) / se, df)
    keep(of, "davidson_side", value=side, se=se, df=df, p=p, ci_low=side - half, ci_high=side + half)
    return dict(zip(names, worths.tolist()))


def tau_b(of, metric, x, y):
    """Kendall's tau-b, and its p from all orders of the algorithms."""
    names = [name for name in x if name in y]
    if len(names) < 2:
        return None
    first, second = (np.array([round(side[name], 10) for name in names]) for side in (x, y))
    signs_x, signs_y = (np.sign(np.subtract.outer(v, v)).astype(int) for v in (first, second))
    untied = math.sqrt((signs_x**2).sum() * (signs_y**2).sum())
    if untied == 0:
        return None
    observed = (signs_x * signs_y).sum()
    p = None
    if len(names) <= 8:
        orders = np.array(list(permutations(range(len(names)))))
        upper = np.triu_indices(len(names), 1)
        sums = 2 * signs_y[orders[:, upper[0]], orders[:, upper[1]]] @ signs_x[upper]
        p = float(np.mean(np.abs(sums) >= abs(observed)))
    keep(of, "tau_b", metric, coefficient=observed / untied, p=p)
    return p


def by_recommender(values, names):
    """The mean of each recommender over those of its conditions that are named."""
    own = {}
    for name in names:
        own.setdefault(recommenders[name], []).append(values[name])
    return {name: math.fsum(each) / len(each) for name, each in own.items()}


def effect_sizes(of, groups):
    """Hedges' g of every pair with the exact correction, and limits from the noncentral t distribution."""
    for a, b in combinations(groups, 2):
        x, y = groups[a], groups[b]
        df = len(x) + len(y) - 2
        spread = ((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()
        if df < 2 or spread < 1e-12:
            continue
        correction = math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
        root = math.sqrt(len(x) * len(y) / (len(x) + len(y)))
        d = (x.mean() - y.mean()) / math.sqrt(spread / df)

        def limit(share, t=d * root, df=df):
            reach = 4 * math.sqrt(1 + t * t / (2 * df))
            return optimize.brentq(lambda shift: stats.nct.cdf(t, df, shift) - share, t - reach, t + reach, xtol=1e-10)

        low, high = (correction * limit(share) / root for share in (0.975, 0.025))
        keep(of, "hedges", a, b, g=correction * d, ci_low=low, ci_high=high)


def dunn(of, groups):
    """Dunn's tests of every pair by mean ranks, with Holm's correction."""
    if len(groups) < 2:
        return
    ranks = stats.rankdata(np.concatenate(list(groups.values())))
    n, ties = len(ranks), np.unique(ranks, return_counts=True)[1].astype(float)
    unit = n * (n + 1) / 12 - (ties**3 - ties).sum() / (12 * (n - 1))
    if unit < 1e-12:
        return
    own = dict(zip(groups, np.split(ranks, np.cumsum([len(g) for g in groups.values()])[:-1])))
    pairs = list(combinations(groups, 2))
    differences = [own[a].mean() - own[b].mean() for a, b in pairs]
    errors = [math.sqrt(unit * (1 / len(own[a]) + 1 / len(own[b]))) for a, b in pairs]
    ps = holm([2 * stats.norm.sf(abs(d) / e) for d, e in zip(differences, errors)])
    for (a, b), difference, p in zip(pairs, differences, ps):
        keep(of, "dunn", a, b, difference=difference, p=p)


def pearson(x, y, df):
    """r, its p and its 95% limits by Fisher's z; None where a side is constant."""
    if df < 1:
        return None
    x, y = x - x.mean(), y - y.mean()
    if min((x**2).sum(), (y**2).sum()) < 1e-12:
        return None
    r = (x @ y) / math.sqrt((x @ x) * (y @ y))
    if abs(r) > 1 - 1e-12:
        return {"coefficient": r, "p": 0.0}
    outcome = {"coefficient": r, "p": 2 * stats.t.sf(abs(r) * math.sqrt(df / (1 - r * r)), df)}
    if df > 1:
        half = stats.norm.isf(0.025) / math.sqrt(df - 1)
        outcome.update(ci_low=math.tanh(math.atanh(r) - half), ci_high=math.tanh(math.atanh(r) + half))
    return outcome


def within_conditions(x, y, condition):
    """r of deviations from the means of the conditions."""
    both = x.notna() & y.notna()
    table = pd.DataFrame({"x": x[both], "y": y[both]})
    groups = table.groupby(condition[both])
    centred = table - groups.transform("mean")
    return pearson(centred["x"].to_numpy(), centred["y"].to_numpy(), len(table) - groups.ngroups - 1)


def doses(metric, groups):
    """The difference of each re-ranked condition from the one with the same model, in SD within both."""
    for name, base in zip(designed["label"], designed.get("re_ranks", [])):
        if name in groups and base in groups:
            both = groups[name], groups[base]
            squares = sum(((values - values.mean()) ** 2).sum() for values in both)
            sd = math.sqrt(squares / max(1, sum(map(len, both)) - 2))
            difference = both[0].mean() - both[1].mean()
            keep(metric, "dose", name, base, difference_sd=difference / sd if sd else 0.0)


def list_metrics(lists):
    """Metrics of the lists shown by condition, and with every measure within and between conditions; one family."""
    outcome = {}
    for metric in lists.columns[2:]:
        column = lists[metric]
        groups = {name: column[people["condition"] == name].dropna().to_numpy() for name in conditions}
        groups = {name: values for name, values in groups.items() if len(values)}
        describe(metric, groups)
        doses(metric, groups)
        means = {name: values.mean() for name, values in groups.items()}
        for variable in tested:
            if within := within_conditions(column, people[variable], people["condition"]):
                keep(variable, "correlation_within", metric, **within)
                outcome[variable, "correlation_within", metric] = within["p"]
            own = perceived[variable]
            if sum(name in own for name in means) > 2 and (p := tau_b(variable, metric, means, own)) is not None:
                outcome[variable, "tau_b", metric] = p
    for (variable, test, metric), p in zip(outcome, holm(list(outcome.values()))):
        keep(variable, test, metric, p_holm=p)


def correlations(values, pairs):
    """Pearson's r over all participants, within conditions and between their means; one family for Holm."""
    outcome = {}
    for first, second, x, y in pairs:
        both = x.notna() & y.notna()
        table = pd.DataFrame({"x": x[both], "y": y[both], "condition": values["condition"][both]})
        means = table.groupby("condition")[["x", "y"]].mean()
        centred = table[["x", "y"]] - means.loc[table["condition"]].to_numpy()
        k = len(means)
        parts = {
            "overall": pearson(table["x"].to_numpy(), table["y"].to_numpy(), len(table) - 2),
            "within": pearson(centred["x"].to_numpy(), centred["y"].to_numpy(), len(table) - k - 1),
            "between": pearson(means["x"].to_numpy(), means["y"].to_numpy(), k - 2),
        }
        outcome.update({(first, f"correlation_{part}", second): result for part, result in parts.items() if result})
    for (key, result), p in zip(outcome.items(), holm([result["p"] for result in outcome.values()])):
        keep(*key, **result, p_holm=p)


def ordinal(of, groups):
    """Cumulative logit model of ordered answers by maximum likelihood; pairs by Wald tests with Holm's correction."""
    names = list(groups)
    points = np.unique(np.concatenate(list(groups.values())))
    counts = np.array([[(groups[name] == point).sum() for point in points] for name in names])
    if len(names) < 2 or not 2 <= len(points) <= 60:
        return
    n_thresholds = len(points) - 1

    def probabilities(parameters):
        steps = np.concatenate([parameters[:1], np.exp(parameters[1:n_thresholds])])
        shifts = np.concatenate([[0.0], parameters[n_thresholds:]])
        below = 1 / (1 + np.exp(shifts[:, None] - np.cumsum(steps)[None, :]))
        edges = np.hstack([np.zeros((len(names), 1)), below, np.ones((len(names), 1))])
        return np.diff(edges)

    def deviance(parameters):
        return -(counts * np.log(np.maximum(probabilities(parameters), 1e-300))).sum()

    shares = np.cumsum(counts.sum(axis=0))[:-1] / counts.sum()
    thresholds = np.log(shares / (1 - shares))
    start = np.concatenate([thresholds[:1], np.log(np.diff(thresholds)), np.zeros(len(names) - 1)])
    fit = optimize.minimize(deviance, start, method="BFGS", options={"gtol": 1e-7}).x
    hessian, step = np.empty((len(fit), len(fit))), 1e-4
    for i, j in np.ndindex(hessian.shape):
        signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
        moved = [deviance(fit + step * (s * np.eye(len(fit))[i] + t * np.eye(len(fit))[j])) for s, t in signs]
        hessian[i, j] = (moved[0] - moved[1] - moved[2] + moved[3]) / (4 * step**2)
    covariance = np.zeros((len(names), len(names)))
    covariance[1:, 1:] = np.linalg.inv(hessian)[n_thresholds:, n_thresholds:]
    shifts = np.concatenate([[0.0], fit[n_thresholds:]])
    keep(of, "ordinal", log_likelihood=-deviance(fit))
    for position, name in enumerate(names[1:], start=1):
        keep(of, "ordinal", name, estimate=shifts[position], se=math.sqrt(covariance[position, position]))
    pairs = list(combinations(range(len(names)), 2))
    errors = [math.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]) for i, j in pairs]
    ps = holm([2 * stats.norm.sf(abs(shifts[i] - shifts[j]) / error) for (i, j), error in zip(pairs, errors)])
    for (i, j), p in zip(pairs, ps):
        keep(of, "ordinal_pair", names[i], names[j], difference=shifts[i] - shifts[j], p=p)


def nested(items):
    """The mixed model of ratings with random intercepts of participants and of items within conditions, by REML."""
    names = [name for name in conditions if (items["condition"] == name).any()]
    person, n_own = np.unique(items["participant.id"], return_inverse=True, return_counts=True)[1:]
    item = pd.factorize(items["condition"] + "\n" + items["item.id"])[0]
    of_item = (item[:, None] == np.arange(item.max() + 1)[None, :]).astype(float)
    x = (items["condition"].to_numpy()[:, None] == np.array(names)[None, :]).astype(float)
    y = items["item.rating"].to_numpy(float)
    whole, n_items, df = np.column_stack([of_item, x, y]), of_item.shape[1], len(y) - len(names)
    products, sums = whole.T @ whole, pd.DataFrame(whole).groupby(person).sum().to_numpy()

    def pieces(sds):
        """The residual variance, and the determinants of the likelihood; `sds` are shares of the residual's."""
        of_persons, of_items = np.square(sds)
        absorbed = products - sums.T @ (sums * (of_persons / (1 + of_persons * n_own))[:, None])
        system = np.eye(n_items) + of_items * absorbed[:n_items, :n_items]
        side = absorbed[:n_items, n_items:]
        rest = absorbed[n_items:, n_items:] - of_items * side.T @ np.linalg.solve(system, side)
        information, on_y = rest[:-1, :-1], rest[:-1, -1]
        residual = rest[-1, -1] - on_y @ np.linalg.solve(information, on_y)
        determinants = np.linalg.slogdet(system)[1] + np.linalg.slogdet(information)[1]
        return residual / df, determinants + np.log1p(of_persons * n_own).sum()

    def deviance(sds):
        variance, determinants = pieces(sds)
        return determinants + df * math.log(max(variance, 1e-12))

    if df < 1 or pieces(np.zeros(2))[0] < 1e-9:
        return
    starts = [(0.5, 0.5), (0.05, 0.5), (0.5, 0.05), (0.02, 0.02)]
    options = {"xatol": 1e-6, "fatol": 1e-8, "maxiter": 400}
    fits = [optimize.minimize(deviance, start, method="Nelder-Mead", options=options) for start in starts]
    best = min(fits, key=lambda fit: fit.fun)
    variance = pieces(best.x)[0]
    own = [variance * sd**2 for sd in best.x]
    log_likelihood = -0.5 * (best.fun + df * (1 + math.log(2 * math.pi)))
    sds = dict(zip(("sd_persons", "sd_items", "sd_residual"), np.sqrt([*own, variance])))
    keep("accuracy", "nested", log_likelihood=log_likelihood, **sds)
    weights = x / n_own[person][:, None]
    weights /= weights.sum(axis=0)
    by_person = pd.DataFrame(weights).groupby(person).sum().to_numpy()
    parts = (by_person, of_item.T @ weights)
    spread = sum(v * (part**2).sum(axis=0) for v, part in zip(own, parts)) + variance * (weights**2).sum(axis=0)
    for name, mean, squared in zip(names, weights.T @ y, spread):
        keep("accuracy", "nested", name, mean=mean, se=math.sqrt(squared))


def mixed(of, rows):
    """The mixed model of conditions and positions with participants random, by REML and Satterthwaite."""
    names = [name for name in conditions if (rows["condition"] == name).any()]
    positions = (rows["position"].to_numpy()[:, None] == np.unique(rows["position"])[None, :]).astype(float)
    x = np.column_stack(
        [rows["condition"].to_numpy()[:, None] == np.array(names), positions[:, :-1] - positions[:, -1:]]
    )
    person, n_own = np.unique(rows["participant.id"], return_inverse=True, return_counts=True)[1:]
    whole = np.column_stack([x, rows[of]]).astype(float)
    products, sums, n = whole.T @ whole, pd.DataFrame(whole).groupby(person).sum().to_numpy(), len(whole)

    def pieces(variances):
        """The deviance, the estimates and their covariance."""
        between, within = variances
        inner = (products - sums.T @ (sums * (between / (within + between * n_own))[:, None])) / within
        information, on_y = inner[:-1, :-1], inner[:-1, -1]
        beta, determinants = np.linalg.solve(information, on_y), np.linalg.slogdet(information)[1]
        determinants += np.log1p(between * n_own / within).sum() + n * math.log(within)
        return determinants + inner[-1, -1] - on_y @ beta, beta, np.linalg.inv(information)

    start = np.log([rows[of].var() / 2] * 2)
    options = {"xatol": 1e-9, "fatol": 1e-11, "maxiter": 4000}
    fit = optimize.minimize(lambda logs: pieces(np.exp(logs))[0], start, method="Nelder-Mead", options=options)
    variances = np.exp(fit.x)
    free = [0, 1] if variances[0] > 1e-6 * variances[1] else [1]
    variances[0] *= len(free) - 1
    deviance, beta, covariance = pieces(variances)
    steps = [1e-3 * variances[i] * np.eye(2)[i] for i in free]
    hessian = np.array(
        [
            [sum(s * t * pieces(variances + s * a + t * b)[0] for s in (1, -1) for t in (1, -1)) / 4 for b in steps]
            for a in steps
        ]
    )
    changes = [(pieces(variances + step)[2] - pieces(variances - step)[2]) / 2 for step in steps]

    def df_of(weights):
        change = np.array([weights @ each @ weights for each in changes])
        return (weights @ covariance @ weights) ** 2 / (change @ np.linalg.solve(hessian, change))

    def tested(weights):
        padded = np.append(weights, np.zeros(len(beta) - len(names)))
        return padded @ beta, math.sqrt(padded @ covariance @ padded), df_of(padded)

    models[of] = names, tested
    sds = dict(zip(("sd_participants", "sd_residual"), np.sqrt(variances)))
    df_residual = n - x.shape[1]
    keep(of, "mixed", log_likelihood=-(deviance + df_residual * math.log(2 * math.pi)) / 2, **sds)
    for row, name in zip(np.eye(len(names)), names):
        value, se, _df = tested(row)
        keep(of, "mixed", name, adjusted=value, se=se)
    for i, j in combinations(range(len(names)), 2):
        value, se, df = tested(np.eye(len(names))[i] - np.eye(len(names))[j])
        keep(of, "mixed_pair", names[i], names[j], se=se, df=df)
        simultaneous(of, "mixed_pair", names[i], names[j], len(names), value, se / math.sqrt(2), df)
    contrasts = np.eye(len(beta))[: len(names)]
    contrasts = np.linalg.svd(contrasts - contrasts.mean(axis=0))[2][: len(names) - 1]
    values, vectors = np.linalg.eigh(contrasts @ covariance @ contrasts.T)
    rotated, q = vectors.T @ contrasts, len(values)
    f, single = ((rotated @ beta) ** 2 / values).mean(), np.array([df_of(row) for row in rotated])
    expected = (single / (single - 2)).sum()
    df = 2 * expected / (expected - q) if single.min() > 2 else 2
    keep(of, "mixed", f=f, df_between=q, df_within=df, p=stats.f.sf(f, q, df))


def repeated(of, rows):
    """Participants with a value of every condition: analysis of variance corrected by Greenhouse and Geisser, and tests
    by ranks of Friedman and of Nemenyi."""
    table = rows.pivot(index="participant.id", columns="condition", values=of).reindex(columns=conditions).dropna()
    (n, k), values = table.shape, table.to_numpy()
    if n < 2:
        return
    effects = values.mean(axis=0) - values.mean()
    rest = values - values.mean(axis=1, keepdims=True) - effects
    residual, explained, df = (rest**2).sum(), n * (effects**2).sum(), k - 1
    if residual > 1e-12 * (values**2).sum():
        f, df_within = explained / residual * (n - 1), (n - 1) * df
        epsilon = residual**2 / (df * ((rest.T @ rest) ** 2).sum())
        p, p_corrected = stats.f.sf(f, df, df_within), stats.f.sf(f, epsilon * df, epsilon * df_within)
        keep(of, "repeated_measures", n=n, f=f, df=df, df_within=df_within, p=p, epsilon=epsilon)
        keep(of, "repeated_measures", p_corrected=p_corrected, partial_eta_squared=explained / (explained + residual))
    ranks = stats.rankdata(values.round(9), axis=1)
    if room := (ranks**2).sum() - n * k * (k + 1) ** 2 / 4:
        chi_squared = df * ((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum() / room
        keep(of, "friedman", chi_squared=chi_squared, df=df, p=stats.chi2.sf(chi_squared, df))
        for (a, of_a), (b, of_b) in combinations(zip(conditions, ranks.mean(axis=0)), 2):
            q = abs(of_a - of_b) / math.sqrt(k * (k + 1) / (12 * n))
            keep(of, "nemenyi", a, b, difference=of_a - of_b, p=stats.studentized_range.sf(q, k, np.inf))


def score(columns, scales):
    """The mean of the answered members of a scale, reverse-scored, on the range of the score; empty where too few are
    answered."""
    scored = pd.DataFrame(
        {
            row.column: row.low + row.high - columns[row.column] if row.is_reversed else columns[row.column]
            for row in scales.itertuples()
        }
    )
    least = scales["least_answered"].iloc[0] * len(scales) - 1e-9
    answered = scored.notna().sum(axis=1)
    means = scored.mean(axis=1).where((answered > 0) & (answered >= least))
    first = scales.iloc[0]
    if first["low"] == first["score_low"] and first["high"] == first["score_high"]:
        return means
    share = (means - first["low"]) / (first["high"] - first["low"])
    return first["score_low"] + share * (first["score_high"] - first["score_low"])


designed = pd.read_csv(FOLDER / "data/conditions.csv", dtype=str, keep_default_na=False)
conditions = list(designed["label"])
# Where conditions share a recommender, rank correlations are over recommenders, whose conditions weigh the same.
recommenders = dict(zip(designed["label"], designed.get("recommender", designed["label"])))
analysed = pd.read_csv(FOLDER / "data/analysed.csv", dtype={"condition": str}, keep_default_na=False)
in_turn = "position" in analysed  # each participant met all conditions: a row for each occasion
texts = {"participant.id": str, "item.id": str}
raw = {
    name: pd.read_csv(FOLDER / f"data/{name}.csv", dtype=texts, keep_default_na=False, na_values=[""], low_memory=False)
    for name in ("occasions" if in_turn else "participants", "items")
}

# The measures of each analysed participant, from the answers about the list and about each item.
ids = analysed["participant.id"].astype(str)
if in_turn:  # as if each occasion were a participant; who they are is in `analysed`
    ids += "/" + analysed["position"].astype(str)
    for table in raw.values():
        table["participant.id"] += "/" + table["list.occasion"].astype(str)
judged = raw["items"][raw["items"]["participant.id"].isin(ids)].copy()
judged["condition"] = judged["participant.id"].map(dict(zip(ids, analysed["condition"])))
if "fon" in analysed:
    judged["unwatched"] = (judged["item.watched"] == 0).astype(int)
if "son" in analysed:
    judged["unheard"] = judged["unwatched"] * (judged["item.heard"] == 0)
by_person = judged.groupby("participant.id")
answers = raw["occasions" if in_turn else "participants"].set_index("participant.id").loc[ids].copy().reset_index()
people = pd.DataFrame({"participant.id": ids, "condition": analysed["condition"]})
for measure, column in {"accuracy": "item.rating", "fon": "unwatched", "son": "unheard"}.items():
    if measure in analysed:  # else the study does not ask for it
        people[measure] = ids.map(by_person[column].mean())
if "satisfaction" in analysed:
    people["satisfaction"] = answers["overall.satisfaction"]
if (FOLDER / "data/scales.csv").exists():
    members = pd.read_csv(FOLDER / "data/scales.csv")
    for scale, own in members.groupby("scale", sort=False):
        if own["about"].iloc[0] == "items":
            people[scale] = ids.map(score(judged, own).groupby(judged["participant.id"]).mean())
        else:
            people[scale] = score(answers, own)

plan = pd.read_csv(FOLDER / "data/plan.csv", dtype=str, keep_default_na=False)
tested = list(plan["variable"][plan["role"] == "tested"])
in_steps, picks, counts = (list(plan["variable"][plan["role"] == role]) for role in ("ordinal", "picks", "counts"))
n_shown = ids.map(judged.groupby("participant.id").size())
perceived, of_two = {}, {}
for variable in tested:  # an empty cell: no score of a scale
    if variable not in people:  # what was picked, opened or played
        rank = answers.get(f"{variable}_rank")
        people[variable] = answers[variable] / n_shown if rank is None else rank.notna().astype(float)
        people.loc[answers[variable].isna(), variable] = np.nan
    column = people[variable]
    answered = {name: column[people["condition"] == name].dropna() for name in conditions}
    groups = {name: own.to_numpy() for name, own in answered.items() if len(own)}
    if variable in picks:
        picking(variable, groups)
    if variable in counts:
        mean_shares(variable, groups, {name: n_shown[answered[name].index].to_numpy(float) for name in groups})
    describe(variable, groups)
    of_two[variable] = {name: values for name, values in groups.items() if len(values) > 1}
    perceived[variable] = {name: values.mean() for name, values in groups.items()}
    if in_turn:
        rows = people.assign(**{"participant.id": analysed["participant.id"], "position": analysed["position"]})
        rows = rows.dropna(subset=[variable])
        if rows[variable].nunique() > 1:
            mixed(variable, rows)
            repeated(variable, rows)
            names, tested_by = models[variable]
            perceived[variable] = {name: tested_by(row)[0] for name, row in zip(names, np.eye(len(names)))}
        continue
    variance_tests(variable, of_two[variable])
    effect_sizes(variable, of_two[variable])
    rank_test(variable, groups)
    dunn(variable, groups)
    if variable in in_steps:
        ordinal(variable, groups)

if (FOLDER / "data/preferences.csv").exists():
    rows = pd.read_csv(FOLDER / "data/preferences.csv", dtype={"left": str, "right": str}, keep_default_na=False)
    for variable, own in rows.groupby("variable", sort=False):
        perceived[variable] = preferences(variable, own)

pairs = [(a, b, people[a], people[b]) for a, b in combinations(tested, 2)]
if {"fon", "son"} <= set(tested):
    pairs.append(("fon", "unheard_of_unwatched", people["fon"].where(people["fon"] > 0), people["son"] / people["fon"]))
if not in_turn:
    correlations(people, pairs)
if "accuracy" in analysed and not in_turn:
    nested(judged)
if (FOLDER / "data/lists.csv").exists():
    lists = pd.read_csv(FOLDER / "data/lists.csv", dtype={"participant.id": str, "condition": str})
    # Rows of occasions are in the order of those analysed.
    list_metrics(lists if in_turn else lists.set_index("participant.id", drop=False).loc[ids].reset_index(drop=True))

if (FOLDER / "data/separated.csv").exists():
    separated = pd.read_csv(FOLDER / "data/separated.csv", dtype=str, keep_default_na=False)
    for (variable, metric), own in separated.groupby(["variable", "metric"]):
        advantage(variable, metric, list(zip(own["better"], own["worse"])))

weights = {}
if (FOLDER / "data/contrast.csv").exists():
    planned = pd.read_csv(FOLDER / "data/contrast.csv", dtype=str, keep_default_na=False)
    variable, sets = planned["variable"][0], planned.groupby("set")["condition"]
    if set(planned["condition"]) <= set(compared(variable)):
        signs = planned["set"].map({"higher": 1, "lower": -1}) / sets.transform("size")
        weights = dict(zip(planned["condition"], signs))
        if in_turn:
            t_test(variable, "mixed_contrast", "planned", *sum_of_means(variable, weights), int(planned["sides"][0]))
        else:
            contrast(variable, of_two[variable], weights, int(planned["sides"][0]))

if (FOLDER / "data/effects.csv").exists():
    rows = pd.read_csv(FOLDER / "data/effects.csv", dtype={"effect": str, "condition": str}, keep_default_na=False)
    for (variable, name), own in rows.groupby(["variable", "effect"]):
        effect(variable, name, dict(zip(own["condition"], own["weight"])))
    rows = rows[rows["effect"] != "planned"]
    for (variable, term), own in rows.groupby(["variable", rows["effect"].str.split(": ", n=1).str[0]]):
        joint(variable, of_two[variable], term, own)

if (FOLDER / "data/equivalence.csv").exists():
    against = pd.read_csv(FOLDER / "data/equivalence.csv", dtype={"variable": str})
    bounded(against["variable"][0], float(against["bound"][0]), weights)

users = pd.read_csv(FOLDER / "data/run-users.csv")
objective = {}
tested = [column.removeprefix("cases.") for column in users if column.startswith("cases.")]
for length, own in users.groupby("profile_length"):
    for kind in tested:
        key = f"{kind}@profile{length}" if length else kind
        cases = own[f"cases.{kind}"]
        values = {name: own[f"{kind}.{name}"] for name in conditions}
        objective[key] = {}
        for name, column in values.items():
            if cases.sum() and column.notna().any():
                objective[key][name] = (column * cases).sum() / cases.sum()
                keep(key, "value", name, **{kind: objective[key][name]})
        sign_tests(key, values)

for variable, means in perceived.items():
    for key, values in objective.items():
        sign = -1 if key.partition("@")[0] in ("fallout", "rmse", "mae") else 1
        both = [name for name in means if name in values]
        signed = {name: sign * value for name, value in values.items()}
        tau_b(variable, key, by_recommender(means, both), by_recommender(signed, both))
if (FOLDER / "data/run-metrics.csv").exists():
    for row in pd.read_csv(FOLDER / "data/run-metrics.csv").to_dict("records"):
        values = {name: row["sign"] * row[f"value.{name}"] for name in conditions}
        for variable, means in perceived.items():
            # A metric that lacks a value of a condition is not compared.
            if all(np.isfinite(values[name]) for name in means):
                tau_b(variable, row["metric"], by_recommender(means, means), by_recommender(values, means))

reported = pd.read_csv(FOLDER / "report/numbers.csv", dtype={"a": str, "b": str}, keep_default_na=False)
# Bounds and coverage of lists are of the run's cases, which are no part of the package.
reported = reported[~reported["test"].isin(["bounds", "coverage"])]
print("of", "test", "a", "b", "statistic", "recomputed", "report", "agrees", sep="\t")
n_agreeing, largest = 0, 0.0
for of, test, a, b, statistic, value in reported.itertuples(index=False):
    own = recomputed.get((of, test, a, b, statistic))
    tolerance = 1e-3 * max(1.0, abs(value)) if test in FITTED else 1e-6 * abs(value) + 1e-8
    agrees = own is not None and abs(own - value) <= tolerance
    if agrees:
        n_agreeing, largest = n_agreeing + 1, max(largest, abs(own - value))
    shown = "none" if own is None else f"{own:.10g}"
    print(of, test, a, b, statistic, shown, f"{value:.10g}", "yes" if agrees else "no", sep="\t")
print(f"# {n_agreeing} of {len(reported)} numbers agree; largest difference {largest:.2g}")
sys.exit(0 if n_agreeing == len(reported) else 1)
