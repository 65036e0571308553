"""Rows of ratings made into a dataset: the checks that all importers share, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers import lazy
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
from catalog.importers.items import UTILITY_KIND
from catalog.importers.layout import Table
from catalog.importers.problems import Problems
from catalog.importers.scales import detected_scale
from catalog.importers.sources import refuse

USED = RatingScale(1.0, 1.0, 1.0)  # the scale of usage data: taken, or nothing
ADVICE_ROWS = "Correct the source, or import with bad rows dropped. Nothing was imported."
ADVICE_COMMAS = "All bad values look like 4,5: import with a decimal comma. Nothing was imported."
ADVICE_TWICE = "Remove the repeated ratings, or import the last of each. Nothing was imported."
MOST_DROPPED = 0.05  # share of rows dropped as bad above which the report warns
# The largest plausible time in seconds since 1970 (year 5138); finer units lie above it, each a thousand times.
LATEST_SECONDS = 10**11
FINER_UNITS = ((1_000, "milliseconds"), (1_000_000, "microseconds"), (1_000_000_000, "nanoseconds"))


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """The names of a table's columns, and of its file.

    Parameters
    ----------
    file : str
    user, item : str
    rating : str or None
        None: each row says that the user took the item.
    time : str or None
    items_file : str
        The file that lists items, or the same file.
    utility : str or None
        What the row was worth.
    """

    file: str
    user: str
    item: str
    rating: str | None
    time: str | None
    items_file: str
    utility: str | None = None


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
    values: NDArray[np.float32]


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
    set_aside: Problems | None = None,
) -> ParsedDataset:
    """Check rows of ratings and make the dataset of them, out of the table's own memory: it is used up.

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
    set_aside : Problems, optional
        Rows left out because an option says so: reported, never refused.

    Returns
    -------
    ParsedDataset

    Raises
    ------
    ImportRefused
        Any problem, where the policy is to refuse; no rating left to keep.
    """
    if len(table) == 0:
        if _could_be_read(source_format, problems):
            _refuse_bad_rows(source_format, problems)
        problems.refuse(f"Not one row of {columns.file} can be kept. Nothing was imported.")
    if scale is None and columns.rating is not None and policy.on_bad_row == "refuse":
        _refuse_bad_rows(source_format, problems)  # before a scale is sought in what is left
    checked = _check(table, columns, items, scale, problems)
    if policy.on_bad_row == "refuse":
        _refuse_bad_rows(source_format, problems)
    # Usage says whether, not how often: to take an item again is no fault there.
    if policy.duplicates == "refuse" or (policy.duplicates == "auto" and columns.rating is not None):
        checked.repeated.refuse(ADVICE_TWICE, ("duplicates",))
    n_bad = table.rows_read - len(checked.users) - checked.repeated.total - (set_aside.total if set_aside else 0)
    said = [*warnings, *_warnings_of_dropped(source_format, table, columns, checked.scale, problems, n_bad)]
    problems.merge(checked.repeated)
    if len(checked.users) == 0:
        problems.refuse(f"Not one row of {columns.file} can be kept. Nothing was imported.")
    if set_aside is not None:
        problems.merge(set_aside)
    if table.ends_open:
        said.append(
            f"The last line of {columns.file} has no line end; it was taken as complete. "
            "If the file was cut short there, its last field may be too."
        )
    times: NDArray[np.int64] | None = None
    if columns.time is not None:
        times = _selected(table.columns[columns.time], checked.is_kept).astype(np.int64, copy=False)
        times, about_times = in_seconds(times, columns.time)
        said += about_times
    worths: NDArray[np.float32] | None = None
    if columns.utility is not None:
        worths = _selected(table.columns[columns.utility], checked.is_kept).astype(np.float32)
    return ParsedDataset(
        user_ids=checked.user_ids,
        items=checked.items,
        users=checked.users,
        items_rated=checked.items_rated,
        values=checked.values,
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
        utilities=worths,
    )


def _could_be_read(source_format: str, problems: Problems) -> bool:
    """Whether a declared decimal comma would make numbers of all bad values; other formats have fixed columns."""
    return source_format == "delimited" and problems.are_decimal_commas


def _refuse_bad_rows(source_format: str, problems: Problems) -> None:
    if _could_be_read(source_format, problems):
        problems.refuse(ADVICE_COMMAS, ("decimal",))
    problems.refuse(ADVICE_ROWS, ("on_bad_row",))


def _warnings_of_dropped(
    source_format: str, table: Table, columns: RatingColumns, scale: RatingScale, problems: Problems, n_bad: int
) -> list[str]:
    """What to say of rows dropped as bad: many of them, decimal commas, ratings that the detected scale lacks."""
    found = []
    share = n_bad / table.rows_read
    if share > MOST_DROPPED:
        found.append(
            f"{n_bad:,} of {table.rows_read:,} rows ({share:.0%}) were dropped as bad. What is left may not "
            "stand for the whole: look at the examples, and correct the source."
        )
    if _could_be_read(source_format, problems):
        found.append("All dropped values look like 4,5: import the source with a decimal comma.")
    left_out = problems.values_left_out.get(columns.rating or "", set())
    lacking = sorted(left_out - set(scale.values())) if left_out and not scale.is_declared else []
    if lacking:
        listed = ", ".join(f"{value:g}" for value in lacking[:3]) + (", …" if len(lacking) > 3 else "")
        found.append(
            f"Dropping bad rows changed the detected scale: it is {scale.low:g} to {scale.high:g} in steps of "
            f"{scale.step:g}, and dropped rows have ratings of {listed}. Declare the scale, or correct the source."
        )
    return found


def in_seconds(times: NDArray[np.int64], column: str) -> tuple[NDArray[np.int64], list[str]]:
    """Times in seconds since 1970, and what to say where the source counts in finer units.

    Examples
    --------
    >>> in_seconds(np.array([1_262_304_000_000]), "when")[0].tolist()
    [1262304000]
    """
    if not len(times):
        return times, []
    earliest, latest = int(np.abs(times).min()), int(np.abs(times).max())
    if latest < LATEST_SECONDS:
        return times, []
    if earliest < LATEST_SECONDS:
        n_late = int((np.abs(times) >= LATEST_SECONDS).sum())
        return times, [
            f"{n_late:,} of {len(times):,} times in column {column} lie beyond the year 5000 when read as seconds "
            "since 1970, and the others do not: the column seems to mix units. It was kept as it is."
        ]
    factor, unit = next(
        (found for found in reversed(FINER_UNITS) if earliest >= LATEST_SECONDS * found[0] // 1_000), FINER_UNITS[0]
    )
    return times // factor, [f"The times in column {column} are {unit} since 1970; they were converted to seconds."]


def _selected(column: NDArray[Any], is_kept: NDArray[np.bool_]) -> NDArray[Any]:
    """The entries that are kept, without a copy where all are, as in a sound source."""
    return column if is_kept.all() else column[is_kept]


def _problem(table: Table, columns: RatingColumns, row: int, column: str | None, reason: str) -> ImportProblem:
    return ImportProblem(table.file(row, columns.file), table.line(row), column, reason)


def _check(
    table: Table,
    columns: RatingColumns,
    items: tuple[ParsedItem, ...] | None,
    scale: RatingScale | None,
    problems: Problems,
) -> _Checked:
    if columns.rating is None:
        scale = USED
        is_kept = np.ones(len(table), dtype=np.bool_)
    else:
        scale, is_kept = _on_scale(table, columns, columns.rating, scale, problems)
    is_kept &= _usable_ids(table, columns, columns.user, problems)
    ids = table.columns[columns.item]
    codes = np.empty(0, dtype=np.int32)
    if items is None:
        is_kept &= _usable_ids(table, columns, columns.item, problems)
    else:
        codes = codes_among([item.external_id for item in items], ids, in_place=True)

        def unknown(row: int) -> ImportProblem:
            reason = f"item {ids[row]} is not in {columns.items_file}"
            return _problem(table, columns, row, columns.item, reason)

        is_unknown = codes < 0
        problems.add_rows("unknown item", np.flatnonzero(is_unknown), unknown)
        is_kept &= ~is_unknown
    with ThreadPoolExecutor(1) as beside:  # one numbers the users while the other numbers the items
        numbered = beside.submit(ordered_ids, _selected(table.columns[columns.user], is_kept), in_place=True)
        if items is None:
            item_ids, items_rated = ordered_ids(_selected(ids, is_kept), in_place=True)
            items = tuple(ParsedItem(external_id=text, title=text) for text in item_ids.tolist())
        else:
            items_rated = _selected(codes, is_kept)
        user_ids, users = numbered.result()
    if columns.utility is not None:
        items = _worth(items, items_rated, _selected(table.columns[columns.utility], is_kept))
    repeated = Problems()
    if not is_in_order(users, items_rated):  # most sources are, and name no pair twice
        rows = None if is_kept.all() else np.flatnonzero(is_kept)
        is_last, repeated = _repeated(table, columns, rows, user_ids, users, items, items_rated)
        if rows is None:
            is_kept = is_last
        else:
            is_kept[rows[~is_last]] = False
        users, items_rated = _selected(users, is_last), _selected(items_rated, is_last)
    if columns.rating is None:
        values = np.ones(len(users), dtype=np.float32)
    else:
        values = _selected(table.columns[columns.rating], is_kept).astype(np.float32, copy=False)
    return _Checked(
        is_kept=is_kept,
        user_ids=user_ids,
        users=users,
        items=items,
        items_rated=items_rated,
        scale=scale,
        repeated=repeated,
        values=values,
    )


def _on_scale(
    table: Table, columns: RatingColumns, rating: str, scale: RatingScale | None, problems: Problems
) -> tuple[RatingScale, NDArray[np.bool_]]:
    """The scale, detected where none is declared, and which rows are on it; the others become problems."""
    values = table.columns[rating]
    if scale is None:
        scale = detected_scale(columns.file, values)
    if scale.low <= 0:
        raise refuse(
            columns.file,
            f"the scale of {scale.low:g} to {scale.high:g} reaches 0, which is kept for 'not rated'",
            advice="Add a constant to every rating, or declare a scale above 0 and drop the rows that are off it.",
        )
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
    return scale, is_on


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
    user_ids: NDArray[np.str_],
    users: NDArray[np.int32],
    items: tuple[ParsedItem, ...],
    items_rated: NDArray[np.int32],
) -> tuple[NDArray[np.bool_], Problems]:
    """Which of `rows` (None: all) are the last of their user and item, and the problems of those that came again."""
    problems = Problems()
    is_last = np.ones(len(users), dtype=np.bool_)
    pairs = users.astype(np.int64) * len(items) + items_rated
    order = np.argsort(pairs, kind="stable")
    is_again = np.diff(pairs[order]) == 0
    is_last[order[:-1][is_again]] = False
    earlier = dict(zip(order[1:][is_again].tolist(), order[:-1][is_again].tolist(), strict=True))
    did, kind = ("took", "taken again") if columns.rating is None else ("rated", "rated twice")

    def again(position: int) -> ImportProblem:
        before = earlier[position]
        row, before = (position, before) if rows is None else (int(rows[position]), int(rows[before]))
        user, item = user_ids[users[position]], items[items_rated[position]].external_id
        reason = f"user {user} {did} item {item} on line {table.line(before)} already"
        return _problem(table, columns, row, None, reason)

    problems.add_rows(kind, np.array(sorted(earlier), dtype=np.int64), again)
    return is_last, problems


def is_in_order(users: NDArray[np.integer[Any]], items: NDArray[np.integer[Any]]) -> bool:
    """Whether each pair comes after the one before it, by user and then by item.

    Examples
    --------
    >>> is_in_order(np.array([0, 0, 1]), np.array([1, 2, 0])), is_in_order(np.array([0, 0]), np.array([1, 1]))
    (True, False)
    """
    plain = (np.ascontiguousarray(column, dtype=np.int32) for column in (users, items))
    return bool(lazy.id_kernels().is_ascending(*plain))
