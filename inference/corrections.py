"""Corrections of p values for the number of comparisons in a family.

Each takes the p values of the family in any order and returns the adjusted ones in that order, each at most 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeVar, get_args

from core.errors import ParameterError
from inference.results import Pair

Correction = Literal["holm", "bonferroni", "sidak"]
P = TypeVar("P", bound=Pair)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjustment; controls the family-wise error under any dependence. Source: Holm (1979),
    Scandinavian Journal of Statistics 6(2):65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        # The running maximum keeps adjusted values in the order of the raw ones, which the multipliers alone would
        # not.
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)


def adjust(p_values: Sequence[float], correction: Correction = "holm") -> tuple[float, ...]:
    """Adjust a family of p values by Holm, by Bonferroni, or by Šidák, 1 - (1 - p)^N, without cancellation for small p;
    exact for independent comparisons. Raises ParameterError for an unknown correction. Source: Šidák (1967), Journal of
    the American Statistical Association 62(318):626-633.

    Examples
    --------
    >>> [round(p, 4) for p in adjust([0.01, 0.5], "sidak")]
    [0.0199, 0.75]
    """
    if correction == "holm":
        return holm(p_values)
    if correction == "bonferroni":
        return tuple(min(1.0, len(p_values) * p) for p in p_values)
    if correction == "sidak":
        return tuple(1.0 if p == 1 else -math.expm1(len(p_values) * math.log1p(-p)) for p in p_values)
    raise ParameterError(
        f"There is no correction named {correction!r}: choose one of {', '.join(get_args(Correction))}."
    )


def decided(pairs: Iterable[P], alpha: float, correction: Correction = "holm") -> tuple[P, ...]:
    """Correct the pairs of a post hoc test as one family, those with a ``p_unadjusted``, and decide each at `alpha`.

    Examples
    --------
    >>> untested, tested = Pair("A", "B", 0.0, None, False), Pair("A", "C", 1.0, None, False, p_unadjusted=0.01)
    >>> [(pair.p, pair.is_significant) for pair in decided([untested, tested], 0.05)]
    [(None, False), (0.01, True)]
    """
    every = tuple(pairs)
    adjusted = iter(adjust([pair.p_unadjusted for pair in every if pair.p_unadjusted is not None], correction))
    return tuple(
        pair if pair.p_unadjusted is None else replace(pair, p=(p := next(adjusted)), is_significant=p < alpha)
        for pair in every
    )
