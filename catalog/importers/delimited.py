"""Any table whose columns have names (delimited text, Parquet, JSON Lines): ratings or usage, and items beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from catalog.importers.base import ParsedDataset, ParsedItem, Policy, Progress
from catalog.importers.items import USUAL_ITEM_NAMES, parse_items
from catalog.importers.layout import Kind, first_line
from catalog.importers.options import Options
from catalog.importers.problems import Problems
from catalog.importers.row_checks import RatingColumns
from catalog.importers.rows import assemble
from catalog.importers.sheets import PARQUET, RECORDS, column_of, open_sheet, read_header
from catalog.importers.sources import SourceFile, open_source, refuse

__all__ = ["USUAL_NAMES", "Options", "parse_table", "read_header"]

# Headers that need no naming, compared without case, spaces, "_", "." and "-".
USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "customer", "customerid", "visitorid", "reviewerid"),
    "item": USUAL_ITEM_NAMES,
    "rating": ("rating", "ratings", "score", "stars", "bookrating", "overall"),
    "time": ("timestamp", "time", "date", "ts", "ratedat", "unixreviewtime"),
}
BASKET_NAMES = ("basket", "basketid", "invoice", "invoiceno", "transaction", "transactionid", "session", "sessionid")
_NO_RATINGS = (
    "The first line has to name the columns: say which is which, or that there are no ratings and each row says "
    "that the user took the item."
)


def parse_table(
    source_format: str, ratings: SourceFile, options: Options, *, policy: Policy, progress: Progress | None = None
) -> ParsedDataset:
    """Ratings, or usage without ratings, by named columns. Raises ImportRefused for a header without the columns, or
    rows that the policy refuses.
    """
    sheet = open_sheet(ratings, options)
    users = USUAL_NAMES["user"] + (BASKET_NAMES if options.usage else ())
    user = column_of(sheet, options.user, users, "users", options=("user",))
    item = column_of(sheet, options.item, USUAL_NAMES["item"], "items", options=("item",))
    rating = None
    if not options.usage:
        rating = column_of(
            sheet, options.rating, USUAL_NAMES["rating"], "ratings", advice=_NO_RATINGS, options=("rating", "usage")
        )
    time = column_of(sheet, options.time, USUAL_NAMES["time"], "times", is_needed=options.time is not None) or None
    utility = column_of(sheet, options.utility, (), "utilities", is_needed=options.utility is not None) or None
    roles: tuple[tuple[str | None, Kind], ...] = (
        (user, "id"),
        (item, "id"),
        (rating, "number"),
        (time, "time"),
        (utility, "number"),
    )
    kinds = {name: kind for name, kind in roles if name is not None}
    if len(kinds) < sum(name is not None for name, _ in roles):
        raise refuse(sheet.name, f"one column is named for two things ({', '.join(kinds)})", line=1)
    problems = Problems()
    files = [ratings.name]
    items: tuple[ParsedItem, ...] | None = None
    warnings: list[str] = []
    if options.items_file is not None:
        items_source = open_source(options.items_file, policy.limits)
        if len(items_source.files) != 1:
            raise refuse(
                items_source.name, f"one file of items is needed, and there are {len(items_source.files)} here"
            )
        (items_file,) = items_source.files.values()
        files.append(items_file.name)
        items, warnings = parse_items(items_file, _of_items(items_file, options), problems)
    return assemble(
        source_format=source_format,
        files=files,
        table=sheet.read(kinds, problems, progress=progress),
        columns=RatingColumns(ratings.name, user, item, rating, time, files[-1], utility),
        items=items,
        scale=options.scale,
        policy=policy,
        problems=problems,
        warnings=warnings,
    )


def _of_items(file: SourceFile, options: Options) -> Options:
    """The options of the file of items: it has a header, and may be encoded and delimited otherwise."""
    options = replace(options, has_header=True, encoding=options.items_encoding or options.encoding)
    is_text = not file.name.lower().endswith(PARQUET + RECORDS)
    if options.delimiter and is_text and options.delimiter not in first_line(file, options.codec):
        return replace(options, delimiter=None)
    return options
