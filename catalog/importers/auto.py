"""Which importer a source is for, and the one door to all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from catalog.importers.base import ParsedDataset, Policy, Progress
from catalog.importers.delimited import Options, parse_delimited
from catalog.importers.movielens import parse_1m, parse_100k, parse_csv
from catalog.importers.sources import Source, SourceFile, open_source, refuse
from core.errors import ParameterError

# Each format by the two files that tell it.
_MOVIELENS: Mapping[str, tuple[tuple[str, str], Callable[..., ParsedDataset]]] = {
    "movielens-csv": (("ratings.csv", "movies.csv"), parse_csv),
    "movielens-1m": (("ratings.dat", "movies.dat"), parse_1m),
    "movielens-100k": (("u.data", "u.item"), parse_100k),
}
FORMATS = (*_MOVIELENS, "delimited")
_TABLES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")


def detect(path: Path, policy: Policy | None = None) -> str:
    """The format of a folder, an archive or a file, by the names of its files.

    Parameters
    ----------
    path : Path
    policy : Policy, optional
        For its limits.

    Returns
    -------
    str
        One of `FORMATS`.

    Raises
    ------
    ImportRefused
        Nothing known is there.
    """
    policy = policy or Policy()
    return _detected(open_source(path, policy.limits))


def parse(
    path: Path,
    *,
    format: str = "auto",
    policy: Policy | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> ParsedDataset:
    """Read and check a dataset.

    Parameters
    ----------
    path : Path
        A folder, a ZIP archive, or one file (also gzipped).
    format : str
        "auto", or one of `FORMATS`.
    policy : Policy, optional
        By default everything doubtful is refused.
    options : Options, optional
        Names of columns, for "delimited".
    progress : callable, optional
        Called with a file's name and the rows read of it so far.

    Returns
    -------
    ParsedDataset

    Raises
    ------
    ParameterError
        An unknown format; options for a format that has none.
    ImportRefused
        Whatever is wrong with the source, by file, line and reason; nothing was changed.
    """
    policy = policy or Policy()
    if format not in ("auto", *FORMATS):
        raise ParameterError(f"There is no format {format!r}: the formats are auto, {', '.join(FORMATS)}.")
    source = open_source(path, policy.limits)
    if format == "auto":
        format = "delimited" if options is not None else _detected(source)
    if format in _MOVIELENS:
        if options is not None:
            raise ParameterError(f"Format {format} has no options: its columns are fixed.")
        return _MOVIELENS[format][1](source, policy=policy, progress=progress)
    return parse_delimited(_table(source), options or Options(), policy=policy, progress=progress)


def _detected(source: Source) -> str:
    found = [name for name, (needed, _) in _MOVIELENS.items() if all(file in source.files for file in needed)]
    if len(found) > 1:
        raise refuse(source.name, f"it looks like {' and '.join(found)} at once: say which format it is")
    if found:
        return found[0]
    if len(source.files) > 1:
        for name, (needed, _) in _MOVIELENS.items():
            missing = [file for file in needed if file not in source.files]
            if len(missing) == 1:
                raise refuse(missing[0], f"the file is missing from {source.name}, which looks like {name}")
    _table(source)
    return "delimited"


def _table(source: Source) -> SourceFile:
    """The only file of delimited text in a source."""
    tables = [file for name, file in source.files.items() if name.endswith(_TABLES)]
    if len(source.files) == 1 and not tables:
        tables = [file for file in source.files.values() if "." not in file.name]
    if len(tables) == 1:
        return tables[0]
    here = ", ".join(file.name for file in list(source.files.values())[:8]) or "nothing"
    raise refuse(
        source.name,
        f"no dataset is recognised in it (there is {here})",
        advice="Give a MovieLens folder or archive, or one file of delimited text and its columns' names.",
    )
