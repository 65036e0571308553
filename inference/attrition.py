"""Losses after assignment: whether conditions lose participants at different rates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from inference.agreement import DRAWN, SAMPLED, SEED
from inference.power import wilson
from inference.results import Floats, Integers, Interval, Undefined

CHI_SQUARED, EXACT = "chi-square", "exact"
LEAST_EXPECTED = 5.0  # in every cell, for the chi-square distribution
MOST_TABLES = 200_000  # enumerated; beyond, tables are drawn
CLOSE = 1 + 1e-7  # tables whose probabilities differ by less are equally likely, as in R


@dataclass(frozen=True)
class AttritionRate:
    """Participants of one condition who were lost, of those assigned to it."""

    condition: str
    n_assigned: int
    n_lost: int
    share: float
    interval: Interval  # 95%, Wilson


@dataclass(frozen=True)
class AttritionResult:
    """Losses by condition, and the test that they are equally likely in each."""

    rates: tuple[AttritionRate, ...]
    p: float
    p_method: str  # "chi-square", "exact" (Fisher, Freeman and Halton) or "Monte Carlo" (the same over random tables)
    chi_squared: float
    df: int
    cramers_v: float
    smallest_expected: float


def attrition_test(counts: Mapping[str, tuple[int, int]]) -> AttritionResult | Undefined:
    """Test equal attrition; `counts` holds the numbers assigned and lost of each condition.

    Pearson's chi-square if at least 5 losses and 5 completions are expected in every condition, else the test of
    Fisher, Freeman and Halton: exact for up to 200,000 tables with these margins, beyond by 100,000 tables (the
    observed one and random ones with a fixed seed). Undefined with fewer than two conditions, or if none or all were
    lost. Source: Freeman & Halton (1951), Biometrika 38(1/2):141-149.

    Examples
    --------
    >>> result = attrition_test({"A": (20, 1), "B": (20, 7)})
    >>> result.p_method, round(result.p, 4)
    ('exact', 0.0436)
    """
    from scipy import stats

    present = {name: both for name, both in counts.items() if both[0]}
    n = np.array([size for size, _gone in present.values()], dtype=np.int64)
    lost = np.array([gone for _size, gone in present.values()], dtype=np.int64)
    if len(present) < 2:
        return Undefined(f"A comparison needs two conditions with participants; there are {len(present)}.")
    if not lost.sum():
        return Undefined("No assigned participant was lost.")
    if lost.sum() == n.sum():
        return Undefined("Every assigned participant was lost.")
    table = stats.chi2_contingency([lost, n - lost], correction=False)
    smallest = float(table.expected_freq.min())
    p, method = (float(table.pvalue), CHI_SQUARED) if smallest >= LEAST_EXPECTED else _exact_p(n, lost)
    return AttritionResult(
        rates=tuple(
            AttritionRate(name, assigned, gone, gone / assigned, wilson(gone, assigned))
            for name, (assigned, gone) in present.items()
        ),
        p=p,
        p_method=method,
        chi_squared=float(table.statistic),
        df=len(present) - 1,
        cramers_v=math.sqrt(float(table.statistic) / float(n.sum())),
        smallest_expected=smallest,
    )


def _exact_p(n: Integers, lost: Integers) -> tuple[float, str]:
    from scipy import special

    # Logarithms of the numbers of ways in which each condition can lose 0, 1, … participants, but for a constant.
    gone = [np.arange(size + 1) for size in n.tolist()]
    log_choices = [-special.gammaln(own + 1) - special.gammaln(own[::-1] + 1) for own in gone]
    observed = sum(float(choices[own]) for choices, own in zip(log_choices, lost.tolist(), strict=True))
    limit = observed + math.log(CLOSE)
    logs = _tables(log_choices, int(lost.sum()))
    if logs is not None:
        weights = np.exp(logs - logs.max())
        return min(float(weights[logs <= limit].sum() / weights.sum()), 1.0), EXACT
    tables = np.random.default_rng(SEED).multivariate_hypergeometric(n, int(lost.sum()), DRAWN, method="marginals")
    logs = sum(choices[column] for choices, column in zip(log_choices, tables.T, strict=True))
    return (1 + int((logs <= limit).sum())) / (DRAWN + 1), SAMPLED


def _tables(log_choices: list[Floats], n_lost: int) -> Floats | None:
    """Logarithms of the weights of all tables, each condition added to the tables of those before it; None if there are
    more than `MOST_TABLES`.
    """
    used, logs = np.zeros(1, dtype=np.int64), np.zeros(1)
    room = sum(len(choices) - 1 for choices in log_choices)
    for choices in log_choices:
        room -= len(choices) - 1
        totals = used[:, np.newaxis] + np.arange(len(choices))
        is_possible = (totals <= n_lost) & (totals >= n_lost - room)
        used, logs = totals[is_possible], (logs[:, np.newaxis] + choices)[is_possible]
        # Each of these has a completion, so that the tables of all conditions are no fewer.
        if len(used) > MOST_TABLES:
            return None
    return logs
