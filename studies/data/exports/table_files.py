"""Files written row by row, without holding them in memory, and their digests."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.exports import record_texts
from studies.data.codebook.cells import cell, plain
from studies.data.codebook.variable import Row, Variable

CHUNK = 1 << 20
EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Written:
    """One file of an export; its name is relative to the export's folder."""

    name: str
    n_rows: int | None
    sha256: str
    n_bytes: int


def _write(folder: Path, name: str, texts: Iterable[str], *, n_heads: int = 0) -> Written:
    # Digested from the file: a table may be larger than the memory.
    path, n_texts = folder / name, 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        for text in texts:
            file.write(text)
            n_texts += 1
    with path.open("rb") as written:
        digest = hashlib.file_digest(written, "sha256").hexdigest()
        return Written(name, n_texts - n_heads, digest, written.tell())


def write_text(folder: Path, name: str, text: str, n_rows: int | None = None) -> Written:
    """Write a small file."""
    return replace(_write(folder, name, [text]), n_rows=n_rows)


def write_json(folder: Path, name: str, value: Any, n_rows: int | None = None) -> Written:
    """Write a small JSON file."""
    return write_text(folder, name, json.dumps(value, ensure_ascii=False, indent=2) + "\n", n_rows)


def write_table(folder: Path, name: str, variables: Sequence[Variable[Row]], rows: Iterable[Row]) -> Written:
    """Write a CSV file: the names of the variables, then a line per row."""
    return _write(folder, name, table_texts(variables, rows), n_heads=1)


def write_lines(folder: Path, name: str, heads: Sequence[str], lines: Iterable[dict[str, str]]) -> Written:
    """Write a CSV file of lines that are text already; a researcher's own words among them are defused."""
    return _write(folder, name, _csv_texts(heads, ([line[head] for head in heads] for line in lines)), n_heads=1)


def values_by_name(variables: Sequence[Variable[Row]], row: Row) -> dict[str, Any]:
    """A row's JSON values, by variable name."""
    return {variable.name: plain(variable.read(row)) for variable in variables}


def write_records(
    folder: Path, name: str, head: dict[str, Any], key: str, records: Iterator[dict[str, Any]]
) -> Written:
    """Write one JSON object with the facts of `head`, and under `key` a list, one entry per line."""
    return _write(folder, name, record_texts(head, key, records), n_heads=2)  # the head and the end are no entries


def table_texts(variables: Sequence[Variable[Row]], rows: Iterable[Row]) -> Iterator[str]:
    """A CSV file as `write_table` writes it, a line at a time."""
    return _csv_texts([variable.name for variable in variables], ([v.read(row) for v in variables] for row in rows))


def _csv_texts(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    writer.writerow(heads)
    yield line.getvalue()
    for row in rows:
        line.seek(0)
        line.truncate()
        writer.writerow(map(cell, row))
        yield line.getvalue()


def sums_of(files: Sequence[Written]) -> str:
    """The checksums as `sha256sum --check` reads them."""
    return "".join(f"{file.sha256}  {file.name}\n" for file in files)


def zipped_to(files: Sequence[Written], folder: Path, archive: Path) -> None:
    """Put the files of an export into one archive; the same files give the same bytes."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as whole:
        for file in files:
            # A fixed time: the archive's own clock would make two equal exports differ.
            entry = zipfile.ZipInfo(file.name, EPOCH)
            is_packed = file.name.endswith((".png", ".pdf"))
            entry.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
            with (folder / file.name).open("rb") as source, whole.open(entry, "w", force_zip64=True) as target:
                while chunk := source.read(CHUNK):
                    target.write(chunk)
