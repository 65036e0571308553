"""Guesses what a delimited file leaves unsaid: encoding, delimiter, header, and which column holds what."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from catalog.importers.delimited import BASKET_NAMES, USUAL_NAMES
from catalog.importers.kinds import plain
from catalog.importers.layout import LONGEST_LINE
from catalog.importers.line_reader import value_of
from catalog.importers.sheets import DELIMITERS
from catalog.importers.sources import SourceFile, refuse

Rows = Sequence[Sequence[str]]
ROLES = ("user", "item", "rating", "time")
ENCODING_BYTES = 8 * 2**20  # looked through for the encoding
LEAST_TIME = 10**8  # seconds since 1970 (year 1973); a smaller number is no time of a rating
LEAST_SHARE = 0.9  # of a column's values that have to be of a kind
MOST_POINTS = 201  # different values that a rating scale may have
_CANDIDATES = (*DELIMITERS, " ")
_RATING_WORD = re.compile(r"rat|scor|star|mark|vote|grade|point|like|valor|voto|wert|note", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_ADVICE = "Upload a CSV, TSV, Parquet or JSON Lines file, or the ZIP archive of a dataset."


def detected_encoding(file: SourceFile) -> str:
    """UTF-8 where the file's beginning is, else Windows-1252, or Latin-1 where that cannot be. Raises ImportRefused:
    the file is empty, or no text.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_utf8, read, high = True, 0, set[int]()
    with file.open() as (stream, _):
        while read < ENCODING_BYTES and (block := stream.read(1 << 18)):
            if not read and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise refuse(file.name, "the file is UTF-16, which is not read", advice="Save it as UTF-8.")
            if b"\0" in block:
                raise refuse(file.name, "this is no text: it has bytes that belong in none", advice=_ADVICE)
            read += len(block)
            if is_utf8:
                try:
                    decoder.decode(block)
                except UnicodeDecodeError:
                    is_utf8 = False
            high.update(byte for byte in set(block) if byte >= 0x80)
    if not read:
        raise refuse(file.name, "the file is empty", line=1)
    if is_utf8:
        return "utf-8"
    return "latin-1" if high & {0x81, 0x8D, 0x8F, 0x90, 0x9D} else "cp1252"


def first_lines(file: SourceFile, codec: str, most: int) -> list[str]:
    """The first lines of a file, at most `most` bytes of them; what cannot be decoded is replaced. Raises ImportRefused
    where a line does not end.
    """
    lines: list[str] = []
    room = most
    with file.open() as (stream, _):
        while room > 0 and (raw := stream.readline(LONGEST_LINE)):
            if len(raw) == LONGEST_LINE:
                raise refuse(file.name, "the line does not end: this is no table", line=len(lines) + 1, advice=_ADVICE)
            lines.append(raw.decode(codec if not lines else codec.removesuffix("-sig"), errors="replace"))
            room -= len(raw)
    return lines


def rows_of(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of some lines with the line on which each ends; empty lines are no rows."""
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error:  # a field beyond the limit: what follows shows nothing
            return
        if fields:
            yield reader.line_num, fields


def detected_delimiter(file: str, lines: Sequence[str]) -> str:
    """The character that divides most lines into the same number of columns. Raises ImportRefused: none does.

    Examples
    --------
    >>> detected_delimiter("x.csv", ["user;item;mark", "1;7;4,5", "2;8;3,5"])
    ';'
    """

    def evenness(delimiter: str) -> tuple[float, int]:
        widths = Counter(len(row) for _, row in rows_of(lines[:200], delimiter))
        width, n = widths.most_common(1)[0] if widths else (1, 0)
        return (n / widths.total(), width) if width > 1 else (0.0, 1)

    best = max(_CANDIDATES, key=evenness)
    if not evenness(best)[0]:
        raise refuse(
            file,
            "there is one column: no comma, semicolon, tab, bar or space divides the first lines",
            line=1,
            advice=_ADVICE,
            options=("delimiter",),
        )
    return best


def seems_header(first: Sequence[str], usual: Collection[str]) -> bool:
    """Whether a file's first row names its columns: it has a usual name, or no number and no time.

    Examples
    --------
    >>> seems_header(["reader", "book", "mark"], ()), seems_header(["1", "7", "4.5"], ())
    (True, False)
    """
    names = [name.strip() for name in first]
    if any(plain(name) in usual for name in names):
        return True
    return (
        all(names)
        and len(set(names)) == len(names)
        and not any(_is(name, "number") or _is(name, "time") for name in names)
    )


def detected_roles(columns: Sequence[str], rows: Rows, *, has_header: bool) -> dict[str, str]:
    """The role of each column that seems to have one: by its usual name, else by its values and position.

    Examples
    --------
    >>> detected_roles(["Column 1", "Column 2", "Column 3"], [["1", "7", "4.5"], ["2", "7", "3"]], has_header=False)
    {'Column 1': 'user', 'Column 2': 'item', 'Column 3': 'rating'}
    """
    by_role = _roles_by_name(columns) if has_header else {}
    values = {name: [row[at] for row in rows if at < len(row)] for at, name in enumerate(columns)}

    def rest() -> list[str]:
        return [name for name in columns if name not in by_role.values()]

    def find(role: str, is_it: Callable[[str], bool]) -> None:
        if role not in by_role and (match := next(filter(is_it, rest()), None)) is not None:
            by_role[role] = match

    find("time", lambda name: _most(values[name], _is_time))
    find("rating", lambda name: _seems_rating(name, columns, values[name], has_header=has_header))
    find("user", lambda name: True)
    find("item", lambda name: True)
    return {by_role[role]: role for role in ROLES if role in by_role}


def decimal_of(texts: Sequence[str]) -> str:
    """The decimal character of numbers: a comma where some have one and none a point.

    Examples
    --------
    >>> decimal_of(["4,5", "3"]), decimal_of(["4.5", "3"])
    (',', '.')
    """
    has_comma = any(_DECIMAL_COMMA.fullmatch(text.strip()) for text in texts)
    return "," if has_comma and not any("." in text for text in texts) else "."


def _roles_by_name(columns: Sequence[str]) -> dict[str, str]:
    by_name = {plain(name): name for name in reversed(columns)}
    usual: Mapping[str, Sequence[str]] = {**USUAL_NAMES, "user": (*USUAL_NAMES["user"], *BASKET_NAMES)}
    column_of = {role: next((by_name[name] for name in usual[role] if name in by_name), None) for role in ROLES}
    return {role: name for role, name in column_of.items() if name is not None}


def _seems_rating(name: str, columns: Sequence[str], values: Sequence[str], *, has_header: bool) -> bool:
    """Numbers of few kinds; with a header, under a name that means one, else not in the columns of users and items."""
    is_named = bool(_RATING_WORD.search(name)) if has_header else columns.index(name) > 1
    texts = [text.strip().replace(",", ".") for text in values]
    return is_named and _most(texts, lambda text: _is(text, "number")) and len(set(texts)) <= MOST_POINTS


def _most(texts: Sequence[str], is_it: Callable[[str], bool]) -> bool:
    """Whether it holds of nearly all texts that are not empty: a column may have a wrong value."""
    filled = [text for text in texts if text.strip()]
    return bool(filled) and sum(map(is_it, filled)) >= LEAST_SHARE * len(filled)


def _is_time(text: str) -> bool:
    if not _is(text, "time"):
        return False
    return not text.strip().lstrip("-").isdecimal() or abs(int(text)) >= LEAST_TIME


def _is(text: str, kind: str) -> bool:
    try:
        value_of(text, kind)  # type: ignore[arg-type]  # one of its kinds
    except ValueError:
        return False
    return True
