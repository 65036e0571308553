"""Checks of rows of ratings that all importers share: scale, ids, items and repeated rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import LONGEST_ID, ImportProblem, ParsedItem, RatingScale
from catalog.importers.ids import codes_among, ordered_ids
from catalog.importers.items import UTILITY_KIND
from catalog.importers.problems import Problems
from catalog.importers.reading.tables import Table

MOST_COUNTED = np.iinfo(np.int32).max  # uses of an item by a user
USED = RatingScale(1.0, 1.0, 1.0)  # the scale of usage data: taken, or nothing


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """The names of a table's columns, and of its file."""

    file: str
    user: str
    item: str
    rating: str | None  # None: each row says that the user took the item
    time: str | None
    items_file: str  # the file that lists items, or the same file
    utility: str | None = None  # what the row was worth
    count: str | None = None  # how often the user took the item


@dataclass(frozen=True, slots=True)
class CheckedRows:
    """What the checks leave of a table."""

    is_kept: NDArray[np.bool_]  # of the table's rows; the arrays below are of those kept
    user_ids: NDArray[np.str_]
    users: NDArray[np.int32]
    items: tuple[ParsedItem, ...]
    items_rated: NDArray[np.int32]
    scale: RatingScale
    repeated: Problems
    values: NDArray[np.float32]
    counts: NDArray[np.int32]  # of each pair kept: its rows, or the sum of their counts


def selected_rows(column: NDArray[Any], is_kept: NDArray[np.bool_]) -> NDArray[Any]:
    """The entries that are kept, without a copy where all are, as in a sound source."""
    return column if is_kept.all() else column[is_kept]


def _problem(table: Table, columns: RatingColumns, row: int, column: str | None, reason: str) -> ImportProblem:
    return ImportProblem(table.file(row, columns.file), table.line(row), column, reason)


def check_rows(
    table: Table,
    columns: RatingColumns,
    items: tuple[ParsedItem, ...] | None,
    scale: RatingScale,
    problems: Problems,
    *,
    keep: str = "last",
) -> CheckedRows:
    """Check the rows; those that cannot be kept are added to `problems`. Of a repeated pair the `keep` row stays:
    "last", "first", or the last with the "mean" of all.
    """
    if columns.rating is None:
        is_kept = np.ones(len(table), dtype=np.bool_)
    else:
        is_kept = _on_scale(table, columns, columns.rating, scale, problems)
    if columns.count is not None:
        is_kept &= _countable(table, columns, columns.count, problems)
    is_kept &= _usable_ids(table, columns, columns.user, problems)
    ids = table.columns[columns.item]
    codes = np.empty(0, dtype=np.int32)
    if items is None:
        is_kept &= _usable_ids(table, columns, columns.item, problems)
    else:
        codes = codes_among([item.external_id for item in items], ids)

        def unknown(row: int) -> ImportProblem:
            reason = f"item {ids[row]} is not in {columns.items_file}"
            return _problem(table, columns, row, columns.item, reason)

        is_unknown = codes < 0
        problems.add_rows("unknown item", np.flatnonzero(is_unknown), unknown)
        is_kept &= ~is_unknown
    with ThreadPoolExecutor(1) as executor:  # one numbers the users while the other numbers the items
        numbered = executor.submit(ordered_ids, selected_rows(table.columns[columns.user], is_kept))
        if items is None:
            item_ids, items_rated = ordered_ids(selected_rows(ids, is_kept))
            items = tuple(ParsedItem(external_id=text, title=text) for text in item_ids.tolist())
        else:
            items_rated = selected_rows(codes, is_kept)
        user_ids, users = numbered.result()
    if columns.utility is not None:
        items = _worth(items, items_rated, selected_rows(table.columns[columns.utility], is_kept))
    repeated = Problems()
    rows = None if is_kept.all() else np.flatnonzero(is_kept)
    weights = None
    if columns.count is not None:
        weights = selected_rows(table.columns[columns.count], is_kept).astype(np.float64)
    counts = np.ones(len(users), dtype=np.int32) if weights is None else np.ceil(weights).astype(np.int32)
    values = np.ones(len(users), dtype=np.float32)
    if columns.rating is not None:
        values = selected_rows(table.columns[columns.rating], is_kept).astype(np.float32, copy=False)
    if not is_in_order(users, items_rated):  # most sources are, and name no pair twice
        is_chosen, repeated = _repeated(
            table, columns, rows, user_ids=user_ids, users=users, items=items, items_rated=items_rated, keep=keep
        )
        if repeated.total:
            _, pair, rows_of_pair = np.unique(
                users.astype(np.int64) * len(items) + items_rated, return_inverse=True, return_counts=True
            )
            of_pair = rows_of_pair if weights is None else np.ceil(np.bincount(pair, weights=weights))
            counts = np.minimum(of_pair, MOST_COUNTED)[pair].astype(np.int32)
            if keep == "mean" and columns.rating is not None:
                values = (np.bincount(pair, weights=values) / rows_of_pair)[pair].astype(np.float32)
        counts, values = selected_rows(counts, is_chosen), selected_rows(values, is_chosen)
        if rows is None:
            is_kept = is_chosen
        else:
            is_kept[rows[~is_chosen]] = False
        users, items_rated = selected_rows(users, is_chosen), selected_rows(items_rated, is_chosen)
    return CheckedRows(
        is_kept=is_kept,
        user_ids=user_ids,
        users=users,
        items=items,
        items_rated=items_rated,
        scale=scale,
        repeated=repeated,
        values=values,
        counts=counts,
    )


def _on_scale(
    table: Table, columns: RatingColumns, rating: str, scale: RatingScale, problems: Problems
) -> NDArray[np.bool_]:
    """Which rows are on the scale; the others become problems."""
    values = table.columns[rating]
    is_on = scale.is_on(values)
    rows = np.flatnonzero(~is_on)
    margin = scale.step * 1e-4
    is_outside = (values[rows] < scale.low - margin) | (values[rows] > scale.high + margin)

    def off(row: int) -> ImportProblem:
        reason = f"{values[row]:g} is off the scale of {scale.low:g} to {scale.high:g}"
        return _problem(table, columns, row, rating, reason)

    def between(row: int) -> ImportProblem:
        reason = f"{values[row]:g} is no step of {scale.step:g} on the scale of {scale.low:g} to {scale.high:g}"
        return _problem(table, columns, row, rating, reason)

    problems.add_rows("rating off the scale", rows[is_outside], off)
    problems.add_rows("rating between steps", rows[~is_outside], between)
    return is_on


def _countable(table: Table, columns: RatingColumns, count: str, problems: Problems) -> NDArray[np.bool_]:
    """Which rows have a count that can be stored; the others become problems."""
    fits = np.asarray(table.columns[count] <= MOST_COUNTED)

    def too_many(row: int) -> ImportProblem:
        reason = f"{table.columns[count][row]:g} is above {MOST_COUNTED:,}, the largest count"
        return _problem(table, columns, row, count, reason)

    problems.add_rows("unusable count", np.flatnonzero(~fits), too_many)
    return fits


def _usable_ids(table: Table, columns: RatingColumns, column: str, problems: Problems) -> NDArray[np.bool_] | np.bool_:
    """Whether each row's id, or every one, can be kept: no number below 0, and no text beyond all bounds."""
    ids = table.columns[column]
    if ids.dtype != object:
        if len(ids) and ids.min() >= 0:
            return np.bool_(True)
        is_usable = ids >= 0
        problems.add_rows(
            "negative id",
            np.flatnonzero(~is_usable),
            lambda row: _problem(table, columns, row, column, f"the id {ids[row]} is below 0"),
        )
        return np.asarray(is_usable)
    texts = ids.tolist()
    fits = np.fromiter((len(text) <= LONGEST_ID for text in texts), dtype=np.bool_, count=len(texts))

    def too_long(row: int) -> ImportProblem:
        reason = f"the id has {len(texts[row])} characters; at most {LONGEST_ID} are kept"
        return _problem(table, columns, row, column, reason)

    problems.add_rows("unusable id", np.flatnonzero(~fits), too_long)
    return fits


def _worth(
    items: tuple[ParsedItem, ...], items_rated: NDArray[np.int32], utilities: NDArray[Any]
) -> tuple[ParsedItem, ...]:
    """The items with the mean utility of their rows, where it is above 0 and they have none of their own."""
    counts = np.bincount(items_rated, minlength=len(items))
    sums = np.bincount(items_rated, weights=utilities, minlength=len(items))
    means = np.divide(sums, counts, out=np.zeros(len(items)), where=counts > 0)
    return tuple(
        item
        if worth <= 0 or any(kind == UTILITY_KIND for kind, _ in item.features)
        else replace(item, features=(*item.features, (UTILITY_KIND, repr(worth))))
        for item, worth in zip(items, means.tolist(), strict=True)
    )


def _repeated(
    table: Table,
    columns: RatingColumns,
    rows: NDArray[np.int64] | None,
    *,
    user_ids: NDArray[np.str_],
    users: NDArray[np.int32],
    items: tuple[ParsedItem, ...],
    items_rated: NDArray[np.int32],
    keep: str,
) -> tuple[NDArray[np.bool_], Problems]:
    """Which of `rows` (None: all) represent their user and item, and the problems of those that came again."""
    problems = Problems()
    is_chosen = np.ones(len(users), dtype=np.bool_)
    pairs = users.astype(np.int64) * len(items) + items_rated
    order = np.argsort(pairs, kind="stable")
    is_again = np.diff(pairs[order]) == 0
    is_chosen[order[1:][is_again] if keep == "first" else order[:-1][is_again]] = False
    earlier = dict(zip(order[1:][is_again].tolist(), order[:-1][is_again].tolist(), strict=True))
    did, kind = ("took", "taken again") if columns.rating is None else ("rated", "rated twice")

    def again(position: int) -> ImportProblem:
        before = earlier[position]
        row, before = (position, before) if rows is None else (int(rows[position]), int(rows[before]))
        user, item = user_ids[users[position]], items[items_rated[position]].external_id
        reason = f"user {user} {did} item {item} on line {table.line(before)} already"
        return _problem(table, columns, row, None, reason)

    problems.add_rows(kind, np.array(sorted(earlier), dtype=np.int64), again)
    return is_chosen, problems


def is_in_order(users: NDArray[np.integer[Any]], items: NDArray[np.integer[Any]]) -> bool:
    """Whether each pair comes after the one before it, by user and then by item.

    Examples
    --------
    >>> is_in_order(np.array([0, 0, 1]), np.array([1, 2, 0])), is_in_order(np.array([0, 0]), np.array([1, 1]))
    (True, False)
    """
    is_same_user = users[1:] == users[:-1]
    return bool(((users[1:] > users[:-1]) | (is_same_user & (items[1:] > items[:-1]))).all())
