"""The Netflix Prize: ratings under a heading for each movie, in many files or four, titles, and the probe list.

References
----------
Bennett & Lanning (2007), The Netflix Prize, KDD Cup and Workshop; the README of the set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import (
    LONGEST_TITLE,
    ImportProblem,
    ParsedDataset,
    ParsedItem,
    Policy,
    Progress,
    RatingScale,
)
from catalog.importers.ids import codes_among
from catalog.importers.layout import LONGEST_LINE, Stretches, Table, shown
from catalog.importers.options import Options
from catalog.importers.problems import Problems
from catalog.importers.row_checks import RatingColumns
from catalog.importers.rows import assemble
from catalog.importers.sections import COLUMNS, HEADING, MOST_ID, Part, read_sections
from catalog.importers.sources import Source, SourceFile, refuse

WHOLE_STARS = RatingScale(1.0, 5.0, 1.0)
RATINGS = re.compile(r"(mv_\d{7}|combined_data_\d+)\.txt(\.gz)?")
TITLES = ("movie_titles.txt", "movie_titles.csv")
_FILES_NAMED = 8


def parse_netflix(
    source: Source, options: Options, *, policy: Policy, progress: Progress | None = None
) -> ParsedDataset:
    """`mv_*.txt` (in `training_set`) or `combined_data_*.txt`, `movie_titles`, perhaps `probe.txt`. Raises
    ImportRefused: a missing file, or rows that the policy refuses.
    """
    ratings = [file for name, file in sorted(source.files.items()) if RATINGS.fullmatch(name)]
    if not ratings:
        reason = f"the file is missing from {source.name}: it, or mv_0000001.txt and so on, holds the ratings"
        raise refuse("combined_data_1.txt", reason)
    titles = next((source.files[name] for name in TITLES if name in source.files), None)
    if titles is None:
        raise refuse(TITLES[0], f"the file is missing from {source.name}: it holds the titles")
    problems = Problems()
    items = _titles(titles, problems)
    parts: list[Part] = []
    rows_read = 0
    for file in ratings:
        for part in read_sections(file, problems):
            parts.append(part)
            rows_read += part.rows_read
            if progress is not None:
                progress(file.name, rows_read)
    lines = Stretches.joined([(len(part.columns["user"]), part.lines, part.file) for part in parts])
    table = Table(
        columns={name: np.concatenate([part.columns.pop(name) for part in parts]) for name in COLUMNS},
        lines=lines,
        is_bulk_read=False,
        rows_read=rows_read,
        ends_open=False,
    )
    names = [file.name for file in ratings]
    if len(names) > _FILES_NAMED:
        names = [f"{names[0]} to {names[-1]} ({len(names):,} files)"]
    probe = source.files.get("probe.txt")
    pairs = None if probe is None else _probe(probe, problems)
    parsed = assemble(
        source_format="netflix",
        files=[*names, titles.name, *([] if probe is None else [probe.name])],
        table=table,
        columns=RatingColumns(ratings[0].name, "user", "movie", "rating", "time", titles.name),
        items=items,
        scale=WHOLE_STARS,
        policy=policy,
        problems=problems,
    )
    return parsed if pairs is None else _with_probe(parsed, pairs)


def _numbered(file: SourceFile) -> Iterator[tuple[int, bytes]]:
    """The non-empty lines of a small file with their numbers, without line ends."""
    with file.open() as (stream, _):
        number = 0
        while raw := stream.readline(LONGEST_LINE):
            number += 1
            if len(raw) == LONGEST_LINE:
                raise refuse(file.name, "the line does not end: this is no table", line=number)
            if raw.strip():
                yield number, raw.rstrip(b"\r\n")
        if number == 0:
            raise refuse(file.name, "the file is empty", line=1)


def _titles(file: SourceFile, problems: Problems) -> tuple[ParsedItem, ...]:
    """The movies: "1,2003,Dinosaur Planet", Latin-1, the title with commas of its own, the year perhaps "NULL"."""
    items: dict[int, ParsedItem] = {}
    for number, raw in _numbered(file):
        fields = [field.strip() for field in raw.decode("latin-1").split(",", 2)]
        kind, column, reason = _title_problem(fields, items)
        if kind:
            problems.add(kind, ImportProblem(file.name, number, column, reason))
            continue
        movie, year, title = fields
        released = int(year) if year != "NULL" else None
        features = () if released is None else (("decade", f"{released // 10 * 10}s"),)
        items[int(movie)] = ParsedItem(str(int(movie)), title, year=released, features=features)
    if not items:
        problems.refuse("Nothing was imported.")
    return tuple(items[movie] for movie in sorted(items))


def _title_problem(fields: list[str], items: dict[int, ParsedItem]) -> tuple[str, str | None, str]:
    """The problem of a line of titles: kind (empty if there is none), column, reason."""
    if len(fields) < 3:
        return "missing field", ("year", "title")[len(fields) - 1], f"the line has {len(fields)} of 3 fields"
    movie, year, title = fields
    if not re.fullmatch(r"\d{1,9}", movie):
        return "not a number", "movie", f"{shown(movie)} is not a whole number"
    if int(movie) in items:
        return "listed twice", "movie", f"movie {int(movie)} was listed before"
    if year != "NULL" and not re.fullmatch(r"\d{4}", year):
        return "unusable year", "year", f"{shown(year)} is no year"
    if not title or "\0" in title:
        return "unusable title", "title", "the title is empty" if not title else "the title holds a NUL character"
    if len(title) > LONGEST_TITLE:
        return "unusable title", "title", f"the title has {len(title)} characters; at most {LONGEST_TITLE} are kept"
    return "", None, ""


def _probe(file: SourceFile, problems: Problems) -> NDArray[np.int64]:
    """The users and movies of the probe list, shape (n_pairs, 2), by their own numbers."""
    pairs: list[tuple[int, int]] = []
    movie: int | None = None
    for number, raw in _numbered(file):
        text = raw.decode("latin-1").strip()
        heading = HEADING.fullmatch(text)
        if heading is not None:
            movie = int(heading[1])
        elif not re.fullmatch(r"\d{1,10}", text) or int(text) >= MOST_ID:
            reason = f"{shown(text)} is neither a user's number nor a movie's with a colon"
            problems.add("not a number", ImportProblem(file.name, number, "user", reason))
        elif movie is None:
            problems.add("no heading", ImportProblem(file.name, number, None, "no movie's heading comes before it"))
        else:
            pairs.append((int(text), movie))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _with_probe(parsed: ParsedDataset, pairs: NDArray[np.int64]) -> ParsedDataset:
    """The dataset with the pairs of the list that it has ratings of."""
    users = codes_among(parsed.user_ids.tolist(), pairs[:, 0]).astype(np.int64)
    items = codes_among([item.external_id for item in parsed.items], pairs[:, 1]).astype(np.int64)
    rated = np.sort(parsed.users.astype(np.int64) * parsed.n_items + parsed.items_rated)
    keys = users * parsed.n_items + items
    nearest = np.minimum(np.searchsorted(rated, keys), len(rated) - 1)
    is_rated = (users >= 0) & (items >= 0) & (rated[nearest] == keys)
    pairs_kept = np.unique(keys[is_rated])
    note = f"probe.txt names {len(pairs):,} pairs; {len(pairs_kept):,} of them, each once, are kept as the probe list."
    if not is_rated.all():
        note += f" {int((~is_rated).sum()):,} have no rating here."
    report = replace(parsed.report, warnings=(*parsed.report.warnings, note))
    probe = np.stack([pairs_kept // parsed.n_items, pairs_kept % parsed.n_items], axis=1)
    return replace(parsed, probe=probe, report=report)
