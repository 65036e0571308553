"""Curves over one list of pairs and areas under them: ROC (GROC if all users' pairs are pooled), precision-recall.

`user_curves` has curves by user, `customer_curves` the curve with the same number of recommendations for every user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError, ParameterError

Floats = NDArray[np.float64]
Scale = Literal["raw", "standardised"]


@dataclass(frozen=True, eq=False)
class Curve:
    """Points of a curve, from the shortest list to the longest."""

    name: str  # which curve it is
    x_name: str
    y_name: str
    # `x`, `y`: shape (n_points,).
    x: Floats
    y: Floats
    area: float | None  # the area under the curve; None for mean curves, whose area is not defined


FALSE_ALARMS, HITS = "False-alarm rate", "Hit rate"


def _checked(scores: ArrayLike, is_good: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    score, good = np.asarray(scores, dtype=np.float64), np.asarray(is_good, dtype=np.bool_)
    if score.ndim != 1 or score.shape != good.shape:
        raise DataError(f"Scores have shape {score.shape}, outcomes {good.shape}: one of each a pair is needed.")
    return np.where(np.isnan(score), -np.inf, score), good


def _steps(score: Floats, good: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Cumulative counts of good pairs and of all pairs at the end of each run of equal scores; 0 first."""
    order = np.argsort(-score, kind="stable")
    ordered = score[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(order) else np.empty(0, np.int64)
    hits = np.cumsum(good[order])[ends]
    return np.concatenate([[0], hits]), np.concatenate([[0], ends + 1])


def roc(scores: ArrayLike, is_good: ArrayLike, *, name: str = "ROC") -> Curve | None:
    """Hit rate against false-alarm rate over one list of pairs, with tied pairs grouped.

    The curve runs from (0, 0) to (1, 1); its trapezoidal area is the probability that a good pair ranks above another
    one, ties counting half (Mann-Whitney; Swets' A). None if all pairs are good, or none is. Raises DataError for
    arrays of different shapes, or not of one dimension. Sources: Bamber (1975), Journal of Mathematical Psychology
    12:387-415; Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 3.1.

    `scores`: float array, shape (n_pairs,); NaN: no score, which ranks below every score. `is_good`: bool array, shape
    (n_pairs,). `name`: "GROC" if the list pools the pairs of all users: scores must then be comparable across users.

    Examples
    --------
    >>> roc([3, 2, 2, 1], [True, True, False, False]).area
    0.875
    """
    score, good = _checked(scores, is_good)
    n_good, n_bad = int(good.sum()), int((~good).sum())
    if n_good == 0 or n_bad == 0:
        return None
    hits, n_retrieved = _steps(score, good)
    x, y = (n_retrieved - hits) / n_bad, hits / n_good
    return Curve(name, FALSE_ALARMS, HITS, x, y, trapezoid(x, y))


def precision_recall(scores: ArrayLike, is_good: ArrayLike) -> Curve | None:
    r"""Precision against recall over one list of pairs, with tied pairs grouped; its area is average precision.

    .. math:: \sum_k (r_k - r_{k-1}) P_k

    Parameters and errors as for `roc`.

    Returns one point per run of equal scores, without a point at recall 0, where precision is undefined. None without a
    good pair. Source: Davis & Goadrich (2006), ICML: points of this curve may not be joined by straight lines.

    Examples
    --------
    >>> round(precision_recall([3, 2, 1], [True, False, True]).area, 4)
    0.8333
    """
    score, good = _checked(scores, is_good)
    n_good = int(good.sum())
    if n_good == 0:
        return None
    hits, n_retrieved = _steps(score, good)
    recall, precision = hits[1:] / n_good, hits[1:] / n_retrieved[1:]
    area = float(np.sum(np.diff(hits) / n_good * precision))
    return Curve("Precision-recall", "Recall", "Precision", recall, precision, area)


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

    Raises ParameterError for `until` outside (0, 1], or another scale. Source: McClish (1989), Medical Decision Making
    9(3):190-195, doi:10.1177/0272989X8900900307.

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
    if not 0 < until <= 1:
        raise ParameterError(f"The area runs up to a false-alarm rate of {until!r}: it must be above 0 and at most 1.")
    if scale not in ("raw", "standardised"):
        raise ParameterError(f"An area is 'raw' or 'standardised', not {scale!r}.")
    stop = int(np.searchsorted(curve.x, until, side="right"))
    x, y = curve.x[:stop], curve.y[:stop]
    if stop < len(curve.x):
        share = (until - curve.x[stop - 1]) / (curve.x[stop] - curve.x[stop - 1])
        x = np.append(x, until)
        y = np.append(y, curve.y[stop - 1] + share * (curve.y[stop] - curve.y[stop - 1]))
    area = trapezoid(x, y)
    chance = until**2 / 2
    return area if scale == "raw" else 0.5 * (1 + (area - chance) / (until - chance))
