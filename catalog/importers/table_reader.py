"""Reads delimited text as columns, in bulk where it is clean and line by line where it is not."""

from __future__ import annotations

from catalog.importers.base import Progress
from catalog.importers.bulk_reader import read_bulk
from catalog.importers.layout import Layout, Table
from catalog.importers.line_reader import read_lines
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile


def read_table(
    file: SourceFile,
    layout: Layout,
    problems: Problems,
    *,
    by_line: bool = False,
    progress: Progress | None = None,
) -> Table:
    """Read the columns of a file. Raises ImportRefused when the file is empty, damaged or beyond its limit. `problems`:
    rows that cannot be read are added, by line. `by_line`: read line by line at once, as for a small file.
    """
    if not by_line and not layout.escape and layout.decimal != layout.delimiter:
        table = read_bulk(file, layout, problems, progress)
        if table is not None:
            return table
    return read_lines(file, layout, problems, progress)
