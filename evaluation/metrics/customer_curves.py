"""CROC: hit rate against false-alarm rate with the same number of recommendations for everyone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.curves import Curve, trapezoid

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CustomerCurves:
    """A CROC with its two reference lines."""

    # `curve`, `omniscient`, `random`: one point per list length k, from 0 to the longest list.
    curve: Curve
    omniscient: Curve
    random: Curve
    # `tp`, `fp`: shape (n_points,); hits and false alarms of the curve, summed over people; fractions where items tie.
    tp: Floats
    fp: Floats


def croc(people: ArrayLike, scores: ArrayLike, is_good: ArrayLike) -> CustomerCurves | None:
    r"""The customer ROC of scores, with its omniscient line and its exact random line.

    At each k every user is recommended the best min(k, n(p)) of their own n(p) test items; hits and false alarms are
    summed over users. Tied items share their outcomes evenly, which is the mean over random orders.

    The omniscient line recommends good items first. The random line expects

    .. math:: \sum_p \min(k, n_p) \frac{s_p}{n_p} \text{ hits}, \quad
              \sum_p \min(k, n_p) \frac{n_p - s_p}{n_p} \text{ false alarms}

    for s_p good items, which is the diagonal where all n(p) are equal (theorem 1 of the source). None where all
    observations are good, or none is. Source: Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research
    5:51-74, section 3.2 and theorem 1. The random line for unequal n(p), which the paper leaves to simulation, is the
    mean of the hypergeometric law.

    `people`: int array, shape (n_observations,); >= 0, in any order. `scores`: float array, shape (n_observations,);
    NaN: no score, which ranks below every score. `is_good`: bool array, shape (n_observations,).

    Examples
    --------
    >>> found = croc([0, 0, 1, 1], [2, 1, 4, 3], [True, False, False, True])
    >>> found.curve.x.tolist(), found.curve.y.tolist(), found.curve.area
    ([0.0, 0.5, 1.0], [0.0, 0.5, 1.0], 0.5)
    """
    of = np.asarray(people, dtype=np.int64)
    score = np.asarray(scores, dtype=np.float64)
    good = np.asarray(is_good, dtype=np.bool_)
    n_good, n_bad = int(good.sum()), int((~good).sum())
    if n_good == 0 or n_bad == 0:
        return None
    of = np.unique(of, return_inverse=True)[1]
    score = np.where(np.isnan(score), -np.inf, score)
    n_items = np.bincount(of)
    n_liked = np.bincount(of, weights=good).astype(np.int64)
    order = np.lexsort((-score, of))
    starts = np.cumsum(n_items) - n_items
    positions = np.arange(len(of)) - starts[of[order]]
    # Within a run of ties of a user, each rank gets the run's share of good items.
    is_first = np.append(True, (np.diff(of[order]) != 0) | (score[order][1:] != score[order][:-1]))
    run = np.cumsum(is_first) - 1
    shares = np.bincount(run, weights=good[order]) / np.bincount(run)
    longest = int(n_items.max())
    n_at_rank = np.bincount(positions, minlength=longest)
    hits_at_rank = np.bincount(positions, weights=shares[run], minlength=longest)

    n_recommended = np.concatenate([[0], np.cumsum(n_at_rank)])  # the sum over people of min(k, n(p))
    tp = np.minimum(np.concatenate([[0.0], np.cumsum(hits_at_rank)]), n_good)
    tp[-1] = n_good  # everything is recommended; rounding of summed shares may miss it by the last bit
    chance = np.bincount(positions, weights=(n_liked / n_items)[of[order]], minlength=longest)
    tp_random = np.minimum(np.concatenate([[0.0], np.cumsum(chance)]), n_good)
    # As of the curve itself: both have to end in the corner.
    tp_random[-1] = n_good
    liked_at_rank = np.bincount(positions, weights=positions < n_liked[of[order]], minlength=longest)
    tp_best = np.concatenate([[0.0], np.cumsum(liked_at_rank)])

    def misses(hits: Floats) -> Floats:
        # Rounding must not give a list fewer false alarms than a shorter one.
        return np.minimum(np.maximum.accumulate(n_recommended - hits), n_bad)

    def curve_of(hits: Floats) -> Curve:
        x, y = misses(hits) / n_bad, hits / n_good
        return Curve(x, y, trapezoid(x, y))

    return CustomerCurves(curve_of(tp), curve_of(tp_best), curve_of(tp_random), tp, misses(tp))
