"""The formats that are read: how each is known, what it takes, and a sentence about it. The only list of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from catalog.importers.base import ParsedDataset
from catalog.importers.bookcrossing import RATINGS as BOOKCROSSING
from catalog.importers.bookcrossing import parse_bookcrossing
from catalog.importers.delimited import parse_table
from catalog.importers.fimi import SUFFIXES as BASKETS
from catalog.importers.fimi import parse_fimi
from catalog.importers.movielens import parse_1m, parse_10m, parse_100k, parse_csv
from catalog.importers.netflix import RATINGS as NETFLIX
from catalog.importers.netflix import parse_netflix
from catalog.importers.options import Options
from catalog.importers.sheets import PARQUET, RECORDS
from catalog.importers.sources import Source, SourceFile, refuse
from catalog.importers.tafeng import MERGED, MONTHS, parse_tafeng

TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_NO_OPTIONS: frozenset[str] = frozenset()
_TEXT_OPTIONS = frozenset({"delimiter", "decimal", "encoding", "has_header"})
_TABLE_OPTIONS = frozenset(option.name for option in fields(Options)) - {"zeros", "languages"}


@dataclass(frozen=True, slots=True)
class Format:
    """A format."""

    title: str
    sentence: str  # what it is, and what becomes of it
    parse: Callable[..., ParsedDataset]  # source, options, policy and progress to the dataset
    options: frozenset[str] = _NO_OPTIONS  # the fields of `Options` that it takes
    needs: tuple[str, ...] = ()  # the files that tell it, all of them; empty where `is_here` tells it
    # Whether a source is of this format, where the names of its files are not fixed.
    is_here: Callable[[Source], bool] = lambda source: False


def only_file(source: Source, suffixes: tuple[str, ...]) -> SourceFile | None:
    """The one file of a source whose name ends in one of `suffixes`; None where there are none or several."""
    matches = [file for name, file in source.files.items() if name.endswith(suffixes)]
    return matches[0] if len(matches) == 1 else None


def _table(source_format: str, suffixes: tuple[str, ...]) -> Callable[..., ParsedDataset]:
    def parse(source: Source, options: Options, **settings: object) -> ParsedDataset:
        file = only_file(source, suffixes)
        if file is None and len(source.files) == 1:
            (file,) = source.files.values()  # whatever its name, where the format is named
        if file is None:
            here = ", ".join(member.name for member in list(source.files.values())[:8]) or "nothing"
            raise refuse(source.name, f"one table is needed (there is {here})", advice="Give the file itself.")
        return parse_table(source_format, file, options, **settings)  # type: ignore[arg-type]  # as `Format.parse`

    return parse


def _any(source: Source, matches: Callable[[str], object]) -> bool:
    return any(matches(name) for name in source.files)


FORMATS: dict[str, Format] = {
    "movielens-csv": Format(
        "MovieLens latest, 20M, 25M, 32M",
        "ratings.csv and movies.csv, with tags.csv and links.csv where they are there: half stars from 0.5 to 5.",
        parse_csv,
        needs=("ratings.csv", "movies.csv"),
    ),
    "movielens-10m": Format(
        "MovieLens 10M",
        "ratings.dat, movies.dat and tags.dat, fields parted by '::': half stars from 0.5 to 5.",
        parse_10m,
        needs=("ratings.dat", "movies.dat", "tags.dat"),
    ),
    "movielens-1m": Format(
        "MovieLens 1M",
        "ratings.dat and movies.dat, fields parted by '::': whole stars from 1 to 5.",
        parse_1m,
        needs=("ratings.dat", "movies.dat"),
    ),
    "movielens-100k": Format(
        "MovieLens 100K",
        "u.data, u.item and u.genre: whole stars from 1 to 5.",
        parse_100k,
        needs=("u.data", "u.item"),
    ),
    "netflix": Format(
        "Netflix Prize",
        "mv_*.txt (in training_set) or combined_data_*.txt, and movie_titles; the pairs of probe.txt are kept as the "
        "probe list.",
        parse_netflix,
        is_here=lambda source: _any(source, NETFLIX.fullmatch),
    ),
    "bookcrossing": Format(
        "BookCrossing",
        "BX-Book-Ratings.csv and BX-Books.csv: 1 to 10; a 0 says that a book was used and is never a rating.",
        parse_bookcrossing,
        options=frozenset({"zeros"}),
        needs=(BOOKCROSSING,),
    ),
    "tafeng": Format(
        "Ta-Feng",
        "The merged file or D11, D12, D01 and D02: who bought what; the price (or profit) of a piece is its utility.",
        parse_tafeng,
        options=frozenset({"utility"}),
        is_here=lambda source: MERGED in source.files or _any(source, MONTHS.fullmatch),
    ),
    "fimi": Format(
        "Baskets or click streams (FIMI)",
        "One .dat file such as retail or kosarak: each line is a basket of item numbers; there are no ratings.",
        parse_fimi,
        is_here=lambda source: len(source.files) == 1 and only_file(source, BASKETS) is not None,
    ),
    "parquet": Format(
        "Parquet",
        "One .parquet file, by naming its columns.",
        _table("parquet", PARQUET),
        options=_TABLE_OPTIONS - _TEXT_OPTIONS,
        is_here=lambda source: only_file(source, PARQUET) is not None,
    ),
    "jsonlines": Format(
        "JSON Lines",
        "One .jsonl file, an object a line, by naming its keys.",
        _table("jsonlines", RECORDS),
        options=_TABLE_OPTIONS - _TEXT_OPTIONS,
        is_here=lambda source: only_file(source, RECORDS) is not None,
    ),
    "delimited": Format(
        "Any delimited text",
        "One file with a header (.csv, .tsv, .txt), by naming its columns: ratings, or baskets as long lists.",
        _table("delimited", TEXT),
        options=_TABLE_OPTIONS,
        is_here=lambda source: (
            only_file(source, TEXT) is not None
            or (len(source.files) == 1 and all("." not in file.name for file in source.files.values()))
        ),
    ),
}
