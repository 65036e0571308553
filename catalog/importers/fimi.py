"""Baskets and click streams in the FIMI format: each line is a basket of item numbers.

References
----------
The FIMI repository; `retail` is of Brijs et al. (1999), `kosarak` of Ferenc Bodon.
"""

from __future__ import annotations

from array import array

import numpy as np

from catalog.importers.base import ImportProblem, ParsedDataset, Policy, Progress
from catalog.importers.layout import Stretches, Table, shown
from catalog.importers.options import Options
from catalog.importers.problems import Problems
from catalog.importers.row_checks import RatingColumns
from catalog.importers.rows import assemble
from catalog.importers.sources import Source, SourceFile, refuse

SUFFIXES = (".dat", ".dat.gz")
LONGEST_BASKET = 1 << 24  # bytes of a line: a visitor's clicks of months fit
_LINES_AT_A_TIME = 1 << 16
_MOST_ID = 10**18


def parse_fimi(source: Source, options: Options, *, policy: Policy, progress: Progress | None = None) -> ParsedDataset:
    """One `.dat` file: the user is the number of the line. An item that is repeated in a line counts once. Raises
    ImportRefused: there is no such file, or rows that the policy refuses.
    """
    files = [file for name, file in source.files.items() if name.endswith(SUFFIXES)]
    if len(files) != 1:
        raise refuse(source.name, f"one .dat file of baskets is needed, and there are {len(files)} here")
    (file,) = files
    problems = Problems()
    return assemble(
        source_format="fimi",
        files=[file.name],
        table=_read(file, problems, progress),
        columns=RatingColumns(file.name, "basket", "item", None, None, file.name),
        items=None,
        scale=None,
        policy=policy,
        problems=problems,
    )


def _read(file: SourceFile, problems: Problems, progress: Progress | None) -> Table:
    baskets, items = array("q"), array("q")
    number = rows_read = 0
    with file.open() as (stream, _):
        while raw := stream.readline(LONGEST_BASKET):
            number += 1
            if len(raw) == LONGEST_BASKET:
                raise refuse(file.name, "the line does not end: these are no baskets", line=number)
            fields = raw.split()
            rows_read += len(fields)
            try:
                numbers = array("q", map(int, fields))
                is_plain = b"_" not in raw and b"+" not in raw
            except (ValueError, OverflowError):
                is_plain = False
            if not is_plain:
                numbers = _whole_numbers(fields, file.name, number, problems)
            items.extend(numbers)
            baskets.extend([number] * len(numbers))
            if progress is not None and number % _LINES_AT_A_TIME == 0:
                progress(file.name, rows_read)
    if number == 0:
        raise refuse(file.name, "the file is empty", line=1)
    if rows_read == 0:
        raise refuse(file.name, "no line has an item", line=1)
    lines = np.frombuffer(baskets, dtype=np.int64) if baskets else np.empty(0, dtype=np.int64)
    return Table(
        columns={"basket": lines, "item": np.frombuffer(items, dtype=np.int64) if items else lines},
        lines=Stretches.of(lines),
        is_bulk_read=False,
        rows_read=rows_read,
        ends_open=False,
    )


def _whole_numbers(fields: list[bytes], file: str, line: int, problems: Problems) -> array[int]:
    """The items of a line that are whole numbers; the others become problems."""
    numbers = array("q")
    for field in fields:
        text = field.decode("latin-1")
        if text.isascii() and text.removeprefix("-").isdigit() and abs(int(text[:20])) < _MOST_ID and len(text) < 20:
            numbers.append(int(text))
        else:
            reason = f"{shown(text)} is not a whole number"
            problems.add("not a number", ImportProblem(file, line, "item", reason))
    return numbers
