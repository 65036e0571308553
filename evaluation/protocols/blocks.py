"""What is measured of a block of users under each protocol, and how the blocks are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.protocols.cases import Cases
from evaluation.protocols.full_ranking import first_items
from evaluation.protocols.observations import own_scores
from evaluation.protocols.one_plus_random import count_places
from evaluation.protocols.unconstrained import Pool, all_pairs, merged, pool_of

Arrays = dict[str, NDArray[Any]]
MOST_SCORES = 50_000_000  # distinct scores of one list over all pairs; beyond it memory would run out
_COUNTS = ("above", "tied", "before", "scored", "n_items")


def measure_block(
    protocol: Mapping[str, Any],
    cases: Cases,
    rows: slice | NDArray[np.integer[Any]],
    scores: NDArray[np.float64],
    users: NDArray[np.integer[Any]],
    popularity: NDArray[np.int64],
    *,
    longest: int,
) -> Arrays:
    """Measure the cases of some users.

    Parameters
    ----------
    protocol : mapping
        Its name and settings, complete.
    cases : Cases
    rows : slice or int array
        All cases of `users`.
    scores : float64 array, shape (n_users, n_items)
    users : int array, shape (n_users,)
        Ascending.
    popularity : int64 array, shape (n_items,)
    longest : int
        Length of the lists that are kept, where the protocol keeps lists.

    Returns
    -------
    dict of arrays
        Those of "one-plus-random" have one entry a case: `above`, `tied`, `before`, `scored`, `n_items`
        among the candidates and, named all_…, among everything that is not barred. "full-ranking" has the
        latter, and for each user `list_users`, `list_items`, `list_scored`. "test-observations" and
        "rating-prediction" have `scores`; "unconstrained" has the three of `Pool`.

    Raises
    ------
    DataError
        Scores that cannot be; a protocol that is none.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.cases import make_cases
    >>> train = csr_array(np.array([[4.0, 0, 0]]))
    >>> cases = make_cases(train, np.array([0]), np.array([1]), np.array([5.0]),
    ...                    relevant=5, irrelevant=1, seed=1, every=True, barred="trained")
    >>> measure_block({"name": "test-observations"}, cases, slice(None), np.array([[0.0, 2.5, 1.5]]),
    ...               np.array([0]), np.array([1, 0, 0]), longest=5)["scores"].tolist()
    [2.5]
    """
    match protocol["name"]:
        case "one-plus-random":
            places = count_places(cases, rows, scores, users, popularity)
            sampled = {name: getattr(places.sampled, name) for name in _COUNTS}
            return sampled | {f"all_{name}": getattr(places.everyone, name) for name in _COUNTS}
        case "full-ranking":
            places = count_places(cases, rows, scores, users, popularity, is_sampled=False)
            lists = first_items(cases, scores, users, popularity, longest)
            found: Arrays = {f"all_{name}": getattr(places.everyone, name) for name in _COUNTS}
            return found | {"list_users": lists.users, "list_items": lists.items, "list_scored": lists.n_scored}
        case "test-observations" | "rating-prediction":
            return {"scores": own_scores(cases, rows, scores, users)}
        case "unconstrained":
            if protocol["pairs"] == "all":
                return _plain(all_pairs(cases, rows, scores, users))
            return _plain(pool_of(own_scores(cases, rows, scores, users), cases.is_relevant[rows]))
        case other:
            raise DataError(f"There is no protocol {other!r} to measure by.")


def measured_alone(arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """Of the arrays that a run keeps of a model, those that `joined` gave; the others were computed from them.

    Parameters
    ----------
    arrays : mapping

    Returns
    -------
    dict of arrays

    Examples
    --------
    >>> list(measured_alone({"scores": np.array([2.5]), "user_values": np.array([[1.0]])}))
    ['scores']
    """
    names = {"scores", *_COUNTS, *(f"all_{name}" for name in _COUNTS), "list_users", "list_items", "list_scored"}
    return {name: array for name, array in arrays.items() if name in names}


def joined(protocol: Mapping[str, Any], blocks: Sequence[Mapping[str, NDArray[Any]]]) -> Arrays:
    """Join what was measured of blocks, in their order.

    Parameters
    ----------
    protocol : mapping
    blocks : sequence of mappings
        At least one, as `measure_block` or this function gives them.

    Returns
    -------
    dict of arrays
        The same whatever the cut.

    Raises
    ------
    DataError
        One list over all pairs would have too many distinct scores.

    Examples
    --------
    >>> blocks = [{"scores": np.array([2.5])}, {"scores": np.array([1.5])}]
    >>> joined({"name": "rating-prediction"}, blocks)["scores"].tolist()
    [2.5, 1.5]
    """
    if protocol["name"] != "unconstrained":
        return {name: np.concatenate([one[name] for one in blocks]) for name in blocks[0]}
    n_scores = sum(len(one["scores"]) for one in blocks)
    if n_scores > MOST_SCORES:
        raise DataError(
            f"One list over all pairs would have {n_scores:,} scores, and {MOST_SCORES:,} are the most that fit in "
            "memory. Measure the test observations alone (pairs=observations), or a smaller dataset."
        )
    return _plain(merged([Pool(one["scores"], one["n_relevant"], one["n_others"]) for one in blocks]))


def _plain(pool: Pool) -> Arrays:
    return {"scores": pool.scores, "n_relevant": pool.n_relevant, "n_others": pool.n_others}
