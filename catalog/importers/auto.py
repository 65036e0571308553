"""The entry point to every format: what a source is, and the dataset in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from catalog.importers.base import ImportProblem, ImportRefused, ParsedDataset, Policy, Progress, UnsupportedOptions
from catalog.importers.build import build
from catalog.importers.detector import Roles, inspect
from catalog.importers.detector.layouts import LAYOUTS, Layout
from catalog.importers.options import ITEM_COLUMNS, RATING_COLUMNS, Options
from catalog.importers.proposal import Proposal
from catalog.importers.sources import open_source
from core.errors import ParameterError

__all__ = ["FORMATS", "parse", "propose"]

_COLUMNS = frozenset({*RATING_COLUMNS, *ITEM_COLUMNS, "features", "items_id", "item_utility", "usage"})


_GENERIC = {
    "delimited": ("Any delimited text", "One table (.csv, .tsv, .txt, .dat, ARFF): ratings, or usage."),
    "jsonlines": ("JSON objects", "One object per line, whatever the file is called."),
    "json": ("A JSON array", "One array of objects."),
    "dicts": ("Python dictionaries", "One dictionary per line, as older sets of reviews have them."),
    "workbook": ("Workbooks", "The first sheet with a table, of .xlsx, .xlsb, .xls or .ods."),
    "parquet": ("Parquet", "One .parquet file."),
    "fimi": ("Baskets (FIMI, LightGCN, citeulike)", "Each line is a basket or a user with item numbers: usage."),
    "matrix": ("A matrix", "A row for each user, a column for each item."),
    "sections": ("Headed sections", "Headings such as 12: name the item of the lines below."),
}
# What lists of formats show: title, and what it is and what becomes of it.
FORMATS: Mapping[str, Layout] = {
    **LAYOUTS,
    **{name: Layout(*words, files=(), proposal=Proposal(name, ())) for name, words in _GENERIC.items()},
}


def propose(
    path: Path,
    *,
    format: str = "auto",
    policy: Policy | None = None,
    options: Options | None = None,
    recipe: Proposal | None = None,
    roles: Roles = MappingProxyType({}),
) -> Proposal:
    """What an import would do; see `inspect` for `recipe` and `roles`. Raises ParameterError for an unknown format,
    UnsupportedOptions, and ImportRefused.
    """
    if format not in ("auto", *FORMATS):
        raise ParameterError(f"There is no format {format!r}: the formats are auto, {', '.join(FORMATS)}.")
    policy, options = policy or Policy(), options or Options()
    untaken = sorted(_COLUMNS & options.changed()) if format in LAYOUTS else []
    if untaken:
        supported = sorted(frozenset(Options.__slots__) - _COLUMNS - {"languages"})
        raise UnsupportedOptions(format, untaken, supported)
    return inspect(open_source(path, policy.limits), options, format=format, recipe=recipe, roles=roles)


def parse(
    path: Path,
    *,
    format: str = "auto",
    policy: Policy | None = None,
    options: Options | None = None,
    proposal: Proposal | None = None,
    progress: Progress | None = None,
) -> ParsedDataset:
    """Read and check a dataset. Raises as `propose` does, and ImportRefused with everything that is wrong with the
    source by file, line and reason, or with every question that has no answer; nothing was changed.

    `path` is a folder, an archive (ZIP, tar), or one file, also packed (gzip, bz2, xz). `proposal` is what to do; by
    default it is that of `propose`. `progress` is called with a file's name and the rows read of it so far.
    """
    policy, options = policy or Policy(), options or Options()
    proposal = proposal or propose(path, format=format, policy=policy, options=options)
    if proposal.questions:
        file = proposal.ratings.files[0]
        raise ImportRefused(
            [
                ImportProblem(file, None, None, each.text.removeprefix(f"{file}: ").rstrip("."))
                for each in proposal.questions
            ],
            advice="Nothing was imported.",
            options=[each.about for each in proposal.questions],
        )
    return build(open_source(path, policy.limits), proposal, options, policy=policy, progress=progress)
