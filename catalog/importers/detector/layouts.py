"""The named layouts: the table `layouts.toml`, and whether a source has one of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from catalog.importers.base import ImportRefused
from catalog.importers.detector.file_syntax import InspectedFile
from catalog.importers.detector.roles import plain_name
from catalog.importers.proposal import Column, Part, Proposal, Use, Values
from catalog.importers.scales import scale_of_text
from catalog.importers.sources import Source, SourceFile, refuse

_PACKED = re.compile(r"\.(gz|bz2|xz)$")
_LEAST = 0.95  # of the sampled rows that have to fit an entry
_FEWEST, _MANY = 5, 20  # ratings that say something of the scale, and that say it for sure


@dataclass(frozen=True)
class LayoutFile:
    """A file of a layout, or several of the same kind; see the head of the table."""

    use: Use
    name: str = ""
    columns: Mapping[str, str] | None = None
    more: Mapping[str, str] | None = None
    fields: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    written: Mapping[str, Any] = field(default_factory=dict)
    has_header: bool = False
    is_optional: bool = False
    is_many: bool = False
    is_numbered: bool = False


@dataclass(frozen=True)
class Layout:
    """A named layout; see the head of the table."""

    title: str
    sentence: str
    files: tuple[LayoutFile, ...]
    proposal: Proposal  # without parts
    final_newline: bool = False
    needs: tuple[str, ...] = ()
    refuse: str = ""


LAYOUTS: Mapping[str, Layout] = {
    name: TypeAdapter(Layout).validate_python(
        {**entry, "proposal": {**entry.get("proposal", {}), "layout": name, "parts": ()}}
    )
    for name, entry in tomllib.loads(Path(__file__).parents[1].joinpath("layouts.toml").read_text()).items()
}
InspectFile = Callable[[SourceFile, LayoutFile | None], InspectedFile]


def proposal_of(name: str, source: Source, inspect_file: InspectFile, *, is_forced: bool = False) -> Proposal | None:
    """What the entry `name` says of a source; None where it does not apply. Raises ImportRefused for an entry that is
    refused, and where it is forced and files or columns are missing.
    """
    layout = LAYOUTS[name]
    parts: list[Part] = []
    doubts: list[str] = []
    for wanted in layout.files:
        files = [
            file
            for key, file in sorted(source.files.items())
            if not wanted.name or re.fullmatch(wanted.name, key) or re.fullmatch(wanted.name, _PACKED.sub("", key))
        ]
        if not wanted.name and len(source.files) > 1:  # told by its columns alone
            files = [
                file
                for file in files
                if re.search(r"\.(csv|tsv|txt|json|jsonl|dat|parquet)(\.\w+)?$", file.name.lower())
            ]
        part = None
        try:
            candidates = (_part(wanted, file, files, layout, inspect_file) for file in files[: 1 if wanted.name else 8])
            part = next(filter(None, candidates), None)
        except ImportRefused as refusal:
            if not wanted.is_optional or is_forced:
                raise
            doubts += [f"{problem.file} is not read: {problem.reason}." for problem in refusal.problems]
        else:
            if part is None and wanted.is_optional and wanted.name and files:
                doubts.append(f"{files[0].name} is not read: its columns are not those of {layout.title}.")
        if part is not None:
            parts.append(part)
        elif not wanted.is_optional:
            if is_forced and wanted.is_many:  # facts that distinguish the layout, and that it does not need
                continue
            if is_forced:
                raise _lacking(name, wanted, files, source, inspect_file)
            return None
    if any(not any(re.fullmatch(need, key) for key in source.files) for need in layout.needs):
        return None
    if layout.refuse:
        raise refuse(source.name, layout.refuse)
    read = {file for part in parts for file in part.files}
    return replace(
        layout.proposal,
        parts=tuple(parts),
        unused=tuple(file.name for file in source.files.values() if file.name not in read),
        doubts=tuple(doubts),
    )


def _lacking(
    name: str, wanted: LayoutFile, files: Sequence[SourceFile], source: Source, inspect_file: InspectFile
) -> Exception:
    if not files:
        plain = wanted.name.replace("\\.", ".")
        if plain == re.escape(plain).replace("\\.", ".").replace("\\-", "-"):
            return refuse(plain, f"the file is missing from {source.name}: it holds the {wanted.use}")
        layout = LAYOUTS[name]
        advice = f"{layout.title} consists of {layout.sentence}"
        return refuse(source.name, f"no file of {name} is in it that holds the {wanted.use}", advice=advice)
    examined = inspect_file(files[0], wanted).written.columns
    needed = ", ".join(wanted.columns or ()) or f"{len(wanted.fields)} columns without a header"
    advice = f"Is this {LAYOUTS[name].title}? Others are imported without naming a format."
    return refuse(
        files[0].name, f"the columns are {', '.join(examined)[:200]} where {needed} belong", line=1, advice=advice
    )


def _part(
    wanted: LayoutFile, file: SourceFile, files: Sequence[SourceFile], layout: Layout, inspect_file: InspectFile
) -> Part | None:
    """The part that a file is; None where the sample contradicts the entry."""
    examined = inspect_file(file, wanted)
    written, columns = examined.written, _columns(wanted, examined)
    if columns is None:
        return None
    if wanted.fields:
        written = replace(written, columns=tuple(column.name for column in columns))
    written = replace(
        written,
        has_quotes=written.has_quotes and not wanted.written.get("is_rest"),
        needs_final_newline=layout.final_newline and written.records == "table",
        encoding=wanted.options.get("encoding", written.encoding),
        **wanted.written,
    )
    is_scaled = (
        wanted.use == "ratings" and layout.proposal.values.scale and written.records not in ("baskets", "matrix")
    )
    if is_scaled and not _is_on_scale(examined, columns, layout.proposal.values):
        return None
    names = tuple(each.name for each in files) if wanted.name else (file.name,)
    return Part(names, wanted.use, written, columns, wanted.is_many, wanted.is_numbered)


def _columns(wanted: LayoutFile, examined: InspectedFile) -> tuple[Column, ...] | None:
    written = examined.written
    if wanted.columns is not None:
        here = {plain_name(name): name for name in written.columns}
        if any(plain_name(name) not in here for name in wanted.columns):
            return None
        roles = {
            here[plain_name(name)]: role
            for name, role in {**wanted.columns, **(wanted.more or {})}.items()
            if plain_name(name) in here
        }
        return tuple(Column.of(name, roles.get(name, ""), "certain", "named layout") for name in written.columns)
    if not (wanted.written.get("is_rest") and written.records == "table"):
        if len(written.columns) != len(wanted.fields) or (written.lines_before > 0) != wanted.has_header:
            return None
        for at, pattern in enumerate(wanted.patterns):
            n = sum(bool(re.fullmatch(pattern, text)) for text in examined.texts(at))
            if n < _LEAST * len(examined.rows):
                return None
    # Columns of a file without a header are named by what they hold, each once.
    names: list[str] = []
    for number, role in enumerate(wanted.fields, start=1):
        name = role.rpartition(":")[2]
        names.append(name if name and name not in names else f"Column {number}")
    return tuple(
        Column.of(name, role, "certain", "named layout") for name, role in zip(names, wanted.fields, strict=True)
    )


def _is_on_scale(examined: InspectedFile, columns: Sequence[Column], rated: Values) -> bool:
    """Whether the sampled ratings are on the entry's scale, a few apart."""
    at = next((at for at, column in enumerate(columns) if column.role == "rating"), None)
    if at is None:
        return True
    scale, numbers = scale_of_text(rated.scale), []
    for text in examined.texts(at):
        try:
            numbers.append(float(text))
        except ValueError:
            continue
    values = np.array(numbers)
    values = values[~np.isin(values, rated.not_rated)]
    if len(values) < _FEWEST:
        return True
    return float(scale.is_on(values).mean()) >= (_LEAST if len(values) >= _MANY else 0.5)
