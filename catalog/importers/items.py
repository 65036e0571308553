"""Reads a file of items: their titles and other metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping

from catalog.importers.base import LONGEST_FEATURE, LONGEST_ID, LONGEST_TITLE, ImportProblem, ParsedItem
from catalog.importers.kinds import localised_field, unknown_language_warnings
from catalog.importers.layout import Kind, Table, shown
from catalog.importers.options import Options
from catalog.importers.problems import Problems
from catalog.importers.sheets import Sheet, column_of, open_sheet
from catalog.importers.sources import SourceFile, refuse

UTILITY_KIND = "utility"  # a feature whose value is a number: what the item is worth
USUAL_ITEM_NAMES = (
    "item", "itemid", "iid", "movieid", "movie", "productid", "product", "asin", "isbn", "bookid", "stockcode", "sku",
)  # fmt: skip
_TITLE_NAMES = ("title", "name", "itemtitle")
_YEAR_NAMES = ("year", "releaseyear", "yearofpublication")
_NO_TITLES = "Say which column has the titles; where items have none, name the column of ids once more."
_YEAR = re.compile(r"\d{4}")


def parse_items(file: SourceFile, options: Options, problems: Problems) -> tuple[tuple[ParsedItem, ...], list[str]]:
    """The items of their file, in its order, and warnings. Raises ImportRefused for a header without the columns, or no
    item that can be kept.
    """
    sheet = open_sheet(file, options)
    identity = column_of(
        sheet, options.items_id or _same(options.item, sheet), USUAL_ITEM_NAMES, "ids", options=("items_id",)
    )
    title = column_of(sheet, options.title, _TITLE_NAMES, "titles", advice=_NO_TITLES, options=("title",))
    year = column_of(sheet, options.year, _YEAR_NAMES, "years", is_needed=options.year is not None)
    texts = {
        what: column_of(sheet, wanted, (), what, is_needed=wanted is not None)
        for what, wanted in (("plot", options.plot), ("image", options.image), ("trailer", options.trailer))
    }
    utility = column_of(sheet, options.item_utility, (), "utilities", is_needed=options.item_utility is not None)
    features = {
        kind: column_of(sheet, wanted, (), f"features of kind {kind}") for kind, wanted in options.features.items()
    }
    if not options.features and "genres" in sheet.columns:
        features["genre"] = "genres"
    named = [name for name in (title, year, *texts.values(), *features.values(), utility) if name]
    others = [name for name in sheet.columns if name not in (identity, *named)]
    localised = {name: field for name in others if (field := localised_field(name)) and field[1] in options.languages}
    for field in set(localised.values()):
        columns = [name for name, of_name in localised.items() if of_name == field]
        if len(columns) > 1:
            reason = f"columns {' and '.join(map(shown, columns))} both hold the {field[0]} in {field[1]}: remove one"
            raise refuse(file.name, reason, line=1)
    kinds: dict[str, Kind] = dict.fromkeys((*named, *localised), "text")
    kinds[identity] = "id"
    table = sheet.read(kinds, problems, by_line=True)
    items: dict[str, ParsedItem] = {}
    for row, external_id in enumerate(table.columns[identity]):
        problem = misfit(external_id, table.columns[title][row].strip(), items)
        number: int | None = None
        if problem is None and year and table.columns[year][row].strip():
            text = table.columns[year][row].strip().removesuffix(".0")
            number = int(text) if _YEAR.fullmatch(text) else None
            problem = None if number is not None else ("unusable year", f"{shown(text)} is no year")
        worth = with_point(_text(table, utility, row), options.decimal)
        if problem is None and worth and utility_of(worth) is None:
            problem = ("unusable utility", f"{shown(worth)} is not a number of 0 or more")
        item_texts = {field: _text(table, name, row) for name, field in localised.items()}
        problem = problem or _localised_problem(item_texts)
        if problem is not None:
            problems.add(problem[0], ImportProblem(file.name, table.line(row), identity, problem[1]))
            continue
        items[external_id] = ParsedItem(
            external_id=external_id,
            title=table.columns[title][row].strip(),
            year=number,
            plot=_text(table, texts["plot"], row),
            features=_features(table, features, row, number, options.feature_separator) + _utility(worth),
            image_url=_text(table, texts["image"], row),
            trailer_url=_text(table, texts["trailer"], row),
            texts=texts_by_language(item_texts),
        )
    if not items:
        problems.refuse("Nothing was imported.")
    return tuple(items.values()), unknown_language_warnings(others, options.languages)


def texts_by_language(texts: Mapping[tuple[str, str], str]) -> dict[str, dict[str, str]]:
    """Texts by field and language as an item has them; empty ones are left out.

    Examples
    --------
    >>> texts_by_language({("title", "it"): "Sette", ("plot", "it"): "", ("title", "de"): ""})
    {'it': {'title': 'Sette'}}
    """
    by_language: dict[str, dict[str, str]] = {}
    for (field, language), text in texts.items():
        if text:
            by_language.setdefault(language, {})[field] = text
    return by_language


def _localised_problem(texts: Mapping[tuple[str, str], str]) -> tuple[str, str] | None:
    for (field, language), text in texts.items():
        if field == "title" and len(text) > LONGEST_TITLE:
            return "unusable title", (
                f"the title in {language} has {len(text)} characters; at most {LONGEST_TITLE} are kept"
            )
    return None


def misfit(external_id: str, title: str, items: Mapping[str, ParsedItem]) -> tuple[str, str] | None:
    """The problem that excludes an item: kind and reason."""
    if len(external_id) > LONGEST_ID:
        return "unusable id", f"the id has {len(external_id)} characters; at most {LONGEST_ID} are kept"
    if external_id in items:
        return "listed twice", f"item {external_id} was listed before"
    if not title:
        return "unusable title", "the title is empty"
    if len(title) > LONGEST_TITLE:
        return "unusable title", f"the title has {len(title)} characters; at most {LONGEST_TITLE} are kept"
    return None


def with_point(text: str, decimal: str) -> str:
    """A number as Python writes it; a point where a comma belongs leaves no number.

    Examples
    --------
    >>> with_point("2,50", ","), with_point("2.50", "."), with_point("2.50", ",")
    ('2.50', '2.50', '2_50')
    """
    return text.replace(".", "_").replace(",", ".") if decimal == "," else text


def utility_of(text: str) -> float | None:
    """The utility of an item, at least 0; None if the text is no such number.

    Examples
    --------
    >>> utility_of("2.50"), utility_of("-1"), utility_of("nan"), utility_of("1_0")
    (2.5, None, None, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") and "_" not in text else None


def _same(wanted: str | None, sheet: Sheet) -> str | None:
    """The name of the ratings' item column, where the items' file has it as well."""
    return wanted if wanted in sheet.columns else None


def _text(table: Table, column: str, row: int) -> str:
    return str(table.columns[column][row]).strip() if column else ""


def _utility(text: str) -> tuple[tuple[str, str], ...]:
    """The utility as a feature; a utility of 0 is no feature."""
    worth = utility_of(text) if text else None
    return ((UTILITY_KIND, repr(worth)),) if worth else ()


def _features(
    table: Table, columns: Mapping[str, str], row: int, year: int | None, separator: str
) -> tuple[tuple[str, str], ...]:
    features = [
        (kind, value.strip())
        for kind, column in columns.items()
        for value in table.columns[column][row].split(separator)
        if value.strip() and len(value.strip()) <= LONGEST_FEATURE
    ]
    if year is not None:
        features.append(("decade", f"{year // 10 * 10}s"))
    return tuple(dict.fromkeys(features))
