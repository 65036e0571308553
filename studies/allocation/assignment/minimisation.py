"""Minimisation: the imbalance that a newcomer's margins would have in each condition."""

from __future__ import annotations

import math
from collections.abc import Sequence

PROBABILITY = 0.8
PARTS = 10_000  # probabilities are rounded to four decimals, so that the draw is exact


def weights(targets: Sequence[int | None]) -> tuple[int, ...]:
    """Return the weight of a participant in each condition, so that conditions at their targets count equally.

    Without targets, every weight is 1.

    Examples
    --------
    >>> weights([30, 30, 15])
    (1, 1, 2)
    """
    sizes = [target or 1 for target in targets]
    whole = math.lcm(*sizes)
    return tuple(whole // size for size in sizes)


def imbalances(margins: Sequence[Sequence[int]], targets: Sequence[int | None]) -> tuple[int, ...]:
    r"""Return the imbalance of the newcomer's margins for each condition they could join.

    .. math:: G_i = \sum_m \Big( K \sum_k (y^i_{mk})^2 - \big(\sum_k y^i_{mk}\big)^2 \Big)

    where y is the weighted count of condition k in margin m after the newcomer has joined condition i. This is K²
    times the variance of the counts, as an integer. `margins`, of shape (n_margins, n_conditions), has the
    participants of each condition who share a trait with the newcomer; one row counts all participants.

    References
    ----------
    Pocock & Simon (1975), "Sequential treatment assignment with balancing for prognostic factors in the controlled
    clinical trial", Biometrics 31(1):103-115, section 3: the amount of variation D is the variance, G is the
    unweighted sum. Deviation: with unequal targets, counts are relative to the target.

    Examples
    --------
    >>> imbalances([[2, 1, 1], [1, 0, 1]], [None, None, None])
    (14, 2, 8)
    """
    unit = weights(targets)
    n_conditions = len(unit)
    scores = [0] * n_conditions
    for margin in margins:
        counts = [n * weight for n, weight in zip(margin, unit, strict=True)]
        total, squares = sum(counts), sum(n * n for n in counts)
        for condition, weight in enumerate(unit):
            new = squares + 2 * weight * counts[condition] + weight * weight
            scores[condition] += n_conditions * new - (total + weight) ** 2
    return tuple(scores)
