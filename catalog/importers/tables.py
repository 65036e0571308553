"""Delimited text as columns: read in one sweep where it is clean, and line by line where it is not.

The sweep is fast but cannot say where a file is wrong. So whatever it refuses is read again line by line,
which names every line that cannot be taken and gives the columns of those that can.
"""

from __future__ import annotations

from catalog.importers.base import Progress
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
        Do not try the sweep: the file is small.
    progress : callable, optional

    Returns
    -------
    Table

    Raises
    ------
    ImportRefused
        The file is empty, damaged or beyond its limit.
    """
    if not by_line:
        swept = sweep(file, layout, progress)
        if swept is not None:
            return swept
    return read_lines(file, layout, problems, progress)
