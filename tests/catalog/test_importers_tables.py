"""Columns of delimited text, swept and read line by line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.importers.base import ImportRefused
from catalog.importers.layout import Layout, first_line, shown
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile, open_source
from catalog.importers.table_reader import read_table

pytestmark = pytest.mark.unit

RATINGS = Layout(
    columns=("user", "item", "rating", "time"),
    kinds={"user": "id", "item": "whole", "rating": "number", "time": "time"},
)
NUMBERS = Layout(
    columns=("user", "item", "rating"), kinds={"user": "whole", "item": "whole", "rating": "number"}, delimiter="::",
    has_header=False, has_quotes=False,
)  # fmt: skip
HEADER = b"user,item,rating,time\n"


def file_of(tmp_path: Path, content: bytes, name: str = "table.csv") -> SourceFile:
    (tmp_path / name).write_bytes(content)
    return open_source(tmp_path / name).files[name]


def read(tmp_path: Path, content: bytes, layout: Layout = RATINGS, **options):
    problems = Problems()
    return read_table(file_of(tmp_path, content), layout, problems, **options), problems


def found(problems: Problems) -> list[tuple[str, int | None, str | None]]:
    return [(kind, one.line, one.column) for kind, kept in problems.examples.items() for one in kept]


def test_clean_file_is_swept(tmp_path):
    table, problems = read(tmp_path, HEADER + b"a,1,4.5,10\nb,2,3,20\n")
    assert table.is_bulk_read
    assert problems.total == 0
    assert {name: column.tolist() for name, column in table.columns.items()} == {
        "user": ["a", "b"],
        "item": [1, 2],
        "rating": [4.5, 3.0],
        "time": [10, 20],
    }
    assert [table.line(row) for row in range(len(table))] == [2, 3]
    assert (table.rows_read, table.ends_open) == (2, False)


def test_double_colons_are_swept(tmp_path):
    table, _ = read(tmp_path, b"1::2::3\n4::5::2.5\n", NUMBERS)
    assert table.is_bulk_read
    assert table.columns["item"].tolist() == [2, 5]
    assert [table.line(row) for row in range(len(table))] == [1, 2]


fields = st.sampled_from(["a", "7", "", "é", "x y", '"q,1"', '"l\n2"', '"', "4.5", "nan", "inf", "1_0", "2020-01-02"])


@settings(deadline=None, max_examples=150)
@given(st.lists(st.lists(fields, min_size=1, max_size=5).map(",".join), min_size=1, max_size=6), st.booleans())
def test_sweep_gives_what_reading_by_line_gives_or_nothing(tmp_path_factory, rows, ends):
    tmp_path = tmp_path_factory.mktemp("table")
    content = HEADER + "\n".join(rows).encode() + (b"\n" if ends else b"")
    layout = Layout(RATINGS.columns, {"user": "id", "item": "text", "rating": "number", "time": "time"})
    try:
        swept, first = read(tmp_path, content, layout)
        slow, second = read(tmp_path, content, layout, by_line=True)
    except ImportRefused as refusal:
        assert "no row after the header" in str(refusal)  # noqa: PT017  # either way of reading may raise it
        return
    assert first.counts == second.counts
    assert found(first) == found(second)
    assert swept.rows_read == slow.rows_read
    for name, column in slow.columns.items():
        assert swept.columns[name].tolist() == column.tolist()
        assert swept.columns[name].dtype.kind == column.dtype.kind
    assert [swept.line(row) for row in range(len(swept))] == [slow.line(row) for row in range(len(slow))]


def test_problems_name_kind_line_and_column(tmp_path):
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
        b"m,13,4,130\n"
    )
    table, problems = read(tmp_path, content)
    assert not table.is_bulk_read
    assert found(problems) == [
        ("not a number", 3, "rating"),
        ("not a number", 5, "rating"),
        ("not a number", 10, "item"),
        ("not a number", 11, "time"),
        ("not a number", 12, "rating"),
        ("not a number", 13, "item"),
        ("missing field", 4, "time"),
        ("missing field", 8, "user"),
        ("broken encoding", 6, None),
        ("too many fields", 7, None),
    ]
    reasons = {one.line: one.reason for kept in problems.examples.values() for one in kept}
    assert reasons[3] == "'high' is not a number"
    assert reasons[4] == "the line has 3 of 4 fields"
    assert reasons[6] == "byte 0xff at position 1 of the line is not UTF-8"
    assert reasons[7] == "the line has 5 fields where 4 belong"
    assert reasons[8] == "the field is empty"
    assert reasons[10] == "'9.5' is not a whole number"
    assert reasons[11] == "'soon' is neither seconds since 1970 nor an ISO 8601 time"
    assert table.columns["user"].tolist() == ["a", "m"]
    assert [table.line(row) for row in range(len(table))] == [2, 14]
    assert table.rows_read == 12


def test_last_line_without_an_end_is_cut_short(tmp_path):
    table, problems = read(tmp_path, HEADER + b"a,1,4.5,10\nb,2,3,2")
    assert found(problems) == [("cut short", 3, None)]
    assert table.columns["user"].tolist() == ["a"]
    assert (table.rows_read, table.ends_open) == (2, True)
    table, problems = read(tmp_path, HEADER + b"a,1,4.5,10\nb,2")
    assert found(problems) == [("missing field", 3, "rating")]
    assert "the file ends in the middle of this line" in problems.examples["missing field"][0].reason


def test_last_line_without_an_end_is_taken_where_the_layout_allows(tmp_path):
    layout = Layout(RATINGS.columns, RATINGS.kinds, needs_final_newline=False)
    for by_line in (False, True):
        table, problems = read(tmp_path, HEADER + b"a,1,4.5,10\nb,2,3,20", layout, by_line=by_line)
        assert problems.total == 0
        assert table.ends_open
        assert table.columns["time"].tolist() == [10, 20]
        assert table.is_bulk_read is not by_line


def test_quoted_fields_may_hold_delimiters_quotes_and_line_ends(tmp_path):
    layout = Layout(("id", "title"), {"id": "whole", "title": "text"})
    content = b'id,title\n1,"a ""b"", c"\n2,"two\nlines"\n3,plain\n'
    table, problems = read(tmp_path, content, layout, by_line=True)
    assert problems.total == 0
    assert table.columns["title"].tolist() == ['a "b", c', "two\nlines", "plain"]
    assert [table.line(row) for row in range(len(table))] == [2, 4, 5]


def test_open_quotation_mark_costs_its_own_line_only(tmp_path):
    layout = Layout(("id", "title"), {"id": "whole", "title": "text"})
    table, problems = read(tmp_path, b'id,title\n1,one\n2,"two\n3,three\n4,four\n', layout)
    assert found(problems) == [("unreadable row", 3, None)]
    assert problems.examples["unreadable row"][0].reason.startswith("a quotation mark opens here")
    assert table.columns["id"].tolist() == [1, 3, 4]
    assert [table.line(row) for row in range(len(table))] == [2, 4, 5]
    table, problems = read(tmp_path, b'id,title\n1,"a"b\n2,c\n', layout, by_line=True)
    assert found(problems) == [("unreadable row", 2, None)]
    assert table.columns["id"].tolist() == [2]


def test_open_quotation_mark_in_a_long_file_is_found(tmp_path):
    layout = Layout(("id", "title"), {"id": "whole", "title": "text"})
    rows = b"".join(b"%d,title %d\n" % (number, number) for number in range(20_000))
    table, problems = read(tmp_path, b'id,title\n0,"open\n' + rows, layout)
    assert found(problems) == [("unreadable row", 2, None)]
    assert len(table) == 20_000


def test_double_colons_by_line_name_lines_too(tmp_path):
    table, problems = read(tmp_path, b"1::2::3\n4::5\n\n6::x::2\n7::8::1\n", NUMBERS)
    assert found(problems) == [("missing field", 2, "rating"), ("not a number", 4, "item")]
    assert table.columns["user"].tolist() == [1, 7]


def test_times_are_seconds_or_iso_8601(tmp_path):
    rows = b"a,1,4,2020-01-02\nb,2,4,2020-01-02T00:00:10Z\nc,3,4,2020-01-02 01:00:00+01:00\n"
    rows += b"d,4,4,1969-12-31T23:59:59.5\n"
    midnight = 1577923200
    for by_line in (False, True):
        table, problems = read(tmp_path, HEADER + rows, by_line=by_line)
        assert problems.total == 0
        assert table.is_bulk_read is not by_line
        assert table.columns["time"].tolist() == [midnight, midnight + 10, midnight, -1]
    mixed = HEADER + b"a,1,4,5\nb,2,4,2020-01-02\n"
    table, problems = read(tmp_path, mixed)
    assert problems.total == 0
    assert table.columns["time"].tolist() == [5, midnight]


def test_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    content = b"\xef\xbb\xbf" + HEADER + b"a,1,4.5,10\n"
    file = file_of(tmp_path, content)
    assert first_line(file, "utf-8-sig") == "user,item,rating,time"
    for by_line in (False, True):
        table, problems = read(tmp_path, content, by_line=by_line)
        assert problems.total == 0
        assert table.columns["user"].tolist() == ["a"]


@pytest.mark.parametrize("by_line", [False, True])
def test_empty_files_are_refused(tmp_path, by_line):
    with pytest.raises(ImportRefused, match=r"table\.csv, line 1: the file is empty"):
        read(tmp_path, b"", by_line=by_line)
    with pytest.raises(ImportRefused, match=r"table\.csv, line 2: there is no row after the header"):
        read(tmp_path, HEADER, by_line=by_line)
    with pytest.raises(ImportRefused, match=r"table\.csv, line 1: the file is empty"):
        read(tmp_path, b"", NUMBERS, by_line=by_line)


def test_line_that_does_not_end_is_refused(tmp_path):
    with pytest.raises(ImportRefused, match="line 2: the line does not end"):
        read(tmp_path, HEADER + b"x" * (1 << 20) + b"\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n1,2\n", "the first line is empty"),
        (b"x" * (1 << 20), "the first line does not end"),
        (b"us\xe9r,item\n", "byte 0xe9 at position 3 of the line is not UTF-8"),
    ],
)
def test_first_line_refuses_what_is_no_header(tmp_path, content, message):
    with pytest.raises(ImportRefused, match=message) as refused:
        first_line(file_of(tmp_path, content), "utf-8-sig")
    assert refused.value.problems[0].line == 1


def test_cut_gzip_is_refused_by_name(tmp_path):
    rows = b"".join(b"u%d,%d,4,%d\n" % (number, number, number * 7919) for number in range(3000))
    packed = gzip.compress(HEADER + rows)
    file = file_of(tmp_path, packed[: len(packed) // 2], "table.csv.gz")
    for by_line in (False, True):
        with pytest.raises(ImportRefused, match=r"table\.csv\.gz: the compressed file is damaged or cut short"):
            read_table(file, RATINGS, Problems(), by_line=by_line)


def test_progress_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("catalog.importers.text_reader.ROWS_AT_A_TIME", 2)
    monkeypatch.setattr("catalog.importers.line_reader.ROWS_AT_A_TIME", 2)
    content = HEADER + b"a,1,4,1\nb,1,4,1\nc,1,4,1\n"
    told: list[tuple[str, int]] = []
    table, _ = read(tmp_path, content, progress=lambda file, rows: told.append((file, rows)))
    assert told == [("table.csv", 2), ("table.csv", 3)]
    assert table.columns["user"].tolist() == ["a", "b", "c"]
    told.clear()
    read(tmp_path, content, by_line=True, progress=lambda file, rows: told.append((file, rows)))
    assert told == [("table.csv", 2)]


def test_shown_shortens_what_is_long():
    assert shown("a\tb") == "'a\\tb'"
    assert shown("x" * 60) == repr("x" * 39 + "…")
    assert len(np.unique([shown("x" * n) for n in (41, 50)])) == 1


def test_open_quotation_mark_that_a_later_one_closes_swallows_no_row(tmp_path):
    content = HEADER + b'"a,1,4,1\nb,2,4,1\nc",3,4,1\nd,4,4,1\n'
    table, problems = read(tmp_path, content)
    # Taken for what it says, the user is 'a,1,4,1\nb,2,4,1\nc': exact lines show it.
    assert table.columns["item"].tolist() == [3, 4]
    assert [table.line(row) for row in range(len(table))] == [4, 5]
    assert not table.is_bulk_read
    broken = HEADER + b'"a,1,4,1\nb,2,4,1\nc,3,"4",1\nd,4,4,1\n'
    table, problems = read(tmp_path, broken)
    assert found(problems) == [("unreadable row", 2, None)]
    assert table.columns["user"].tolist() == ["b", "c", "d"]


def test_text_between_double_delimiters_is_seen(tmp_path):
    table, problems = read(tmp_path, b"1::2::3\n4:x:5::2\n", NUMBERS)
    assert found(problems) == [("missing field", 2, "rating")]
    assert table.columns["user"].tolist() == [1]


def test_whole_number_beyond_64_bits_is_no_time(tmp_path):
    _, problems = read(tmp_path, HEADER + b"a,1,4,1\nb,2,4,99999999999999999999\n")
    assert found(problems) == [("not a number", 3, "time")]


@pytest.mark.parametrize("text", ["9459101.337764159", "5271435969026.1693", "732721887700.177873"])
def test_numbers_of_more_than_fifteen_digits_are_read_exactly(tmp_path, text):
    # Digits divided by a power of ten would be off by one unit in the last place.
    digits, _, decimals = text.partition(".")
    assert float(digits + decimals) / 10.0 ** len(decimals) != float(text)
    layout = Layout(columns=("user", "rating"), kinds={"user": "whole", "rating": "number"})
    table, problems = read(tmp_path, f"user,rating\n7,{text}\n".encode(), layout)
    assert problems.total == 0
    assert table.columns["rating"].tolist() == [float(text)]


def test_infinite_rating_is_no_number(tmp_path):
    _, problems = read(tmp_path, HEADER + b"a,1,inf,1\nb,2,4,2\n")
    assert found(problems) == [("not a number", 2, "rating")]
