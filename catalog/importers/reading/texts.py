"""Reads delimited text as columns of texts: blocks of whole records by Apache Arrow, unusual ones row by row."""

from __future__ import annotations

import codecs
import csv
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import ImportProblem
from catalog.importers.problems import Problems
from catalog.importers.reading.numbers import n_lines, number_batch
from catalog.importers.reading.tables import LONGEST_LINE, WHITE, Batch, Kind, Written, undecodable
from catalog.importers.sources import refuse

BLOCK = 2 << 20  # bytes
THREADS = 2
UNUSED = "\x1f"  # a character that no text has: it replaces delimiters of several
_ADVICE_ENCODING = "Save the file as UTF-8, or say in which encoding it is."
Block = tuple[bytes, int, bool]  # whole records, their first line, and whether they are the last


def is_wide(encoding: str) -> bool:
    """Whether line ends are not single bytes in an encoding."""
    return "a,\n".encode(encoding).removeprefix(codecs.BOM_UTF8) != b"a,\n"


def chunks_of(stream: BinaryIO, file: str, written: Written) -> Iterator[bytes]:
    """The bytes of a file from its first row on, in UTF-8 and with LF as line end where its line ends are other bytes.
    Raises ImportRefused for bytes that cannot be decoded.
    """
    decoder = codecs.getincrementaldecoder(written.encoding)() if is_wide(written.encoding) else None
    before, raw = written.lines_before, b"\0"
    while raw:
        raw = chunk = stream.read(BLOCK)
        if decoder is not None:
            try:
                chunk = decoder.decode(raw, final=not raw).removeprefix("\ufeff").encode()
            except UnicodeDecodeError as error:
                reason = f"it cannot be decoded as {error.encoding}: {error.reason}"
                raise refuse(file, reason, advice=_ADVICE_ENCODING) from error
        if written.is_cr:
            chunk = chunk.replace(b"\r", b"\n")
        while before and chunk:
            _, end, chunk = chunk.partition(b"\n")
            before -= bool(end)
        if chunk:
            yield chunk


def text_batches(
    chunks: Iterable[bytes], file: str, written: Written, kinds: Mapping[str, Kind], problems: Problems
) -> Iterator[Batch]:
    """The rows after the header, block by block; those that cannot be read are added to `problems`."""
    wanted = list(kinds)

    def parse(block: Block) -> Batch | None:
        return number_batch(*block[:2], written, kinds) or _by_arrow(*block, written, wanted)

    for block, batch in in_turn(parse, record_blocks(chunks, file, written)):
        yield batch or rows_batch(*block, file, written, wanted, problems)


def in_turn(parse: Callable[[Block], Any], blocks: Iterator[Block]) -> Iterator[tuple[Block, Any]]:
    """Each block with what `parse` makes of it, in order; two are parsed at a time."""
    waiting: deque[tuple[Block, Future[Any]]] = deque()
    with ThreadPoolExecutor(THREADS) as threads:
        for block in blocks:
            waiting.append((block, threads.submit(parse, block)))
            # Bounded, so that a fast disk does not fill the memory with blocks that are not parsed yet.
            if len(waiting) > 2 * THREADS:
                done, future = waiting.popleft()
                yield done, future.result()
        while waiting:
            done, future = waiting.popleft()
            yield done, future.result()


def record_blocks(chunks: Iterable[bytes], file: str, written: Written) -> Iterator[Block]:
    """Blocks of whole records. Raises ImportRefused for a line that does not end."""
    rest, line = b"", written.lines_before + 1
    for data in chunks:
        block = rest + data
        end = block.rfind(b"\n") + 1
        if written.has_quotes and b'"' in block and block.count(b'"', 0, end) % 2:
            # Without a stray mark, the last record goes on behind a quoted line end.
            inside = block.rfind(b'"', 0, end)
            earlier = block.rfind(b"\n", 0, inside) + 1
            # Where this record began the block, the rest of it is waited for, as long as a line may be.
            if block.count(b'"', 0, earlier) % 2 == 0 and (earlier or len(block) <= LONGEST_LINE):
                end = earlier
        if not end and len(block) > LONGEST_LINE:
            raise refuse(file, "the line does not end: this is not a table", line=line)
        rest = block[end:]
        if end:
            yield block[:end], line, False
            line += n_lines(block[:end])
    if rest:
        yield rest, line, True


def _by_arrow(block: bytes, line: int, is_last: bool, written: Written, wanted: Sequence[str]) -> Batch | None:
    """A block's columns; None where something in it is unusual."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    # Arrow reads the plain cases quickly; whatever needs a judgement is left to the rows, whose problems have lines.
    if b"\0" in block or (is_last and written.needs_final_newline) or written.escape or written.is_rest:
        return None
    mark = written.comment.encode()
    if mark and (block.startswith(mark) or b"\n" + mark in block):
        return None
    text, delimiter = _one_delimiter(block, written)
    if text is None:
        return None
    where = _record_lines(text, delimiter.encode(), has_quotes=written.has_quotes)
    if where is None:
        return None
    n = len(written.columns)
    positions = [written.columns.index(name) for name in wanted]
    for width in (n, n + 1):  # a row may end with a delimiter more than the header
        names = [str(at) for at in range(width)]
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(text),
                arrow_csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
                arrow_csv.ParseOptions(
                    delimiter=delimiter,
                    quote_char='"' if written.has_quotes else False,
                    double_quote=written.has_quotes,
                    newlines_in_values=written.has_quotes,
                ),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=[str(at) for at in positions] + names[n:],
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            continue
        # Where the two disagree about records, no line number could be trusted.
        if table.num_rows != len(where) or any(table.column(each).unique().to_pylist() != [""] for each in names[n:]):
            return None
        columns = {name: table.column(str(at)).combine_chunks() for name, at in zip(wanted, positions, strict=True)}
        return Batch(columns, where + line, len(where))
    return None


def _one_delimiter(block: bytes, written: Written) -> tuple[bytes | None, str]:
    """The block in UTF-8 with a delimiter of one character; None where it cannot be decoded so."""
    delimiter = written.delimiter
    if block.startswith(codecs.BOM_UTF8):
        block = block[3:]
    if not (is_wide(written.encoding) or written.codec == "utf-8-sig"):
        try:
            block = block.decode(written.encoding).encode()
        except UnicodeDecodeError:
            return None, ""
    if len(delimiter) > 1:
        if UNUSED.encode() in block:
            return None, ""
        if delimiter == WHITE:
            block = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", block)
            block = re.sub(rb"[ \t]+", UNUSED.encode(), block)
        else:
            block = block.replace(delimiter.encode(), UNUSED.encode())
        delimiter = UNUSED
    return block, delimiter


def _record_lines(text: bytes, delimiter: bytes, *, has_quotes: bool) -> NDArray[np.int64] | None:
    """The line on which each record ends, from 0; None where quotation marks do not enclose whole fields."""
    if not text.endswith(b"\n"):
        text += b"\n"
    marks = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(marks == ord("\n"))
    lines = np.arange(len(ends), dtype=np.int64)
    if has_quotes and b'"' in text:
        quotes = np.flatnonzero(marks == ord('"'))
        # An odd number means a stray mark, behind which every count of fields would be wrong.
        if len(quotes) % 2:
            return None
        before, after = marks[np.maximum(quotes[::2] - 1, 0)], marks[quotes[1::2] + 1]
        neighbours = np.frombuffer(delimiter + b'\n"', dtype=np.uint8)
        is_opening = np.isin(before, neighbours) | (quotes[::2] == 0)
        if not (is_opening & np.isin(after, np.append(neighbours, np.uint8(ord("\r"))))).all():
            return None
        is_end = np.searchsorted(quotes, ends) % 2 == 0
        ends, lines = ends[is_end], lines[is_end]
    starts = np.concatenate(([0], ends[:-1] + 1))
    is_blank = (starts == ends) | ((starts + 1 == ends) & (marks[starts] == ord("\r")))
    return np.asarray(lines[~is_blank])


class _Lines:
    """Decoded lines with their numbers; lines of a row that failed can be given once more.

    A line that cannot be decoded is a problem and is left out.
    """

    def __init__(self, block: bytes, first: int, file: str, encoding: str, problems: Problems) -> None:
        self._file, self._encoding, self._problems = file, encoding, problems
        raw = block.split(b"\n")
        self._raw = deque(enumerate(raw[:-1] if not raw[-1] else raw, start=first))
        self._is_open = bool(raw[-1])
        self._waiting: deque[tuple[int, str]] = deque()
        self.row: list[tuple[int, str]] = []  # the lines given since the row began
        self.undecodable = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        self.row.append(self._waiting.popleft() if self._waiting else self._decoded())
        return self.row[-1][1]

    def _decoded(self) -> tuple[int, str]:
        while self._raw:
            number, raw = self._raw.popleft()
            end = "" if self._is_open and not self._raw else "\n"
            try:
                # A byte-order mark stands at the start of a file only.
                encoding = self._encoding if number == 1 else self._encoding.removesuffix("-sig")
                return number, raw.decode(encoding) + end
            except UnicodeDecodeError as error:
                self.undecodable += 1
                reason = undecodable(error, self._encoding)
                self._problems.add("broken encoding", ImportProblem(self._file, number, None, reason))
        raise StopIteration

    @property
    def lacks_final_newline(self) -> bool:
        """Whether the line given last has no line end."""
        return not self.row[-1][1].endswith("\n")

    def retry_after_first(self) -> None:
        """Give the present row's lines once more, without its first."""
        self._waiting.extendleft(reversed(self.row[1:]))
        self.row = []


def rows_batch(
    block: bytes, line: int, is_last: bool, file: str, written: Written, wanted: Sequence[str], problems: Problems
) -> Batch:
    """A block's rows one by one: each that cannot be split is a problem of its own."""
    import pyarrow as pa

    positions = [written.columns.index(name) for name in wanted]
    values: list[list[str]] = [[] for _ in wanted]
    numbers: list[int] = []
    codec = "utf-8" if is_wide(written.encoding) else written.codec
    lines = _Lines(block, line, file, codec, problems)
    rows = 0
    for fields in _split(lines, written):
        rows += 1
        # A quotation mark that never closes swallows all rows behind it: they are read again without its line.
        if isinstance(fields, csv.Error):
            reason = str(fields)
            if "unexpected end of data" in reason or "field larger" in reason:
                reason = "a quotation mark opens here and is never closed: the file may be cut short"
            problems.add("unreadable row", ImportProblem(file, lines.row[0][0], None, reason))
            lines.retry_after_first()
            continue
        number = lines.row[-1][0]
        if (problem := _misfit(fields, lines, written)) is not None:
            problems.add(problem[0], ImportProblem(file, number, problem[1], problem[2]))
        else:
            for column, at in zip(values, positions, strict=True):
                column.append(fields[at])
            numbers.append(number)
        lines.row = []
    columns = {name: pa.array(texts, pa.string()) for name, texts in zip(wanted, values, strict=True)}
    return Batch(columns, np.array(numbers, dtype=np.int64), rows + lines.undecodable)


def _split(lines: _Lines, written: Written) -> Iterator[list[str] | csv.Error]:
    """The fields of each row; where a row cannot be split, the reason. Empty lines and comments are no rows."""
    if len(written.delimiter) > 1 or written.is_rest:
        most = len(written.columns) - 1 if written.is_rest else -1
        for text in lines:
            bare = text.rstrip("\r\n")
            fields = bare.split() if written.delimiter == WHITE else bare.split(written.delimiter, most)
            if fields not in ([], [""]) and not _is_comment(text, written):
                yield fields
            lines.row = []
        return
    while True:
        reader = csv.reader(
            lines,
            delimiter=written.delimiter,
            quoting=csv.QUOTE_MINIMAL if written.has_quotes else csv.QUOTE_NONE,
            escapechar=written.escape or None,
            strict=True,
        )
        try:
            for fields in reader:
                if fields and not _is_comment(lines.row[0][1], written):
                    yield fields
                lines.row = []
            return
        except csv.Error as error:
            yield error


def _is_comment(text: str, written: Written) -> bool:
    return bool(written.comment) and text.startswith(written.comment)


def _misfit(fields: list[str], lines: _Lines, written: Written) -> tuple[str, str | None, str] | None:
    """What is wrong with the number of fields, or with the line's end: kind, column and reason."""
    wanted = len(written.columns)
    if len(fields) < wanted:
        cut = " (the file ends in the middle of this line)" if lines.lacks_final_newline else ""
        reason = f"the line has {len(fields)} of {wanted} fields{cut}"
        return "missing field", written.columns[len(fields)], reason
    if len(fields) > wanted + (len(fields) == wanted + 1 and not fields[-1].strip()):
        return "too many fields", None, f"the line has {len(fields)} fields where {wanted} belong"
    if lines.lacks_final_newline and written.needs_final_newline:
        return (
            "cut short",
            None,
            "the last line has no line end, so the file is probably cut short (if it is complete, end its last line)",
        )
    return None
