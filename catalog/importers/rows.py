"""Turns rows of ratings into a dataset with its import report."""

from __future__ import annotations

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
from catalog.importers.layout import Table
from catalog.importers.problems import Problems
from catalog.importers.row_checks import RatingColumns, check_rows, selected_rows
from core.errors import ParameterError

ADVICE_ROWS = "Correct the source, or exclude invalid rows. Nothing was imported."
ADVICE_COMMAS = "All bad values look like 4,5: import with a decimal comma. Nothing was imported."
ADVICE_TWICE = "Remove the repeated ratings, or import the last of each. Nothing was imported."
MOST_DROPPED = 0.05  # share of rows dropped as bad above which the report warns
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
    scale: RatingScale | None,
    policy: Policy,
    problems: Problems,
    warnings: Sequence[str] = (),
    set_aside: Problems | None = None,
) -> ParsedDataset:
    """Check rows of ratings and make the dataset of them, out of the table's own memory: it is used up. Raises
    ImportRefused: any problem, where the policy is to refuse; no rating left to keep.

    Without `items` the catalogue is every item that is rated, with its id as title; without a scale it is detected. The
    problems of the checks are added to `problems`. Rows in `set_aside` were left out because an option says so: they
    are reported, never refused.
    """
    if policy.duplicates == "count" and columns.rating is not None:
        raise ParameterError("Repeated rows are counted only in usage data; these rows have ratings.")
    if len(table) == 0:
        if _could_be_read(source_format, problems):
            _refuse_bad_rows(source_format, problems)
        problems.refuse(f"Not one row of {columns.file} can be kept. Nothing was imported.")
    if scale is None and columns.rating is not None and policy.on_bad_row == "refuse":
        _refuse_bad_rows(source_format, problems)  # before a scale is sought in what is left
    checked = check_rows(table, columns, items, scale, problems)
    if policy.on_bad_row == "refuse":
        _refuse_bad_rows(source_format, problems)
    # Usage says whether, not how often: to take an item again is no fault there.
    if policy.duplicates == "refuse" or (policy.duplicates == "auto" and columns.rating is not None):
        checked.repeated.refuse(ADVICE_TWICE, ("duplicates",))
    n_bad = table.rows_read - len(checked.users) - checked.repeated.total - (set_aside.total if set_aside else 0)
    warnings_found = [
        *warnings,
        *_warnings_of_dropped(source_format, table, columns, checked.scale, problems=problems, n_bad=n_bad),
    ]
    problems.merge(checked.repeated)
    if policy.duplicates == "count":
        warnings_found.append(
            f"{checked.repeated.total:,} rows repeat the user and item of another; they are stored as counts of that "
            "pair."
        )
    if len(checked.users) == 0:
        problems.refuse(f"Not one row of {columns.file} can be kept. Nothing was imported.")
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
        counts=checked.counts if policy.duplicates == "count" else None,
    )


def _could_be_read(source_format: str, problems: Problems) -> bool:
    """Whether a declared decimal comma would make numbers of all bad values; other formats have fixed columns."""
    return source_format == "delimited" and problems.are_decimal_commas


def _refuse_bad_rows(source_format: str, problems: Problems) -> None:
    if _could_be_read(source_format, problems):
        problems.refuse(ADVICE_COMMAS, ("decimal",))
    problems.refuse(ADVICE_ROWS, ("on_bad_row",))


def _warnings_of_dropped(
    source_format: str, table: Table, columns: RatingColumns, scale: RatingScale, *, problems: Problems, n_bad: int
) -> list[str]:
    """What to say of rows dropped as bad: many of them, decimal commas, ratings that the detected scale lacks."""
    warnings = []
    share = n_bad / table.rows_read
    if share > MOST_DROPPED:
        warnings.append(
            f"{n_bad:,} of {table.rows_read:,} rows ({share:.0%}) were dropped as bad. The remaining rows "
            "may not be representative: look at the examples, and correct the source."
        )
    if _could_be_read(source_format, problems):
        warnings.append("All dropped values look like 4,5: import the source with a decimal comma.")
    left_out = problems.values_left_out.get(columns.rating or "", set())
    lacking = sorted(left_out - set(scale.values())) if left_out and not scale.is_declared else []
    if lacking:
        listed = ", ".join(f"{value:g}" for value in lacking[:3]) + (", …" if len(lacking) > 3 else "")
        warnings.append(
            f"Dropping bad rows changed the detected scale: it is {scale.low:g} to {scale.high:g} in steps of "
            f"{scale.step:g}, and dropped rows have ratings of {listed}. Declare the scale, or correct the source."
        )
    return warnings


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
