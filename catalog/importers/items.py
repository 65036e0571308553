"""What a source says of its items: titles and other facts, from files of items and from columns beside the ratings."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from catalog.importers.base import (
    LONGEST_FEATURE,
    LONGEST_ID,
    LONGEST_TITLE,
    ParsedItem,
    Progress,
    address_problem,
)
from catalog.importers.ids import ordered_ids
from catalog.importers.kinds import localised_field, unknown_language_warnings
from catalog.importers.problems import Problems
from catalog.importers.proposal import Part, Proposal
from catalog.importers.reading import read
from catalog.importers.reading.tables import Kind, Table, shown
from catalog.importers.sources import SourceFile, refuse
from catalog.titles import natural

UTILITY_KIND = "utility"  # a feature whose value is a number: what the item is worth
FACTS = ("title", "author", "year", "image", "plot", "trailer")  # of items, that the ratings may have too
_NO_GENRE = frozenset({"", "(no genres listed)", "unknown"})
_NO_VALUE = frozenset({"null", "none", "nan", "n/a", "na", "\\n"})
_YEAR = re.compile(r"(?<!\d)(\d{4})(?!\d)")
_TITLE_YEAR = re.compile(r"\s*\((\d{4})(?:\s*[–-]\s*\d{0,4})?\)\s*$")
_IN_PARENTHESES = re.compile(r"\s+\(([^()]+)\)\s*$")
_ALSO_KNOWN_AS = re.compile(r"^a\.?k\.?a\.?\s+", re.IGNORECASE)
_GOES_ON = re.compile(r"(:|\bor)$", re.IGNORECASE)  # "Birdman: Or (The Unexpected Virtue of Ignorance)"


@dataclass(frozen=True, slots=True)
class Title:
    """The parts of a title."""

    text: str  # as people say it
    year: int | None  # the first, of a span of years
    aliases: tuple[str, ...]  # other titles that stood behind it in parentheses, as people say them


def parse_title(title: str) -> Title:
    """Split a title into the natural title, its year, and other titles.

    Examples
    --------
    >>> parse_title("City of Lost Children, The (Cité des enfants perdus, La) (1995)")
    Title(text='The City of Lost Children', year=1995, aliases=('La Cité des enfants perdus',))
    >>> parse_title("Seven (a.k.a. Se7en) (1995)").aliases
    ('Se7en',)
    """
    rest = title.strip()
    year = None
    match = _TITLE_YEAR.search(rest)
    if match is not None and match.start() > 0:
        year = int(match[1])
        rest = rest[: match.start()]
    aliases_read: list[str] = []
    match = _IN_PARENTHESES.search(rest)
    while match is not None and not _GOES_ON.search(rest[: match.start()]):
        aliases_read.insert(0, natural(_ALSO_KNOWN_AS.sub("", match[1])))
        rest = rest[: match.start()]
        match = _IN_PARENTHESES.search(rest)
    text = natural(rest)
    aliases = tuple(dict.fromkeys(alias for alias in aliases_read if alias and alias != text))
    return Title(text=text, year=year, aliases=aliases)


@dataclass(slots=True)
class ItemNotes:
    """What is to be said of the items of an import."""

    entities: int = 0  # texts with HTML entities that were replaced
    conflicts: int = 0  # rows whose fact of an item differs from the one kept
    untitled: int = 0  # items whose id is their title
    addresses: int = 0  # of images and trailers that are none, and are left out
    warnings: list[str] = field(default_factory=list)


def items_of_files(
    files: Mapping[str, SourceFile],
    proposal: Proposal,
    problems: Problems,
    notes: ItemNotes,
    *,
    languages: Sequence[str],
    progress: Progress | None = None,
) -> dict[str, ParsedItem]:
    """The items of the files of items, by id, in their order. Raises ImportRefused for a file without a usable item."""
    items: dict[str, ParsedItem] = {}
    for part in proposal.parts:
        if part.use != "items":
            continue
        file = files[part.files[0]]
        if part.is_many:
            table = read(file, part.written, _kinds(part, proposal), problems, progress=progress)
            _add_facts(table, part, proposal, items, problems, notes)
        else:
            items |= _listed(file, part, proposal, items, problems, notes, languages)
            if not items:
                problems.refuse("Nothing was imported.")
    return items


def _kinds(part: Part, proposal: Proposal) -> dict[str, Kind]:
    id_kind: Kind = "whole" if proposal.has_whole_ids else "id"
    return {name: id_kind if role == "item" else "text" for name, role in part.roles().items()}


def _listed(
    file: SourceFile,
    part: Part,
    proposal: Proposal,
    before: Mapping[str, ParsedItem],
    problems: Problems,
    notes: ItemNotes,
    languages: Sequence[str],
) -> dict[str, ParsedItem]:
    names = [column.name for column in part.columns]
    localised = {
        name: of_name
        for name in names
        if name not in part.roles() and (of_name := localised_field(name)) and of_name[1] in languages
    }
    for of_name in set(localised.values()):
        columns = [name for name, each in localised.items() if each == of_name]
        if len(columns) > 1:
            reason = (
                f"columns {' and '.join(map(shown, columns))} both hold the {of_name[0]} in {of_name[1]}: remove one"
            )
            raise refuse(file.name, reason, line=1)
    unread = [name for name in names if name not in part.roles() and name not in localised]
    notes.warnings += unknown_language_warnings(unread, languages)
    kinds: dict[str, Kind] = {**_kinds(part, proposal), **dict.fromkeys(localised, "text")}
    table = read(file, part.written, kinds, problems)
    identity, title_column = part.column("item"), part.column("title")
    texts = {name: _unescaped(table.columns[name], notes) for name in kinds if name != identity}
    items: dict[str, ParsedItem] = {}
    for row, key in enumerate(table.columns[identity].tolist()):
        external_id = str(key)
        says = {name: column[row].strip() for name, column in texts.items()}
        item, problem = _item(external_id, says, part, proposal, notes)
        item_texts = {of_name: says[name] for name, of_name in localised.items()}
        problem = problem or _misfit(item, before, items, proposal) or _localised_problem(item_texts)
        if problem is not None:
            column = title_column if problem[0] in ("unusable title", "listed twice") and title_column else identity
            problems.add(problem[0], table.problem(row, column, problem[1]))
            continue
        items[external_id] = replace(item, texts=texts_by_language(item_texts)) if localised else item
    if proposal.has_whole_ids:
        return {str(number): items[str(number)] for number in sorted(map(int, items))}
    return items


def _item(
    external_id: str, says: Mapping[str, str], part: Part, proposal: Proposal, notes: ItemNotes
) -> tuple[ParsedItem, tuple[str, str] | None]:
    """An item of what its row says, and the kind and reason of what is wrong with that."""
    fields: dict[str, str] = {}
    features: list[tuple[str, str]] = []
    problem: tuple[str, str] | None = None
    for column in part.columns:
        text = says.get(column.name, "")
        role, _, kind = column.role.partition(":")
        if role == "author":
            role, kind = "feature", "author"
        if role == "feature":
            values = [value.strip() for value in (text.split(proposal.separator) if kind != "author" else [text])]
            features += [(kind, value) for value in values if value and len(value) <= LONGEST_FEATURE]
            if proposal.catalogue_titles and any(len(value) > LONGEST_FEATURE for value in values):
                problem = ("unusable genre", f"a genre has more characters than the {LONGEST_FEATURE} that are kept")
        elif role == "flag" and text == "1":
            kind, _, value = kind.partition(":")
            features += [(kind, value)] if value else []
        elif role == "utility" and text:
            worth = text.replace(".", "_").replace(",", ".") if part.written.decimal == "," else text
            number = utility_of(worth)
            problem = problem or (
                ("unusable utility", f"{shown(worth)} is not a number of 0 or more") if number is None else None
            )
            fields["utility"] = repr(number) if number else ""
        elif role in ("image", "trailer") and text and address_problem(text):
            notes.addresses += 1
        elif role:
            fields.setdefault(role, text)
    title, year = fields.get("title", ""), None
    aliases: tuple[str, ...] = ()
    if proposal.catalogue_titles:
        parsed = parse_title(title)
        title, year, aliases = parsed.text, parsed.year, parsed.aliases
        features = [(kind, value) for kind, value in features if value not in _NO_GENRE]
    stated = fields.get("year", "")
    if year is None and stated and stated.lower() not in _NO_VALUE:
        match = _YEAR.search(stated.removesuffix(".0"))
        year = int(match[1]) if match and match[1] != "0000" else None
        if year is None and not re.fullmatch(r"-?\d{1,3}(\.0)?", stated.strip()) and stated.strip("0"):
            problem = problem or ("unusable year", f"{shown(stated)} is no year")
    if not title and not proposal.is_complete:
        notes.untitled += 1
        title = external_id
    if year is not None:
        features.append(("decade", f"{year // 10 * 10}s"))
    features += [("alias", alias) for alias in aliases if len(alias) <= LONGEST_FEATURE]
    features += [(UTILITY_KIND, fields["utility"])] if fields.get("utility") else []
    item = ParsedItem(
        external_id,
        title,
        year,
        plot=fields.get("plot", ""),
        features=tuple(dict.fromkeys(features)),
        image_url=fields.get("image", ""),
        trailer_url=fields.get("trailer", ""),
    )
    return item, problem


def _add_facts(
    table: Table, part: Part, proposal: Proposal, items: dict[str, ParsedItem], problems: Problems, notes: ItemNotes
) -> None:
    identity = part.column("item")
    listed = next(each.files[0] for each in proposal.parts if each.use == "items")
    features: dict[str, set[tuple[str, str]]] = {}
    links: dict[str, list[tuple[str, str]]] = {}
    columns = [(role.partition(":"), table.columns[name]) for name, role in part.roles().items() if name != identity]
    too_long = 0
    for row, key in enumerate(table.columns[identity].tolist()):
        if str(key) not in items:
            if proposal.is_complete:
                reason = f"item {key} is not in {listed}"
                problems.add("unknown item", table.problem(row, identity, reason))
            continue
        for (role, _, kind), texts in columns:
            text = texts[row].strip()
            if role == "link" and text:
                links.setdefault(str(key), []).append((kind, text))
            elif role == "feature" and text:
                tag = " ".join(text.lower().split())
                too_long += len(tag) > LONGEST_FEATURE
                if len(tag) <= LONGEST_FEATURE:
                    features.setdefault(str(key), set()).add((kind, tag))
    for key, facts in features.items():
        items[key] = replace(items[key], features=tuple(dict.fromkeys((*items[key].features, *sorted(facts)))))
    for key, pairs in links.items():
        items[key] = replace(items[key], links=(*items[key].links, *pairs))
    if too_long:
        notes.warnings.append(f"{too_long:,} tags longer than {LONGEST_FEATURE} characters were left out.")


def _misfit(
    item: ParsedItem, before: Mapping[str, ParsedItem], items: Mapping[str, ParsedItem], proposal: Proposal
) -> tuple[str, str] | None:
    """The problem that excludes an item: kind and reason."""
    if len(item.external_id) > LONGEST_ID:
        return "unusable id", f"the id has {len(item.external_id)} characters; at most {LONGEST_ID} are kept"
    if item.external_id in items or item.external_id in before:
        return "listed twice", f"item {item.external_id} was listed before"
    if not item.title:
        return "unusable title", "the title is empty"
    if len(item.title) > LONGEST_TITLE:
        return "unusable title", f"the title has {len(item.title)} characters; at most {LONGEST_TITLE} are kept"
    if "\0" in item.title:
        return "unusable title", "the title holds a NUL character"
    return None


def _localised_problem(texts: Mapping[tuple[str, str], str]) -> tuple[str, str] | None:
    for (of_field, language), text in texts.items():
        if of_field == "title" and len(text) > LONGEST_TITLE:
            reason = f"the title in {language} has {len(text)} characters; at most {LONGEST_TITLE} are kept"
            return "unusable title", reason
    return None


def replace_entities(texts: NDArray[Any]) -> int:
    """Write characters in place of the HTML entities of texts, shape (n,), and return how many texts had some."""
    with_entity = [at for at, text in enumerate(texts.tolist()) if "&" in text and html.unescape(text) != text]
    for at in with_entity:
        texts[at] = html.unescape(texts[at])
    return len(with_entity)


def _unescaped(texts: NDArray[Any], notes: ItemNotes) -> NDArray[Any]:
    notes.entities += replace_entities(texts)
    return texts


def items_beside_ratings(
    table: Table, part: Part, proposal: Proposal, ids: NDArray[Any], notes: ItemNotes
) -> dict[str, ParsedItem]:
    """The items of the facts among the ratings: of each, the most frequent value that is not empty.

    `ids` has shape (n_rows,): the item of each row.
    """
    facts = {name: role for name, role in part.roles().items() if role in FACTS or role.startswith("feature:")}
    known, codes = ordered_ids(ids)
    says: list[dict[str, str]] = [{} for _ in known]
    for name in facts:
        counts: list[Counter[str]] = [Counter() for _ in known]
        for code, text in zip(codes.tolist(), _unescaped(table.columns[name], notes).tolist(), strict=True):
            if text.strip() and text.strip().lower() not in _NO_VALUE:
                counts[code][text.strip()] += 1
        for code, of_item in enumerate(counts):
            if of_item:
                (text, n), *_ = of_item.most_common(1)
                says[code][name] = text
                notes.conflicts += of_item.total() - n
    items: dict[str, ParsedItem] = {}
    for external_id, texts in zip(known.tolist(), says, strict=True):
        item, _ = _item(external_id, texts, part, replace(proposal, is_complete=False), notes)
        items[external_id] = replace(item, title=item.title[:LONGEST_TITLE])
    return items


def texts_by_language(texts: Mapping[tuple[str, str], str]) -> dict[str, dict[str, str]]:
    """Texts by field and language as an item has them; empty ones are left out.

    Examples
    --------
    >>> texts_by_language({("title", "it"): "Sette", ("plot", "it"): "", ("title", "de"): ""})
    {'it': {'title': 'Sette'}}
    """
    by_language: dict[str, dict[str, str]] = {}
    for (of_field, language), text in texts.items():
        if text:
            by_language.setdefault(language, {})[of_field] = text
    return by_language


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


def works(items: Iterable[ParsedItem]) -> dict[tuple[str, str | int | None], list[ParsedItem]]:
    """The items with a title by their work: the title and the author, or without an author the year."""
    by_work: dict[tuple[str, str | int | None], list[ParsedItem]] = {}
    for item in items:
        by = next((value for kind, value in item.features if kind == "author"), item.year)
        if item.title != item.external_id:
            by_work.setdefault((item.title.casefold(), by), []).append(item)
    return by_work


def equal_titles(items: Iterable[ParsedItem]) -> list[tuple[str, int]]:
    """Titles that several items of a work have, the most frequent first, and how many have each."""
    shared = [(same[0].title, len(same)) for same in works(items).values() if len(same) > 1]
    return sorted(shared, key=lambda pair: -pair[1])
