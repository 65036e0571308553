"""Turns rows of ratings into a dataset: checks of scale, ids, items and repeated rows, and the import report."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
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
from catalog.importers.items import UTILITY_KIND
from catalog.importers.problems import Problems
from catalog.importers.reading.tables import Table
from core.errors import ParameterError

ADVICE_ROWS = "Correct the source, or exclude invalid rows. Nothing was imported."
ADVICE_COMMAS = "All bad values look like 4,5: import with a decimal comma. Nothing was imported."
ADVICE_TWICE = "Remove the repeated ratings, or import the last of each. Nothing was imported."
MOST_DROPPED = 0.05  # share of rows dropped as bad above which the report warns
MOST_COUNTED = np.iinfo(np.int32).max  # uses of an item by a user
USED = RatingScale(1.0, 1.0, 1.0)  # the scale of usage data: taken, or nothing
DAMAGED_ID = re.compile(r"\d(\.\d+)?E\+\d+|\d+\.0", re.IGNORECASE)
REPEATS = {"rated twice", "taken again"}  # kinds of problems
# The largest plausible time in seconds since 1970 (year 5138); finer units lie above it, each a thousand times.
LATEST_SECONDS = 10**11
FINER_UNITS = ((1_000, "milliseconds"), (1_000_000, "microseconds"), (1_000_000_000, "nanoseconds"))


@dataclass(slots=True)
class Rows:
    """The rows of ratings on their way to a dataset."""

    table: Table
    # Role to column, of the roles "user", "item", "rating" (of usage data there is none), "time", "count" (how often
    # the user took the item) and "utility" (what the row was worth) those that the table has.
    names: dict[str, str]
    problems: Problems  # rows that cannot be kept
    set_aside: Problems = field(default_factory=Problems)  # rows that are left out because the proposal says so
    warnings: list[str] = field(default_factory=list)

    def column(self, role: str) -> NDArray[Any]:
        """The column with a role."""
        return self.table.columns[self.names[role]]

    def keep(self, is_kept: NDArray[np.bool_], column: str, kind: str, reason: str) -> None:
        """Set aside the rows that are not kept; `reason` may name their {value}."""
        self.set_aside.add_rows(kind, np.flatnonzero(~is_kept), self._described(column, reason))
        self.table = self.table.selected(is_kept)

    def check(self, role: str, kind: str, is_wrong: NDArray[np.bool_], reason: str) -> NDArray[np.bool_]:
        """Add a problem for each wrong row; `reason` may name its {value} or {length}. Returns which rows are right."""
        self.problems.add_rows(kind, np.flatnonzero(is_wrong), self._described(self.names[role], reason))
        return ~is_wrong

    def _described(self, column: str, reason: str) -> Callable[[int], ImportProblem]:
        table, values = self.table, self.table.columns.get(column)

        def describe(row: int) -> ImportProblem:
            value = "" if values is None else f"{values[row]:g}" if values.dtype.kind == "f" else str(values[row])
            words = reason.replace("{length}", str(len(value))).replace("{value}", value)
            return table.problem(row, column, words)

        return describe


def assemble(
    rows: Rows,
    items: tuple[ParsedItem, ...] | None,
    scale: RatingScale,
    policy: Policy,
    *,
    source_format: str,
    files: Sequence[str],
    items_file: str,
    warnings: Sequence[str] = (),
) -> ParsedDataset:
    """Check rows of ratings and make the dataset of them, out of the table's own memory: it is used up. Raises
    ImportRefused with every kind of problem that the policy does not fix, or where no rating is left to keep.

    Without `items` the catalogue is every item that is rated, with its id as title; `items_file` is the file that lists
    items, or the same file. The problems of the checks are added to those of the rows. Of a repeated pair the last row
    stays, or what the policy says.
    """
    table, problems, is_usage = rows.table, rows.problems, "rating" not in rows.names
    if policy.duplicates == "count" and not is_usage:
        raise ParameterError("Repeated rows are counted only in usage data; these rows have ratings.")
    if len(table) == 0:
        refuse_problems(problems, policy, is_usage=is_usage)
        _refuse_all(problems, table.name)
        rows.set_aside.refuse("No row is left. Nothing was imported.")
    is_kept, codes = _usable(rows, items, items_file, scale)
    with ThreadPoolExecutor(1) as executor:  # one numbers the users while the other numbers the items
        numbered = executor.submit(ordered_ids, selected_rows(rows.column("user"), is_kept))
        if items is None:
            item_ids, codes = ordered_ids(selected_rows(rows.column("item"), is_kept))
            items = tuple(ParsedItem(external_id=text, title=text) for text in item_ids.tolist())
        else:
            codes = selected_rows(codes, is_kept)
        user_ids, users = numbered.result()
    roles = [role for role in ("rating", "count", "time", "utility") if role in rows.names]
    arrays: dict[str, NDArray[Any]] = {"user": users, "item": codes}
    arrays |= {role: selected_rows(rows.column(role), is_kept) for role in roles}
    if "utility" in arrays:
        items = _with_utilities(items, codes, arrays["utility"])
    is_used = np.ones(len(users) if is_usage else 0, dtype=np.float32)
    arrays["rating"] = is_used if is_usage else arrays["rating"].astype(np.float32, copy=False)
    n_kept, repeated = len(users), Problems()
    if not is_in_order(users, codes):  # most sources are, and name no pair twice
        arrays, repeated = _without_repeats(rows, arrays, is_kept, user_ids, items, policy.duplicates)
    n_bad = table.rows_read - n_kept - rows.set_aside.total
    problems.merge(repeated)
    damaged = next((item.external_id for item in items if DAMAGED_ID.fullmatch(item.external_id)), "")
    note = f"Ids such as {damaged} look damaged by a spreadsheet: import the original file. " if damaged else ""
    refuse_problems(problems, policy, is_usage=is_usage, note=note)
    if n_kept == 0:
        _refuse_all(problems, table.name)
    times: NDArray[np.int64] | None = None
    about_times: list[str] = []
    if "time" in arrays:
        # After rows were dropped: a damaged time in one of those would decide the unit for all.
        times, about_times = in_seconds(arrays["time"].astype(np.int64, copy=False), rows.names["time"])
    warnings = (*warnings, *_warnings(table, problems, n_bad, repeated.total, policy), *about_times)
    problems.merge(rows.set_aside)
    is_counted = "count" in rows.names or policy.duplicates == "count"
    return ParsedDataset(
        user_ids=user_ids,
        items=items,
        users=arrays["user"],
        items_rated=arrays["item"],
        values=arrays["rating"],
        timestamps=times,
        scale=scale,
        report=ImportReport(
            source_format=source_format,
            files=tuple(files),
            rows_read=table.rows_read,
            rows_kept=len(arrays["user"]),
            dropped=dict(problems.counts),
            examples={kind: tuple(examples) for kind, examples in problems.examples.items()},
            warnings=warnings,
            scale=str(scale),
            item_column=rows.names["item"],
        ),
        utilities=arrays["utility"].astype(np.float32) if "utility" in arrays else None,
        counts=np.ceil(arrays.get("count", arrays["rating"])).astype(np.int32) if is_counted else None,
    )


def selected_rows(column: NDArray[Any], is_kept: NDArray[np.bool_]) -> NDArray[Any]:
    """The entries that are kept, without a copy where all are, as in a sound source."""
    return column if is_kept.all() else column[is_kept]


def _usable(
    rows: Rows, items: tuple[ParsedItem, ...] | None, items_file: str, scale: RatingScale
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Which rows can be kept, the others become problems; and the item of each, where items are listed."""
    is_kept = np.ones(len(rows.table), dtype=np.bool_)
    codes = np.empty(0, dtype=np.int32)
    if "rating" in rows.names and not (is_on := scale.is_on(values := rows.column("rating"))).all():
        # Steps such as .1 are not exact in binary, so the ends of the scale need some room.
        margin = scale.step * 1e-4
        is_outside = ~is_on & ((values < scale.low - margin) | (values > scale.high + margin))
        span = f"the scale of {scale.low:g} to {scale.high:g}"
        is_kept &= rows.check("rating", "rating off the scale", is_outside, f"{{value}} is off {span}")
        between = f"{{value}} is no step of {scale.step:g} on {span}"
        is_kept &= rows.check("rating", "rating between steps", ~is_on & ~is_outside, between)
    if "count" in rows.names:
        too_many = f"{{value}} is above {MOST_COUNTED:,}, the largest count"
        is_kept &= rows.check("count", "unusable count", rows.column("count") > MOST_COUNTED, too_many)
    for role in ("user", "item") if items is None else ("user",):
        ids = rows.column(role)
        if ids.dtype != object:
            is_kept &= rows.check(role, "negative id", ids < 0, "the id {value} is below 0")
            continue
        lengths = np.fromiter(map(len, ids.tolist()), dtype=np.int64, count=len(ids))
        too_long = f"the id has {{length}} characters; at most {LONGEST_ID} are kept"
        is_kept &= rows.check(role, "unusable id", lengths > LONGEST_ID, too_long)
    if items is not None:
        codes = codes_among([item.external_id for item in items], rows.column("item"))
        is_kept &= rows.check("item", "unknown item", codes < 0, f"item {{value}} is not in {items_file}")
    return is_kept, codes


def _with_utilities(
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


def _without_repeats(
    rows: Rows,
    arrays: dict[str, NDArray[Any]],
    is_kept: NDArray[np.bool_],
    user_ids: NDArray[np.str_],
    items: tuple[ParsedItem, ...],
    policy: str,
) -> tuple[dict[str, NDArray[Any]], Problems]:
    """The columns with one row of each user and item, and the problems of those that came again."""
    users, codes, problems = arrays["user"], arrays["item"], Problems()
    # One 64-bit number for each pair, because numpy sorts numbers many times faster than rows of two.
    pairs = users.astype(np.int64) * len(items) + codes
    # Stable, so that of equal pairs the file's order is kept: "first" and "last" depend on it.
    order = np.argsort(pairs, kind="stable")
    is_again = np.diff(pairs[order]) == 0
    if not is_again.any():
        return arrays, problems
    is_chosen = np.ones(len(users), dtype=np.bool_)
    is_chosen[order[1:][is_again] if policy == "first" else order[:-1][is_again]] = False
    earlier = dict(zip(order[1:][is_again].tolist(), order[:-1][is_again].tolist(), strict=True))
    did, kind = ("rated", "rated twice") if "rating" in rows.names else ("took", "taken again")
    row_of = np.flatnonzero(is_kept)

    def duplicate_problem(position: int) -> ImportProblem:
        user, item = user_ids[users[position]], items[codes[position]].external_id
        line = rows.table.lines.line(int(row_of[earlier[position]]))
        return rows.table.problem(int(row_of[position]), None, f"user {user} {did} item {item} on line {line} already")

    problems.add_rows(kind, np.array(sorted(earlier), dtype=np.int64), duplicate_problem)
    _, pair, rows_of_pair = np.unique(pairs, return_inverse=True, return_counts=True)
    of_pair = np.ceil(np.bincount(pair, weights=arrays["count"])) if "count" in arrays else rows_of_pair
    arrays["count"] = np.minimum(of_pair, MOST_COUNTED)[pair]
    if policy == "mean" and "rating" in rows.names:
        arrays["rating"] = (np.bincount(pair, weights=arrays["rating"]) / rows_of_pair)[pair].astype(np.float32)
    return {name: selected_rows(column, is_chosen) for name, column in arrays.items()}, problems


def is_in_order(users: NDArray[np.integer[Any]], items: NDArray[np.integer[Any]]) -> bool:
    """Whether each pair comes after the one before it, by user and then by item.

    Examples
    --------
    >>> is_in_order(np.array([0, 0, 1]), np.array([1, 2, 0])), is_in_order(np.array([0, 0]), np.array([1, 1]))
    (True, False)
    """
    is_same_user = users[1:] == users[:-1]
    return bool(((users[1:] > users[:-1]) | (is_same_user & (items[1:] > items[:-1]))).all())


def _warnings(table: Table, problems: Problems, n_bad: int, n_repeated: int, policy: Policy) -> list[str]:
    warnings = []
    if n_bad > MOST_DROPPED * table.rows_read:
        warnings.append(
            f"{n_bad:,} of {table.rows_read:,} rows ({n_bad / table.rows_read:.0%}) were dropped as bad. The remaining "
            "rows may not be representative: look at the examples, and correct the source."
        )
    if problems.those(lambda kind: kind not in REPEATS).are_decimal_commas:
        warnings.append("All dropped values look like 4,5: import the source with a decimal comma.")
    if policy.duplicates == "count":
        warnings.append(
            f"{n_repeated:,} rows repeat the user and item of another; they are stored as counts of that pair."
        )
    if table.lacks_final_newline:
        warnings.append(
            f"The last line of {table.name} has no line end; it was taken as complete. "
            "If the file was cut short there, its last field may be too."
        )
    return warnings


def _refuse_all(problems: Problems, file: str) -> None:
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
    # Converted only where all times agree: dividing some would mix centuries.
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
