"""The metrics of "one plus random": sampled; exact, what the sampled recall is on average, in closed form; and as lists
are served.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.hits import GroupMeans, Ties
from evaluation.metrics.ranking import (
    MeanHits,
    Pooled,
    RankingResult,
    measure_ranking,
    pooled,
    pooled_and_by_user,
)
from evaluation.protocols.cases import Cases

FEW_TIES = 8  # more are summed by the closed form
UNLISTED = {"worst": "(unlisted=worst)", "best": "(unlisted=best)"}  # ends of names, by where unlisted items are put
Ints = NDArray[np.integer[Any]]


def exact_hit_probability(
    above: Ints, tied: Ints, n_unrated: Ints, negatives: int, ns: Sequence[int], *, ties: Ties = "expected"
) -> NDArray[np.float64]:
    r"""Chance that each test item is in a list of n, over all draws of the candidates and orders of ties.

    .. math:: h_n = \frac{1}{E + 1} \sum_{j=0}^{E} P(X_{G+j} < n), \quad X_g \sim \text{Hyp}(M, g, m)

    With G of M unrated items scored above the test item and E the same, the number of items before it among the m
    sampled ones is hypergeometric. Source: Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), INTERACT, section
    5.1, whose recall this is the mean of. Many ties are summed by the mean of the place of the n-th sampled item
    (negative hypergeometric).

    `above`, `tied`: int array, shape (n_cases,); g and E, counted among all unrated items, the test item not included.
    `n_unrated`: int array, shape (n_cases,); M. `negatives`: candidates wanted; m is the smaller of it and M. >= 1.
    `ties`: {"expected", "worst", "best"}; "worst" puts the test item behind all it is tied with, "best" before them.
    Returns a float array, shape (n_cases, n_lengths), in [0, 1], never NaN; right to 1e-11 with some thousand items, to
    1e-9 with 100,000. A constant scorer gets n/(m + 1) to the last bit.

    Examples
    --------
    >>> exact_hit_probability(np.array([1]), np.array([0]), np.array([4]), 2, [1, 2]).round(6).tolist()
    [[0.5, 1.0]]
    """
    from evaluation.protocols.kernels import exact_hits

    first = above + tied if ties == "worst" else above
    together = tied if ties == "expected" else np.zeros_like(tied)
    longest = max(ns)
    hits = np.empty((len(above), longest), dtype=np.float64)
    exact_hits(
        np.ascontiguousarray(first, dtype=np.int32),
        np.ascontiguousarray(together, dtype=np.int32),
        np.ascontiguousarray(n_unrated, dtype=np.int32),
        negatives,
        FEW_TIES,
        _log_factorials(int(n_unrated.max(initial=0)) + 3),
        hits,
    )
    return hits[:, np.asarray(ns) - 1]


@lru_cache(maxsize=4)
def _log_factorials(n: int) -> NDArray[np.float64]:
    """Logarithms of 0!, 1!, … (n - 1)!, summed in long doubles."""
    # Long doubles, so that the rounding of a sum of many logarithms stays below the error that is promised.
    logs = np.log(np.arange(1, n, dtype=np.longdouble))
    return np.concatenate([[0.0], np.cumsum(logs)]).astype(np.float64)


def mean_probabilities(groups: Ints, hits: NDArray[np.float64]) -> GroupMeans:
    """Mean of each group's hit probabilities, at every list length.

    Added in the order of the cases; a mean of equal numbers is that number to the last bit.

    `groups`: int array, shape (n_cases,); the group of each case (a user, or everyone), >= 0. `hits`: float array,
    shape (n_cases, n_lengths).
    """
    names, n_cases = np.unique(groups, return_counts=True)
    if not len(names):
        return GroupMeans(groups=names, n_cases=n_cases.astype(np.int64), values=np.zeros((0, hits.shape[1])))
    ordered = hits[np.argsort(groups, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(n_cases)])[:-1]
    # Added from the least one up, so that equal numbers add to nothing at all.
    least = np.minimum.reduceat(ordered, starts, axis=0)
    excess = np.add.reduceat(ordered - np.repeat(least, n_cases, axis=0), starts, axis=0)
    values = np.minimum(least + excess / n_cases[:, None], 1.0)
    return GroupMeans(groups=names, n_cases=n_cases.astype(np.int64), values=values)


def filled_share(scored: Ints, n_items: Ints, ns: Sequence[int]) -> NDArray[np.float64]:
    """Mean share of a list's slots that the model has no score for, at every length.

    `scored`: int array, shape (n_cases,); items with a score in the list drawn from, the test item included. `n_items`:
    int array, shape (n_cases,); all of them, the test item not included. Returns a float array, shape (n_lengths,), in
    [0, 1]; NaN without a case.

    Examples
    --------
    >>> filled_share(np.array([3, 9]), np.array([20, 20]), [2, 5]).tolist()
    [0.0, 0.2]
    """
    if not len(scored):
        return np.full(len(ns), np.nan)
    slots = np.minimum(np.asarray(ns)[None, :], np.asarray(n_items)[:, None] + 1)
    empty = np.maximum(slots - np.asarray(scored)[:, None], 0)
    share: NDArray[np.float64] = (empty / slots).mean(axis=0)
    return share


Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Hits:
    """The metrics of "one plus random" of one model."""

    main: RankingResult  # in the requested mode, with values by user
    # By name, at every list length: the same metrics in the other mode, such as ``recall(mode=exact)``; with ties and
    # empty slots as in served lists, ``recall(ties=served)``; and ``filled-slots``, the share of slots filled by
    # popularity in a list of all unrated items.
    secondary: dict[str, Values]


def one_plus_random(
    cases: Cases,
    arrays: Mapping[str, NDArray[Any]],
    protocol: Mapping[str, Any],
    ns: Sequence[int],
    *,
    is_partial: bool = False,
) -> Hits:
    """Compute the metrics of "one plus random" from the counts of all cases.

    `arrays` are those of `evaluation.protocols.blocks.joined`. Candidates from a file give only the sampled metrics:
    the file does not list other unrated items. `is_partial`: items without a score are outside a list, at an unknown
    rank after its last item; the secondary metrics then have the exact ones with these items at the end
    (``unlisted=worst``) and directly after the list (``unlisted=best``). Raises ParameterError or DataError for invalid
    settings or arrays.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.blocks import measure_block
    >>> from evaluation.protocols.cases import build_cases
    >>> from evaluation.protocols.registry import protocol
    >>> settings = protocol("one-plus-random").completed({"negatives": 2})
    >>> train = csr_array(np.array([[4.0, 0, 0, 0, 0]]))
    >>> cases = build_cases(train, np.array([0]), np.array([1]), np.array([5.0]),
    ...                    relevant=5, irrelevant=1, seed=1, negatives=2)
    >>> counts = measure_block(settings, cases, slice(None), np.zeros((1, 5)), np.array([0]), popularity=np.zeros(5),
    ...                        longest=5)
    >>> found = one_plus_random(cases, counts, settings, [1, 3])
    >>> found.main.recall, found.secondary["recall(mode=exact)"], found.secondary["filled-slots"]
    ((0.3333333333333333, 1.0), (0.3333333333333333, 1.0), (0.0, 0.0))
    """
    ties, g, negatives = protocol["ties"], protocol["g"], int(protocol["negatives"])

    above, tied, before = (arrays[f"all_{name}"] for name in ("above", "tied", "before"))
    is_unlisted = above == arrays["all_scored"]  # which counts the test item, if it has a score
    if is_partial:
        before = np.where(is_unlisted, arrays["all_n_items"], before)

    def exact(first: NDArray[Any], together: NDArray[Any], how: Any) -> NDArray[np.float64]:
        return exact_hit_probability(first, together, arrays["all_n_items"], negatives, ns, ties=how)

    sampled = measure_ranking(cases.users, cases.is_relevant, arrays["above"], arrays["tied"], ns, g=g, ties=ties)
    secondary: dict[str, Values] = {}
    if cases.is_given:
        main, served = sampled, _served(arrays["before"], ns)
    else:
        chances = exact(above, tied, ties)
        if protocol.get("mode") == "exact":
            main = pooled_and_by_user(cases.users, cases.is_relevant, _means_of(chances), g=g)
            secondary |= by_name(sampled, len(ns), "(mode=sampled)")
            served = exact(before, np.zeros_like(tied), "expected")
        else:
            main = sampled
            secondary |= by_name(pooled(cases.is_relevant, _means_of(chances), g=g), len(ns), "(mode=exact)")
            served = _served(arrays["before"], ns)
    secondary |= by_name(pooled(cases.is_relevant, _means_of(served), g=g), len(ns), "(ties=served)")
    if is_partial and not cases.is_given:
        own_tied = np.where(is_unlisted, 0, tied)
        for how, first in (("worst", np.where(is_unlisted, above + tied, above)), ("best", above)):
            bound = pooled(cases.is_relevant, _means_of(exact(first, own_tied, ties)), g=g)
            secondary |= by_name(bound, len(ns), UNLISTED[how])
    filled = filled_share(arrays["all_scored"], arrays["all_n_items"], ns)
    secondary["filled-slots"] = tuple(float(share) for share in filled)
    return Hits(main, secondary)


def _served(before: NDArray[Any], ns: Sequence[int]) -> NDArray[np.float64]:
    hits: NDArray[np.float64] = (before[:, None] < np.asarray(ns)[None, :]).astype(np.float64)
    return hits


def _means_of(hits: NDArray[np.float64]) -> MeanHits:
    def mean_of(groups: NDArray[np.integer[Any]], side: NDArray[np.bool_]) -> GroupMeans:
        return mean_probabilities(groups, hits[side])

    return mean_of


def by_name(result: RankingResult | Pooled, n_lengths: int, suffix: str = "") -> dict[str, Values]:
    """The four metrics by the names under which they are stored."""
    values = {
        "recall": result.recall,
        "fallout": result.fallout,
        "precision-raghavan": result.precision,
        "f": result.f,
    }
    return {f"{name}{suffix}": (None,) * n_lengths if line is None else tuple(line) for name, line in values.items()}
