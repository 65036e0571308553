"""Columns of delimited text: the compiled reader, Apache Arrow and reading row by row give the same."""

from __future__ import annotations

import gzip
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from catalog.importers.base import ImportRefused
from catalog.importers.problems import Problems
from catalog.importers.reading import read, texts
from catalog.importers.reading.tables import WHITE, Stretches, Table, Written, shown
from catalog.importers.sources import SourceFile, open_source
from tests.sentences import assert_refused_as_approved, assert_sentences_approved

pytestmark = pytest.mark.unit

RATINGS = Written(("user", "item", "rating", "time"), lines_before=1)
KINDS = {"user": "id", "item": "whole", "rating": "number", "time": "time"}
NUMBERS = Written(("user", "item", "rating"), delimiter="::", has_quotes=False)
OF_NUMBERS = {"user": "whole", "item": "whole", "rating": "number"}
TITLES = Written(("id", "title"), lines_before=1)
OF_TITLES = {"id": "whole", "title": "text"}
HEADER = b"user,item,rating,time\n"


@pytest.fixture(params=["as it is", "row by row"])
def by_row(request, monkeypatch):
    """Blocks that Arrow or the compiled reader would take are read row by row in the second case."""
    if request.param == "row by row":
        monkeypatch.setattr(texts, "_by_arrow", lambda *block: None)
        monkeypatch.setattr(texts, "number_batch", lambda *block: None)
    return request.param


def file_of(tmp_path: Path, content: bytes, name: str = "table.csv") -> SourceFile:
    (tmp_path / name).write_bytes(content)
    return open_source(tmp_path / name).files[name]


def table_of(
    tmp_path: Path, content: bytes, written: Written = RATINGS, kinds: dict | None = None
) -> tuple[Table, Problems]:
    problems = Problems()
    return read(file_of(tmp_path, content), written, kinds or KINDS, problems), problems


def found(problems: Problems) -> list[tuple[str, int | None, str | None]]:
    return [(kind, each.line, each.column) for kind, kept in problems.examples.items() for each in kept]


def assert_problems(name: str, problems: Problems) -> None:
    """The sentence of each problem, which is the same however the blocks are read."""
    assert_sentences_approved(
        f"sentences/problems-{name}", {kind: map(str, problems.examples[kind]) for kind in sorted(problems.examples)}
    )


def outcome(file: SourceFile, written: Written, kinds: dict) -> object:
    """All that a reader says of a file."""
    problems = Problems()
    try:
        table = read(file, written, kinds, problems)
    except ImportRefused as refusal:
        return str(refusal)
    columns = {name: list(map(str, column.tolist())) for name, column in table.columns.items()}
    lines = [table.lines.line(row) for row in range(len(table))]
    reasons = sorted(
        (kind, each.line, str(each.column), each.reason) for kind, kept in problems.examples.items() for each in kept
    )
    return columns, lines, reasons, problems.counts, table.rows_read, table.lacks_final_newline


def row_by_row(file: SourceFile, written: Written, kinds: dict) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "_by_arrow", lambda *block: None)
        patch.setattr(texts, "number_batch", lambda *block: None)
        return outcome(file, written, kinds)


digits = st.sampled_from(
    ["1", "0", "-3", "007", "12345678901234567890", "1.5", "-0.25", "3.", ".5", "1e3", "nan", " 7", "", "x", '"4"',
     "+1", "123456789.123456789", "1.2.3", "0x1F", "1_0", "99999999999999999"]
)  # fmt: skip
line_ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", ""])


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.lists(digits, min_size=2, max_size=4), line_ends), min_size=1, max_size=6),
    st.sampled_from(["whole", "id"]),
    st.sampled_from([",", "::"]),
    st.integers(8, 64),
)
def test_blocks_of_numbers_give_what_reading_row_by_row_gives(tmp_path_factory, rows, first, delimiter, block):
    kinds = {"user": first, "rating": "number", "time": "whole"}
    written = Written(tuple(kinds), delimiter=delimiter, has_quotes=delimiter == ",", lines_before=1)
    text = "user,rating,time\n" + "".join(delimiter.join(row) + end for row, end in rows)
    file = file_of(tmp_path_factory.mktemp("table"), text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "BLOCK", block)
        in_blocks = outcome(file, written, kinds)
    assert in_blocks == row_by_row(file, written, kinds)


fields = st.sampled_from(["a", "7", "", "é", "x y", '"q,1"', '"l\n2"', '"', "4.5", "nan", "inf", "1_0", "2020-01-02"])


@settings(max_examples=200)
@example(rows=[["a", "a", "a", "x y"], ["a", "x y", '"l\n2"', "2020-01-02", "2020-01-02"]], ends=False, block=64)
@given(st.lists(st.lists(fields, min_size=1, max_size=5), min_size=1, max_size=12), st.booleans(), st.integers(64, 160))
def test_blocks_of_text_give_what_reading_row_by_row_gives(tmp_path_factory, rows, ends, block):
    content = HEADER + "\n".join(map(",".join, rows)).encode() + (b"\n" if ends else b"")
    kinds = {"user": "id", "item": "text", "rating": "number", "time": "time"}
    file = file_of(tmp_path_factory.mktemp("table"), content)
    whole = outcome(file, RATINGS, kinds)
    assert whole == row_by_row(file, RATINGS, kinds)
    if not any('"' in row for row in rows):  # an open mark costs what is left of its block
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(texts, "BLOCK", block)
            assert outcome(file, RATINGS, kinds) == whole


def test_clean_columns_are_read_with_their_lines(tmp_path, by_row):
    table, problems = table_of(tmp_path, HEADER + b"a,1,4.5,10\n\nb,2,3,20\n")
    assert problems.total == 0
    assert {name: column.tolist() for name, column in table.columns.items()} == {
        "user": ["a", "b"], "item": [1, 2], "rating": [4.5, 3.0], "time": [10, 20],
    }  # fmt: skip
    assert [table.lines.line(row) for row in range(len(table))] == [2, 4]
    assert (table.rows_read, table.lacks_final_newline) == (2, False)


@pytest.mark.parametrize(
    ("content", "written"),
    [
        (b"1::2::3\n4::5::2.5\n", NUMBERS),
        (b"1\t\t2\t\t3\n4\t\t5\t\t2.5\n", replace(NUMBERS, delimiter="\t\t")),
        (b"  1   2 \t3\n4 5 2.5 \n", replace(NUMBERS, delimiter=WHITE)),
        (b"1;2;3\r4;5;2,5\r", replace(NUMBERS, delimiter=";", is_cr=True, decimal=",")),
        ("1;2;3\n4;5;2.5\n".encode("utf-16"), replace(NUMBERS, delimiter=";", encoding="utf-16")),
        (b"% a\n1;2;3\n% b\n4;5;2.5\n", replace(NUMBERS, delimiter=";", comment="%")),
        (b"1;2;3;\n4;5;2.5;\n", replace(NUMBERS, delimiter=";")),
    ],
    ids=["colons", "tabs", "white space", "CR", "UTF-16", "comments", "trailing delimiter"],
)
def test_unusual_ways_of_writing_are_read(tmp_path, by_row, content, written):
    table, problems = table_of(tmp_path, content, written, OF_NUMBERS)
    assert problems.total == 0
    assert [column.tolist() for column in table.columns.values()] == [[1, 4], [2, 5], [3, 2.5]]


def test_every_kind_of_problem_has_its_line_column_and_reason(tmp_path, by_row):
    content = HEADER + (
        b"a,1,4.5,10\n"
        b"b,2,high,20\n"
        b"c,3,4\n"
        b"d,4,nan,40\n"
        b"\xff,5,4,50\n"
        b"f,6,4,60,6\n"
        b" ,7,4,70\n"
        b"\n"
        b"i,9.5,4,90\n"
        b"j,10,4,soon\n"
        b"k,11,1_0,100\n"
        b"l,99999999999999999999,4,100\n"
        b"m\0,13,4,130\n"
        b"n,14,4,140\n"
        b'"o\no",15,4,x\n'
    )
    table, problems = table_of(tmp_path, content)
    assert sorted((line or 0, kind, column) for kind, line, column in found(problems)) == [
        (3, "not a number", "rating"),
        (4, "missing field", "time"),
        (5, "not a number", "rating"),
        (6, "broken encoding", None),
        (7, "too many fields", None),
        (8, "missing field", "user"),
        (10, "not a number", "item"),
        (11, "not a number", "time"),
        (12, "not a number", "rating"),
        (13, "not a number", "item"),
        (14, "unusable character", "user"),
        (17, "not a number", "time"),
    ]
    assert_problems("lines", problems)
    assert table.columns["user"].tolist() == ["a", "n"]
    assert [table.lines.line(row) for row in range(len(table))] == [2, 15]
    assert table.rows_read == 14


def test_last_line_without_an_end_is_cut_short_where_the_layout_says_so(tmp_path, by_row):
    strict = replace(RATINGS, needs_final_newline=True)
    table, problems = table_of(tmp_path, HEADER + b"a,1,4.5,10\nb,2,3,2", strict)
    assert found(problems) == [("cut short", 3, None)]
    assert table.columns["user"].tolist() == ["a"]
    assert (table.rows_read, table.lacks_final_newline) == (2, True)
    table, problems = table_of(tmp_path, HEADER + b"a,1,4.5,10\nb,2,3,20")
    assert (problems.total, table.lacks_final_newline) == (0, True)
    assert table.columns["time"].tolist() == [10, 20]
    table, problems = table_of(tmp_path, HEADER + b"a,1,4.5,10\nb,2")
    assert found(problems) == [("missing field", 3, "rating")]


def test_quoted_fields_may_hold_delimiters_quotes_and_line_ends(tmp_path, by_row):
    content = b'id,title\n1,"a ""b"", c"\n2,"two\nlines"\n3,plain\n'
    table, problems = table_of(tmp_path, content, TITLES, OF_TITLES)
    assert problems.total == 0
    assert table.columns["title"].tolist() == ['a "b", c', "two\nlines", "plain"]
    assert [table.lines.line(row) for row in range(len(table))] == [2, 4, 5]


def test_open_quotation_mark_costs_its_own_line_only(tmp_path, by_row):
    table, problems = table_of(tmp_path, b'id,title\n1,one\n2,"two\n3,three\n4,four\n', TITLES, OF_TITLES)
    assert found(problems) == [("unreadable row", 3, None)]
    assert table.columns["id"].tolist() == [1, 3, 4]
    assert [table.lines.line(row) for row in range(len(table))] == [2, 4, 5]
    table, problems = table_of(tmp_path, b'id,title\n1,"a"b\n2,c\n', TITLES, OF_TITLES)
    assert found(problems) == [("unreadable row", 2, None)]
    assert table.columns["id"].tolist() == [2]


def test_open_quotation_mark_in_a_long_file_is_found(tmp_path):
    rows = b"".join(b"%d,title %d\n" % (number, number) for number in range(20_000))
    table, problems = table_of(tmp_path, b'id,title\n0,"open\n' + rows, TITLES, OF_TITLES)
    assert found(problems) == [("unreadable row", 2, None)]
    assert len(table) == 20_000


def test_open_quotation_mark_that_a_later_one_closes_swallows_no_row(tmp_path, by_row):
    table, _ = table_of(tmp_path, HEADER + b'"a,1,4,1\nb,2,4,1\nc",3,4,1\nd,4,4,1\n')
    # Taken for what it says, the user is 'a,1,4,1\nb,2,4,1\nc': exact lines show it.
    assert table.columns["item"].tolist() == [3, 4]
    assert [table.lines.line(row) for row in range(len(table))] == [4, 5]
    table, problems = table_of(tmp_path, HEADER + b'"a,1,4,1\nb,2,4,1\nc,3,"4",1\nd,4,4,1\n')
    assert found(problems) == [("unreadable row", 2, None)]
    assert table.columns["user"].tolist() == ["b", "c", "d"]


def test_double_colons_name_lines_too(tmp_path, by_row):
    table, problems = table_of(tmp_path, b"1::2::3\n4::5\n\n6::x::2\n4:x:5::2\n7::8::1\n", NUMBERS, OF_NUMBERS)
    assert sorted(found(problems)) == [
        ("missing field", 2, "rating"), ("missing field", 5, "rating"), ("not a number", 4, "item"),
    ]  # fmt: skip
    assert table.columns["user"].tolist() == [1, 7]


def test_times_are_seconds_or_iso_8601(tmp_path, by_row):
    rows = b"a,1,4,2020-01-02\nb,2,4,2020-01-02T00:00:10Z\nc,3,4,2020-01-02 01:00:00+01:00\n"
    rows += b"d,4,4,1969-12-31T23:59:59.5\ne,5,4,5\n"
    midnight = 1577923200
    table, problems = table_of(tmp_path, HEADER + rows)
    assert problems.total == 0
    assert table.columns["time"].tolist() == [midnight, midnight + 10, midnight, -1, 5]
    dotted = replace(RATINGS, time_format="%d.%m.%Y")
    table, problems = table_of(tmp_path, HEADER + b"a,1,4,02.01.2020\nb,1,4,30.02.2020\n", dotted)
    assert table.columns["time"].tolist() == [midnight]
    assert_problems("times", problems)


def test_whole_number_beyond_64_bits_is_no_time(tmp_path, by_row):
    _, problems = table_of(tmp_path, HEADER + b"a,1,4,1\nb,2,4,99999999999999999999\n")
    assert found(problems) == [("not a number", 3, "time")]


def test_infinite_rating_is_no_number(tmp_path, by_row):
    _, problems = table_of(tmp_path, HEADER + b"a,1,inf,1\nb,2,4,2\nc,2,1e999,2\n")
    assert found(problems) == [("not a number", 2, "rating"), ("not a number", 4, "rating")]


def test_byte_order_mark_is_no_part_of_the_first_field(tmp_path, by_row):
    headless = replace(RATINGS, lines_before=0)
    table, problems = table_of(tmp_path, b"\xef\xbb\xbfa,1,4.5,10\n", headless)
    assert problems.total == 0
    assert table.columns["user"].tolist() == ["a"]


def test_ids_keep_leading_zeros_and_lose_what_spreadsheets_add(tmp_path, by_row):
    table, _ = table_of(tmp_path, HEADER + b'007,1,4,1\n" a ",2,4,2\n"=""0815""",3,4,3\n')
    assert table.columns["user"].tolist() == ["007", "a", "0815"]


def test_tables_that_are_refused(tmp_path, by_row):
    rows = b"".join(b"u%d,%d,4,%d\n" % (number, number, number * 7919) for number in range(3000))
    packed = gzip.compress(HEADER + rows, mtime=0)
    cases = {
        "empty": partial(table_of, tmp_path, b""),
        "no row": partial(table_of, tmp_path, HEADER),
        "empty without a header": partial(table_of, tmp_path, b"", NUMBERS, OF_NUMBERS),
        "an endless line": partial(table_of, tmp_path, HEADER + b"x" * (5 << 20) + b"\n"),
    }
    assert_refused_as_approved("tables", cases)
    with pytest.raises(ImportRefused, match="damaged"):
        read(file_of(tmp_path, packed[: len(packed) // 2], "table.csv.gz"), RATINGS, KINDS, Problems())


def test_progress_counts_the_rows_of_each_block(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "BLOCK", 24)
    calls: list[tuple[str, int]] = []
    file = file_of(tmp_path, HEADER + b"a,1,4,1\nb,1,4,1\nc,1,4,1\nd,1,4,1\n")
    table = read(file, RATINGS, KINDS, Problems(), progress=lambda name, rows: calls.append((name, rows)))
    assert [name for name, _ in calls] == ["table.csv"] * len(calls)
    assert len(calls) > 1
    assert [rows for _, rows in calls] == sorted(rows for _, rows in calls)
    assert calls[-1][1] == len(table) == 4


def test_shown_shortens_what_is_long():
    assert shown("a\tb") == "'a\\tb'"
    assert shown("x" * 60) == repr("x" * 39 + "…")
    assert len(np.unique([shown("x" * n) for n in (41, 50)])) == 1


@pytest.mark.parametrize("text", ["9459101.337764159", "5271435969026.1693", "732721887700.177873"])
def test_numbers_of_more_than_fifteen_digits_are_read_exactly(tmp_path, by_row, text):
    # Digits divided by a power of ten would be off by one unit in the last place.
    whole, _, decimals = text.partition(".")
    assert float(whole + decimals) / 10.0 ** len(decimals) != float(text)
    written = Written(("user", "rating"), lines_before=1)
    table, problems = table_of(
        tmp_path, f"user,rating\n7,{text}\n".encode(), written, {"user": "whole", "rating": "number"}
    )
    assert problems.total == 0
    assert table.columns["rating"].tolist() == [float(text)]


def test_stretches_follow_lines_and_files():
    joined = Stretches.joined(
        [
            (2, Stretches.of(np.array([5, 6])), "a"),
            (0, Stretches.of(np.array([], dtype=np.int64)), "b"),
            (2, Stretches.of(np.array([1, 3])), "c"),
        ]
    )
    assert [(joined.file(row), joined.line(row)) for row in range(4)] == [("a", 5), ("a", 6), ("c", 1), ("c", 3)]
    assert len(Stretches.joined([]).starts) == 0
    table = Table({"x": np.arange(4)}, joined, 4, "a", lacks_final_newline=False)
    kept = table.selected(np.array([False, True, False, True]))
    assert [(kept.lines.file(row), kept.lines.line(row)) for row in range(2)] == [("a", 6), ("c", 3)]
