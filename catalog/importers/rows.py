"""Rows of ratings made into a dataset: the checks that all importers share, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import (
    LONGEST_ID,
    ImportProblem,
    ImportReport,
    ParsedDataset,
    ParsedItem,
    Policy,
    RatingScale,
)
from catalog.importers.ids import codes_among, ordered_ids
from catalog.importers.layout import Table
from catalog.importers.problems import Problems
from catalog.importers.scales import detected_scale
from catalog.importers.sources import refuse

ADVICE_ROWS = "Correct the source, or import with bad rows dropped (on_bad_row=drop). Nothing was imported."
ADVICE_TWICE = "Remove the repeated ratings, or import the last of each (duplicates=last). Nothing was imported."


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


@dataclass(frozen=True, slots=True)
class _Checked:
    """What the checks leave of a table."""

    is_kept: NDArray[np.bool_]  # of the table's rows; the arrays below are of those kept
    user_ids: NDArray[np.str_]
    users: NDArray[np.int32]
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
    if len(table) == 0:
        problems.refuse(f"Not one row of {columns.file} can be kept. Nothing was imported.")
    checked = _check(table, columns, items, scale, problems)
    if policy.on_bad_row == "refuse":
        problems.refuse(ADVICE_ROWS)
    if policy.duplicates == "refuse":
        checked.repeated.refuse(ADVICE_TWICE)
    problems.merge(checked.repeated)
    if len(checked.users) == 0:
        problems.refuse(f"Not one row of {columns.file} can be kept. Nothing was imported.")
    said = list(warnings)
    if table.ends_open:
        said.append(
            f"The last line of {columns.file} has no line end; it was taken as complete. "
            "If the file was cut short there, its last field may be too."
        )
    times: NDArray[np.int64] | None = None
    if columns.time is not None:
        times = _selected(table.columns[columns.time], checked.is_kept).astype(np.int64)
    return ParsedDataset(
        user_ids=checked.user_ids,
        items=checked.items,
        users=checked.users,
        items_rated=checked.items_rated,
        values=_selected(table.columns[columns.rating], checked.is_kept).astype(np.float32),
        timestamps=times,
        scale=checked.scale,
        report=ImportReport(
            source_format=source_format,
            files=tuple(files),
            rows_read=table.rows_read,
            rows_kept=len(checked.users),
            dropped=dict(problems.counts),
            examples={kind: tuple(kept) for kind, kept in problems.examples.items()},
            warnings=tuple(said),
            scale=str(checked.scale),
        ),
    )


def _selected(column: NDArray[Any], is_kept: NDArray[np.bool_]) -> NDArray[Any]:
    """The entries that are kept, without a copy where all are, as in a sound source."""
    return column if is_kept.all() else column[is_kept]


def _check(
    table: Table,
    columns: RatingColumns,
    items: tuple[ParsedItem, ...] | None,
    scale: RatingScale | None,
    problems: Problems,
) -> _Checked:
    values: NDArray[np.float64] = table.columns[columns.rating]
    ids = table.columns[columns.item]
    if scale is None:
        scale = detected_scale(columns.file, values)
    if scale.low <= 0:
        raise refuse(
            columns.file,
            f"the scale of {scale.low:g} to {scale.high:g} reaches 0, which is kept for 'not rated'",
            advice="Add a constant to every rating, or declare a scale above 0 and drop the rows that are off it.",
        )
    is_kept = scale.is_on(values)
    _report_off_scale(table, columns, scale, np.flatnonzero(~is_kept), problems)
    if items is None:
        is_kept &= _fits(table, columns, problems)
        item_ids, items_rated = ordered_ids(_selected(ids, is_kept))
        items = tuple(ParsedItem(external_id=text, title=text) for text in item_ids.tolist())
    else:
        codes = codes_among([item.external_id for item in items], ids)
        is_known = codes >= 0

        def unknown(row: int) -> ImportProblem:
            reason = f"item {ids[row]} is not in {columns.items_file}"
            return ImportProblem(columns.file, table.line(row), columns.item, reason)

        problems.add_rows("unknown item", np.flatnonzero(~is_known), unknown)
        is_kept &= is_known
        items_rated = _selected(codes, is_kept)
    user_ids, users = ordered_ids(_selected(table.columns[columns.user], is_kept))
    rows = np.flatnonzero(is_kept)
    is_last, repeated = _repeated(table, columns, rows, users, items_rated, len(items))
    is_kept[rows[~is_last]] = False
    return _Checked(
        is_kept=is_kept,
        user_ids=user_ids,
        users=_selected(users, is_last),
        items=items,
        items_rated=_selected(items_rated, is_last),
        scale=scale,
        repeated=repeated,
    )


def _fits(table: Table, columns: RatingColumns, problems: Problems) -> NDArray[np.bool_]:
    """Whether each row's item id can be kept as one."""
    ids = table.columns[columns.item].tolist()
    fits = np.fromiter((len(text) <= LONGEST_ID for text in ids), dtype=np.bool_, count=len(ids))

    def too_long(row: int) -> ImportProblem:
        reason = f"the id has {len(ids[row])} characters; at most {LONGEST_ID} are kept"
        return ImportProblem(columns.file, table.line(row), columns.item, reason)

    problems.add_rows("unusable id", np.flatnonzero(~fits), too_long)
    return fits


def _report_off_scale(
    table: Table, columns: RatingColumns, scale: RatingScale, rows: NDArray[np.int64], problems: Problems
) -> None:
    values = table.columns[columns.rating]
    margin = scale.step * 1e-4
    is_outside = (values[rows] < scale.low - margin) | (values[rows] > scale.high + margin)

    def off(row: int) -> ImportProblem:
        reason = f"{values[row]:g} is off the scale of {scale.low:g} to {scale.high:g}"
        return ImportProblem(columns.file, table.line(row), columns.rating, reason)

    def between(row: int) -> ImportProblem:
        reason = f"{values[row]:g} is no step of {scale.step:g} on the scale of {scale.low:g} to {scale.high:g}"
        return ImportProblem(columns.file, table.line(row), columns.rating, reason)

    problems.add_rows("rating off the scale", rows[is_outside], off)
    problems.add_rows("rating between steps", rows[~is_outside], between)


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
    if len(pairs) < 2 or bool((pairs[1:] > pairs[:-1]).all()):  # most sources are in order
        return is_last, problems
    order = np.argsort(pairs, kind="stable")
    is_again = np.diff(pairs[order]) == 0
    is_last[order[:-1][is_again]] = False
    earlier = dict(zip(order[1:][is_again].tolist(), order[:-1][is_again].tolist(), strict=True))

    def again(position: int) -> ImportProblem:
        row, before = rows[position], rows[earlier[position]]
        user, item = table.columns[columns.user][row], table.columns[columns.item][row]
        reason = f"user {user} rated item {item} on line {table.line(int(before))} already"
        return ImportProblem(columns.file, table.line(int(row)), None, reason)

    problems.add_rows("rated twice", np.array(sorted(earlier), dtype=np.int64), again)
    return is_last, problems
