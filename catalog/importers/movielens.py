"""MovieLens in its four formats: `.csv` (latest, 20M, 25M, 32M), `.dat` (10M and 1M), and 100K.

References
----------
Harper & Konstan (2015), The MovieLens datasets: history and context, TiiS 5(4):19, doi:10.1145/2827872,
and the README of each set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from catalog.importers.base import (
    LONGEST_FEATURE,
    LONGEST_TITLE,
    ImportProblem,
    ParsedDataset,
    ParsedItem,
    Policy,
    Progress,
    RatingScale,
)
from catalog.importers.layout import Kind, Layout, Table, first_line
from catalog.importers.options import Options
from catalog.importers.problems import Problems
from catalog.importers.row_checks import RatingColumns
from catalog.importers.rows import assemble
from catalog.importers.sources import Source, SourceFile, refuse
from catalog.importers.table_reader import read_table
from catalog.importers.titles import parse_title

HALF_STARS = RatingScale(0.5, 5.0, 0.5)
WHOLE_STARS = RatingScale(1.0, 5.0, 1.0)
_RATING_KINDS: Mapping[str, Kind] = {
    "userId": "whole",
    "movieId": "whole",
    "rating": "number",
    "timestamp": "whole",
}
_TAG_KINDS: Mapping[str, Kind] = {"userId": "whole", "movieId": "whole", "tag": "text", "timestamp": "whole"}
_NO_GENRE = frozenset({"", "(no genres listed)", "unknown"})
_100K_FIELDS = ("movieId", "title", "released", "released on video", "url")


def parse_csv(source: Source, options: Options, *, policy: Policy, progress: Progress | None = None) -> ParsedDataset:
    """MovieLens latest, 20M, 25M or 32M: `ratings.csv`, `movies.csv`, perhaps `tags.csv` and `links.csv`. Raises
    ImportRefused: a missing file, other columns, or rows that the policy refuses.
    """
    return _parse("movielens-csv", source, ".csv", "utf-8", HALF_STARS, policy=policy, progress=progress)


def parse_10m(source: Source, options: Options, *, policy: Policy, progress: Progress | None = None) -> ParsedDataset:
    """MovieLens 10M: `ratings.dat`, `movies.dat` and perhaps `tags.dat`, fields separated by "::", UTF-8, half stars.
    Raises ImportRefused for a missing file, or rows that the policy refuses.
    """
    return _parse("movielens-10m", source, ".dat", "utf-8", HALF_STARS, policy=policy, progress=progress)


def parse_1m(source: Source, options: Options, *, policy: Policy, progress: Progress | None = None) -> ParsedDataset:
    """MovieLens 1M: `ratings.dat` and `movies.dat`, fields separated by "::", Latin-1, whole stars. Raises
    ImportRefused: a missing file, or rows that the policy refuses.
    """
    return _parse("movielens-1m", source, ".dat", "latin-1", WHOLE_STARS, policy=policy, progress=progress)


def _parse(
    source_format: str,
    source: Source,
    ending: str,
    encoding: str,
    scale: RatingScale,
    *,
    policy: Policy,
    progress: Progress | None,
) -> ParsedDataset:
    def layout(file: SourceFile, kinds: Mapping[str, Kind], encoding: str = "utf-8") -> Layout:
        return _csv(file, kinds) if ending == ".csv" else _plain(kinds, delimiter="::", encoding=encoding)

    ratings = source.need(f"ratings{ending}", "the ratings")
    movies = source.need(f"movies{ending}", "titles and genres")
    problems = Problems()
    kinds: dict[str, Kind] = {"movieId": "whole", "title": "text", "genres": "text"}
    table = read_table(movies, layout(movies, kinds, encoding), problems, by_line=True)
    genres = [text.split("|") for text in table.columns["genres"]]
    files = [ratings.name, movies.name]
    warnings: list[str] = []
    known = set(table.columns["movieId"].tolist())
    tags: dict[int, set[str]] = {}
    if f"tags{ending}" in source.files and scale == HALF_STARS:  # 1M has none
        file = source.files[f"tags{ending}"]
        files.append(file.name)
        tag_table = read_table(file, layout(file, _TAG_KINDS, encoding), problems, progress=progress)
        tags = _tags(file, tag_table, known, movies=movies.name, problems=problems, warnings=warnings)
    links: dict[int, tuple[tuple[str, str], ...]] = {}
    if "links.csv" in source.files and ending == ".csv":
        files.append(source.files["links.csv"].name)
        links = _links(source.files["links.csv"], known, movies.name, problems)
    items = _items(movies.name, table, genres, problems, tags=tags, links=links)
    return _assembled(
        source_format,
        files,
        ratings,
        layout(ratings, _RATING_KINDS),
        movies=movies,
        items=items,
        scale=scale,
        policy=policy,
        problems=problems,
        progress=progress,
        warnings=warnings,
    )


def parse_100k(source: Source, options: Options, *, policy: Policy, progress: Progress | None = None) -> ParsedDataset:
    """MovieLens 100K: `u.data`, `u.item` and `u.genre`, Latin-1. Raises ImportRefused for a missing file, or rows that
    the policy refuses.
    """
    ratings = source.need("u.data", "the ratings")
    movies = source.need("u.item", "titles and genres")
    names = source.need("u.genre", "the names of genres")
    problems = Problems()
    genre_table = read_table(
        names,
        _plain({"genre": "id", "number": "whole"}, delimiter="|", encoding="latin-1", is_whole=False),
        problems,
        by_line=True,
    )
    order = np.argsort(genre_table.columns["number"], kind="stable")
    genre_names = [str(genre_table.columns["genre"][row]) for row in order]
    flags: dict[str, Kind] = {f"genre {name}": "whole" for name in genre_names}
    table = read_table(
        movies,
        Layout(
            columns=(*_100K_FIELDS, *flags),
            kinds={"movieId": "whole", "title": "text", "released": "text", **flags},
            delimiter="|",
            encoding="latin-1",
            has_header=False,
            has_quotes=False,
        ),
        problems,
        by_line=True,
    )
    genres = [[name for name in genre_names if table.columns[f"genre {name}"][row] == 1] for row in range(len(table))]
    items = _items(movies.name, table, genres, problems)
    files = [ratings.name, movies.name, names.name]
    layout = _plain(_RATING_KINDS, delimiter="\t")
    return _assembled(
        "movielens-100k",
        files,
        ratings,
        layout,
        movies=movies,
        items=items,
        scale=WHOLE_STARS,
        policy=policy,
        problems=problems,
        progress=progress,
    )


def _csv(file: SourceFile, kinds: Mapping[str, Kind]) -> Layout:
    """The layout of a `.csv` whose header has exactly the given columns. Raises ImportRefused for another header."""
    header = first_line(file, "utf-8-sig")
    if header.split(",") != list(kinds):
        reason = f"the columns are {header[:200]!r} where {','.join(kinds)!r} belongs"
        raise refuse(
            file.name,
            reason,
            line=1,
            advice="Is this a MovieLens file? Others are imported as format 'delimited', by naming columns.",
        )
    return Layout(columns=tuple(kinds), kinds=kinds)


def _plain(kinds: Mapping[str, Kind], *, delimiter: str, encoding: str = "utf-8", is_whole: bool = True) -> Layout:
    """The layout of a file without header or quoting."""
    return Layout(
        columns=tuple(kinds),
        kinds=kinds,
        delimiter=delimiter,
        encoding=encoding,
        has_header=False,
        has_quotes=False,
        needs_final_newline=is_whole,
    )


def _items(
    file: str,
    table: Table,
    genres: Iterable[list[str]],
    problems: Problems,
    *,
    tags: Mapping[int, set[str]] | None = None,
    links: Mapping[int, tuple[tuple[str, str], ...]] | None = None,
) -> tuple[ParsedItem, ...]:
    """Items of a file of movies, in order of id; those that cannot be rows are problems."""
    items: dict[int, ParsedItem] = {}
    released = table.columns.get("released")
    for row, (movie, text, names) in enumerate(
        zip(table.columns["movieId"].tolist(), table.columns["title"], genres, strict=True)
    ):
        title = parse_title(text)
        problem = _misfit(movie, title.text, names, items)
        if problem is not None:
            kind, column, reason = problem
            problems.add(kind, ImportProblem(file, table.line(row), column, reason))
            continue
        year = title.year
        if year is None and released is not None and released[row][-4:].isdecimal():
            year = int(released[row][-4:])
        features = [("genre", name) for name in names if name not in _NO_GENRE]
        if year is not None:
            features.append(("decade", f"{year // 10 * 10}s"))
        features += [("alias", alias) for alias in title.aliases if len(alias) <= LONGEST_FEATURE]
        features += [("tag", tag) for tag in sorted((tags or {}).get(movie, ()))]
        items[movie] = ParsedItem(
            external_id=str(movie),
            title=title.text,
            year=year,
            features=tuple(dict.fromkeys(features)),
            links=(links or {}).get(movie, ()),
        )
    if not items:
        problems.refuse("Nothing was imported.")
    return tuple(items[movie] for movie in sorted(items))


def _misfit(movie: int, title: str, genres: list[str], items: Mapping[int, ParsedItem]) -> tuple[str, str, str] | None:
    """What keeps a movie from being a row: kind, column and reason."""
    if not title:
        return "unusable title", "title", "the title is empty"
    if len(title) > LONGEST_TITLE:
        return "unusable title", "title", f"the title has {len(title)} characters; at most {LONGEST_TITLE} are kept"
    if movie in items:
        return "listed twice", "title", f"movie {movie} was listed before"
    longest = max(map(len, genres), default=0)
    if longest > LONGEST_FEATURE:
        return "unusable genre", "genres", f"a genre has {longest} characters; at most {LONGEST_FEATURE} are kept"
    return None


def _tags(
    file: SourceFile, table: Table, known: set[int], *, movies: str, problems: Problems, warnings: list[str]
) -> dict[int, set[str]]:
    """Tags of each movie, lower-cased; those that are too long are left out, and said to be."""
    tags: dict[int, set[str]] = {}
    too_long = 0
    for row, (movie, text) in enumerate(zip(table.columns["movieId"].tolist(), table.columns["tag"], strict=True)):
        if movie not in known:
            reason = f"movie {movie} is not in {movies}"
            problems.add("unknown item", ImportProblem(file.name, table.line(row), "movieId", reason))
            continue
        tag = " ".join(text.lower().split())
        if len(tag) > LONGEST_FEATURE:
            too_long += 1
        elif tag:
            tags.setdefault(movie, set()).add(tag)
    if too_long:
        warnings.append(f"{too_long:,} tags longer than {LONGEST_FEATURE} characters were left out.")
    return tags


def _links(
    file: SourceFile, known: set[int], movies: str, problems: Problems
) -> dict[int, tuple[tuple[str, str], ...]]:
    """Ids of each movie elsewhere."""
    layout = _csv(file, {"movieId": "whole", "imdbId": "text", "tmdbId": "text"})
    table = read_table(file, layout, problems, by_line=True)
    links: dict[int, tuple[tuple[str, str], ...]] = {}
    for row, movie in enumerate(table.columns["movieId"].tolist()):
        if movie not in known:
            reason = f"movie {movie} is not in {movies}"
            problems.add("unknown item", ImportProblem(file.name, table.line(row), "movieId", reason))
            continue
        pairs = (
            ("imdb", table.columns["imdbId"][row].strip()),
            ("tmdb", table.columns["tmdbId"][row].strip()),
        )
        links[movie] = tuple(pair for pair in pairs if pair[1])
    return links


def _assembled(
    source_format: str,
    files: list[str],
    ratings: SourceFile,
    layout: Layout,
    *,
    movies: SourceFile,
    items: tuple[ParsedItem, ...],
    scale: RatingScale,
    policy: Policy,
    problems: Problems,
    progress: Progress | None,
    warnings: Iterable[str] = (),
) -> ParsedDataset:
    return assemble(
        source_format=source_format,
        files=files,
        table=read_table(ratings, layout, problems, progress=progress),
        columns=RatingColumns(ratings.name, "userId", "movieId", "rating", "timestamp", movies.name),
        items=items,
        scale=scale,
        policy=policy,
        problems=problems,
        warnings=tuple(warnings),
    )
