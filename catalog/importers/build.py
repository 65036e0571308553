"""Carries out a proposal: reads the files, maps their values to ratings or usage, and checks everything in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import ImportProblem, ParsedDataset, ParsedItem, Policy, Progress, RatingScale
from catalog.importers.ids import codes_among, ordered_ids
from catalog.importers.items import FACTS, ItemNotes, items_beside_ratings, items_of_files, works
from catalog.importers.options import Options
from catalog.importers.problems import Problems
from catalog.importers.proposal import Part, Proposal, as_json
from catalog.importers.reading import read
from catalog.importers.reading.tables import Kind, Stretches, Table
from catalog.importers.rows import USED, Rows, assemble, refuse_problems
from catalog.importers.scales import ScaleFinding, detect_scale, distinct_values, text_of
from catalog.importers.sources import Source, SourceFile, open_source, refuse
from catalog.importers.summary import summary_of
from core.errors import ParameterError

_FILES_NAMED = 8
_KINDS: dict[str, Kind] = dict.fromkeys(("rating", "zero", "count", "utility", "amount", "cost"), "number")
_KINDS |= {"time": "time", "event": "name", "items": "text", "clicks": "text"}


def build(
    source: Source, proposal: Proposal, options: Options, *, policy: Policy, progress: Progress | None = None
) -> ParsedDataset:
    """The dataset of a proposal. Raises ImportRefused with everything that is wrong or contradicts the proposal."""
    part, problems = proposal.ratings, Problems()
    files = dict(source.files)
    if options.items_file is not None:
        files |= open_source(options.items_file, policy.limits).files
    by_name = {file.name: file for file in files.values()}
    notes = ItemNotes()
    listed = items_of_files(by_name, proposal, problems, notes, languages=options.languages, progress=progress)
    rows = _read(by_name, part, proposal, problems, progress)
    _join_days(rows, part, problems)
    _explode(rows, part)
    _choose_events(rows, part, proposal)
    _number_rows(rows, proposal, by_name)
    _fill_ids(rows, part)
    _divide_by_amount(rows, part, options)
    finding = _scale(rows, proposal, problems, policy)
    items = _items(rows, part, proposal, listed, policy, notes)
    if proposal.merges_titles and items is not None:
        items = _merge_titles(rows, items, notes)
    scale = finding.scale if finding is not None and finding.scale is not None else USED
    names = list(part.files)
    if len(names) > _FILES_NAMED:
        names = [f"{names[0]} to {names[-1]} ({len(names):,} files)"]
    names += [name for use in ("items", "probe") for each in proposal.parts if each.use == use for name in each.files]
    parsed = assemble(
        rows,
        items,
        scale,
        policy,
        source_format=proposal.layout,
        files=tuple(dict.fromkeys(names)),
        items_file=next((each.files[0] for each in proposal.parts if each.use == "items"), part.files[0]),
        warnings=[*proposal.doubts, *rows.warnings, *notes.warnings],
    )
    mapping: dict[str, Any] = {}
    if finding is not None:
        parsed, mapping = _mapped(parsed, finding, proposal)
    if (probe := proposal.part("probe")) is not None:
        parsed = _with_probe(parsed, by_name[probe.files[0]], probe, problems)
    parsed = replace(parsed, user_attributes=_attributes(parsed, by_name, proposal, notes))
    summary, warnings = summary_of(parsed, finding, notes, proposal)
    report = replace(
        parsed.report,
        warnings=(*parsed.report.warnings, *warnings),
        summary=summary,
        mapping=mapping,
        recipe=as_json(proposal),
    )
    return replace(parsed, report=report)


def _read(
    files: Mapping[str, SourceFile], part: Part, proposal: Proposal, problems: Problems, progress: Progress | None
) -> Rows:
    roles = part.roles()
    id_kind: Kind = "whole" if proposal.has_whole_ids else "id"
    has_names = bool(part.column("title"))
    kinds: dict[str, Kind] = {}
    for name, role in roles.items():
        if role in ("user", "item"):
            kinds[name] = "name" if role == "item" and has_names else id_kind
        elif role in _KINDS:
            kinds[name] = _KINDS[role]
        elif role.startswith("time:"):
            kinds[name] = "whole"
        elif role in FACTS or role.startswith("feature:"):
            kinds[name] = "text"
    if part.written.records in ("sections", "baskets", "matrix"):
        kinds = {
            name: kinds[name]
            for name in sorted(kinds, key=lambda name: [column.name for column in part.columns].index(name))
        }
    tables = [(read(files[name], part.written, kinds, problems, progress=progress), name) for name in part.files]
    table = tables[0][0]
    if len(tables) > 1:
        lines = Stretches.joined([(len(each), each.lines, name) for each, name in tables])
        table = Table(
            name=part.files[0],
            columns={name: np.concatenate([each.columns.pop(name) for each, _ in tables]) for name in kinds},
            lines=lines,
            rows_read=sum(each.rows_read for each, _ in tables),
            lacks_final_newline=any(each.lacks_final_newline for each, _ in tables),
        )
    of_rows = ("user", "item", "time", "utility", "count", *(() if proposal.is_usage else ("rating",)))
    rows = Rows(table, {role: name for role in of_rows if (name := part.column(role))}, problems)
    if zero := part.column("zero"):
        reason = "it is rated, and only what is not was asked for"
        rows.keep(rows.table.columns[zero] == 0, zero, "rated, where the unrated are imported apart", reason)
    return rows


def _join_days(rows: Rows, part: Part, problems: Problems) -> None:
    import pandas as pd

    names = {unit: part.column(f"time:{unit}") for unit in ("year", "month", "day")}
    if not all(names.values()):
        return
    table = rows.table
    moments = pd.to_datetime(pd.DataFrame({unit: table.columns[name] for unit, name in names.items()}), errors="coerce")
    is_day = moments.notna().to_numpy()

    def date_problem(row: int) -> ImportProblem:
        reason = "-".join(str(table.columns[name][row]) for name in names.values()) + " is not a calendar date"
        return table.problem(row, names["day"], reason)

    problems.add_rows("no day", np.flatnonzero(~is_day), date_problem)
    table.columns["time"] = np.zeros(len(table), dtype=np.int64)
    table.columns["time"][is_day] = moments[is_day].to_numpy(dtype="datetime64[s]").astype(np.int64)
    rows.table, rows.names["time"] = table.selected(is_day), "time"


def _explode(rows: Rows, part: Part) -> None:
    """A row for each item of a list, and for each one that was clicked ("ID-1")."""
    lists, clicks = part.column("items"), part.column("clicks")
    if not lists and not clicks:
        return
    table = rows.table
    owners: list[int] = []
    items: list[str] = []
    columns = [(table.columns[name].tolist(), is_click) for name, is_click in ((lists, False), (clicks, True)) if name]
    for row in range(len(table)):
        for texts, is_click in columns:
            for item in texts[row].split():
                if is_click:
                    item, _, clicked = item.rpartition("-")
                    if clicked != "1":
                        continue
                owners.append(row)
                items.append(item)
    at = np.array(owners, dtype=np.int64)
    lines = np.array([table.lines.line(row) for row in range(len(table))], dtype=np.int64)[at]
    exploded = {name: column[at] for name, column in table.columns.items() if name not in (lists, clicks)}
    rows.table = Table(
        {**exploded, "item": np.array(items, dtype=object)},
        Stretches.of(lines),
        len(items),
        table.name,
        table.lacks_final_newline,
    )
    rows.names["item"] = "item"


def _choose_events(rows: Rows, part: Part, proposal: Proposal) -> None:
    column = part.column("event")
    if column:
        chosen = np.isin(rows.table.columns[column].astype(str), proposal.events)
        rows.keep(chosen, column, "other event", "the event {value} is not imported")
    if "count" in rows.names:
        rows.keep(rows.column("count") > 0, rows.names["count"], "no use", "{value} is no use")


def _number_rows(rows: Rows, proposal: Proposal, files: Mapping[str, SourceFile]) -> None:
    """Ids in place of numbers of rows of another file."""
    for use, column in (("users", rows.names["user"]), ("items", rows.names.get("item", ""))):
        part = next((each for each in proposal.parts if each.use == use and each.is_numbered), None)
        if part is None:
            continue
        name = part.column(use.removesuffix("s"))
        ids = read(files[part.files[0]], part.written, {name: "id"}, Problems()).columns[name]
        numbers = rows.table.columns[column].astype(np.int64)
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= len(ids)):
            raise refuse(
                rows.table.name,
                f"column {column} names row {numbers.max()} of {part.files[0]}, which has {len(ids):,}",
            )
        rows.table.columns[column] = ids.astype(object)[numbers]


def _fill_ids(rows: Rows, part: Part) -> None:
    """Names in place of empty ids; title and author together where items have no id."""
    title, item, author = part.column("title"), part.column("item"), part.column("author")
    columns = rows.table.columns
    if not title:
        return
    titles = [text.strip() for text in columns[title].tolist()]
    if not item:
        authors = [text.strip() for text in columns[author].tolist()] if author else [""] * len(titles)
        first: dict[str, str] = {}
        works = Counter(title for title, _ in set(zip(titles, authors, strict=True)))
        for name, by in zip(titles, authors, strict=True):
            first.setdefault(name, by)
        ids = [
            name if works[name] == 1 or not by else f"{name} ({by})" for name, by in zip(titles, authors, strict=True)
        ]
        item = rows.names["item"] = "item"
    else:
        ids = [str(each) or name for each, name in zip(columns[item].tolist(), titles, strict=True)]
    columns[item] = np.array([text[:100] for text in ids], dtype=object)
    is_named = np.array([bool(text) for text in ids], dtype=np.bool_)
    if not is_named.all():
        rows.keep(is_named, item, "no id", "neither an id nor a title is there")


def _divide_by_amount(rows: Rows, part: Part, options: Options) -> None:
    """What one piece was worth, where rows have amounts; Ta-Feng's, as price or as profit."""
    amount, cost, paid = part.column("amount"), part.column("cost"), rows.names.get("utility")
    if not amount or paid is None:
        return
    worth = options.utility or "price"
    if worth not in ("price", "profit"):
        raise ParameterError(f"The utility is {worth!r}: it can be 'price' or 'profit'.")
    rows.keep(rows.table.columns[amount] > 0, amount, "no sale", "{value} pieces is no sale")
    columns = rows.table.columns
    total = columns[paid].astype(np.float64) - (columns[cost] if worth == "profit" and cost else 0.0)
    columns[paid] = total / columns[amount]


def _scale(rows: Rows, proposal: Proposal, problems: Problems, policy: Policy) -> ScaleFinding | None:
    """The scale of all ratings; rows that are none are set aside. Raises ImportRefused for what has to be asked."""
    rating = rows.names.get("rating")
    if rating is None or not len(rows.table):
        return None
    values = rows.table.columns[rating]
    distinct, counts = distinct_values(values)
    finding = detect_scale(distinct, counts, proposal.values, column=rating)
    if finding.question is not None:
        refuse_problems(problems, policy, is_usage=False)  # before a scale is sought in what is left
        text = finding.question.text
        if finding.outliers:
            stray = np.flatnonzero(np.isin(np.round(values.astype(np.float64), 6), np.round(finding.outliers, 6)))
            lines = ", ".join(str(rows.table.lines.line(int(row))) for row in stray[:3])
            text = text.replace(
                "{line}", f"({'line' if len(stray) == 1 else 'lines'} {lines}{', …' if len(stray) > 3 else ''})"
            )
        file = rows.table.name
        raise refuse(
            file,
            text.removeprefix(f"{file}: ").rstrip("."),
            advice="Nothing was imported.",
            options=(finding.question.about,),
        )
    if finding.not_rated and finding.scale is not None:
        marks = np.asarray(finding.not_rated)
        is_mark = np.isin(values.astype(np.float64), marks)
        rows.keep(~is_mark, rating, "not rated", "{value} says that the item was not rated")
        if any(mark not in proposal.values.not_rated for mark in finding.not_rated):
            listed = " and ".join(f"{mark:g}" for mark in finding.not_rated)
            rows.warnings.append(
                f"{int(is_mark.sum()):,} rows with {listed} in column {rating} are beyond the scale of "
                f"{finding.scale.low:g} to {finding.scale.high:g}: they were taken as not rated and left out."
            )
    return finding


def _items(
    rows: Rows, part: Part, proposal: Proposal, listed: Mapping[str, ParsedItem], policy: Policy, notes: ItemNotes
) -> tuple[ParsedItem, ...] | None:
    """The items: those of the files of items, and those that are only rated, with the facts among the ratings."""
    has_facts = any(role in FACTS or role.startswith("feature:") for role in part.roles().values())
    if not listed and not has_facts:
        return None
    if listed and (proposal.is_complete or policy.fixes("unknown item")):
        return tuple(listed.values())
    ids = rows.column("item")
    of_rows = items_beside_ratings(rows.table, part, proposal, ids, notes) if has_facts else {}
    rated = ordered_ids(ids)[0].tolist()
    alone = [key for key in rated if key and key not in listed]
    if listed and alone:
        file = next(each.files[0] for each in proposal.parts if each.use == "items")
        notes.warnings.append(
            f"{len(alone):,} rated items are not in {file}: without other facts, their ids are their titles."
        )
    return (*listed.values(), *(of_rows.get(key) or ParsedItem(key, key) for key in alone))


def _merge_titles(rows: Rows, items: tuple[ParsedItem, ...], notes: ItemNotes) -> tuple[ParsedItem, ...]:
    first: dict[str, str] = {}
    for same in works(items).values():
        first.update((item.external_id, same[0].external_id) for item in same[1:])
    ids = rows.column("item")
    known, codes = ordered_ids(ids)
    rows.table.columns[rows.names["item"]] = np.array([first.get(key, key) for key in known.tolist()], ids.dtype)[codes]
    if first:
        items_were = "item was" if len(first) == 1 else "items were"
        notes.warnings.append(f"{len(first):,} {items_were} merged into another one with the same title.")
    return tuple(item for item in items if item.external_id not in first)


def _mapped(parsed: ParsedDataset, finding: ScaleFinding, proposal: Proposal) -> tuple[ParsedDataset, dict[str, Any]]:
    """The dataset with its values on a scale above 0, and how they came there."""
    scale, values, bins = parsed.scale, parsed.values, proposal.values.bins
    mapping: dict[str, Any] = {"source_scale": text_of(scale)}
    if finding.not_rated and finding.scale is not None:
        mapping["not_rated"] = [float(mark) for mark in finding.not_rated]
    if bins:
        width = (scale.high - scale.low) / bins
        # The highest value belongs to the last bin, although it lies at the border to one more.
        values = np.minimum(np.floor((values - scale.low) / width) + 1, bins).astype(np.float32)
        mapping["bins"], scale = bins, RatingScale(1.0, float(bins), 1.0, is_declared=scale.is_declared)
    add = 0 if bins else finding.add
    if add:
        mapping["add"] = add
        values, scale = values + np.float32(add), scale.shifted(add)
    if not scale.step:
        # Adding in 32 bits may leave the ends of a scale without steps by a last digit.
        values = np.clip(values, scale.low, scale.high)
    report = replace(parsed.report, scale=str(scale))
    return replace(parsed, values=values, scale=scale, report=report), mapping


def _attributes(
    parsed: ParsedDataset, files: Mapping[str, SourceFile], proposal: Proposal, notes: ItemNotes
) -> dict[str, NDArray[np.str_]]:
    """What the file of users says of each user, by kind."""
    part = proposal.part("users")
    kinds = {name: role.partition(":")[2] for name, role in part.roles().items() if ":" in role} if part else {}
    if part is None or not kinds:
        return {}
    problems = Problems()
    columns: dict[str, Kind] = {part.column("user"): "id", **dict.fromkeys(kinds, "text")}
    table = read(files[part.files[0]], part.written, columns, problems)
    if problems.total:
        notes.warnings.append(f"{problems.total:,} rows of {part.files[0]} cannot be read and are left out.")
    users = codes_among(parsed.user_ids.tolist(), table.columns[part.column("user")])
    attributes = {}
    for name, kind in kinds.items():
        values = np.full(parsed.n_users, "", dtype=object)
        values[users[users >= 0]] = [text.strip() for text in table.columns[name][users >= 0].tolist()]
        attributes[kind] = values.astype(np.str_)
    return attributes


def _with_probe(parsed: ParsedDataset, file: SourceFile, part: Part, problems: Problems) -> ParsedDataset:
    """The dataset with the pairs of a probe list that it has ratings of."""
    columns = read(file, part.written, dict.fromkeys(part.roles(), "whole"), problems).columns
    problems.refuse("Correct the probe list. Nothing was imported.")
    pairs = np.stack([columns[part.column("user")], columns[part.column("item")]], axis=1).astype(np.int64)
    users = codes_among(parsed.user_ids.tolist(), pairs[:, 0]).astype(np.int64)
    items = codes_among([item.external_id for item in parsed.items], pairs[:, 1]).astype(np.int64)
    rated = np.sort(parsed.users.astype(np.int64) * parsed.n_items + parsed.items_rated)
    keys = users * parsed.n_items + items
    nearest = np.minimum(np.searchsorted(rated, keys), len(rated) - 1)
    is_rated = (users >= 0) & (items >= 0) & (rated[nearest] == keys)
    pairs_kept = np.unique(keys[is_rated])
    note = (
        f"{file.name} names {len(pairs):,} pairs; {len(pairs_kept):,} of them, each once, are kept as the probe list."
    )
    if not is_rated.all():
        note += f" {int((~is_rated).sum()):,} have no rating here."
    report = replace(parsed.report, warnings=(*parsed.report.warnings, note))
    probe = np.stack([pairs_kept // parsed.n_items, pairs_kept % parsed.n_items], axis=1)
    return replace(parsed, probe=probe, report=report)
