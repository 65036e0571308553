"""Measurement of a block of users under each protocol, and joining of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.protocols.cases import Cases
from evaluation.protocols.facts import FACTS
from evaluation.protocols.full_ranking import first_items
from evaluation.protocols.observations import own_scores
from evaluation.protocols.one_plus_random import COUNTS, count_candidates
from evaluation.protocols.unconstrained import Pool, all_pairs, merged, pool_of

Arrays = dict[str, NDArray[Any]]
MAX_SCORES = 50_000_000  # distinct scores of one list over all pairs that fit into memory
_LISTS = ("list_users", "list_items", "list_scored")


def measure_block(
    protocol: Mapping[str, Any],
    cases: Cases,
    rows: slice | NDArray[np.integer[Any]],
    scores: NDArray[np.float64],
    users: NDArray[np.integer[Any]],
    *,
    popularity: NDArray[np.int64],
    longest: int,
) -> Arrays:
    """Measure the cases of some users.

    The arrays of "one-plus-random" are those of `count_candidates`; "full-ranking" has those among everything that is
    not excluded, and those of `first_items`. "test-observations" and "rating-prediction" have `scores`; "unconstrained"
    has the three of `Pool`. Raises DataError for invalid scores.

    `rows`: all cases of `users`. `scores`: float64 array, shape (n_users, n_items). `users`: int array, shape
    (n_users,); ascending. `popularity`: int64 array, shape (n_items,). `longest`: length of the stored lists, if the
    protocol stores lists.
    """
    match protocol["name"]:
        case "one-plus-random":
            return count_candidates(cases, rows, scores, users, popularity)
        case "full-ranking":
            counts = count_candidates(cases, rows, scores, users, popularity, is_sampled=False)
            return counts | first_items(cases, scores, users, popularity, longest)
        case "test-observations" | "rating-prediction":
            return {"scores": own_scores(cases, rows, scores, users)}
        case "unconstrained":
            if protocol["pairs"] == "all":
                return all_pairs(cases, rows, scores, users)._asdict()
            return pool_of(own_scores(cases, rows, scores, users), cases.is_relevant[rows])._asdict()
        case other:
            raise DataError(f"Unknown protocol {other!r}.")


def measured_arrays(arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """Select the measured arrays among the stored arrays of a model; the others were computed from them."""
    names = {"scores", *COUNTS, *(f"all_{name}" for name in COUNTS), *_LISTS, *FACTS}
    return {name: array for name, array in arrays.items() if name in names}


def joined(protocol: Mapping[str, Any], blocks: Sequence[Mapping[str, NDArray[Any]]]) -> Arrays:
    """Join the measurements of blocks in their order.

    `blocks` has at least one, as `measure_block` or this function gives them. The result is independent of how the
    cases were divided into blocks. Raises DataError when one list over all pairs would have too many distinct scores.

    Examples
    --------
    >>> blocks = [{"scores": np.array([2.5])}, {"scores": np.array([1.5])}]
    >>> joined({"name": "rating-prediction"}, blocks)["scores"].tolist()
    [2.5, 1.5]
    """
    if protocol["name"] != "unconstrained":
        return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    # Checked before they are merged, which needs the memory twice.
    n_scores = sum(len(block["scores"]) for block in blocks)
    if n_scores > MAX_SCORES:
        raise DataError(
            f"One list over all pairs would have {n_scores:,} scores; the maximum that fits into memory is "
            f"{MAX_SCORES:,}. Measure the test observations alone (pairs=observations), or a smaller dataset."
        )
    return merged([Pool(**block) for block in blocks])._asdict()
