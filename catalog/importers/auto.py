"""Which importer a source is for, and the one door to all of them."""

from __future__ import annotations

from pathlib import Path

from catalog.importers.base import ParsedDataset, Policy, Progress, UnsupportedOptions
from catalog.importers.formats import FORMATS
from catalog.importers.options import Options
from catalog.importers.sources import Source, open_source, refuse
from core.errors import ParameterError

__all__ = ["FORMATS", "detect", "parse"]

_TABLES = ("parquet", "jsonlines", "delimited")


def detect(path: Path, policy: Policy | None = None) -> str:
    """The format of a folder, an archive or a file, by the names of its files. Returns one of `FORMATS`. Raises
    ImportRefused: nothing known is there.
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
    """Read and check a dataset. Raises ParameterError for an unknown format; an option that the format does not take.
    Raises ImportRefused with everything that is wrong with the source, by file, line and reason; nothing was changed.

    `path` is a folder, a ZIP archive, or one file (also gzipped). By default everything doubtful is refused. Which
    options a format takes is its own. `progress` is called with a file's name and the rows read of it so far.
    """
    policy = policy or Policy()
    options = options or Options()
    if format not in ("auto", *FORMATS):
        raise ParameterError(f"There is no format {format!r}: the formats are auto, {', '.join(FORMATS)}.")
    source = open_source(path, policy.limits)
    if format == "auto":
        format = _detected(source, options)
    chosen = options.changed()
    untaken = sorted(chosen - FORMATS[format].options)
    if untaken:
        raise UnsupportedOptions(format, untaken, sorted(FORMATS[format].options))
    return FORMATS[format].parse(source, options, policy=policy, progress=progress)


def _detected(source: Source, options: Options | None = None) -> str:
    """The format that fits; options that name columns say that the source is a table, whatever it is called."""
    chosen = options.changed() if options is not None else frozenset()
    fixed = [name for name in FORMATS if name not in _TABLES and chosen <= FORMATS[name].options]
    matches = [name for name in fixed if _is(name, source)]
    # Of two formats whose files are there, the one that needs more of them is meant.
    matches = [
        name for name in matches if not any(set(FORMATS[name].needs) < set(FORMATS[more].needs) for more in matches)
    ]
    if len(matches) > 1:
        raise refuse(
            source.name, f"it looks like {' and '.join(matches)} at once: say which format it is", options=("format",)
        )
    if matches:
        return matches[0]
    if len(source.files) > 1 and not chosen:
        for name in fixed:
            missing = [file for file in FORMATS[name].needs if file not in source.files]
            if len(missing) == 1 and len(FORMATS[name].needs) == 2:
                raise refuse(missing[0], f"the file is missing from {source.name}, which looks like {name}")
    tables = [name for name in _TABLES if FORMATS[name].is_here(source)]
    if len(tables) == 1:
        return tables[0]
    here = ", ".join(file.name for file in list(source.files.values())[:8]) or "nothing"
    raise refuse(
        source.name,
        f"no dataset is recognised in it (there is {here})",
        advice="Give the folder or archive of a known dataset, or one table and its columns' names.",
    )


def _is(name: str, source: Source) -> bool:
    needs = FORMATS[name].needs
    return all(file in source.files for file in needs) if needs else FORMATS[name].is_here(source)
