"""Files of a study's data: long and wide CSV, each with its codebook, counts and checksums."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.errors import ParallaxError
from core.provenance import versions
from studies.codebook import YES, cell, item_variables, participant_variables, wide_variables
from studies.enums import Mode
from studies.models import Participant, Study
from studies.selectors.monitor import counts_by_condition, counts_by_status, funnel
from studies.selectors.responses import records

FORMATS = ("long", "wide")
RANK = ("item.rank", "Rank of the recommended item", "integer", "1 or more", "no", "")
CODEBOOK_HEADS = ("name", "meaning", "type", "values", "identifies", "missing")


@dataclass(frozen=True)
class Written:
    """One file of an export."""

    name: str
    n_rows: int | None
    sha256: str
    content: bytes


def exported_modes(study: Study, *, include_simulated: bool) -> list[str]:
    """The modes an export holds: people's data, and simulated data where they were asked for.

    Raises `export.only_simulated` where nothing but simulated data is there and they were not asked for.
    Previews are never exported.
    """
    if include_simulated:
        return [Mode.LIVE, Mode.SIMULATED]
    found = set(Participant.objects.filter(study=study).order_by().values_list("mode", flat=True).distinct())
    if Mode.SIMULATED in found and Mode.LIVE not in found:
        raise ParallaxError(
            "export.only_simulated",
            "This study has simulated participants only, and they are left out unless they are asked for. "
            "Ask for them with --include-simulated, or the box in the console.",
        )
    return [Mode.LIVE]


def _check_format(kind: str) -> None:
    if kind not in FORMATS:
        raise ParallaxError("export.unknown_format", f"An export is {' or '.join(FORMATS)}; got {kind!r}.")


def wide_rows(study: Study, modes: Sequence[str], *, with_identifying: bool = False) -> Iterator[list[str]]:
    """The head and one row a participant, in order of entry; everybody who gave consent has one."""
    variables = wide_variables(study, with_identifying=with_identifying)
    yield [variable.name for variable in variables]
    for record in records(study, modes):
        yield [cell(variable.read(record)) for variable in variables]


def long_rows(study: Study, modes: Sequence[str], *, with_identifying: bool = False) -> Iterator[list[str]]:
    """The head and one row a participant and recommended item, in order of entry and rank."""
    people = [v for v in participant_variables(study) if with_identifying or v.identifies != YES]
    items = item_variables(study)
    yield [*(v.name for v in people), RANK[0], *(v.name for v in items)]
    for record in records(study, modes):
        about = [cell(variable.read(record)) for variable in people]
        for item in record.items:
            yield [*about, cell(item.slot.rank), *(cell(variable.read(item)) for variable in items)]


def codebook_rows(study: Study, kind: str, *, with_identifying: bool = False) -> list[tuple[str, ...]]:
    """One line a column of the export, in the order of its columns."""
    _check_format(kind)
    if kind == "wide":
        found = wide_variables(study, with_identifying=with_identifying)
        return [(v.name, v.meaning, v.type, v.values, v.identifies, v.missing) for v in found]
    people = [v for v in participant_variables(study) if with_identifying or v.identifies != YES]
    lines = [(v.name, v.meaning, v.type, v.values, v.identifies, v.missing) for v in people]
    items = [(v.name, v.meaning, v.type, v.values, v.identifies, v.missing) for v in item_variables(study)]
    return [*lines, RANK, *items]


def _csv(rows: Iterator[list[str]] | Sequence[Sequence[str]]) -> tuple[bytes, int]:
    """The file's bytes and the number of its rows below the head."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    n = -1
    for row in rows:
        writer.writerow(row)
        n += 1
    return text.getvalue().encode("utf-8"), n


def _written(name: str, content: bytes, n_rows: int | None = None) -> Written:
    return Written(name, n_rows, hashlib.sha256(content).hexdigest(), content)


def _flow(study: Study, modes: Sequence[str]) -> dict[str, Any]:
    """Who came how far, and what became of those who are not complete."""
    told: dict[str, Any] = {"declined": study.n_declined}
    for mode in modes:
        told[mode] = {
            "by_step": {step.name: step.n for step in funnel(study, mode)},
            "by_status": counts_by_status(study, mode),
            "by_condition": {
                line.label: {
                    "target": line.target,
                    "started": line.started,
                    "active": line.active,
                    "completed": line.completed,
                    "abandoned": line.abandoned,
                }
                for line in counts_by_condition(study, mode)
            },
        }
    return told


def export_files(
    study: Study, kind: str, *, include_simulated: bool = False, with_identifying: bool = False
) -> list[Written]:
    """Make every file of an export: data, codebook (CSV and JSON), a sidecar of facts, and checksums.

    The data and the codebook depend on the study alone: made twice they are the same, byte for byte. Raises
    `export.unknown_format` or `export.only_simulated`.
    """
    _check_format(kind)
    modes = exported_modes(study, include_simulated=include_simulated)
    make = wide_rows if kind == "wide" else long_rows
    stem = f"study-{study.slug}_{kind}"
    data, n_rows = _csv(make(study, modes, with_identifying=with_identifying))
    lines = codebook_rows(study, kind, with_identifying=with_identifying)
    # A codebook's own words are ours, but a title or question may be a researcher's: the same care is taken.
    book, n_variables = _csv([CODEBOOK_HEADS, *([cell(part) for part in line] for line in lines)])
    as_json = [dict(zip(CODEBOOK_HEADS, line, strict=True)) for line in lines]
    files = [
        _written(f"{stem}_data.csv", data, n_rows),
        _written(f"{stem}_codebook.csv", book, n_variables),
        _written(f"{stem}_codebook.json", _json(as_json), n_variables),
    ]
    facts = {
        "study": study.slug,
        "title": study.title,
        "status": study.status,
        "design_hash": study.design_hash,
        "dataset": {"name": study.dataset_version.dataset.name, "content_hash": study.dataset_version.content_hash},
        "dataset_is_synthetic": study.dataset_version.is_synthetic,
        "models": {c.label: c.model_digest for c in study.conditions.order_by("position")},
        "modes": list(modes),
        "contains_simulated": Mode.SIMULATED in modes,
        "contains_identifying": with_identifying,
        "format": kind,
        "made_at": cell(datetime.now(UTC)),
        "versions": versions(),
        "files": {file.name: {"rows": file.n_rows, "sha256": file.sha256} for file in files},
        "flow": _flow(study, modes),
    }
    files.append(_written(f"{stem}_export.json", _json(facts)))
    sums = "".join(f"{file.sha256}  {file.name}\n" for file in files)
    return [*files, _written(f"{stem}_sha256sums.txt", sums.encode())]


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def write_files(files: Sequence[Written], folder: Path) -> None:
    """Write the files of an export to a folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        (folder / file.name).write_bytes(file.content)


def zipped(files: Sequence[Written]) -> bytes:
    """One archive of all the files of an export; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            # A fixed time: the archive's own clock would make two equal exports differ.
            archive.writestr(zipfile.ZipInfo(file.name, (1980, 1, 1, 0, 0, 0)), file.content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
