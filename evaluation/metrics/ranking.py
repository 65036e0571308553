"""Recall, fallout, precision after Raghavan, Bollmann and Jung, and F, from the ranks of test items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.hits import GroupMeans, Ties, mean_hits


def raghavan_precision(recall: float, fallout: float, g: float) -> float | None:
    r"""Precision estimated from recall, fallout and generality.

    .. math:: P = \frac{r g}{r g + f (1 - g)}

    It is not the share of a list that is relevant (which is at most 1/N in the 1 + N protocol): with g
    near 1, as a test set of liked and disliked items has, it is close to 1.

    `g` is the generality, the share of relevant cases among all, in [0, 1]. The result is in [0, 1]; None where r·g and
    f·(1 - g) are both 0, as nothing was retrieved. Source: Raghavan, Bollmann & Jung (1989), TOIS 7(3):205-229,
    doi:10.1145/65943.65945.

    Examples
    --------
    >>> raghavan_precision(0.5, 0.25, 0.5)
    0.6666666666666666
    """
    retrieved = recall * g + fallout * (1.0 - g)
    return recall * g / retrieved if retrieved > 0.0 else None


def f_measure(precision: float | None, recall: float) -> float:
    r"""Harmonic mean of precision and recall.

    .. math:: F = \frac{2 P r}{P + r}

    The result is in [0, 1]; 0 where precision and recall are both 0 or nothing was retrieved, the limit as recall falls
    to 0.

    Examples
    --------
    >>> f_measure(1.0, 0.25)
    0.4
    """
    if precision is None:
        return 0.0
    together = precision + recall
    return 2.0 * precision * recall / together if together > 0.0 else 0.0


class Pooled(NamedTuple):
    """Recall, fallout, precision and F over all cases, at every list length; None where one has no value."""

    recall: tuple[float, ...] | None
    fallout: tuple[float, ...] | None
    precision: tuple[float | None, ...] | None
    f: tuple[float, ...] | None


class RankingResult(NamedTuple):
    """The metrics of `Pooled`, with recall and fallout by user: the mean over the user's own cases, for users that have
    one.
    """

    recall: tuple[float, ...] | None
    fallout: tuple[float, ...] | None
    precision: tuple[float | None, ...] | None
    f: tuple[float, ...] | None
    user_recall: GroupMeans
    user_fallout: GroupMeans


# The mean hit probability of each group of cases: the groups of some cases, and the mask of these among all.
MeanHits = Callable[[NDArray[np.integer[Any]], NDArray[np.bool_]], GroupMeans]


def pooled(is_relevant: NDArray[np.bool_], mean_of: MeanHits, *, g: float | None = None) -> Pooled:
    """The four metrics over all cases. Empty cases are None, never NaN.

    `is_relevant`: bool array, shape (n_cases,); True for a case of T+, False for one of T-. `g`: generality of
    precision, in [0, 1]; by default the share of relevant cases. Source: Cremonesi, Garzotto, Negro, Papadopoulos &
    Turrin (2011), INTERACT, section 5.1. Deviation: where the paper's test item ties with candidates, a hit counts with
    its probability over their random order.
    """
    means: list[tuple[float, ...] | None] = []
    for side in (is_relevant, ~is_relevant):
        # All cases as one group: the paper's recall is over test cases, not a mean over users.
        overall = mean_of(np.zeros(int(side.sum()), dtype=np.int64), side)
        means.append(tuple(overall.values[0].tolist()) if len(overall.groups) else None)
    recall, fallout = means
    if recall is None or fallout is None:
        return Pooled(recall, fallout, None, None)
    generality = float(is_relevant.mean()) if g is None else g
    precision = tuple(raghavan_precision(r, fo, generality) for r, fo in zip(recall, fallout, strict=True))
    f = tuple(f_measure(p, r) for p, r in zip(precision, recall, strict=True))
    return Pooled(recall, fallout, precision, f)


def pooled_and_by_user(
    users: NDArray[np.integer[Any]], is_relevant: NDArray[np.bool_], mean_of: MeanHits, *, g: float | None = None
) -> RankingResult:
    """`pooled`, with values by user. `users`: int array, shape (n_cases,)."""
    by_user = (mean_of(users[side], side) for side in (is_relevant, ~is_relevant))
    return RankingResult(*pooled(is_relevant, mean_of, g=g), *by_user)


def measure_ranking(
    users: NDArray[np.integer[Any]],
    is_relevant: NDArray[np.bool_],
    above: NDArray[np.integer[Any]],
    tied: NDArray[np.integer[Any]],
    ns: Sequence[int],
    *,
    g: float | None = None,
    ties: Ties = "expected",
) -> RankingResult:
    """Every metric of the 1 + N protocol, at every list length in one pass; see `pooled`.

    `above`, `tied`: int array, shape (n_cases,); candidates above the test item, and tied with it.

    Examples
    --------
    >>> result = measure_ranking(np.array([0, 0, 1]), np.array([True, True, False]), np.array([0, 8, 9]),
    ...                          np.array([0, 0, 0]), [5, 10])
    >>> result.recall, result.fallout
    ((0.5, 1.0), (0.0, 1.0))
    """

    def mean_of(groups: NDArray[np.integer[Any]], side: NDArray[np.bool_]) -> GroupMeans:
        return mean_hits(groups, above[side], tied[side], ns, ties=ties)

    return pooled_and_by_user(users, is_relevant, mean_of, g=g)
