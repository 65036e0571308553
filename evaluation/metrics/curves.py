"""Curves over one list of pairs and areas under them.

`user_curves` has curves by user, `customer_curves` the curve with the same number of recommendations for every user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Scale = Literal["raw", "standardised"]


@dataclass(frozen=True, eq=False)
class Curve:
    """Points of a curve, from the shortest list to the longest."""

    # `x`, `y`: shape (n_points,).
    x: Floats
    y: Floats
    area: float  # the area under the curve


def roc(scores: ArrayLike, is_good: ArrayLike) -> Curve | None:
    """Hit rate against false-alarm rate over one list of pairs, with tied pairs grouped.

    The curve runs from (0, 0) to (1, 1); its trapezoidal area is the probability that a good pair ranks above another
    one, ties counting half (Mann-Whitney; Swets' A). None if all pairs are good, or none is. Sources: Bamber (1975),
    Journal of Mathematical Psychology 12:387-415; Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce
    Research 5:51-74, section 3.1.

    `scores`: float array, shape (n_pairs,); NaN: no score, which ranks below every score. `is_good`: bool array, shape
    (n_pairs,).

    Examples
    --------
    >>> roc([3, 2, 2, 1], [True, True, False, False]).area
    0.875
    """
    score, good = np.asarray(scores, dtype=np.float64), np.asarray(is_good, dtype=np.bool_)
    # NaN has no place in an order: numpy sorts it to one end, whatever the sign of the scores.
    score = np.where(np.isnan(score), -np.inf, score)
    n_good, n_bad = int(good.sum()), int((~good).sum())
    if n_good == 0 or n_bad == 0:
        return None
    order = np.argsort(-score, kind="stable")
    ordered = score[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))  # of each run of equal scores
    hits = np.concatenate([[0], np.cumsum(good[order])[ends]])
    x, y = (np.concatenate([[0], ends + 1]) - hits) / n_bad, hits / n_good
    return Curve(x, y, trapezoid(x, y))


def trapezoid(x: Floats, y: Floats) -> float:
    """Area below straight lines between points whose x do not fall. The result is in the unit of x times that of y; 0
    for a single point. `x`, `y`: float array, shape (n_points,); finite; x does not fall.

    Examples
    --------
    >>> trapezoid(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    0.5
    """
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]))) / 2


def area_until(curve: Curve, until: float = 1.0, scale: Scale = "raw") -> float:
    r"""Area below a ROC or CROC up to a false-alarm rate, by trapezoid. The result is in [0, `until`] raw; standardised
    .5 for chance, 1 at best, and below .5 for results worse than chance.

    Source: McClish (1989), Medical Decision Making 9(3):190-195, doi:10.1177/0272989X8900900307.

    Parameters
    ----------
    curve : Curve
        Running from (0, 0) to false-alarm rate 1.
    until : float
        In (0, 1]; the curve is cut there by a straight line between its neighbours.
    scale : {"raw", "standardised"}
        Raw: at most `until`. Standardised: chance (the diagonal) is .5, perfection 1,

        .. math:: \tfrac12 \Big(1 + \frac{A - t^2 / 2}{t - t^2 / 2}\Big)

    Examples
    --------
    >>> diagonal = roc([1, 1], [True, False])
    >>> round(area_until(diagonal, 0.3), 3), area_until(diagonal, 0.3, "standardised")
    (0.045, 0.5)
    """
    stop = int(np.searchsorted(curve.x, until, side="right"))
    x, y = curve.x[:stop], curve.y[:stop]
    if stop < len(curve.x):
        share = (until - curve.x[stop - 1]) / (curve.x[stop] - curve.x[stop - 1])
        x = np.append(x, until)
        y = np.append(y, curve.y[stop - 1] + share * (curve.y[stop] - curve.y[stop - 1]))
    area = trapezoid(x, y)
    chance = until**2 / 2
    return area if scale == "raw" else 0.5 * (1 + (area - chance) / (until - chance))
