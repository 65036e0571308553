"""Internal consistency of a scale: Cronbach's alpha with Feldt's interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from core.errors import DataError
from inference.corrections import check_alpha
from inference.exact import Number, exact
from inference.results import Result, Undefined

CRONBACH = "Cronbach's alpha"


@dataclass(frozen=True)
class ReliabilityResult(Result):
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
    ParameterError for a `level` outside (0, 1) and DataError for rows of unequal length or values that are not finite.
    Sources: Cronbach (1951), Psychometrika 16(3):297-334; Feldt (1965), Psychometrika 30(3):357-370, with the interval
    of Feldt, Woodruff & Salih (1987), Applied Psychological Measurement 11(1):93-103.

    Examples
    --------
    >>> result = cronbach_alpha([[1, 2], [2, 2], [4, 5], [5, 4]])
    >>> round(result.alpha, 4), result.n, result.k
    (0.9106, 4, 2)
    """
    from scipy import stats

    check_alpha(level)
    k = len(answers[0]) if answers else 0
    if any(len(row) != k for row in answers):
        raise DataError("Every participant needs one answer (or None) per question of the scale.")
    whole = [[exact(value) for value in row if value is not None] for row in answers]
    whole = [row for row in whole if len(row) == k]
    n = len(whole)
    if k < 2:
        return Undefined("A scale of fewer than two questions has no internal consistency.", CRONBACH)
    if n < 2:
        return Undefined(
            f"Alpha needs at least two participants who answered every question of the scale; there are {n}.", CRONBACH
        )
    totals = [_sum(row) for row in whole]
    of_total = _variance(totals)
    if of_total == 0:
        return Undefined("Every participant has the same sum: the scale has no variance.", CRONBACH)
    columns = list(zip(*whole, strict=True))
    of_questions = [_variance(column) for column in columns]
    alpha = _alpha(k, of_questions, of_total)
    first, second = n - 1, (n - 1) * (k - 1)
    low, high = (1 - (1 - alpha) * float(stats.f.ppf(p, first, second)) for p in (1 - level / 2, level / 2))
    without: list[float | None] = []
    rest: list[float | None] = []
    for index, column in enumerate(columns):
        rest_scores = [total - value for total, value in zip(totals, column, strict=True)]
        left = _variance(rest_scores)
        without.append(
            _alpha(k - 1, [v for at, v in enumerate(of_questions) if at != index], left) if k > 2 and left else None
        )
        rest.append(_correlation(column, rest_scores))
    return ReliabilityResult(
        alpha=float(alpha),
        ci_low=low,
        ci_high=high,
        n=n,
        k=k,
        n_left_out=len(answers) - n,
        constant=tuple(index for index, variance in enumerate(of_questions) if variance == 0),
        alpha_without=tuple(without),
        correlation_with_rest=tuple(rest),
    )


def _sum(values: Iterable[Fraction]) -> Fraction:
    return sum(values, start=Fraction(0))


def _alpha(k: int, of_questions: Sequence[Fraction], of_total: Fraction) -> float:
    return float(k * (of_total - _sum(of_questions)) / ((k - 1) * of_total))


def _variance(values: Sequence[Fraction]) -> Fraction:
    """Sample variance, exactly."""
    total = _sum(values)
    return (_sum(value * value for value in values) - total * total / len(values)) / (len(values) - 1)


def _correlation(x: Sequence[Fraction], y: Sequence[Fraction]) -> float | None:
    of_x, of_y = _variance(x), _variance(y)
    if not of_x or not of_y:
        return None
    both = (_sum(a * b for a, b in zip(x, y, strict=True)) - _sum(x) * _sum(y) / len(x)) / (len(x) - 1)
    return float(both) / math.sqrt(float(of_x) * float(of_y))
