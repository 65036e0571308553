"""Recall, fallout, precision after Raghavan, Bollmann and Jung, and F, from the ranks of test items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError, ParameterError
from evaluation.metrics.hits import GroupMeans, Ties, mean_hits


def raghavan_precision(recall: float, fallout: float, g: float) -> float | None:
    r"""Precision estimated from recall, fallout and generality.

    .. math:: P = \frac{r g}{r g + f (1 - g)}

    It is not the share of a list that is relevant (which is at most 1/N in the 1 + N protocol): with g
    near 1, as a test set of liked and disliked items has, it is close to 1.

    `g` is the generality, the share of relevant cases among all, in [0, 1]. The result is in [0, 1]; None where r·g and
    f·(1 - g) are both 0, as nothing was retrieved. Raises ParameterError for a number outside [0, 1]. Source: Raghavan,
    Bollmann & Jung (1989), TOIS 7(3):205-229, doi:10.1145/65943.65945.

    Examples
    --------
    >>> raghavan_precision(0.5, 0.25, 0.5)
    0.6666666666666666
    """
    for name, number in (("recall", recall), ("fallout", fallout), ("g", g)):
        if not 0.0 <= number <= 1.0:
            raise ParameterError(f"{name} is {number!r}: it must be between 0 and 1.")
    retrieved = recall * g + fallout * (1.0 - g)
    return recall * g / retrieved if retrieved > 0.0 else None


def f_measure(precision: float | None, recall: float) -> float:
    r"""Harmonic mean of precision and recall.

    .. math:: F = \frac{2 P r}{P + r}

    The result is in [0, 1]; 0 where precision and recall are both 0 or nothing was retrieved, the limit as recall falls
    to 0. Raises ParameterError for a number outside [0, 1].

    Examples
    --------
    >>> f_measure(1.0, 0.25)
    0.4
    """
    if precision is None:
        return 0.0
    for name, number in (("precision", precision), ("recall", recall)):
        if not 0.0 <= number <= 1.0:
            raise ParameterError(f"{name} is {number!r}: it must be between 0 and 1.")
    together = precision + recall
    return 2.0 * precision * recall / together if together > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class RankingResult:
    """One algorithm's recall, fallout, precision and F at every list length."""

    ns: tuple[int, ...]  # list lengths; the other tuples have one entry for each
    # `recall`, `fallout`: mean hit probability over T+ and T-; None where there is no such case.
    recall: tuple[float, ...] | None
    fallout: tuple[float, ...] | None
    precision: tuple[float | None, ...] | None  # by `raghavan_precision`; None where recall or fallout is
    f: tuple[float, ...] | None  # by `f_measure` of precision and recall; None where recall or fallout is
    g: float | None  # the generality used; None where there is no case at all and none was given
    is_g_given: bool  # False: g is the share of relevant cases
    ties: Ties  # how ties counted
    # `n_relevant`, `n_irrelevant`: cases.
    n_relevant: int
    n_irrelevant: int
    # `user_recall`, `user_fallout`: the same by user: the mean over the user's own cases, for users that have one.
    user_recall: GroupMeans
    user_fallout: GroupMeans


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
    """Every metric of the 1 + N protocol, at every list length in one pass. Empty cases are None, never NaN.

    Source: Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), INTERACT, section 5.1. Deviation: where the
    paper's test item ties with candidates, a hit counts with its probability over their random order.

    `users`: int array, shape (n_cases,). `is_relevant`: bool array, shape (n_cases,); True for a case of T+, False for
    one of T-. `above`, `tied`: int array, shape (n_cases,); candidates above the test item, and tied with it. `g`:
    generality of precision, in [0, 1]; by default the share of relevant cases. Raises ParameterError or DataError: a
    list length below 1, `g` out of range, an unknown rule for ties; arrays of different lengths or negative counts.

    Examples
    --------
    >>> result = measure_ranking(np.array([0, 0, 1]), np.array([True, True, False]), np.array([0, 8, 9]),
    ...                          np.array([0, 0, 0]), [5, 10])
    >>> result.recall, result.fallout
    ((0.5, 1.0), (0.0, 1.0))
    """
    if not len(users) == len(is_relevant) == len(above) == len(tied):
        raise DataError(
            f"There are {len(users)} users, {len(is_relevant)} marks of relevance, {len(above)} counts above "
            f"and {len(tied)} of ties: one of each is needed for every case."
        )
    if g is not None and not 0.0 <= g <= 1.0:
        raise ParameterError(f"g is {g!r}: it must be between 0 and 1.")
    users = np.asarray(users)
    is_relevant = np.asarray(is_relevant, dtype=np.bool_)
    above, tied = np.asarray(above), np.asarray(tied)
    n_relevant = int(is_relevant.sum())
    n_irrelevant = len(is_relevant) - n_relevant
    everyone = np.zeros(len(users), dtype=np.int64)

    means: list[tuple[float, ...] | None] = []
    by_user: list[GroupMeans] = []
    for side in (is_relevant, ~is_relevant):
        overall = mean_hits(everyone[side], above[side], tied[side], ns, ties=ties)
        means.append(tuple(overall.values[0].tolist()) if len(overall.groups) else None)
        by_user.append(mean_hits(users[side], above[side], tied[side], ns, ties=ties))
    recall, fallout = means

    generality = g
    if generality is None and len(users):
        generality = n_relevant / len(users)
    precision: tuple[float | None, ...] | None = None
    f: tuple[float, ...] | None = None
    if recall is not None and fallout is not None and generality is not None:
        precision = tuple(raghavan_precision(r, fo, generality) for r, fo in zip(recall, fallout, strict=True))
        f = tuple(f_measure(p, r) for p, r in zip(precision, recall, strict=True))
    return RankingResult(
        ns=tuple(int(n) for n in ns),
        recall=recall,
        fallout=fallout,
        precision=precision,
        f=f,
        g=generality,
        is_g_given=g is not None,
        ties=ties,
        n_relevant=n_relevant,
        n_irrelevant=n_irrelevant,
        user_recall=by_user[0],
        user_fallout=by_user[1],
    )
