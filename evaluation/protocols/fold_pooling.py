"""Pooling of the measurements of several models, one per fold, by user."""

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
SAME = 1e-12  # tolerance for comparing a metric with the mean over lists


@dataclass(frozen=True, slots=True)
class Pooled:
    """The pooled cases of all folds with their measurements."""

    # Ordered by user, then item. Under a protocol of whole lists a user has one list per fold with cases, treated like
    # lists of different users: `cases.users` then numbers pairs of user and fold, user · n_folds + fold.
    cases: Cases
    arrays: Arrays  # dict of arrays; in the order of `cases`; arrays named list_… in the order of `list_users`
    n_lists: int  # lists per user: the number of folds under a protocol of whole lists, otherwise 1


def pool(protocol: Mapping[str, Any], folds: Sequence[Cases], measured: Sequence[Mapping[str, NDArray[Any]]]) -> Pooled:
    """Pool the cases of folds and their measurements. The result has no candidate bitmaps and excluded items; the
    folds have counted them.

    `protocol`: its name and settings; not "unconstrained", whose single list would mix scores of several models.
    `folds`: at least one; with the same catalogue and disjoint cases. `measured`: of each fold, as
    `evaluation.protocols.blocks.joined` gives it.
    """
    n_lists = len(folds) if protocol["name"] in LISTED else 1

    def owners(users: NDArray[Any], fold: int) -> NDArray[np.int64]:
        return users.astype(np.int64) * n_lists + (fold if n_lists > 1 else 0)

    users = np.concatenate([owners(fold_cases.users, fold) for fold, fold_cases in enumerate(folds)])
    items = np.concatenate([fold_cases.items for fold_cases in folds])
    order = np.lexsort((items, users))
    # No item is excluded for any user here, so all row bounds are 0.
    indptr = np.broadcast_to(np.int64(0), (folds[0].n_users * n_lists + 1,))
    cases = replace(
        folds[0],
        users=users[order],
        items=items[order],
        is_relevant=np.concatenate([fold_cases.is_relevant for fold_cases in folds])[order],
        values=np.concatenate([fold_cases.values for fold_cases in folds])[order],
        rated_indptr=indptr,
        rated_items=np.empty(0, dtype=np.int32),
        bits=None,
    )
    arrays: Arrays = {}
    names = measured[0].keys()
    if "list_users" in names:
        readers = np.concatenate(
            [owners(arrays_of_fold["list_users"], fold) for fold, arrays_of_fold in enumerate(measured)]
        )
        # Stable, so that lists of one reader stay in the order of the folds.
        of_lists = np.argsort(readers, kind="stable")
    for name in names:
        whole = (
            readers if name == "list_users" else np.concatenate([arrays_of_fold[name] for arrays_of_fold in measured])
        )
        arrays[name] = whole[of_lists if name.startswith("list_") else order]
    return Pooled(cases, arrays, n_lists)


def by_user(pooled: Outcomes, n_lists: int) -> Outcomes:
    """Average over each user's lists, so that every user has one value. A mean over lists becomes a mean over users;
    metrics over all cases or lists are unchanged. NaN for users without a value on any list.

    Examples
    --------
    >>> lists = {"user_ids": np.array([0, 1, 2]), "user_values": np.array([[1.0], [0.0], [1.0]])}
    >>> of_users = by_user(Outcomes((Outcome("rr", 2 / 3),), lists), 2)
    >>> of_users.arrays["user_ids"].tolist(), of_users.arrays["user_values"].tolist(), of_users.values[0].value
    ([0, 1], [[0.5], [1.0]], 0.75)
    """
    if n_lists == 1:
        return pooled
    values = pooled.arrays["user_values"]
    users, rows = np.unique(pooled.arrays["user_ids"] // n_lists, return_inverse=True)
    table = np.full((len(users), values.shape[1]), np.nan)
    averaged: list[Outcome] = []
    for column, outcome in enumerate(pooled.values):
        known = ~np.isnan(values[:, column])
        counts = np.bincount(rows[known], minlength=len(users))
        sums = np.bincount(rows[known], weights=values[known, column], minlength=len(users))
        table[counts > 0, column] = sums[counts > 0] / counts[counts > 0]
        is_mean = (
            # Recognised by its value: a metric that is no mean over lists, such as coverage, has to stay as it is.
            outcome.value is not None and known.any() and abs(values[known, column].mean() - outcome.value) <= SAME
        )
        averaged.append(replace(outcome, value=float(table[counts > 0, column].mean())) if is_mean else outcome)
    return Outcomes(tuple(averaged), {**pooled.arrays, "user_ids": users, "user_values": table})
