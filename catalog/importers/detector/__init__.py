"""What a source is and how it would be imported: the one place that decides, for the command, the pages and the API."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from catalog.importers.base import ImportProblem, ImportRefused, Limits
from catalog.importers.detector.file_syntax import BASKET_COLUMNS, MATRIX_COLUMNS, InspectedFile, examined
from catalog.importers.detector.layouts import LAYOUTS, LayoutFile, proposal_of
from catalog.importers.detector.roles import (
    NAMES,
    TWINS,
    columns_of,
    facts_by_name,
    plain_name,
    rank_by_name,
    time_formats_of,
    words_of,
)
from catalog.importers.options import ITEM_COLUMNS, RATING_COLUMNS, Options
from catalog.importers.proposal import Column, Confidence, Part, Proposal, Question, Values
from catalog.importers.reading.tables import shown
from catalog.importers.scales import detect_scale, text_of
from catalog.importers.sources import Source, SourceFile, open_source, refuse

__all__ = ["GENERIC", "Roles", "inspect"]

# How files without a named layout are called, by their records.
GENERIC = {"table": "delimited", "objects": "jsonlines", "array": "json", "dicts": "dicts", "baskets": "fimi"}
GENERIC |= {name: name for name in ("matrix", "sections", "parquet", "workbook")}
_NO_TABLE = re.compile(
    r"(readme|licen[cs]e|copying|changelog)|.*\.(md|html?|pdf|png|jpe?g|gif|py|r|sh|pl|ipynb|docx?)", re.I
)
_RATINGS_FILE = re.compile(r"rating|review|interaction|inter\b|event|\.inter|play|purchase|transaction", re.IGNORECASE)
_LEAST_OVERLAP = 0.8  # of the rated items that have to be in a file of items
_MOST_ATTRIBUTE_VALUES = 100
_SPLIT_KINDS = ("genre", "tag")
_SHAPES: Mapping[str, tuple[Confidence, str]] = {
    "baskets": ("certain", "lines of item numbers"),
    "matrix": ("likely", "a column for each item"),
}
Roles = Mapping[str, Mapping[str, str]]  # file to column to role
InspectFile = Callable[[SourceFile, LayoutFile | None], InspectedFile]


def inspect(
    source: Source,
    hints: Options,
    *,
    format: str = "auto",
    recipe: Proposal | None = None,
    roles: Roles = MappingProxyType({}),
) -> Proposal:
    """The proposal for a source: what is detected, or what a `recipe` says. `roles` are those that the user gives to
    columns, by file. Raises ImportRefused where nothing in it can be imported, and says why.
    """
    samples: dict[tuple[object, ...], InspectedFile] = {}

    def inspect_file(file: SourceFile, wanted: LayoutFile | None = None) -> InspectedFile:
        own: dict[str, Any] = {}
        if wanted is not None:
            own = {name: value for name, value in wanted.options.items() if getattr(hints, name) is None}
            is_known = wanted.fields and ("delimiter" in wanted.options or wanted.name)
            own |= {"has_header": wanted.has_header} if is_known else {}
        key = (file.name, *own.items())
        if key not in samples:
            samples[key] = examined(file, replace(hints, **own), are_baskets=format == "fimi")
        return samples[key]

    if not source.files:
        raise refuse(source.name, "there is no file in it")
    if len(source.files) == 1:
        next(iter(source.files.values())).check_readable()
    names_columns = any(getattr(hints, role) for role in (*RATING_COLUMNS, *ITEM_COLUMNS)) or hints.usage
    proposal: Proposal | None = None
    if recipe is not None:
        proposal = _here(recipe, source, hints)
    elif format in LAYOUTS:
        proposal = proposal_of(format, source, inspect_file, is_forced=True)
    elif format == "auto" and not names_columns:
        proposal = next(
            (each for name in LAYOUTS if (each := _tried(partial(proposal_of, name, source, inspect_file)))), None
        )
    proposal = proposal or _detected(source, hints, inspect_file, format)
    if hints.items_file is not None and (recipe is None or recipe.part("items") is None):
        proposal = replace(proposal, parts=tuple(part for part in proposal.parts if part.use != "items"))
        # A file of items may be written otherwise than the ratings.
        unsaid = replace(hints, delimiter=None, quoting=None, decimal=None, has_header=None)
        table = examined(_only_file(hints), replace(unsaid, encoding=hints.items_encoding))
        ratings = inspect_file(source.files[proposal.ratings.files[0].lower()], None)
        items = _items_part(table, ratings, proposal.ratings, hints, True)
        proposal = replace(proposal, parts=(*proposal.parts, *([items] if items else [])))
    return _finished(_with_roles(proposal, roles), source, hints, inspect_file)


def _here(recipe: Proposal, source: Source, hints: Options) -> Proposal:
    """A recipe for the files of a source; one for a single file also serves a file of another name."""
    names = [file.name for file in source.files.values()]
    if hints.items_file is not None:
        names.append(_only_file(hints).name)
    if len(names) == 1 and len(recipe.parts) == 1 and len(recipe.ratings.files) == 1:
        return replace(recipe, parts=(replace(recipe.ratings, files=(names[0],)),))
    lacking = [name for part in recipe.parts for name in part.files if name not in names]
    if lacking:
        raise refuse(
            lacking[0],
            f"the recipe reads this file, and {source.name} lacks it",
            advice="Add the file, or leave the recipe out.",
        )
    return recipe


def _with_roles(proposal: Proposal, roles: Roles) -> Proposal:
    parts = tuple(
        replace(
            part,
            columns=tuple(
                Column.of(each.name, own[each.name], "certain", "named by you")
                if own.get(each.name, each.role) != each.role
                else each
                for each in part.columns
            ),
        )
        for part in proposal.parts
        for own in [roles.get(part.files[0], {})]
    )
    hinted = replace(proposal, parts=parts)
    had, has = (bool(each.ratings.column("rating")) for each in (proposal, hinted))
    return hinted if had == has else replace(hinted, is_usage=not has)


def _tried(propose: Callable[[], Proposal | None]) -> Proposal | None:
    """What an entry proposes; files that cannot be examined fit none, while a refusal of the entry itself is one."""
    try:
        return propose()
    except ImportRefused as refusal:
        if any(layout.refuse and layout.refuse in str(refusal) for layout in LAYOUTS.values()):
            raise
        return None


def _only_file(hints: Options) -> SourceFile:
    source = open_source(hints.items_file, Limits())  # type: ignore[arg-type]  # asked for where there is one
    if len(source.files) != 1:
        raise refuse(source.name, f"one file of items is needed, and there are {len(source.files)} here")
    return next(iter(source.files.values()))


def _detected(source: Source, hints: Options, inspect_file: InspectFile, format: str) -> Proposal:
    tables: dict[str, InspectedFile] = {}
    unused: list[str] = []
    unread: list[ImportProblem] = []
    for key, file in source.files.items():
        if len(source.files) > 1 and _NO_TABLE.fullmatch(key):
            unused.append(file.name)
            continue
        try:
            tables[key] = inspect_file(file, None)
        except ImportRefused as refusal:
            if len(source.files) == 1:
                raise
            unused.append(file.name)
            unread += refusal.problems
    if format not in ("auto", *LAYOUTS):
        fits = {key: each for key, each in tables.items() if GENERIC[each.written.records] == format}
        if not fits:
            here = ", ".join(f"{each.file.name} ({GENERIC[each.written.records]})" for each in tables.values())
            raise refuse(
                source.name, f"no file is written as {format} (there is {here or 'nothing'})", options=("format",)
            )
        tables = fits
    if not tables:
        raise refuse(source.name, f"no table is in it (there is {', '.join(unused[:8])})")
    parts: dict[str, Part] = {}
    misfits: dict[str, ImportRefused] = {}  # of files that lack a column that is named
    for key, each in tables.items():
        try:
            parts[key] = _ratings_part(each, hints)
        except ImportRefused as refusal:
            misfits[key] = refusal

    def score(key: str) -> tuple[int, bool, int]:
        return _score(parts[key]), bool(_RATINGS_FILE.search(key)), tables[key].file.packed_bytes

    best = max(parts, key=score, default="")
    if misfits and not (best and _score(parts[best])):
        raise misfits[max(misfits, key=lambda key: bool(_RATINGS_FILE.search(key)))]
    ratings, table = parts[best], tables[best]
    lacking = [each for each in unread if _RATINGS_FILE.search(each.file)]
    if lacking and not _RATINGS_FILE.search(best):
        raise ImportRefused(lacking, advice="Correct the file, or remove it to import another.")
    if not _score(ratings):
        raise _no_ratings(table, ratings, unread)
    rest = {key: each for key, each in tables.items() if key != best}
    candidates = [part for each in rest.values() if (part := _items_part(each, table, ratings, hints, False))]
    items = max(candidates, key=lambda part: (bool(part.column("title")), len(part.roles())), default=None)
    read = {*ratings.files, *(items.files if items else ())}
    users = next(
        (part for each in rest.values() if each.file.name not in read and (part := _users_part(each, table, ratings))),
        None,
    )
    chosen = tuple(part for part in (ratings, items, users) if part is not None)
    left = {key: each for key, each in rest.items() if all(each.file.name not in part.files for part in chosen)}
    alike = [
        each.file.name
        for key, each in left.items()
        if each.written.columns == table.written.columns and key in parts and _score(parts[key])
    ]
    return Proposal(
        layout=GENERIC[table.written.records],
        parts=chosen,
        is_usage=hints.usage or not (ratings.column("rating") or table.written.records in ("matrix",)),
        separator=_separator(tables, items),
        doubts=(
            *(f"{each.file} is not read: {each.reason}." for each in unread),
            *(
                f"{name} has the columns of {table.file.name} and is not read: join them in one file to import both."
                for name in alike
            ),
        ),
        unused=(*unused, *(each.file.name for each in left.values())),
    )


def _ratings_part(table: InspectedFile, hints: Options) -> Part:
    records = table.written.records
    if records in ("baskets", "matrix"):
        names = BASKET_COLUMNS if records == "baskets" else MATRIX_COLUMNS
        confidence, why = _SHAPES[records]
        columns = tuple(
            Column(name, role, confidence, why) for name, role in zip(names, ("user", "item", "rating"), strict=False)
        )
    elif records == "sections":
        heading, *below = table.columns()
        columns = (Column(heading.name, "item", "likely", "headings"),)
        for each in columns_of(below, has_header=False):
            # Below a heading there is no second item.
            columns += (replace(each, role="user") if each.role == "item" else each,)
        if not any(each.role == "rating" for each in columns):
            columns = tuple(
                Column(each.name, "rating", "possible", "numbers of few kinds")
                if each.name == "Column 2" and not each.role
                else each
                for each in columns
            )
    else:
        columns = columns_of(table.columns(), has_header=table.has_header)
    return Part((table.file.name,), "ratings", table.written, _with_hints(columns, table, hints))


def _with_hints(columns: tuple[Column, ...], table: InspectedFile, hints: Options) -> tuple[Column, ...]:
    by_hint = {role: getattr(hints, role) for role in (*RATING_COLUMNS, "utility") if getattr(hints, role)}
    if hints.utility in ("price", "profit") and hints.utility not in table.written.columns:
        by_hint.pop("utility", None)
    here = [each.name for each in columns]
    for role in ("title", "author", "year", "image"):  # of the ratings, where no file of items is named
        if hints.items_file is None and getattr(hints, role) in here:
            by_hint[role] = getattr(hints, role)
    by_hint |= {
        f"feature:{kind}": name for kind, name in hints.features.items() if hints.items_file is None and name in here
    }
    for role, name in by_hint.items():
        if name not in here:
            raise _no_column(table, name, f"{role}s", here)
    twice = [name for name, n in Counter(by_hint.values()).items() if n > 1]
    if twice:
        raise refuse(table.file.name, f"one column is named for two things ({', '.join(twice)})", line=1)
    gone = set(by_hint)
    if hints.usage:
        gone |= {"rating", *(role for role in ("count", "event") if not getattr(hints, role))}
    if "rating" in by_hint:
        gone |= {"count", "event"} - set(by_hint)
    by_name = {name: role for role, name in by_hint.items()}
    without_gone = (Column(each.name) if each.role in gone else each for each in columns)
    return tuple(
        Column(each.name, by_name[each.name], "certain", "named by you") if each.name in by_name else each
        for each in without_gone
    )


def _no_column(table: InspectedFile, name: str, what: str, header: Sequence[str]) -> ImportRefused:
    reason = f"there is no column {shown(name)} for the {what}: the header has {', '.join(header)}"
    return refuse(table.file.name, reason, line=1)


def _score(part: Part) -> int:
    """How well a table serves as the one of ratings; 0: not at all."""
    roles = set(part.roles().values())
    if "user" not in roles or not roles & {"item", "title", "items", "clicks"}:
        return 0
    return 3 if "rating" in roles else 2 if roles & {"count", "event"} else 1


def _no_ratings(table: InspectedFile, part: Part, unread: Sequence[ImportProblem]) -> ImportRefused:
    lacking = "users" if not part.column("user") else "items"
    of_which = "items" if lacking == "users" else "users"
    option = lacking.removesuffix("s")
    columns = ", ".join(map(shown, table.written.columns[:12]))
    reason = f"it has no column of {lacking}: none has values that repeat over several {of_which} (there is {columns})"
    return ImportRefused(
        [*unread, ImportProblem(table.file.name, None, None, reason)],
        advice="Nothing was imported.",
        options=(option,),
    )


def _items_part(
    table: InspectedFile, ratings: InspectedFile, part: Part, hints: Options, is_named: bool
) -> Part | None:
    """A table as one of items, joined by the column with the largest overlap; None where it is none, or not named."""
    columns = table.written.columns
    rated = set(ratings.texts_of(part, "item")) - {""}
    own = plain_name(part.column("item"))
    shares = dict.fromkeys(columns, 0.0)
    for each in table.columns():
        ids = set(each.texts)
        if rated and len(ids) >= 0.9 * len(each.texts):
            shares[each.name] = len(rated & ids) / len(rated)
    wanted = hints.items_id or (hints.item if is_named and hints.item in columns else None)
    if wanted is not None and wanted not in columns:
        raise _no_column(table, wanted, "ids", columns)

    def joins(name: str) -> bool:
        return shares[name] >= _LEAST_OVERLAP or (not table.is_whole and plain_name(name) == own)

    def fit(name: str) -> tuple[bool, bool, float, bool]:
        return joins(name), plain_name(name) == own, round(shares[name], 2), rank_by_name(name, "item") >= 0

    identity = wanted or max(columns, key=fit)
    is_joined = joins(identity)
    if not is_joined and not is_named:
        return None
    if not is_joined and wanted is None and rank_by_name(identity, "item") < 0:
        raise refuse(
            table.file.name,
            f"no column is known to hold the ids: the header has {', '.join(map(shown, columns))}",
            line=1,
            options=("items_id",),
        )
    roles = _roles_of_items(table, identity, hints, is_named)
    if not is_named and len(roles) < 2:
        return None
    if is_named and "title" not in roles.values() and hints.title != identity:
        advice = "Say which column has the titles; where items have none, name the column of ids once more."
        reason = f"no column is known to hold the titles: the header has {', '.join(map(shown, columns))}"
        raise refuse(table.file.name, reason, line=1, advice=advice, options=("title",))
    evidence = f"its values are {100 * shares[identity]:.0f}% of the rated items" if shares[identity] else "name"
    proposed = [
        Column.of(name, roles.get(name, ""), "likely", evidence if name == identity else "") for name in columns
    ]
    return Part((table.file.name,), "items", table.written, tuple(proposed))


def _roles_of_items(table: InspectedFile, identity: str, hints: Options, is_named: bool) -> dict[str, str]:
    roles = {identity: "item"}
    by_hint = {role: getattr(hints, role) for role in ITEM_COLUMNS if getattr(hints, role)}
    by_hint |= {"utility": hints.item_utility} if hints.item_utility else {}
    by_hint |= {f"feature:{kind}": column for kind, column in hints.features.items()}
    for role, name in by_hint.items():
        if name in table.written.columns:
            roles[name] = "item" if name == identity else role
        elif is_named:
            raise _no_column(table, name, role.replace("feature:", "features of kind "), table.written.columns)
    values = table.columns()
    if not table.has_header:
        texts = [each.name for each in values if each.name not in roles and each.is_title]
        return roles | ({texts[0]: "title"} if texts and "title" not in by_hint else {})
    hinted = {*by_hint, *(("author",) if "feature:author" in by_hint else ())}
    return roles | facts_by_name(values, roles, lambda _each, role: role not in hinted)


def _users_part(table: InspectedFile, ratings: InspectedFile, part: Part) -> Part | None:
    """A table as one of users with attributes; None where it is none."""
    known = set(ratings.texts_of(part, "user"))
    values = table.columns()
    for each in values:
        is_user = plain_name(each.name) == plain_name(part.column("user")) or rank_by_name(each.name, "user") >= 0
        ids = set(each.texts)
        if not is_user or len(ids) < len(each.texts) or len(known & ids) < _LEAST_OVERLAP * len(known):
            continue
        columns = [Column(each.name, "user", "likely", "name; its values are the users")]
        for candidate in values:
            if candidate is not each and 1 < len(candidate.distinct) <= _MOST_ATTRIBUTE_VALUES:
                kind = " ".join(words_of(candidate.name)) or candidate.name.lower()
                columns.append(Column(candidate.name, f"attribute:{kind}", "likely", "name"))
        return Part((table.file.name,), "users", table.written, tuple(columns)) if len(columns) > 1 else None
    return None


def _separator(tables: Mapping[str, InspectedFile], items: Part | None) -> str:
    if items is None:
        return "|"
    table = next(each for each in tables.values() if each.file.name in items.files)
    texts = [text for kind in _SPLIT_KINDS for text in table.texts_of(items, f"feature:{kind}")]
    for separator in ("|", "; ", ", ", ";", ","):
        if sum(separator in text for text in texts) * 5 > len(texts) > 0:
            return separator
    return "|"


def _finished(proposal: Proposal, source: Source, hints: Options, inspect_file: InspectFile) -> Proposal:
    """The proposal with what the sampled values show: scale, times and events, and what has to be asked."""
    part = proposal.ratings
    table = inspect_file(source.files[part.files[0].lower()], None)
    if len(table.written.columns) != len(part.written.columns) and proposal.layout in LAYOUTS:
        wanted = next(each for each in LAYOUTS[proposal.layout].files if each.use == "ratings")
        table = inspect_file(source.files[part.files[0].lower()], wanted)
    roles: dict[str, str] = {role: name for name, role in part.roles().items()}
    texts = {role: table.texts_of(part, role) for role in roles}
    questions: list[Question] = []
    doubts: list[str] = list(proposal.doubts)
    values = proposal.values
    if hints.scale is not None:
        values = replace(values, scale=text_of(hints.scale), is_observed=False)
    if hints.not_rated:
        values = replace(values, not_rated=hints.not_rated)
    is_zero_unrated = plain_name(roles.get("rating", "")) in NAMES["zero_is_unrated"]  # as is known of some names
    if is_zero_unrated and not hints.not_rated and hints.scale is None and 0.0 not in values.not_rated:
        values = replace(values, not_rated=(*values.not_rated, 0.0))
    values = replace(values, bins=hints.bins or values.bins)
    if hints.zeros == "apart":
        part = replace(
            part, columns=tuple(replace(each, role="zero") if each.role == "rating" else each for each in part.columns)
        )
        proposal = replace(proposal, is_usage=True)
    elif "rating" in texts:
        questions += _about_scale(table, part, values)
    is_said = roles.keys() & {"rating", "count", "event", "items", "clicks"} or part.written.records == "baskets"
    if proposal.is_usage and not is_said and not hints.usage and proposal.layout in GENERIC.values():
        doubts_found, open_questions = _about_usage(table, part)
        doubts += doubts_found
        questions += open_questions
    for column in part.columns if "time" not in roles else ():
        if not column.role and rank_by_name(column.name, "time") in range(2000):
            doubts.append(f"Column {column.name} is not used: its values are no times from 1990 to now.")
    written = part.written
    if "time" in texts and written.records != "sections":
        forms = time_formats_of(tuple(texts["time"][:5000])) or time_formats_of(tuple(texts["time"][:5000]), 0.5)
        is_known = bool(written.time_format) and forms != ("",)  # by the named layout
        if hints.time_format is not None:
            written = replace(written, time_format=hints.time_format)
        elif not is_known and (len(forms) == 1 or (forms and not _is_ambiguous(forms))):
            written = replace(written, time_format=forms[0])
        elif not is_known and forms:
            questions.append(_about_times(forms, roles["time"], texts["time"]))
    events = hints.events or proposal.events
    if "event" in texts:
        kinds = [name for name, _ in Counter(text.strip() for text in texts["event"] if text.strip()).most_common()]
        unknown = sorted(set(events) - set(kinds)) if table.is_whole else []
        if unknown:
            raise refuse(
                part.files[0],
                f"column {roles['event']} has no {unknown[0]!r}: it has {', '.join(kinds)}",
                options=("events",),
            )
        if not events:
            questions.append(_about_events(kinds, roles["event"], part.files[0]))
    part = replace(part, written=written)
    by_hint = [column.role for column in part.columns if column.role]
    figures: dict[str, Any] = {
        "rows": len(table.rows),
        "is_whole": table.is_whole,
        **{role: _figure(texts[role]) for role in ("user", "item") if role in texts and role in by_hint},
    }
    return replace(
        proposal,
        parts=tuple(part if each.use == "ratings" else each for each in proposal.parts),
        values=values,
        events=tuple(events),
        merges_titles=hints.merge_titles or proposal.merges_titles,
        separator=hints.feature_separator or proposal.separator,
        doubts=tuple(dict.fromkeys(doubts)),
        questions=tuple(questions),
        sample=figures,
    )


def _figure(texts: Iterable[str]) -> dict[str, int]:
    counts = Counter(text.strip() for text in texts if text.strip())
    return {"values": len(counts), "rows": counts.total()}


def _about_scale(table: InspectedFile, part: Part, values: Values) -> list[Question]:
    numbers = np.array([number for _, number in table.numbers_of(part, "rating")])
    if not len(numbers):
        return []
    distinct, counts = np.unique(numbers, return_counts=True)
    question = detect_scale(distinct, counts, values, column=part.column("rating")).question
    if question is None or question.about == "scale":
        return []  # the scale is found among all rows; stray values with their lines
    return [replace(question, text=f"{part.files[0]}: {question.text}")]


def _about_usage(table: InspectedFile, part: Part) -> tuple[list[str], list[Question]]:
    """What a table without ratings says: usage, or a question where a column of numbers may be ratings."""
    by_hint = [column.name for column in part.columns if not column.role and rank_by_name(column.name, "rating") >= 0]
    numeric = by_hint or [
        column.name
        for at, column in enumerate(part.columns)
        if not column.role and not plain_name(column.name).endswith("id") and _may_rate(table.texts(at))
    ]
    if numeric:
        text = (
            f"{part.files[0]}: no column is known to hold the ratings. Columns that may be are "
            f"{', '.join(map(shown, numeric[:6]))}; without one, each row says that the user took the item."
        )
        return [], [Question("rating", text, (*((name, name) for name in numeric[:6]), ("No ratings", "usage")))]
    return [f"{part.files[0]} has no column of ratings: each row says that the user took the item."], []


def _may_rate(texts: Sequence[str]) -> bool:
    filled = [text.strip() for text in texts if text.strip()]
    distinct = set(filled)
    return 1 < len(distinct) <= 21 and all(re.fullmatch(r"-?\d+([.,]\d+)?", text) for text in distinct)


def _is_ambiguous(forms: Sequence[str]) -> bool:
    return any(
        forms[0].startswith(twin) and any(position.startswith(swapped) for position in forms)
        for twin, swapped in TWINS.items()
    )


def _about_times(forms: Sequence[str], column: str, texts: Sequence[str]) -> Question:
    example = next(text for text in texts if text.strip())
    chosen = [forms[0], *[form for form in forms[1:] if form[:5] == TWINS.get(forms[0][:5])][:1]]
    label = {"%m": "Month first", "%d": "Day first"}
    return Question(
        "time_format",
        f"Times in column {column}, such as {shown(example)}, can begin with the day or the month.",
        tuple((label[form[:2]], form) for form in chosen),
    )


def _about_events(kinds: Sequence[str], column: str, file: str) -> Question:
    listed = ", ".join(map(shown, kinds))
    return Question(
        "events",
        f"{file}: column {column} has {listed}. Say which are imported; purchases and plays are rarely the same.",
        tuple((kind, kind) for kind in kinds),
    )
