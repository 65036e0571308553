"""Corrections of p values for the number of comparisons in a family."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from core.errors import DataError, ParameterError

Correction = Literal["holm", "bonferroni", "sidak"]


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjustment; controls the family-wise error under any dependence.

    Parameters
    ----------
    p_values : sequence of float, shape (n_comparisons,)
        The family, in [0, 1], in any order.

    Returns
    -------
    tuple of float
        Adjusted p values in the order of the input, each at most 1.

    Raises
    ------
    DataError
        A p value outside [0, 1] or NaN.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6(2):65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    checked = _checked(p_values)
    adjusted = [0.0] * len(checked)
    highest = 0.0
    for step, place in enumerate(sorted(range(len(checked)), key=checked.__getitem__)):
        highest = max(highest, min(1.0, (len(checked) - step) * checked[place]))
        adjusted[place] = highest
    return tuple(adjusted)


def bonferroni(p_values: Sequence[float]) -> tuple[float, ...]:
    """Bonferroni's adjustment: each p times the number of comparisons, at most 1.

    Parameters and errors as for `holm`.

    Examples
    --------
    >>> bonferroni([0.25, 0.5])
    (0.5, 1.0)
    """
    checked = _checked(p_values)
    return tuple(min(1.0, len(checked) * p) for p in checked)


def sidak(p_values: Sequence[float]) -> tuple[float, ...]:
    """Šidák's adjustment, 1 - (1 - p)^N; exact for independent comparisons.

    Parameters and errors as for `holm`. Computed without cancellation for small p.

    References
    ----------
    Šidák (1967), Journal of the American Statistical Association 62(318):626-633.

    Examples
    --------
    >>> [round(p, 4) for p in sidak([0.01, 0.5])]
    [0.0199, 0.75]
    """
    checked = _checked(p_values)
    return tuple(1.0 if p == 1 else -math.expm1(len(checked) * math.log1p(-p)) for p in checked)


def hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Hochberg's step-up adjustment; controls the family-wise error of independent or positively dependent tests.

    Parameters and errors as for `holm`.

    References
    ----------
    Hochberg (1988), Biometrika 75(4):800-802.

    Examples
    --------
    >>> hochberg([0.01, 0.04, 0.03])
    (0.03, 0.04, 0.04)
    """
    return _stepped_up(p_values, lambda rank, n: n - rank + 1)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Benjamini and Hochberg's adjustment; controls the expected share of false findings, not the family-wise error.

    Parameters and errors as for `holm`.

    References
    ----------
    Benjamini & Hochberg (1995), Journal of the Royal Statistical Society B 57(1):289-300.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    (0.03, 0.04, 0.04)
    """
    return _stepped_up(p_values, lambda rank, n: n / rank)


def _stepped_up(p_values: Sequence[float], factor: Callable[[int, int], float]) -> tuple[float, ...]:
    """Multiply each p by the factor of its rank, and let none exceed that of a larger one."""
    checked = _checked(p_values)
    adjusted = [0.0] * len(checked)
    lowest = 1.0
    for rank, place in reversed(list(enumerate(sorted(range(len(checked)), key=checked.__getitem__), start=1))):
        lowest = min(lowest, factor(rank, len(checked)) * checked[place])
        adjusted[place] = lowest
    return tuple(adjusted)


def sidak_level(alpha: float, n_comparisons: int) -> float:
    """Level of each single comparison that keeps the family at alpha: 1 - (1 - alpha)^(1/N).

    Parameters
    ----------
    alpha : float
        Level of the family, in (0, 1).
    n_comparisons : int
        Comparisons in the family, >= 1.

    Returns
    -------
    float
        In (0, `alpha`].

    Raises
    ------
    ParameterError
        `alpha` outside (0, 1); `n_comparisons` < 1.

    References
    ----------
    Gunawardana & Shani (2009), JMLR 10:2935-2962, section 4.3, print this level under Bonferroni's name.

    Examples
    --------
    >>> round(sidak_level(0.05, 21), 6)
    0.00244
    """
    check_alpha(alpha)
    if n_comparisons < 1:
        raise ParameterError(f"A family of {n_comparisons} comparisons has no level: give 1 or more.")
    return -math.expm1(math.log1p(-alpha) / n_comparisons)


_CORRECTIONS: dict[str, Callable[[Sequence[float]], tuple[float, ...]]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "sidak": sidak,
}


def adjust(p_values: Sequence[float], correction: Correction = "holm") -> tuple[float, ...]:
    """Adjust a family of p values by the named correction.

    Parameters
    ----------
    p_values : sequence of float
        One for each comparison of the family, in [0, 1].
    correction : {"holm", "bonferroni", "sidak"}
        Which.

    Returns
    -------
    tuple of float
        Adjusted p values in the order given, in [0, 1].

    Raises
    ------
    ParameterError, DataError
        An unknown correction; a p value outside [0, 1].

    References
    ----------
    As for the function of the correction's name.

    Examples
    --------
    >>> adjust([0.01, 0.02], "bonferroni")
    (0.02, 0.04)
    """
    if correction not in _CORRECTIONS:
        known = ", ".join(_CORRECTIONS)
        raise ParameterError(f"There is no correction named {correction!r}: choose one of {known}.")
    return _CORRECTIONS[correction](p_values)


def check_alpha(alpha: float) -> None:
    """Refuse a level outside (0, 1).

    Parameters
    ----------
    alpha : float
        The level.

    Raises
    ------
    ParameterError
        `alpha` outside (0, 1).

    Examples
    --------
    >>> check_alpha(0.05)
    """
    if not 0 < alpha < 1:
        raise ParameterError(f"The level alpha is {alpha}: it has to lie between 0 and 1.")


def _checked(p_values: Sequence[float]) -> list[float]:
    for place, p in enumerate(p_values):
        if not 0 <= p <= 1:
            raise DataError(f"The p value at position {place} is {p}: it has to lie between 0 and 1.")
    return [float(p) for p in p_values]
