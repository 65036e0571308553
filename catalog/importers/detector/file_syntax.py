"""How a file is written: encoding, line ends, kind of records, delimiter, quotation marks, and header."""

from __future__ import annotations

import codecs
import csv
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from catalog.importers.detector.roles import LEAST_SHARE, NUMBER, Sampled, rank_by_name, time_format_of, usual_role
from catalog.importers.options import Options
from catalog.importers.proposal import Part
from catalog.importers.reading.parquet import parquet_columns, parquet_head
from catalog.importers.reading.records import UnusableRecord, numbered_records, text_of
from catalog.importers.reading.shapes import HEADING
from catalog.importers.reading.tables import LONGEST_LINE, WHITE, Records, Written, shown
from catalog.importers.reading.workbooks import OLE, sheets_of
from catalog.importers.sources import SourceFile, refuse

HEAD_BYTES, TAIL_BYTES, BLOCKS, BLOCK_BYTES = 1 << 20, 64 << 10, 64, 4 << 10
PACKED_BYTES = 8 << 20
SAMPLE_ROWS = 20_000
SAMPLE_LINES = 5_000  # of the beginning, and of the blocks behind it
MATRIX_COLUMNS, BASKET_COLUMNS = ("row", "column", "value"), ("line", "item")
SHOWN_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", ":": "colon", " ": "space"}
SHOWN_DELIMITERS |= {WHITE: "white space", "::": "two colons", "\t\t": "two tabs"}
_DELIMITERS = ("\t\t", "::", ",", ";", "\t", "|", ":", " ", WHITE)
_STRONG = (",", ";", "\t", "|")  # delimiters that are rarely in texts
_SURE = ("\t", "\t\t", "::")
_WIDEST = 60  # columns of a list of ratings
_NARROWEST = 5  # columns of a matrix of a user's answers
_MOST_ANSWERS = 21  # different ones in it
_COMMA = re.compile(r"[+-]?\d+,\d+")
_ARFF = re.compile(r"@attribute\s+(?:'([^']+)'|\"([^\"]+)\"|(\S+))", re.IGNORECASE)
First = Literal["", "count", "user"]
Rows = list[tuple[int, tuple[str, ...]]]  # the line on which each ends (0: not known), and its fields


@dataclass(frozen=True)
class InspectedFile:
    """A file, how it is written, and a sample of its rows."""

    file: SourceFile
    written: Written
    rows: Rows
    is_whole: bool  # whether the sample is the file

    @property
    def has_header(self) -> bool:
        """Whether the columns have names of their own."""
        return self.written.columns[:1] != ("Column 1",)

    def texts(self, at: int) -> list[str]:
        """The sampled texts of a column by its position, trimmed; empty where a row is too short for it."""
        return [fields[at].strip() if at < len(fields) else "" for _, fields in self.rows]

    def columns(self) -> list[Sampled]:
        """The columns with their sampled texts."""
        return [Sampled(name, self.texts(at), at) for at, name in enumerate(self.written.columns)]

    def texts_of(self, part: Part, role: str) -> list[str]:
        """The sampled texts of the column of a part with a role; none where it has no such column."""
        at = next((at for at, column in enumerate(part.columns) if column.role == role), None)
        return [] if at is None else self.texts(at)

    def numbers_of(self, part: Part, role: str) -> list[tuple[int, float]]:
        """The sampled numbers of the column with a role, each with its line; texts that are none are left out."""
        numbers = []
        for (line, _), text in zip(self.rows, self.texts_of(part, role), strict=False):
            plain = text.replace(",", ".") if part.written.decimal == "," else text
            if NUMBER.fullmatch(text) and "," not in plain and math.isfinite(number := float(plain)):
                numbers.append((line, number))
        return numbers


def examined(file: SourceFile, options: Options, *, are_baskets: bool = False) -> InspectedFile:
    """How a file is written; `are_baskets` where its lines are known to be baskets. Raises ImportRefused for a file of
    no kind that is read, and says what to do.
    """
    file.check_readable()
    if file.is_parquet:
        columns = parquet_columns(file)
        rows = list(enumerate(parquet_head(file, SAMPLE_ROWS), start=1))
        return InspectedFile(file, Written(columns, "parquet"), rows, len(rows) < SAMPLE_ROWS)
    if file.is_zipped or file.head(8) == OLE:
        return _workbook(file, options)
    raw, is_whole = _sample(file)
    if not raw.strip():
        raise refuse(file.name, "the file is empty", line=1)
    encoding = options.encoding or encoding_of(raw, file.name)
    text = raw.decode(encoding, errors="replace").removeprefix("\ufeff")
    is_cr = "\r" in text and "\n" not in text
    lines = re.split("\r" if is_cr else "\r?\n", text)
    number = next((at for at, line in enumerate(lines, start=1) if len(line) >= LONGEST_LINE - 1), None)
    if number is not None and not text.lstrip().startswith("["):
        raise refuse(file.name, "the line does not end: this is not a table", line=number)
    if not is_whole:
        lines = [line for line in lines[:-1] if line]
    if len(lines) > 2 * SAMPLE_LINES:
        lines, is_whole = lines[:SAMPLE_LINES] + lines[-SAMPLE_LINES:], False
    start = Written((), encoding=encoding, is_cr=is_cr)
    records = _records(text)
    if records in ("objects", "array", "dicts"):
        return _objects(file, replace(start, records=records), is_whole=is_whole)
    if not lines[0].strip():
        raise refuse(file.name, "the first line is empty", line=1)
    return _text(file, start, lines, options, is_whole=is_whole, are_baskets=are_baskets)


def _sample(file: SourceFile) -> tuple[bytes, bool]:
    """The beginning of a file, its end and blocks between, in whole lines; and whether that is all of it."""
    with file.open() as (stream, _):
        is_plain = file.n_bytes > 0
        head = stream.read(HEAD_BYTES if is_plain else PACKED_BYTES)
        if len(head) < (HEAD_BYTES if is_plain else PACKED_BYTES) or not stream.peek(1):  # type: ignore[attr-defined]
            return head, True
    mark = b"\n" if b"\n" in head else b"\r"
    pieces = [head[: head.rfind(mark) + 1] or head]
    if encoding_of(head, file.name).startswith("utf-16"):  # line ends are not single bytes
        return head[: len(head) // 2 * 2], False
    if is_plain and mark in head:
        with file.open_packed() as packed:
            if packed.seekable():
                room = file.n_bytes - HEAD_BYTES
                offsets = [HEAD_BYTES + room * at // BLOCKS for at in range(BLOCKS)]
                for offset, size in [*((at, BLOCK_BYTES) for at in offsets), (file.n_bytes - TAIL_BYTES, TAIL_BYTES)]:
                    packed.seek(max(offset, 0))
                    piece = packed.read(size)
                    pieces.append(piece[piece.find(mark) + 1 : piece.rfind(mark) + 1])
    return b"".join(pieces), False


def encoding_of(raw: bytes, name: str = "") -> str:
    """The encoding of some text: by its mark, UTF-8, else Windows-1252, else Latin-1."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if raw.startswith(mark):
            return encoding
    even, odd = raw[:4096:2], raw[1:4096:2]
    if len(raw) > 8 and odd.count(0) * 2 > len(odd):
        return "utf-16-le"
    if len(raw) > 8 and even.count(0) * 2 > len(even):
        return "utf-16-be"
    if raw[:4096].count(0) * 20 > len(raw[:4096]):
        advice = "Import a CSV, TSV, JSON, Parquet or Excel file, or the archive of a dataset."
        raise refuse(name, "this is not a text file: too many of its bytes are zero", advice=advice)
    text = raw.decode("utf-8", errors="replace")
    n_bad = text.count("\ufffd")
    if not n_bad or n_bad * 4 < sum(mark > "\x7f" for mark in text) - n_bad:
        return "utf-8"  # with some damage, which is reported line by line
    return "latin-1" if re.search(rb"[\x81\x8d\x8f\x90\x9d]", raw) else "cp1252"


def _records(text: str) -> Records:
    first = text.lstrip()[:1]
    line = text.strip().split("\n", 1)[0].strip()
    if first == "[" and re.match(r"\[\s*\{", text.lstrip()):
        return "array"
    if first == "{":
        try:
            json.loads(line)
        except ValueError:
            return "dicts" if re.match(r"\{\s*u?'", line) else "objects"
        return "objects"
    return "table"


def _objects(file: SourceFile, written: Written, *, is_whole: bool) -> InspectedFile:
    rows: list[tuple[int, dict[str, object]]] = []
    with file.open() as (stream, _):
        for number, record in numbered_records(stream, file.name, written.records):
            if isinstance(record, UnusableRecord):
                if not rows:
                    advice = "Each line has to be one JSON object, as in {…}."
                    raise refuse(file.name, record.args[2], line=number, advice=advice)
                continue
            rows.append((number, record))
            if len(rows) == SAMPLE_ROWS // 4:
                is_whole = False
                break
    columns = tuple(dict.fromkeys(key for _, record in rows for key in record))
    texts = [(number, tuple(text_of(record.get(key), "text") or "" for key in columns)) for number, record in rows]
    return InspectedFile(file, replace(written, columns=columns), texts, is_whole)


def _workbook(file: SourceFile, options: Options) -> InspectedFile:
    sheets = sheets_of(file)
    for name, rows in sheets.items():
        filled = [(number, tuple(row)) for number, row in enumerate(rows, start=1) if any(row)]
        while filled and sum(map(bool, filled[0][1])) < 2:  # a heading above the table
            filled = filled[1:]
        if len(filled) > 1 and sum(map(bool, filled[1][1])) >= 2:
            width = max(len(row) for _, row in filled)
            has_header = options.has_header is not False and is_header([row for _, row in filled])
            columns = _header_names(filled[0][1], width) if has_header else numbered_columns(width)
            body = [(number, row) for number, row in filled[has_header:] if any(row)]
            written = Written(columns, "workbook", lines_before=filled[0][0] - (not has_header), sheet=name)
            return InspectedFile(file, written, body[:SAMPLE_ROWS], is_whole=True)
    raise refuse(file.name, f"no sheet has a table (there is {', '.join(sheets)})")


def _header_names(header: Sequence[str], width: int) -> tuple[str, ...]:
    """The names of a header; columns without one are numbered."""
    names = [header[at].strip() if at < len(header) else "" for at in range(width)]
    return tuple(name or f"Column {at}" for at, name in enumerate(names, start=1))


def _text(
    file: SourceFile, written: Written, lines: list[str], options: Options, *, is_whole: bool, are_baskets: bool
) -> InspectedFile:
    before, marker, delimiter = 0, "", options.delimiter
    arff: tuple[str, ...] = ()
    if lines[0].lower().startswith("sep=") and len(lines[0].strip()) == 5:
        before, delimiter = 1, delimiter or lines[0].strip()[-1]
    elif re.match(r"\s*(@relation|%)", lines[0], re.IGNORECASE) and any(
        line.strip().lower() == "@data" for line in lines[:500]
    ):
        before = next(at for at, line in enumerate(lines, start=1) if line.strip().lower() == "@data")
        matches = [match for line in lines[:before] if (match := _ARFF.match(line)) is not None]
        arff = tuple(next(filter(None, match.groups())) for match in matches)
        marker, delimiter = "%", delimiter or ","
    elif lines[0][:1] in ("#", "%"):
        marker = lines[0][0]
        before = next((at for at, line in enumerate(lines) if line[:1] not in ("#", "%")), 0)
    body = [line for line in lines[before:] if line.strip() and (not marker or not line.startswith(marker))]
    if not body:
        raise refuse(file.name, "there is no row after the header", line=len(lines))
    if not delimiter and not arff and (sections := _sections(file, written, lines, is_whole)) is not None:
        return sections
    baskets = None if delimiter or arff or options.has_header else _baskets(body, is_known=are_baskets)
    if baskets is not None:
        begins, split = baskets
        pairs: Rows = [
            (0, (fields[0] if begins == "user" else str(number), item))
            for number, fields in enumerate(map(str.split, body), start=1)
            for item in fields[bool(begins) :]
        ]
        shape = replace(written, columns=BASKET_COLUMNS, records="baskets", first=begins, delimiter=split)
        return InspectedFile(file, shape, pairs[:SAMPLE_ROWS], is_whole)
    quotings = (options.quoting,) if options.quoting is not None else (False, True)
    delimiter, has_quotes = dialect(file.name, body, delimiter, quotings, decimal=options.decimal or "")
    parsed = _parse(lines[before:], delimiter, has_quotes, before, marker)
    if not parsed:
        raise refuse(file.name, "there is no row in it", line=before + 1)
    decimal = options.decimal or _decimal(parsed, delimiter)
    if arff:
        header: bool = False
        columns: tuple[str, ...] = arff
    else:
        first = parsed[0][1]
        width = Counter(len(fields) for _, fields in parsed).most_common(1)[0][0]
        header = options.has_header if options.has_header is not None else is_header([row for _, row in parsed])
        wide = (width > _WIDEST or (header and _is_survey(parsed))) and _is_matrix([fields for _, fields in parsed])
        columns = _header_names(first, len(first)) if header else numbered_columns(width)
        numbers = [row[0] for _, row in parsed[1:] if len(row) == width]
        are_distinct = len(set(numbers)) == len(numbers)
        if header and width == len(first) + 1 and are_distinct and any(row[-1] for _, row in parsed[1:]):
            columns = ("Column 0", *columns)  # the numbers of rows that R and pandas write have no name
        if wide:
            return _matrix(file, written, parsed, delimiter, columns, header=header, is_whole=is_whole)
        if len(columns) < 2:
            raise _one_column(file.name, lines[before], options.delimiter)
        if header and len(parsed) == 1:
            raise refuse(file.name, "there is no row after the header", line=len(lines))
    twice = sorted(name for name, n in Counter(columns).items() if n > 1)
    if twice:
        raise refuse(
            file.name, f"the header names column {shown(twice[0])} twice", line=before + 1, options=("has_header",)
        )
    syntax = replace(written, columns=columns, delimiter=delimiter, has_quotes=has_quotes, decimal=decimal)
    shape = replace(syntax, lines_before=parsed[0][0] if header else before, comment=marker)
    rows = [row for row in parsed[header:] if len(row[1]) in (len(columns), len(columns) + 1)]
    return InspectedFile(file, shape, rows[:SAMPLE_ROWS], is_whole)


def _one_column(file: str, line: str, delimiter: str | None) -> Exception:
    reason = f"the first line {shown(line)} has one column: no comma, semicolon, tab, bar, colon or space divides it"
    if delimiter:
        reason = f"the first line {shown(line)} has one column when parted at {delimiter!r}"
    return refuse(file, reason, line=1, options=("delimiter",))


def _sections(file: SourceFile, written: Written, lines: list[str], is_whole: bool) -> InspectedFile | None:
    if not HEADING.fullmatch(lines[0].encode() + b"\n"):
        return None
    rows: Rows = []
    heading = ""
    for number, line in enumerate(lines, start=1):
        match = HEADING.fullmatch(line.encode() + b"\n")
        if match is not None:
            heading = match[1].decode()
        elif line.strip():
            rows.append((number, (heading, *(field.strip() for field in line.split(",")))))
    if not rows:
        return None
    width = Counter(len(fields) for _, fields in rows).most_common(1)[0][0]
    columns = ("Heading", *numbered_columns(width - 1))
    shape = replace(written, columns=columns, records="sections", has_quotes=False)
    return InspectedFile(file, shape, [row for row in rows if len(row[1]) == width][:SAMPLE_ROWS], is_whole)


def _baskets(lines: Sequence[str], *, is_known: bool = False) -> tuple[First, str] | None:
    """What lines of varying length begin with ("count", "user" or nothing) and their delimiter; None: no baskets. Lines
    that are known to be baskets may be of one length.
    """
    split = next(
        (each for each in (" ", "\t", ",") if sum(each in line.strip() for line in lines[:200]) * 4 > len(lines[:200])),
        " ",
    )
    rows = [line.split() if split == " " else [field for field in line.strip().split(split) if field] for line in lines]
    if not all(field.lstrip("-").isdecimal() for row in rows[:200] for field in row):
        return ("", split) if is_known else None
    widths = Counter(map(len, rows))
    if not is_known and (len(widths) < 3 or widths.most_common(1)[0][1] > 0.8 * len(rows)):
        return None
    if sum(bool(row) and row[0] == str(len(row) - 1) for row in rows) >= LEAST_SHARE * len(rows):
        return "count", split
    firsts = [int(row[0]) for row in rows if row and row[0].isdecimal()]
    if len(firsts) > 2 and all(a < b for a, b in itertools.pairwise(firsts)):
        return "user", split
    return "", split


def _is_matrix(rows: Sequence[Sequence[str]]) -> bool:
    cells = [field.strip() for row in rows[1:200] for field in row[1:]]
    return sum(not cell or bool(NUMBER.fullmatch(cell)) for cell in cells) >= LEAST_SHARE * len(cells)


def _is_survey(parsed: Rows) -> bool:
    """Whether a table has a row for each user, and columns of ratings of the same few kinds."""
    first, body = parsed[0][1], [fields for _, fields in parsed[1:]]
    if len(first) < _NARROWEST or rank_by_name(first[0], "user") < 0:
        return False
    cells = {cell.strip() for row in body for cell in row[1:]} - {""}
    users = [row[0] for row in body]
    return (
        len(set(users)) == len(users) > 1
        and len(cells) <= _MOST_ANSWERS
        and not any(rank_by_name(name, role) >= 0 for name in first[1:] for role in ("item", "rating", "title"))
    )


def _matrix(
    file: SourceFile,
    written: Written,
    parsed: Rows,
    delimiter: str,
    columns: tuple[str, ...],
    *,
    header: bool,
    is_whole: bool,
) -> InspectedFile:
    body = [fields for _, fields in parsed[header:] if len(fields) == len(columns)]
    firsts = [fields[0].strip() for fields in body]
    rest = Counter(cell.strip() for fields in body for cell in fields[1:])
    first: First = ""
    for blank in ("", *(mark for mark in ("99", "0", "-1", "NA") if mark in rest)):
        if all(
            name.isdecimal() and int(name) == sum(cell.strip() not in ("", blank) for cell in row[1:])
            for name, row in zip(firsts, body, strict=True)
        ):
            first = "count"
    if not first and len(set(firsts)) == len(firsts) and (header or not all(NUMBER.fullmatch(text) for text in firsts)):
        first = "user"
    names = columns if header else tuple(str(at) for at in range(not first, len(columns) + (not first)))
    rows: Rows = [
        (line, (fields[0] if first == "user" else str(at), name, cell.strip()))
        for at, (line, fields) in enumerate(parsed[header:], start=1)
        for name, cell in zip(names[bool(first) :], fields[bool(first) :], strict=False)
        if cell.strip()
    ]
    syntax = replace(written, delimiter=delimiter, has_quotes=False, lines_before=parsed[0][0] if header else 0)
    shape = replace(syntax, columns=names, records="matrix", first=first)
    return InspectedFile(file, shape, rows[: SAMPLE_ROWS * 5], is_whole)


def dialect(
    file: str, lines: Sequence[str], delimiter: str | None, quotings: Sequence[bool], decimal: str = ""
) -> tuple[str, bool]:
    """The delimiter that divides most lines into the same number of columns of uniform types, and whether quotation
    marks enclose fields. Raises ImportRefused: none does.

    Examples
    --------
    >>> dialect("x.csv", ["user;item;mark", "1;7;4,5", "2;8;3,5"], None, (False, True))
    (';', True)
    """
    sample = list(lines[:300])
    has_marks = any('"' in line for line in sample)

    def quotes(candidate: str) -> bool:
        if len(candidate) > 1 or len(quotings) == 1 or not has_marks:  # a mark further on may enclose a field
            return quotings[-1] and len(candidate) == 1
        # In a file of commas a mark that opens a field and is never closed is a fault; in a file of tabs it is text.
        part, text = re.escape(candidate), "\n".join(sample)
        rest, whole = re.subn(rf'(?m)(?<![^{part}\n])"(?:[^"]|"")*"(?=[{part}\r\n]|\Z)', "", text)
        is_strict = candidate in (",", ";")
        stray = len(re.findall(rf'[^{part}\n]"' if is_strict else '"', rest))
        return whole > stray or (is_strict and whole == stray)

    def score(candidate: str) -> tuple[float, ...]:
        rows = [fields for _, fields in _parse(sample, candidate, quotes(candidate), 0, "")]
        widths = Counter(map(len, rows))
        width, n = widths.most_common(1)[0] if widths else (1, 0)
        if width < 2:
            return (0.0, 0.0, 0.0, 0.0, 0)
        near = sum(count for each, count in widths.items() if abs(each - width) <= 1)
        body = [row for row in rows[1:] if len(row) == width] or [row for row in rows if len(row) == width]
        columns = [[row[at] for row in body] for at in range(width)]
        if len(columns) > 2 and not any(columns[-1]):  # rows end with a delimiter more than the header
            columns = columns[:-1]
        rest = [each for each in _STRONG if each != candidate]
        uniform = sum(_is_uniform(column, rest) for column in columns) / len(columns)
        is_first = len(rows[0]) > 1 and abs(len(rows[0]) - width) <= 1
        share = max(n, 0.9 * near) / len(rows)
        is_sure = candidate in _SURE and share >= 0.9  # no text has these
        first = float(is_first) - (candidate == decimal)
        return (first, float(is_sure), round(share, 2), round(uniform, 2), width)

    best = delimiter or max(_DELIMITERS, key=score)
    if not delimiter and not score(best)[2]:
        raise _one_column(file, lines[0], None)
    return best, quotes(best)


def _is_uniform(texts: Sequence[str], rest: Sequence[str]) -> bool:
    """Whether a column is numbers or texts throughout, and no other delimiter is in most of its texts."""
    filled = [text.strip() for text in texts if text.strip()]
    if len(filled) * 2 < len(texts):
        return False
    for one_char in rest:
        if sum(one_char in text and not NUMBER.fullmatch(text) for text in filled) >= LEAST_SHARE * len(filled):
            return False
    n = sum(bool(NUMBER.fullmatch(text)) for text in filled)
    return n >= LEAST_SHARE * len(filled) or n <= (1 - LEAST_SHARE) * len(filled)


def _parse(lines: Sequence[str], delimiter: str, has_quotes: bool, before: int, comment: str) -> Rows:
    """The rows of some lines, each with the line on which it ends; empty lines and comments are no rows."""
    if len(delimiter) > 1:
        split: Callable[[str], list[str]] = str.split if delimiter == WHITE else lambda line: line.split(delimiter)
        return [
            (number, tuple(split(line)))
            for number, line in enumerate(lines, start=before + 1)
            if line.strip() and not (comment and line.startswith(comment))
        ]
    reader = csv.reader(
        (line + "\n" for line in lines),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE,
    )
    rows: Rows = []
    try:
        for fields in reader:
            if fields and not (comment and fields[0].startswith(comment)) and any(fields):
                rows.append((before + reader.line_num, tuple(fields)))
    except csv.Error:  # a field beyond the limit: what follows shows nothing
        pass
    return rows


def _decimal(rows: Rows, delimiter: str) -> str:
    """A comma where some numbers have one and none a point."""
    fields = [field.strip() for _, row in rows[:2000] for field in row]
    has_comma = delimiter != "," and sum(bool(_COMMA.fullmatch(field)) for field in fields) * 50 > len(fields)
    has_point = sum(bool(re.fullmatch(r"[+-]?\d+\.\d+", field)) for field in fields) * 50 > len(fields)
    return "," if has_comma and not has_point else "."


def is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: it has the name of a role, or text above numbers or times.

    Examples
    --------
    >>> is_header([["reader", "book", "mark"], ["a", "b", "5"]]), is_header([["1", "7", "4.5"], ["2", "8", "3"]])
    (True, False)
    """
    names = [name.strip() for name in rows[0]]
    if not any(names) or any(NUMBER.fullmatch(name) or time_format_of([name]) is not None for name in names):
        return False
    if any(usual_role(name) for name in names):
        return True
    below = [row for row in rows[1:200] if len(row) == len(names)]
    for at in range(len(names)):
        column = [row[at] for row in below if row[at].strip()]
        if column and (
            sum(bool(NUMBER.fullmatch(text.strip())) for text in column) >= 0.9 * len(column)
            or time_format_of(column) is not None
        ):
            return True
    values = {field for row in below for field in row}
    return len(set(names)) == len(names) and all(names) and not values & set(names)


def numbered_columns(n: int) -> tuple[str, ...]:
    """The names of the columns of a table without a header.

    Examples
    --------
    >>> numbered_columns(2)
    ('Column 1', 'Column 2')
    """
    return tuple(f"Column {number}" for number in range(1, n + 1))
