"""Reads delimited text as columns, in bulk where it is clean and line by line where it is not.

Tables of numbers are read in compiled blocks, tables with text by pandas. Neither can say where a file is wrong, so
what they reject (a block, or the file) is read again line by line. That names every line that cannot be read, and
returns the columns of the others.
"""

from __future__ import annotations

from catalog.importers.base import Progress
from catalog.importers.layout import Layout, Table
from catalog.importers.line_reader import read_lines
from catalog.importers.number_reader import is_for_blocks, read_blocks
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile
from catalog.importers.text_reader import read_text


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
    if not by_line and not layout.escape:
        table = read_blocks(file, layout, problems, progress) if is_for_blocks(layout) else None
        if table is None and layout.has_free_text and layout.decimal != layout.delimiter:
            table = read_text(file, layout, progress)
        if table is not None:
            return table
    return read_lines(file, layout, problems, progress)
