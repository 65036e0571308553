"""Lists that a researcher pastes or uploads: one entry a line, or the first column of a CSV."""

from __future__ import annotations

import csv
import io

from core.errors import DataError

MOST_ENTRIES = 20_000


def entries_of(text: str, longest: int) -> tuple[str, ...]:
    r"""The entries, each once, in their order; case is kept.

    Parameters
    ----------
    text : str
        The list; empty lines do not count.
    longest : int
        Characters that an entry may have.

    Returns
    -------
    tuple of str

    Raises
    ------
    DataError
        An entry that is too long or holds a NUL, or too many of them; the message says the line.

    Examples
    --------
    >>> entries_of("anna\n\n 7, Rossi\nanna\n", longest=20)
    ('anna', '7')
    """
    found: dict[str, None] = {}
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    try:
        for row in reader:
            entry = row[0].strip() if row else ""
            if len(entry) > longest:
                raise DataError(
                    f"Line {reader.line_num}: an entry has at most {longest} characters; this one {len(entry):,}."
                )
            if "\x00" in entry:
                raise DataError(f"Line {reader.line_num}: this is no text, there is a NUL in it.")
            if entry:
                found[entry] = None
            if len(found) > MOST_ENTRIES:
                raise DataError(f"Line {reader.line_num}: a list has at most {MOST_ENTRIES:,} entries.")
    except csv.Error as problem:
        raise DataError(f"Line {reader.line_num}: this is no list, {problem}.") from problem
    return tuple(found)
