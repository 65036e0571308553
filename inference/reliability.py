"""Internal consistency of a scale: Cronbach's alpha with Feldt's interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inference.groups import Number, exact
from inference.results import Floats, Undefined

EQUAL = 1e-12  # of the largest value


@dataclass(frozen=True)
class ReliabilityResult:
    """Cronbach's alpha of one scale."""

    alpha: float  # at most 1; negative if the average covariance between questions is negative
    # `ci_low`, `ci_high`: Feldt's confidence interval.
    ci_low: float
    ci_high: float
    n: int  # participants who answered every question
    k: int  # questions
    n_left_out: int  # participants excluded for a missing answer
    constant: tuple[int, ...]  # positions of the questions without variance
    # Alpha if the question is deleted; None for a scale of two, or without variance.
    alpha_without: tuple[float | None, ...]
    # Corrected item-total correlation; None where one of the two is constant.
    correlation_with_rest: tuple[float | None, ...]


def cronbach_alpha(answers: Sequence[Sequence[Number | None]], level: float = 0.05) -> ReliabilityResult | Undefined:
    r"""Cronbach's alpha of a scale, from rows of participants and columns of questions.

    .. math:: \alpha = \frac{k}{k - 1} \left(1 - \frac{\sum_j s_j^2}{s_T^2}\right)

    with k questions, variances s_j^2 of the questions and s_T^2 of the sum. The interval is 1 - (1 - alpha) F at the
    quantiles of F with n - 1 and (n - 1)(k - 1) degrees of freedom; `level` is one minus its confidence. Answers are in
    the direction of the scale (after reverse coding); a participant with a missing one (None) is excluded and counted.
    Undefined with fewer than two questions, fewer than two whole participants, or sums that are all equal. Raises
    DataError for values that are not finite. Sources: Cronbach (1951), Psychometrika 16(3):297-334; Feldt (1965),
    Psychometrika 30(3):357-370, with the interval of Feldt, Woodruff & Salih (1987), Applied Psychological Measurement
    11(1):93-103.

    Examples
    --------
    >>> result = cronbach_alpha([[1, 2], [2, 2], [4, 5], [5, 4]])
    >>> round(result.alpha, 4), result.n, result.k
    (0.9106, 4, 2)
    """
    from scipy import stats

    k = len(answers[0]) if answers else 0
    table = np.array([[np.nan if value is None else float(exact(value)) for value in row] for row in answers])
    whole = table[~np.isnan(table).any(axis=1)] if k else table
    n = len(whole)
    if k < 2:
        return Undefined("A scale of fewer than two questions has no internal consistency.")
    if n < 2:
        return Undefined(
            f"Alpha needs at least two participants who answered every question of the scale; there are {n}."
        )
    totals = whole.sum(axis=1)
    # The variance of the sum is the divisor of alpha.
    if _is_constant(totals):
        return Undefined("Every participant has the same sum: the scale has no variance.")
    alpha = _alpha(whole)
    first, second = n - 1, (n - 1) * (k - 1)
    low, high = (1 - (1 - alpha) * float(stats.f.ppf(p, first, second)) for p in (1 - level / 2, level / 2))
    without: list[float | None] = []
    with_rest: list[float | None] = []
    for index, column in enumerate(whole.T):
        rest = totals - column
        without.append(None if k == 2 or _is_constant(rest) else _alpha(np.delete(whole, index, axis=1)))
        # numpy would warn and give NaN, which no stored result may hold.
        is_undefined = _is_constant(rest) or _is_constant(column)
        with_rest.append(None if is_undefined else float(np.corrcoef(column, rest)[0, 1]))
    return ReliabilityResult(
        alpha=alpha,
        ci_low=low,
        ci_high=high,
        n=n,
        k=k,
        n_left_out=len(answers) - n,
        constant=tuple(index for index, column in enumerate(whole.T) if _is_constant(column)),
        alpha_without=tuple(without),
        correlation_with_rest=tuple(with_rest),
    )


def _alpha(answers: Floats) -> float:
    k = answers.shape[1]
    of_questions, of_total = answers.var(axis=0, ddof=1).sum(), answers.sum(axis=1).var(ddof=1)
    return float(k / (k - 1) * (1 - of_questions / of_total))


def _is_constant(values: Floats) -> bool:
    """Whether values are equal on paper: sums of answers such as 0.1 and 0.2 are rounded."""
    return bool(np.ptp(values) <= EQUAL * np.abs(values).max())
