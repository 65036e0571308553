"""The measurements of several models, one for each fold, put together user by user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.protocols.cases import Cases
from evaluation.protocols.outcomes import Outcome, Outcomes

Arrays = dict[str, NDArray[Any]]
LISTED = ("full-ranking", "test-observations")
SAME = 1e-12  # the mean over lists and a metric that differ by less are one


@dataclass(frozen=True, slots=True)
class Pooled:
    """The cases of all folds in one, with what was measured of them.

    Parameters
    ----------
    cases : Cases
        Ordered by user, then item. Under a protocol of whole lists a user has a list from the model of every fold
        they have cases in, and these are as different as two people's: there `cases.users` number the pairs of user
        and fold, user · n_folds + fold.
    arrays : dict of arrays
        In the order of `cases`; those named list_… in the order of `list_users`.
    n_lists : int
        Numbers of lists that each user's take: the folds under a protocol of whole lists, otherwise 1.
    """

    cases: Cases
    arrays: Arrays
    n_lists: int


def pool(protocol: Mapping[str, Any], folds: Sequence[Cases], measured: Sequence[Mapping[str, NDArray[Any]]]) -> Pooled:
    """Put the cases of folds, and what was measured of each, into one.

    Parameters
    ----------
    protocol : mapping
        Its name and settings; not "unconstrained", whose one list would mix the scores of several models.
    folds : sequence of Cases
        At least one; all of one catalogue, with no case in two of them.
    measured : sequence of mappings
        Of each fold, as `evaluation.protocols.blocks.joined` gives it.

    Returns
    -------
    Pooled
        The bitmaps of candidates and the barred items stay with the folds: counts have been taken from them.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.cases import make_cases
    >>> def fold(user, item):
    ...     return make_cases(csr_array(np.ones((2, 3)) - np.eye(2, 3)), np.array([user]), np.array([item]),
    ...                       np.array([5.0]), relevant=5, irrelevant=1, seed=1)
    >>> both = pool({"name": "rating-prediction"}, [fold(1, 1), fold(0, 0)],
    ...             [{"scores": np.array([4.0])}, {"scores": np.array([3.0])}])
    >>> both.cases.users.tolist(), both.arrays["scores"].tolist(), both.n_lists
    ([0, 1], [3.0, 4.0], 1)
    """
    n_lists = len(folds) if protocol["name"] in LISTED else 1

    def owners(users: NDArray[Any], fold: int) -> NDArray[np.int64]:
        return users.astype(np.int64) * n_lists + (fold if n_lists > 1 else 0)

    users = np.concatenate([owners(one.users, fold) for fold, one in enumerate(folds)])
    items = np.concatenate([one.items for one in folds])
    order = np.lexsort((items, users))
    # Nobody is barred from anything here: one number stands for all of them.
    indptr = np.broadcast_to(np.int64(0), (folds[0].n_users * n_lists + 1,))
    cases = replace(
        folds[0],
        users=users[order],
        items=items[order],
        is_relevant=np.concatenate([one.is_relevant for one in folds])[order],
        values=np.concatenate([one.values for one in folds])[order],
        rated_indptr=indptr,
        rated_items=np.empty(0, dtype=np.int32),
        bits=None,
    )
    arrays: Arrays = {}
    names = measured[0].keys()
    if "list_users" in names:
        readers = np.concatenate([owners(one["list_users"], fold) for fold, one in enumerate(measured)])
        of_lists = np.argsort(readers, kind="stable")
    for name in names:
        whole = readers if name == "list_users" else np.concatenate([one[name] for one in measured])
        arrays[name] = whole[of_lists if name.startswith("list_") else order]
    return Pooled(cases, arrays, n_lists)


def by_user(found: Outcomes, n_lists: int) -> Outcomes:
    """The same with every user's lists drawn together: one value for each user, the mean of their lists'.

    Parameters
    ----------
    found : Outcomes
        Of `Pooled.cases`.
    n_lists : int

    Returns
    -------
    Outcomes
        A metric that was the mean over lists is now the mean over users; one that is taken over all cases or lists
        at once stays. NaN where a user has no value on any list.

    Examples
    --------
    >>> lists = {"user_ids": np.array([0, 1, 2]), "user_values": np.array([[1.0], [0.0], [1.0]])}
    >>> of_users = by_user(Outcomes((Outcome("rr", 2 / 3),), lists), 2)
    >>> of_users.arrays["user_ids"].tolist(), of_users.arrays["user_values"].tolist(), of_users.values[0].value
    ([0, 1], [[0.5], [1.0]], 0.75)
    """
    if n_lists == 1:
        return found
    values = found.arrays["user_values"]
    users, rows = np.unique(found.arrays["user_ids"] // n_lists, return_inverse=True)
    table = np.full((len(users), values.shape[1]), np.nan)
    said: list[Outcome] = []
    for column, one in enumerate(found.values):
        known = ~np.isnan(values[:, column])
        counts = np.bincount(rows[known], minlength=len(users))
        sums = np.bincount(rows[known], weights=values[known, column], minlength=len(users))
        table[counts > 0, column] = sums[counts > 0] / counts[counts > 0]
        is_mean = one.value is not None and known.any() and abs(values[known, column].mean() - one.value) <= SAME
        said.append(replace(one, value=float(table[counts > 0, column].mean())) if is_mean else one)
    return Outcomes(tuple(said), {**found.arrays, "user_ids": users, "user_values": table})
