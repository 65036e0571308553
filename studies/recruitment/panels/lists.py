"""Lists that a researcher pastes or uploads: one entry per line, or the first column of a CSV file."""

from __future__ import annotations

import csv
import io

from core.errors import DataError

MOST_ENTRIES = 20_000


def entries_of(text: str, longest: int) -> tuple[str, ...]:
    r"""Return the unique entries in order; case is preserved.

    Empty lines are ignored. `longest` is the maximum number of characters of an entry. Raises DataError when an entry
    is too long or contains a NUL character, or there are too many entries; the message has the line.

    Examples
    --------
    >>> entries_of("anna\n\n 7, Rossi\nanna\n", longest=20)
    ('anna', '7')
    """
    entries: dict[str, None] = {}
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    try:
        for row in reader:
            entry = row[0].strip() if row else ""
            if len(entry) > longest:
                raise DataError(
                    f"Line {reader.line_num}: an entry has at most {longest} characters; this one has {len(entry):,}."
                )
            if "\x00" in entry:
                raise DataError(f"Line {reader.line_num}: the line contains a NUL character.")
            if entry:
                entries[entry] = None
            if len(entries) > MOST_ENTRIES:
                raise DataError(f"Line {reader.line_num}: a list has at most {MOST_ENTRIES:,} entries.")
    except csv.Error as problem:
        raise DataError(f"Line {reader.line_num}: the list cannot be parsed: {problem}.") from problem
    return tuple(entries)
