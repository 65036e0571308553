"""Turns rows of ratings into a dataset with its import report."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import (
    ImportReport,
    ParsedDataset,
    ParsedItem,
    Policy,
    RatingScale,
)
from catalog.importers.problems import Problems
from catalog.importers.reading.tables import Table
from catalog.importers.row_checks import RatingColumns, check_rows, selected_rows
from core.errors import ParameterError

ADVICE_ROWS = "Correct the source, or exclude invalid rows. Nothing was imported."
ADVICE_COMMAS = "All bad values look like 4,5: import with a decimal comma. Nothing was imported."
ADVICE_TWICE = "Remove the repeated ratings, or import the last of each. Nothing was imported."
MOST_DROPPED = 0.05  # share of rows dropped as bad above which the report warns
DAMAGED_ID = re.compile(r"\d(\.\d+)?E\+\d+|\d+\.0", re.IGNORECASE)
REPEATS = {"rated twice", "taken again"}  # kinds of problems
# The largest plausible time in seconds since 1970 (year 5138); finer units lie above it, each a thousand times.
LATEST_SECONDS = 10**11
FINER_UNITS = ((1_000, "milliseconds"), (1_000_000, "microseconds"), (1_000_000_000, "nanoseconds"))


def assemble(
    *,
    source_format: str,
    files: Sequence[str],
    table: Table,
    columns: RatingColumns,
    items: tuple[ParsedItem, ...] | None,
    scale: RatingScale,
    policy: Policy,
    problems: Problems,
    warnings: Sequence[str] = (),
    set_aside: Problems | None = None,
) -> ParsedDataset:
    """Check rows of ratings and make the dataset of them, out of the table's own memory: it is used up. Raises
    ImportRefused with every kind of problem that the policy does not fix, or where no rating is left to keep.

    Without `items` the catalogue is every item that is rated, with its id as title. The problems of the checks are
    added to `problems`. Rows in `set_aside` were left out because an option or the layout says so: they are reported,
    never refused.
    """
    is_usage = columns.rating is None
    if policy.duplicates == "count" and not is_usage:
        raise ParameterError("Repeated rows are counted only in usage data; these rows have ratings.")
    if len(table) == 0:
        refuse_problems(problems, policy, is_usage=is_usage)
        _refuse_all(problems, columns.file)
        (set_aside or problems).refuse("No row is left. Nothing was imported.")
    keep = policy.duplicates if policy.duplicates in ("first", "mean") else "last"
    checked = check_rows(table, columns, items, scale, problems, keep=keep)
    n_bad = table.rows_read - len(checked.users) - checked.repeated.total - (set_aside.total if set_aside else 0)
    problems.merge(checked.repeated)
    damaged = next((item.external_id for item in checked.items if DAMAGED_ID.fullmatch(item.external_id)), "")
    note = f"Ids such as {damaged} look damaged by a spreadsheet: import the original file. " if damaged else ""
    refuse_problems(problems, policy, is_usage=is_usage, note=note)
    warnings_found = [*warnings]
    if n_bad > MOST_DROPPED * table.rows_read:
        warnings_found.append(
            f"{n_bad:,} of {table.rows_read:,} rows ({n_bad / table.rows_read:.0%}) were dropped as bad. The remaining "
            "rows may not be representative: look at the examples, and correct the source."
        )
    if problems.those(lambda kind: kind not in REPEATS).are_decimal_commas:
        warnings_found.append("All dropped values look like 4,5: import the source with a decimal comma.")
    if policy.duplicates == "count":
        warnings_found.append(
            f"{checked.repeated.total:,} rows repeat the user and item of another; they are stored as counts of that "
            "pair."
        )
    if len(checked.users) == 0:
        _refuse_all(problems, columns.file)
    if set_aside is not None:
        problems.merge(set_aside)
    if table.ends_open:
        warnings_found.append(
            f"The last line of {columns.file} has no line end; it was taken as complete. "
            "If the file was cut short there, its last field may be too."
        )
    times: NDArray[np.int64] | None = None
    if columns.time is not None:
        times = selected_rows(table.columns[columns.time], checked.is_kept).astype(np.int64, copy=False)
        times, about_times = in_seconds(times, columns.time)
        warnings_found += about_times
    worths: NDArray[np.float32] | None = None
    if columns.utility is not None:
        worths = selected_rows(table.columns[columns.utility], checked.is_kept).astype(np.float32)
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
            examples={kind: tuple(examples) for kind, examples in problems.examples.items()},
            warnings=tuple(warnings_found),
            scale=str(checked.scale),
            item_column=columns.item,
        ),
        utilities=worths,
        counts=checked.counts if policy.duplicates == "count" or columns.count is not None else None,
    )


def _refuse_all(problems: Problems, file: str) -> None:
    """Refuse a file of which no row is left."""
    if problems.are_decimal_commas:
        problems.refuse(ADVICE_COMMAS, ("decimal",))
    problems.refuse(f"Not one row of {file} can be kept. Nothing was imported.")


def refuse_problems(problems: Problems, policy: Policy, *, is_usage: bool, note: str = "") -> None:
    """Refuse the problems that the policy does not fix, all at once."""
    are_repeats_kept = policy.duplicates in ("last", "first", "mean", "count") or (
        policy.duplicates == "auto" and (is_usage or bool({"all", "repeats"} & set(policy.fix)))
    )
    left = problems.those(lambda kind: not (are_repeats_kept if kind in REPEATS else policy.fixes(kind)))
    if left.are_decimal_commas:
        left.refuse(ADVICE_COMMAS, ("decimal",))
    if REPEATS.issuperset(left.counts):
        left.refuse(note + ADVICE_TWICE, ("duplicates",))
    left.refuse(note + ADVICE_ROWS, ("on_bad_row", *(("duplicates",) if REPEATS & set(left.counts) else ())))


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
        (
            unit_of_time
            for unit_of_time in reversed(FINER_UNITS)
            if earliest >= LATEST_SECONDS * unit_of_time[0] // 1_000
        ),
        FINER_UNITS[0],
    )
    return times // factor, [f"The times in column {column} are {unit} since 1970; they were converted to seconds."]
