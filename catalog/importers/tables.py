"""Delimited text as columns: fast where it is clean, and line by line where it is not.

Tables of numbers are read in compiled blocks, those with text in one sweep of pandas. Neither can say where a
file is wrong. So whatever they refuse (one block, or the file) is read again line by line, which names every
line that cannot be taken and gives the columns of those that can.
"""

from __future__ import annotations

from catalog.importers.base import Progress
from catalog.importers.blocks import is_for_blocks, read_blocks
from catalog.importers.layout import Layout, Table
from catalog.importers.lines import read_lines
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile
from catalog.importers.sweep import sweep


def read_table(
    file: SourceFile,
    layout: Layout,
    problems: Problems,
    *,
    by_line: bool = False,
    progress: Progress | None = None,
) -> Table:
    """Read the columns of a file.

    Parameters
    ----------
    file : SourceFile
    layout : Layout
    problems : Problems
        Rows that cannot be read are added, by line.
    by_line : bool
        Do not try the fast ways: the file is small.
    progress : callable, optional

    Returns
    -------
    Table

    Raises
    ------
    ImportRefused
        The file is empty, damaged or beyond its limit.
    """
    if not by_line and not layout.escape:
        found = read_blocks(file, layout, problems, progress) if is_for_blocks(layout) else None
        if found is None and layout.has_free_text and layout.decimal != layout.delimiter:
            found = sweep(file, layout, progress)
        if found is not None:
            return found
    return read_lines(file, layout, problems, progress)
