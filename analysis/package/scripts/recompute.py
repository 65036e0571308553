"""Recompute the report's main tests from the CSV files of this package, and lay them beside the report's numbers.

Run in the folder of the package, or name it:  python scripts/recompute.py [FOLDER]
Needs Python 3.10 or later with numpy, scipy and pandas. Nothing here reads the platform that made the report;
report/numbers.csv, with the report's own numbers, is read at the end and only to compare.
"""

import math
import sys
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import optimize, stats

ALPHA = 0.05
TIE_WITHIN = 1e-9  # values of a user that differ by less are equal
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
found = {}


def keep(of, test, a, b, **statistics):
    for statistic, value in statistics.items():
        if value is not None and math.isfinite(value):
            found[(of, test, a, b, statistic)] = float(value)


def critical_range(k, df):
    """The studentized range that k means exceed with probability alpha."""
    return optimize.brentq(lambda q: stats.studentized_range.sf(q, k, df) - ALPHA, 0.1, 200, xtol=1e-9)


def critical_value(k, df):
    if k == 2:
        return math.sqrt(2) * stats.t.isf(ALPHA / 2, df)
    return critical_range(k, df)


def range_tail(q, k, df):
    if k == 2:
        return 2 * stats.t.sf(q / math.sqrt(2), df)
    return min(1.0, max(0.0, stats.studentized_range.sf(q, k, df)))


def describe(of, groups):
    for name, values in groups.items():
        q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75])
        sd = values.std(ddof=1) if len(values) > 1 else None
        keep(of, "described", name, "", n=len(values), mean=values.mean(), sd=sd, median=median, q1=q1, q3=q3)


def f_of(groups):
    """F of a one-way analysis of variance, its degrees of freedom and the sums of squares."""
    whole = np.concatenate(groups)
    between = sum(len(g) * (g.mean() - whole.mean()) ** 2 for g in groups)
    within = sum(((g - g.mean()) ** 2).sum() for g in groups)
    df_between, df_within = len(groups) - 1, len(whole) - len(groups)
    return between / df_between / (within / df_within), df_between, df_within, between, within


def variance_tests(of, groups):
    values = list(groups.values())
    k = len(values)
    if k < 2 or sum(((g - g.mean()) ** 2).sum() for g in values) < 1e-12:
        return
    f, df_between, df_within, between, within = f_of(values)
    keep(
        of,
        "anova",
        "",
        "",
        f=f,
        df_between=df_between,
        df_within=df_within,
        p=stats.f.sf(f, df_between, df_within),
        eta_squared=between / (between + within),
    )

    unit, critical = within / df_within, critical_value(k, df_within)
    for a, b in combinations(groups, 2):
        difference = groups[a].mean() - groups[b].mean()
        half = math.sqrt(unit / 2 * (1 / len(groups[a]) + 1 / len(groups[b])))
        keep(
            of,
            "tukey",
            a,
            b,
            difference=difference,
            p=range_tail(abs(difference) / half, k, df_within),
            ci_low=difference - critical * half,
            ci_high=difference + critical * half,
        )

    for a, b in combinations(groups, 2):
        of_a = groups[a].var(ddof=1) / len(groups[a])
        of_b = groups[b].var(ddof=1) / len(groups[b])
        if of_a + of_b < 1e-15:
            continue
        df = (of_a + of_b) ** 2 / (of_a**2 / (len(groups[a]) - 1) + of_b**2 / (len(groups[b]) - 1))
        difference, half = groups[a].mean() - groups[b].mean(), math.sqrt((of_a + of_b) / 2)
        critical = critical_value(k, df)
        keep(
            of,
            "games_howell",
            a,
            b,
            difference=difference,
            df=df,
            p=range_tail(abs(difference) / half, k, df),
            ci_low=difference - critical * half,
            ci_high=difference + critical * half,
        )

    variances = np.array([g.var(ddof=1) for g in values])
    if (variances > 1e-15).all():
        n, means = np.array([len(g) for g in values]), np.array([g.mean() for g in values])
        weights = n / variances
        centre = (weights * means).sum() / weights.sum()
        unevenness = ((1 - weights / weights.sum()) ** 2 / (n - 1)).sum()
        f = (weights * (means - centre) ** 2).sum() / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * unevenness)
        df = (k**2 - 1) / (3 * unevenness)
        keep(of, "welch", "", "", f=f, df_between=k - 1, df_within=df, p=stats.f.sf(f, k - 1, df))

    deviations = [np.abs(g - np.median(g)).round(12) for g in values]
    if sum(((d - d.mean()) ** 2).sum() for d in deviations) > 1e-12:
        f, df_between, df_within, _, _ = f_of(deviations)
        keep(
            of,
            "brown_forsythe",
            "",
            "",
            f=f,
            df_between=df_between,
            df_within=df_within,
            p=stats.f.sf(f, df_between, df_within),
        )


def rank_test(of, groups):
    whole = np.concatenate(list(groups.values())) if groups else np.array([])
    if len(groups) < 2 or len(set(whole)) == 1:
        return
    result = stats.kruskal(*groups.values())
    keep(of, "kruskal", "", "", h=result.statistic, df=len(groups) - 1, p=result.pvalue)


def contrast(of, groups, higher, lower, sides):
    """The planned contrast: a t test with the variance pooled over all conditions, and Welch's beside it."""
    named = higher + lower
    if any(name not in groups for name in named):
        return
    weights = {name: 1 / len(higher) if name in higher else -1 / len(lower) for name in named}
    difference = sum(weight * groups[name].mean() for name, weight in weights.items())
    keep(of, "contrast", "", "", difference=difference)
    df_within = sum(len(g) - 1 for g in groups.values())
    ms_within = sum(((g - g.mean()) ** 2).sum() for g in groups.values()) / df_within
    shares = [weight**2 / len(groups[name]) for name, weight in weights.items()]
    own = [weight**2 * groups[name].var(ddof=1) / len(groups[name]) for name, weight in weights.items()]
    satterthwaite = sum(part**2 / (len(groups[name]) - 1) for name, part in zip(weights, own))
    tests = [("contrast", ms_within * sum(shares), df_within)]
    if sum(own) > 1e-15:
        tests.append(("contrast_welch", sum(own), sum(own) ** 2 / satterthwaite))
    for test, squared, df in tests:
        if squared < 1e-15:
            continue
        error = math.sqrt(squared)
        t, half = difference / error, stats.t.isf(ALPHA / sides, df) * error
        p = stats.t.sf(t, df) if sides == 1 else 2 * stats.t.sf(abs(t), df)
        high = None if sides == 1 else difference + half
        keep(of, test, "", "", t=t, df=df, p=p, ci_low=difference - half, ci_high=high)


def holm(ps):
    order, adjusted, highest = np.argsort(ps, kind="stable"), np.empty(len(ps)), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - place) * ps[index]))
        adjusted[index] = highest
    return adjusted


def sign_tests(of, users):
    """Two-sided sign tests between every pair over users, with Holm's correction over all pairs."""
    pairs, counts, ps = [], [], []
    for a, b in combinations(users, 2):
        difference = (users[a] - users[b]).dropna()
        n_a, n_b = int((difference > TIE_WITHIN).sum()), int((difference < -TIE_WITHIN).sum())
        if n_a + n_b == 0:
            continue
        pairs.append((a, b))
        counts.append((n_a, n_b, len(difference) - n_a - n_b))
        ps.append(min(1.0, 2 * stats.binom.sf(max(n_a, n_b) - 1, n_a + n_b, 0.5)))
    for (a, b), (n_a, n_b, n_ties), p, adjusted in zip(pairs, counts, ps, holm(ps)):
        keep(of, "sign_test", a, b, n_a=n_a, n_b=n_b, n_ties=n_ties, p_unadjusted=p, p=adjusted)


def tau_b(of, metric, x, y):
    """Kendall's tau-b, and its p from all orders of the algorithms."""
    names = [name for name in x if name in y]
    if len(names) < 2:
        return
    first, second = (np.array([round(side[name], 10) for name in names]) for side in (x, y))
    signs_x, signs_y = (np.sign(np.subtract.outer(v, v)).astype(int) for v in (first, second))
    untied = math.sqrt((signs_x**2).sum() * (signs_y**2).sum())
    if untied == 0:
        return
    observed = (signs_x * signs_y).sum()
    p = None
    if len(names) <= 8:
        orders = permutations(range(len(names)))
        sums = [(signs_x * signs_y[np.ix_(order, order)]).sum() for order in orders]
        p = float(np.mean(np.abs(sums) >= abs(observed)))
    keep(of, "tau_b", metric, "", coefficient=observed / untied, p=p)


conditions = list(pd.read_csv(FOLDER / "data/conditions.csv", dtype=str, keep_default_na=False)["label"])
people = pd.read_csv(FOLDER / "data/analysed.csv", dtype={"condition": str}, keep_default_na=False)

perceived = {}
for variable in people.columns[2:]:  # who has no score of a scale has an empty cell
    column = pd.to_numeric(people[variable])
    groups = {name: column[people["condition"] == name].dropna().to_numpy() for name in conditions}
    groups = {name: values for name, values in groups.items() if len(values)}
    describe(variable, groups)
    variance_tests(variable, {name: values for name, values in groups.items() if len(values) > 1})
    rank_test(variable, groups)
    perceived[variable] = {name: values.mean() for name, values in groups.items()}

if (FOLDER / "data/contrast.csv").exists():
    planned = pd.read_csv(FOLDER / "data/contrast.csv", dtype=str, keep_default_na=False)
    variable = planned["variable"][0]
    column = pd.to_numeric(people[variable])
    groups = {name: column[people["condition"] == name].dropna().to_numpy() for name in conditions}
    sets = [list(planned["condition"][planned["set"] == name]) for name in ("higher", "lower")]
    contrast(variable, {name: g for name, g in groups.items() if len(g) > 1}, *sets, int(planned["sides"][0]))

users = pd.read_csv(FOLDER / "data/run-users.csv")
objective = {}
for length, own in users.groupby("profile_length"):
    for kind in ("recall", "fallout"):
        key = f"{kind}@profile{length}" if length else kind
        cases = own[f"cases.{kind}"]
        values = {name: own[f"{kind}.{name}"] for name in conditions}
        objective[key] = {}
        for name, column in values.items():
            if cases.sum():
                objective[key][name] = (column * cases).sum() / cases.sum()
                keep(key, "value", name, "", **{kind: objective[key][name]})
        sign_tests(key, values)

for variable, means in perceived.items():
    for key, values in objective.items():
        sign = -1 if key.startswith("fallout") else 1
        tau_b(variable, key, means, {name: sign * value for name, value in values.items()})

reported = pd.read_csv(FOLDER / "report/numbers.csv", dtype={"a": str, "b": str}, keep_default_na=False)
print("of", "test", "a", "b", "statistic", "recomputed", "report", sep="\t")
differing, largest = [], 0.0
for of, test, a, b, statistic, value in reported.itertuples(index=False):
    own = found.get((of, test, a, b, statistic))
    print(of, test, a, b, statistic, "none" if own is None else f"{own:.10g}", f"{value:.10g}", sep="\t")
    if own is None or abs(own - value) > 1e-6 * abs(value) + 1e-8:
        differing.append((of, test, a, b, statistic))
    else:
        largest = max(largest, abs(own - value))
print(f"# {len(reported) - len(differing)} of {len(reported)} numbers agree; largest difference {largest:.2g}")
sys.exit(1 if differing else 0)
