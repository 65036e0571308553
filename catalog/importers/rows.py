"""Rows of ratings made into a dataset: the checks that all importers share, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import (
    ImportProblem,
    ImportReport,
    ParsedDataset,
    ParsedItem,
    Policy,
    RatingScale,
)
from catalog.importers.layout import Table
from catalog.importers.problems import Problems
from catalog.importers.sources import refuse

_MOST_DETECTED_STEPS = 200
_LARGEST_DIRECT = 50_000_000  # whole-number ids up to here are looked up in an array, beyond by search


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """The names of a table's columns, and of its file.

    Parameters
    ----------
    file : str
    user, item, rating : str
    time : str or None
    items_file : str
        The file that lists items, or the same file.
    """

    file: str
    user: str
    item: str
    rating: str
    time: str | None
    items_file: str


ADVICE_ROWS = "Correct the source, or import with bad rows dropped (on_bad_row=drop). Nothing was imported."
ADVICE_TWICE = (
    "Remove the repeated ratings, or import the last of each (duplicates=last). Nothing was imported."
)


def detected_scale(file: str, values: NDArray[np.float64]) -> RatingScale:
    """The scale that the ratings seem to be on: their lowest, their highest, and their smallest gap.

    Raises
    ------
    ImportRefused
        One value only, or more than a scale has.
    """
    found = np.unique(values)
    advice = "Say which scale they are on (lowest, highest and step)."
    if len(found) < 2:
        raise refuse(file, f"all ratings are {found[0]:g}, so no scale can be seen", advice=advice)
    if len(found) <= _MOST_DETECTED_STEPS + 1:
        low, high, step = float(found[0]), float(found[-1]), float(np.diff(found).min())
        steps = round((high - low) / step)
        # The gap as the whole range divides it: .1 and not .09999999999999964.
        scale_step = (high - low) / steps
        if steps <= _MOST_DETECTED_STEPS and abs(scale_step - step) <= 1e-4 * step:
            scale = RatingScale(low, high, float(f"{scale_step:.12g}"), is_declared=False)
            if scale.is_on(found).all():
                return scale
    raise refuse(file, f"the {len(found)} different ratings are on no evident scale", advice=advice)


def ordered_ids(ids: NDArray[Any]) -> tuple[NDArray[np.str_], NDArray[np.int32]]:
    """Distinct ids in order, and the place of each entry among them.

    Parameters
    ----------
    ids : int64 array or object array of str, shape (n_rows,)

    Returns
    -------
    distinct : str array, shape (n_distinct,)
        In order of number where all are whole numbers spelled plainly, else of text.
    codes : int32 array, shape (n_rows,)

    Examples
    --------
    >>> ordered_ids(np.array(["10", "9", "10"], dtype=object))
    (array(['9', '10'], dtype='<U2'), array([1, 0, 1], dtype=int32))
    """
    if ids.dtype == np.int64:
        low, high = (int(ids.min()), int(ids.max())) if len(ids) else (0, 0)
        if low >= 0 and high < _LARGEST_DIRECT:
            is_met = np.zeros(high + 1, dtype=np.bool_)
            is_met[ids] = True
            met = np.flatnonzero(is_met)
            place = np.cumsum(is_met, dtype=np.int32) - 1
            return met.astype(np.str_), place[ids].astype(np.int32, copy=False)
        distinct, inverse = np.unique(ids, return_inverse=True)
        return distinct.astype(np.str_), inverse.astype(np.int32)
    texts = np.array(list(dict.fromkeys(ids.tolist())), dtype=np.str_)
    texts = texts[_order(texts)]
    place_of = {text: position for position, text in enumerate(texts.tolist())}
    codes = np.fromiter((place_of[text] for text in ids.tolist()), dtype=np.int32, count=len(ids))
    return texts, codes


def _order(texts: NDArray[np.str_]) -> NDArray[np.int64]:
    """The order of distinct ids: by number where each is a plain whole number, else by text."""
    plain = [text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") for text in texts.tolist()]
    if len(plain) and all(plain):
        return np.array(sorted(range(len(texts)), key=lambda i: int(texts[i])), dtype=np.int64)
    return np.argsort(texts, kind="stable")


@dataclass(frozen=True, slots=True)
class _Checked:
    """What the checks leave of a table."""

    rows: NDArray[np.int64]  # kept, in the source's order
    user_ids: NDArray[np.str_]
    users: NDArray[np.int32]  # of the rows kept, as the next
    items: tuple[ParsedItem, ...]
    items_rated: NDArray[np.int32]
    scale: RatingScale
    repeated: Problems


def assemble(
    *,
    source_format: str,
    files: Sequence[str],
    table: Table,
    columns: RatingColumns,
    items: tuple[ParsedItem, ...] | None,
    scale: RatingScale | None,
    policy: Policy,
    problems: Problems,
    warnings: Sequence[str] = (),
) -> ParsedDataset:
    """Check rows of ratings and make the dataset of them.

    Parameters
    ----------
    source_format : str
    files : sequence of str
    table : Table
        The ratings.
    columns : RatingColumns
    items : tuple of ParsedItem, or None
        The catalogue, in order; None: every item that is rated, with its id as title.
    scale : RatingScale or None
        None: to be detected.
    policy : Policy
    problems : Problems
        Met in reading; those of the checks are added.
    warnings : sequence of str

    Returns
    -------
    ParsedDataset

    Raises
    ------
    ImportRefused
        Any problem, where the policy is to refuse; no rating left to keep.
    """
    checked = _check(table, columns, items, scale, problems)
    if policy.on_bad_row == "refuse":
        problems.refuse(ADVICE_ROWS)
    if policy.duplicates == "refuse":
        checked.repeated.refuse(ADVICE_TWICE)
    problems.merge(checked.repeated)
    if len(checked.rows) == 0:
        problems.refuse(f"Not one row of {columns.file} can be kept. Nothing was imported.")
    said = list(warnings)
    if table.ends_open:
        said.append(
            f"The last line of {columns.file} has no line end; it was taken as complete. "
            "If the file was cut short there, its last field may be too."
        )
    return ParsedDataset(
        user_ids=checked.user_ids,
        items=checked.items,
        users=checked.users,
        items_rated=checked.items_rated,
        values=table.columns[columns.rating][checked.rows].astype(np.float32),
        timestamps=None if columns.time is None else table.columns[columns.time][checked.rows],
        scale=checked.scale,
        report=ImportReport(
            source_format=source_format,
            files=tuple(files),
            rows_read=table.rows_read,
            rows_kept=len(checked.rows),
            dropped=dict(problems.counts),
            examples={kind: tuple(kept) for kind, kept in problems.examples.items()},
            warnings=tuple(said),
            scale=str(checked.scale),
        ),
    )


def _check(
    table: Table,
    columns: RatingColumns,
    items: tuple[ParsedItem, ...] | None,
    scale: RatingScale | None,
    problems: Problems,
) -> _Checked:
    values: NDArray[np.float64] = table.columns[columns.rating]
    if len(values) == 0:
        problems.refuse(f"Not one row of {columns.file} can be kept. Nothing was imported.")
    if scale is None:
        scale = detected_scale(columns.file, values)
    is_good = scale.is_on(values)
    _report_off_scale(table, columns, scale, np.flatnonzero(~is_good), problems)
    if items is None:
        good = np.flatnonzero(is_good)
        ids, items_rated = ordered_ids(table.columns[columns.item][good])
        items = tuple(ParsedItem(external_id=text, title=text) for text in ids.tolist())
    else:
        codes = _codes(items, table.columns[columns.item])
        strangers = np.flatnonzero(codes < 0)
        problems.add_rows(
            "unknown item",
            strangers,
            lambda row: ImportProblem(
                columns.file,
                int(table.lines[row]),
                columns.item,
                f"item {table.columns[columns.item][row]} is not in {columns.items_file}",
            ),
        )
        good = np.flatnonzero(is_good & (codes >= 0))
        items_rated = codes[good]
    user_ids, users = ordered_ids(table.columns[columns.user][good])
    is_last, repeated = _repeated(table, columns, good, users, items_rated, len(items))
    return _Checked(
        rows=good[is_last],
        user_ids=user_ids,
        users=users[is_last],
        items=items,
        items_rated=items_rated[is_last],
        scale=scale,
        repeated=repeated,
    )


def _report_off_scale(
    table: Table, columns: RatingColumns, scale: RatingScale, rows: NDArray[np.int64], problems: Problems
) -> None:
    values = table.columns[columns.rating]
    margin = scale.step * 1e-4
    is_outside = (values[rows] < scale.low - margin) | (values[rows] > scale.high + margin)

    def off(row: int) -> ImportProblem:
        reason = f"{values[row]:g} is off the scale of {scale.low:g} to {scale.high:g}"
        return ImportProblem(columns.file, int(table.lines[row]), columns.rating, reason)

    def between(row: int) -> ImportProblem:
        reason = (
            f"{values[row]:g} is no step of {scale.step:g} on the scale of {scale.low:g} to {scale.high:g}"
        )
        return ImportProblem(columns.file, int(table.lines[row]), columns.rating, reason)

    problems.add_rows("rating off the scale", rows[is_outside], off)
    problems.add_rows("rating between steps", rows[~is_outside], between)


def _codes(items: tuple[ParsedItem, ...], ids: NDArray[Any]) -> NDArray[np.int32]:
    """The place of each id among the items, -1 where it is not among them."""
    if ids.dtype == np.int64:
        known = np.array([int(item.external_id) for item in items], dtype=np.int64)
        order = np.argsort(known)
        known = known[order]
        if known[0] >= 0 and known[-1] < _LARGEST_DIRECT:
            place = np.full(int(known[-1]) + 2, -1, dtype=np.int32)  # the last entry stays unknown
            place[known] = order
            return place[np.where((ids >= 0) & (ids <= known[-1]), ids, known[-1] + 1)]
        nearest = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        return np.where(known[nearest] == ids, order[nearest], -1).astype(np.int32)
    place_of = {item.external_id: position for position, item in enumerate(items)}
    return np.fromiter((place_of.get(text, -1) for text in ids.tolist()), dtype=np.int32, count=len(ids))


def _repeated(
    table: Table,
    columns: RatingColumns,
    rows: NDArray[np.int64],
    users: NDArray[np.int32],
    items_rated: NDArray[np.int32],
    n_items: int,
) -> tuple[NDArray[np.bool_], Problems]:
    """Which of `rows` are the last of their user and item, and the problems of those that came again."""
    problems = Problems()
    is_last = np.ones(len(rows), dtype=np.bool_)
    pairs = users.astype(np.int64) * n_items + items_rated
    if len(pairs) < 2 or bool((np.diff(pairs) > 0).all()):  # most sources are in order
        return is_last, problems
    order = np.argsort(pairs, kind="stable")
    is_again = np.diff(pairs[order]) == 0
    is_last[order[:-1][is_again]] = False
    earlier = dict(zip(order[1:][is_again].tolist(), order[:-1][is_again].tolist(), strict=True))

    def again(position: int) -> ImportProblem:
        row, before = rows[position], rows[earlier[position]]
        user, item = table.columns[columns.user][row], table.columns[columns.item][row]
        reason = f"user {user} rated item {item} on line {table.lines[before]} already"
        return ImportProblem(columns.file, int(table.lines[row]), None, reason)

    problems.add_rows("rated twice", np.array(sorted(earlier), dtype=np.int64), again)
    return is_last, problems
