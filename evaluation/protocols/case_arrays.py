"""Test cases as named arrays of a file, so that another system can be measured on the same cases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from core.errors import DataError
from evaluation.protocols.cases import Cases

NAMES = ("train_user", "train_item", "train_rating", "case_user", "case_item", "case_relevant", "case_candidates")
BLOCK = 1024  # rows of candidates looked up at a time
PADDING = ("", "-1")  # in rows of `case_candidates` that are shorter than the longest


@dataclass(frozen=True, slots=True)
class FileCases:
    """Cases read from a file, with the dataset's indexes."""

    train: Any  # csr_array, float32, shape (n_users, n_items)
    cases: Cases  # ordered by user, then item; `bits` are the candidates given
    file_rows: NDArray[np.int64]  # shape (n_cases,); the row of the file of each case
    counted: Mapping[str, int]  # what is worth knowing, in words, with counts


def read_cases(
    arrays: Mapping[str, NDArray[Any]], user_ids: NDArray[np.str_], item_ids: NDArray[np.str_], *, seed: int
) -> FileCases:
    """Convert the arrays of a file to cases.

    `arrays`: the seven of `NAMES`: `train_user`, `train_item`, `train_rating` of one length; `case_user`, `case_item`,
    `case_relevant` (true or 1: relevant) of one length; `case_candidates` with a row for each case, shorter ones filled
    up with "" or -1. Users and items are the dataset's own ids, as text or as whole numbers. `user_ids`, `item_ids`:
    str array, shape (n_users,), (n_items,); the dataset's ids, in the order of its indexes. Raises DataError: an array
    that is missing, is none of the seven, or has another shape or type; an id that the dataset does not have; a pair
    that comes twice, or is trained on and tested; a case whose user has no training rating; a candidate that is the
    case's own item, or comes twice; a case without a candidate; a training rating that is not a finite number.

    Examples
    --------
    >>> ids = np.array(["7", "8", "9"])
    >>> file_cases = read_cases(
    ...     {"train_user": np.array([7]), "train_item": np.array([9]), "train_rating": np.array([4.0]),
    ...      "case_user": np.array([7]), "case_item": np.array([8]), "case_relevant": np.array([True]),
    ...      "case_candidates": np.array([[7]])}, ids, ids, seed=1)
    >>> file_cases.cases.candidates(0).tolist()
    [0]
    """
    _check_shapes(arrays)
    n_users, n_items = len(user_ids), len(item_ids)
    users, items = _Ids(user_ids, "user"), _Ids(item_ids, "item")
    train_users = users.indexes(arrays["train_user"], "train_user")
    train_items = items.indexes(arrays["train_item"], "train_item")
    ratings = np.asarray(arrays["train_rating"], dtype=np.float32)
    if not np.isfinite(ratings).all():
        row = int(np.flatnonzero(~np.isfinite(ratings))[0])
        raise DataError(f"The rating in row {row} of train_rating is not a finite number.")
    case_users = users.indexes(arrays["case_user"], "case_user")
    case_items = items.indexes(arrays["case_item"], "case_item")
    trained = train_users * n_items + train_items
    tested = case_users * n_items + case_items
    _refuse_duplicates(trained, "train_user and train_item")
    _refuse_duplicates(tested, "case_user and case_item")
    both = np.flatnonzero(np.isin(tested, trained))
    if len(both):
        raise DataError(
            f"The case in row {both[0]} (user {user_ids[case_users[both[0]]]}, item {item_ids[case_items[both[0]]]}) "
            "is among the training ratings too: a model would be measured on what it has seen."
        )
    per_user = np.bincount(train_users, minlength=n_users)
    strangers = np.flatnonzero(per_user[case_users] == 0)
    if len(strangers):
        raise DataError(
            f"The user of the case in row {strangers[0]} ({user_ids[case_users[strangers[0]]]}) has no training "
            "rating, so there is no profile to score. Leave the case out."
        )
    order = np.argsort(tested, kind="stable")
    bits = _bitmaps(items, np.asarray(arrays["case_candidates"]), case_items)[order]
    n_known, per_case = _known_candidates(bits, case_users[order], trained, n_items)
    rated = np.sort(np.concatenate([trained, tested]))
    counts = np.bincount(rated // n_items, minlength=n_users)
    by_place = np.argsort(trained, kind="stable")
    train = csr_array(
        (ratings[by_place], train_items[by_place], np.concatenate([[0], np.cumsum(per_user)])), shape=(n_users, n_items)
    )
    cases = Cases(
        users=case_users[order].astype(np.int32),
        items=case_items[order].astype(np.int32),
        is_relevant=np.asarray(arrays["case_relevant"]).astype(np.bool_)[order],
        values=np.full(len(order), np.nan, dtype=np.float32),
        rated_indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        rated_items=(rated % n_items).astype(np.int32),
        n_items=n_items,
        negatives=int(per_case.max()),
        seed=seed,
        bits=bits,
        is_given=True,
    )
    return FileCases(train, cases, order, {"candidates that the user has rated in training": n_known})


def case_file_arrays(
    train: Any, cases: Cases, user_ids: NDArray[np.str_], item_ids: NDArray[np.str_], train_users: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Convert training ratings and cases to the arrays of a file. Returns the arrays of `NAMES`. Ids are whole numbers
    where all the dataset's are, text otherwise; rows of `case_candidates` that are shorter are filled up with -1 or "".

    `train`: csr_array, shape (n_trained, n_items); training ratings. `train_users`: int array, shape (n_trained,); the
    dataset's user index of each row of `train`.
    """
    own_users, _ = _as_numbers(user_ids)
    own_items, padding = _as_numbers(item_ids)
    width = int(cases.n_candidates.max(initial=0))
    candidates = np.full((len(cases), width), padding, dtype=own_items.dtype)
    for case in range(len(cases)):
        own = cases.candidates(case)  # may be fewer than counted: the case's own item is none
        candidates[case, : len(own)] = own_items[own]
    rows = np.repeat(train_users, np.diff(train.indptr))
    return {
        "train_user": own_users[rows],
        "train_item": own_items[train.indices],
        "train_rating": np.asarray(train.data, dtype=np.float32),
        "case_user": own_users[cases.users],
        "case_item": own_items[cases.items],
        "case_relevant": cases.is_relevant,
        "case_candidates": candidates,
    }


_WHOLE = re.compile(r"0|[1-9][0-9]{0,17}")


def _as_numbers(ids: NDArray[np.str_]) -> tuple[NDArray[Any], Any]:
    """Return the ids as whole numbers if each is one (and none is -1), and the padding of short rows."""
    plain = np.asarray(ids)
    if all(_WHOLE.fullmatch(text) for text in plain.tolist()):
        return plain.astype(np.int64), -1
    return plain, ""


class _Ids:
    def __init__(self, ids: NDArray[np.str_], what: str) -> None:
        self._what = what
        self._ids = np.asarray(ids).astype(str)
        self._order = np.argsort(self._ids, kind="stable")
        self._sorted = self._ids[self._order]

    def __len__(self) -> int:
        return len(self._ids)

    def indexes(self, wanted: NDArray[Any], name: str) -> NDArray[np.int64]:
        """Return the indexes of ids; refuse unknown ids."""
        result = self.lookup(wanted)
        unknown = np.flatnonzero(result < 0)
        if len(unknown):
            raise DataError(
                f"The dataset has no {self._what} {wanted[unknown[0]]!s}, which is in row {unknown[0]} of {name} "
                f"({len(unknown):,} rows have one that is unknown). Give a file that was written for this dataset."
            )
        return result

    def lookup(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        """Return the indexes of ids, -1 for unknown ids."""
        # Each distinct id is looked up once.
        names, position = np.unique(wanted, return_inverse=True)
        texts = names.astype(str)
        at = np.minimum(np.searchsorted(self._sorted, texts), len(self._sorted) - 1)
        index = np.where(self._sorted[at] == texts, self._order[at], -1)
        return index[position].reshape(wanted.shape).astype(np.int64)


def _check_shapes(arrays: Mapping[str, NDArray[Any]]) -> None:
    missing = [name for name in NAMES if name not in arrays]
    unknown = sorted(set(arrays) - set(NAMES))
    if missing or unknown:
        problems = [f"{', '.join(missing)} missing"] if missing else []
        problems += [f"{', '.join(unknown)} unknown"] if unknown else []
        raise DataError(f"A file of cases has the arrays {', '.join(NAMES)}; here: {'; '.join(problems)}.")
    for name in NAMES:
        n_dimensions = 2 if name == "case_candidates" else 1
        array = arrays[name]
        if array.ndim != n_dimensions:
            raise DataError(f"The array {name} has {array.ndim} dimensions; it should have {n_dimensions}.")
        kinds, words = {
            "train_rating": ("iuf", "numbers"),
            "case_relevant": ("bui", "true and false, or 1 and 0"),
        }.get(name, ("iuU", "ids, as text or whole numbers"))
        if array.dtype.kind not in kinds:
            raise DataError(f"The array {name} is of type {array.dtype}; it should hold {words}.")
    if not set(np.unique(arrays["case_relevant"]).tolist()) <= {0, 1}:
        raise DataError("The array case_relevant holds something that is neither 0 nor 1.")
    for first, columns in (("train_user", NAMES[1:3]), ("case_user", NAMES[4:])):
        for column in columns:
            if len(arrays[column]) != len(arrays[first]):
                raise DataError(
                    f"The array {column} has {len(arrays[column]):,} rows and {first} has {len(arrays[first]):,}: "
                    "they should be as many."
                )
        if not len(arrays[first]):
            raise DataError(f"The array {first} is empty: there is nothing to {first.split('_', maxsplit=1)[0]}.")


def _refuse_duplicates(keys: NDArray[np.int64], names: str) -> None:
    order = np.argsort(keys, kind="stable")
    duplicates = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if len(duplicates):
        first, second = sorted(order[[duplicates[0], duplicates[0] + 1]].tolist())
        raise DataError(f"Rows {first} and {second} of {names} are the same pair; keep one of them.")


def _bitmaps(items: _Ids, candidates: NDArray[Any], case_items: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The candidates as bitmaps, one row a case, in the order of the file."""
    bits = np.zeros((len(candidates), -(-len(items) // 8)), dtype=np.uint8)
    mask = np.zeros(len(items), dtype=np.bool_)
    filling = list(PADDING) if candidates.dtype.kind == "U" else [-1]
    for row in range(len(candidates)):
        if row % BLOCK == 0:
            block = candidates[row : row + BLOCK]
            indexes, is_filling = items.lookup(block), np.isin(block, filling)
        own = indexes[row % BLOCK][~is_filling[row % BLOCK]]
        where = f"the case in row {row}"
        if not len(own):
            raise DataError(f"There is no candidate for {where}.")
        if own.min() < 0:
            unknown = candidates[row][~is_filling[row % BLOCK]][own < 0][0]
            raise DataError(f"The dataset has no item {unknown!s}, which is a candidate of {where}.")
        mask[:] = False
        mask[own] = True
        if int(mask.sum()) != len(own):
            raise DataError(f"A candidate of {where} comes twice.")
        if mask[case_items[row]]:
            raise DataError(f"The item of {where} is among its own candidates.")
        bits[row] = np.packbits(mask, bitorder="little")
    return bits


def _known_candidates(
    bits: NDArray[np.uint8], users: NDArray[np.int64], trained: NDArray[np.int64], n_items: int
) -> tuple[int, NDArray[np.int64]]:
    """Count candidates that their users have rated in training, and all candidates of each case."""
    ordered = np.sort(trained)
    starts = np.searchsorted(ordered, users * n_items)
    stops = np.searchsorted(ordered, (users + 1) * n_items)
    known = 0
    for row in range(len(bits)):
        own = ordered[starts[row] : stops[row]] % n_items
        known += int(((bits[row, own >> 3] >> (own & 7).astype(np.uint8)) & 1).sum())
    return known, np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
