"""The two ways of reading against each other, and what is refused at the edges."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.importers import fimi, netflix, number_reader, records, sections
from catalog.importers.auto import parse
from catalog.importers.base import ImportRefused, ParsedDataset, Policy, RatingScale
from catalog.importers.items import utility_of
from catalog.importers.layout import LONGEST_LINE, Kind, Layout, Stretches
from catalog.importers.number_reader import narrow, whole_lines
from catalog.importers.options import Options
from catalog.importers.problems import Problems
from catalog.importers.row_checks import is_in_order
from catalog.importers.sections import read_sections
from catalog.importers.sources import open_source
from catalog.importers.table_reader import read_table
from core.errors import ParameterError

pytestmark = pytest.mark.unit

ONE_TO_FIVE = RatingScale(1, 5, 1)
fields = st.sampled_from(
    ["1", "0", "-3", "007", "12345678901234567890", "1.5", "-0.25", "3.", ".5", "1e3", "nan", " 7", "", "x", '"4"',
     "+1", "123456789.123456789", "1.2.3", "0x1F", "1_0", "99999999999999999"]
)  # fmt: skip
line_ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", ""])


def refusal(path: Path, **options) -> str:
    with pytest.raises(ImportRefused) as refused:
        parse(path, **options)
    return str(refused.value)


def triples(dataset: ParsedDataset) -> list[tuple[str, str, float]]:
    return [
        (str(dataset.user_ids[user]), dataset.items[item].external_id, float(value))
        for user, item, value in zip(dataset.users, dataset.items_rated, dataset.values, strict=True)
    ]


def seen(problems: Problems) -> list[tuple[str, int | None, str | None, str]]:
    return [(kind, one.line, one.column, one.reason) for kind, kept in problems.examples.items() for one in kept]


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.lists(fields, min_size=2, max_size=4), line_ends), min_size=1, max_size=6),
    st.sampled_from(["whole", "id"]),
    st.sampled_from([",", "::"]),
    st.integers(8, 64),
)
def test_blocks_give_what_reading_by_line_gives(tmp_path_factory, rows, first, delimiter, block):
    kinds: dict[str, Kind] = {"user": first, "rating": "number", "time": "whole"}
    layout = Layout(tuple(kinds), kinds, delimiter=delimiter, has_quotes=delimiter == ",", needs_final_newline=False)
    path = tmp_path_factory.mktemp("table") / "table.csv"
    path.write_text("user,rating,time\n" + "".join(delimiter.join(row) + end for row, end in rows), newline="")
    (file,) = open_source(path).files.values()
    found = []
    for by_line in (False, True):
        problems = Problems()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(number_reader, "BLOCK", block)
            try:
                table = read_table(file, layout, problems, by_line=by_line)
            except ImportRefused as refused:
                found.append(str(refused))
                continue
        lines = [table.line(row) for row in range(len(table))]
        columns = {name: list(map(str, column.tolist())) for name, column in table.columns.items()}
        found.append((columns, lines, seen(problems), problems.counts, table.rows_read, table.ends_open))
    assert found[0] == found[1]


parts = st.sampled_from(
    [
        "1:\n", "22:\r\n", "7,3,2005-09-06\n", "8,5,2004-02-29\n", "8,9,1999-12-31\r\n", "9,1,2005-02-29\n", "\n",
        "5,3,1969-12-31\n", "6,2,2038-01-01\n", "4,2,2005-13-01\n", "4,2,2005-00-01\n", "4,2,2005-01-00\n",
        "4,x,2005-01-01\n", "4,2,2005/01/01\n", "4,2,20a5-01-01\n", "12345678901,2,2005-01-01\n", "x\n", "4,2\n",
        "2147483648,2,2005-01-01\n", "1,2,3,4\n", "1234567890:\n", "3,4,2005-01-01", "4,2,2005-01-01 \n",
        "5,10,2005-01-01\n",
    ]
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(parts, min_size=1, max_size=12), st.integers(4, 80))
def test_sections_give_what_reading_by_line_gives(tmp_path_factory, texts, block):
    path = tmp_path_factory.mktemp("sections") / "combined_data_1.txt"
    path.write_text("".join(texts), newline="")
    (file,) = open_source(path).files.values()
    found = []
    for is_compiled in (True, False):
        problems = Problems()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(number_reader, "BLOCK", block)
            if not is_compiled:
                patch.setattr(sections, "_compiled", lambda *arguments: None)
            rows = [
                (*(column[row].item() for column in part.columns.values()), part.lines.line(row))
                for part in read_sections(file, problems)
                for row in range(len(part.columns["user"]))
            ]
        found.append((rows, seen(problems)))
    assert found[0] == found[1]


def test_lines_that_do_not_end_are_no_tables(tmp_path):
    endless = b"1" * (LONGEST_LINE + 10)
    (tmp_path / "u.data").write_bytes(b"1\t1\t3\t1000\n" + endless)
    (tmp_path / "u.item").write_bytes(b"1|Lantern Street (1994)|01-Jan-1994|||1\n")
    (tmp_path / "u.genre").write_bytes(b"Drama|0\n")
    assert refusal(tmp_path).startswith("u.data, line 2: the line does not end")
    (tmp_path / "r.jsonl").write_bytes(b'{"user": 1, "item": 2, "rating": 3}\n' + endless)
    assert refusal(tmp_path / "r.jsonl").startswith("r.jsonl, line 2: the line does not end")
    folder = tmp_path / "netflix"
    folder.mkdir()
    (folder / "movie_titles.txt").write_bytes(b"1,1994,Lantern Street\n")
    (folder / "combined_data_1.txt").write_bytes(b"1:\n" + endless)
    assert refusal(folder).startswith("combined_data_1.txt, line 2: the line does not end")
    (folder / "movie_titles.txt").write_bytes(endless)
    assert refusal(folder).startswith("movie_titles.txt, line 1: the line does not end")
    with gzip.open(tmp_path / "clicks.dat.gz", "wb", compresslevel=1) as file:
        file.write(b"1 " * (fimi.LONGEST_BASKET // 2 + 5))
    assert "clicks.dat.gz" in refusal(tmp_path / "clicks.dat.gz")
    (tmp_path / "clicks.dat").write_bytes(b"1 " * (fimi.LONGEST_BASKET // 2 + 5))
    assert refusal(tmp_path / "clicks.dat").startswith(
        "clicks.dat, line 1: the line does not end: these are no baskets"
    )


def test_numbers_are_read_to_the_last_bit_either_way(tmp_path):
    rows = ('"4",123456789.123456789,1', "1,0.1234567890123456,2", "2,4.35,3")
    layout = Layout(("user", "rating", "time"), {"user": "id", "rating": "number", "time": "whole"})
    found = []
    for name, chosen in (("swept.csv", rows), ("blocks.csv", rows[1:])):
        (tmp_path / name).write_text("user,rating,time\n" + "".join(f"{row}\n" for row in chosen))
        (file,) = open_source(tmp_path / name).files.values()
        found.append(read_table(file, layout, Problems()).columns["rating"].tolist())
    assert found == [[123456789.123456789, 0.1234567890123456, 4.35], [0.1234567890123456, 4.35]]


def test_whole_lines_end_where_lines_end(tmp_path, monkeypatch):
    monkeypatch.setattr(number_reader, "BLOCK", 4)
    path = tmp_path / "text"
    path.write_bytes(b"ab\ncdefghij\nk\n\nlm")
    with path.open("rb") as stream:
        assert list(whole_lines(stream)) == [b"ab\n", b"cdefghij\n", b"k\n\n", b"lm"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1", "movie_titles.txt, line 2, column year: the line has 1 of 3 fields"),
        ("one,1990,A", "movie_titles.txt, line 2, column movie: 'one' is not a whole number"),
        ("2,1990,A", "movie_titles.txt, line 2, column movie: movie 2 was listed before"),
        ("3,1990,", "movie_titles.txt, line 2, column title: the title is empty"),
        ("3,1990,a\0b", "movie_titles.txt, line 2, column title: the title holds a NUL character"),
        (f"3,1990,{'a' * 301}", "movie_titles.txt, line 2, column title: the title has 301 characters"),
    ],
)
def test_titles_of_netflix_that_cannot_be_rows(tmp_path, line, message):
    (tmp_path / "movie_titles.txt").write_text(f"2,1990,B\n{line}\n")
    (tmp_path / "combined_data_1.txt").write_text("2:\n1,3,2005-01-01\n")
    assert refusal(tmp_path).startswith(message)


def test_netflix_needs_ratings_titles_and_headings(tmp_path):
    (tmp_path / "movie_titles.txt").write_text("\n")
    assert refusal(tmp_path, format="netflix").startswith("combined_data_1.txt: the file is missing")
    (tmp_path / "combined_data_1.txt").write_text("2:\n1,3,2005-01-01\n")
    assert refusal(tmp_path).startswith("combined_data_1.txt, line 2, column movie: item 2 is not in movie_titles.txt")
    (tmp_path / "movie_titles.txt").write_text("")
    assert refusal(tmp_path) == "movie_titles.txt, line 1: the file is empty."
    (tmp_path / "movie_titles.txt").write_text("2,1990,B\n")
    (tmp_path / "probe.txt").write_text("1\n2:\n99999999999\n")
    message = refusal(tmp_path)
    assert message.startswith("probe.txt, line 1: no movie's heading comes before it. (1 more problem)")
    said: list[tuple[str, int]] = []
    (tmp_path / "probe.txt").unlink()
    netflix.parse_netflix(open_source(tmp_path), Options(), policy=Policy(), progress=lambda *now: said.append(now))
    assert said == [("combined_data_1.txt", 1)]


def test_tables_are_asked_for_one_by_one(tmp_path):
    for name in ("a.parquet", "b.parquet"):
        pq.write_table(pa.table({"user": ["a"], "item": ["b"], "rating": [1.0]}), tmp_path / name)
    assert "no dataset is recognised" in refusal(tmp_path)
    assert "one table is needed (there is a.parquet, b.parquet)" in refusal(tmp_path, format="parquet")
    assert "one .dat file of baskets is needed, and there are 0 here" in refusal(tmp_path, format="fimi")
    assert "it, or D11, D12, D01 and D02, holds the sales" in refusal(tmp_path, format="tafeng")
    (tmp_path / "ratings.log").write_text("user,item,rating\na,b,1\na,c,2\n")
    assert triples(parse(tmp_path / "ratings.log", format="delimited")) == [("a", "b", 1), ("a", "c", 2)]


def test_parquet_values_that_are_no_values_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr("catalog.importers.parquet.ROWS_AT_A_TIME", 2)
    table = pa.table(
        {"user": ["a", "b", "c"], "item": ["x", "y", "z"], "rating": [True, False, True], "time": [1.0, 2.0, 3.5]}
    )
    pq.write_table(table, tmp_path / "r.parquet")
    assert "row 1, column rating: True is neither a text nor a number" in refusal(
        tmp_path / "r.parquet", options=Options(scale=ONE_TO_FIVE)
    )
    said: list[tuple[str, int]] = []
    usage = Options(usage=True, time="time")
    dataset = parse(
        tmp_path / "r.parquet", options=usage, policy=Policy(on_bad_row="drop"), progress=lambda *now: said.append(now)
    )
    assert triples(dataset) == [("a", "x", 1), ("b", "y", 1)]
    assert dataset.timestamps.tolist() == [1, 2]
    assert said == [("r.parquet", 2), ("r.parquet", 3)]
    items = pa.table({"item": ["x", "y", "z"], "title": ["X", "Y\0", "Z"]})
    pq.write_table(items, tmp_path / "items.parquet")
    assert "items.parquet, row 2, column title: the field holds a NUL" in refusal(
        tmp_path / "r.parquet", options=Options(usage=True, time="rating", items_file=tmp_path / "items.parquet")
    )
    whole = pa.table({"user": [1, 2], "item": [3, 4], "time": [5, 6]})
    pq.write_table(whole, tmp_path / "whole.parquet")
    assert parse(tmp_path / "whole.parquet", options=Options(usage=True)).timestamps.tolist() == [5, 6]
    twice = pa.Table.from_arrays([pa.array([1])] * 3, names=["user", "item", "item"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    assert refusal(tmp_path / "twice.parquet").startswith("twice.parquet: the file has column 'item' twice")


def test_json_lines_that_are_broken_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "ROWS_AT_A_TIME", 1)
    (tmp_path / "r.jsonl").write_bytes(
        b'{"user": "a", "item": "b", "rating": 1}\n{"user": "\xff"}\n{"user": "a", "item": "c", "rating": "good"}\n'
    )
    said: list[tuple[str, int]] = []
    message = refusal(tmp_path / "r.jsonl", progress=lambda *now: said.append(now))
    assert message.startswith("r.jsonl, line 2: byte 0xff at position 11 of the line is not UTF-8. (1 more problem)")
    assert said[-1] == ("r.jsonl", 3)


def test_utilities_that_are_no_numbers_are_named(tmp_path):
    (tmp_path / "baskets.csv").write_text("basket,item\n1,a\n")
    (tmp_path / "prices.csv").write_text("item,price\na,free\n")
    options = Options(usage=True, items_file=tmp_path / "prices.csv", title="item", item_utility="price")
    assert "prices.csv, line 2, column item: 'free' is not a number of 0 or more" in refusal(
        tmp_path / "baskets.csv", options=options
    )
    assert [utility_of(text) for text in ("2.5", "-1", "nan", "inf", "1_0", "x")] == [2.5, *[None] * 5]
    with pytest.raises(ParameterError, match="it can be 'drop' or 'apart'"):
        Options(zeros="keep")


def test_books_none_of_which_can_be_kept_are_refused(tmp_path):
    names = "ISBN;Book-Title;Book-Author;Year-Of-Publication;Publisher;Image-URL-S;Image-URL-M;Image-URL-L\n"
    (tmp_path / "BX-Books.csv").write_text(names + '"1";"";"";"";"";"";"";""\n')
    (tmp_path / "BX-Book-Ratings.csv").write_text('"User-ID";"ISBN";"Book-Rating"\n"7";"1";"5"\n')
    assert refusal(tmp_path).startswith("BX-Books.csv, line 2, column ISBN: the title is empty")


def test_baskets_say_how_far_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(fimi, "_LINES_AT_A_TIME", 1)
    (tmp_path / "retail.dat").write_text("1 2\n3\n")
    said: list[tuple[str, int]] = []
    parse(tmp_path / "retail.dat", progress=lambda *now: said.append(now))
    assert said == [("retail.dat", 2), ("retail.dat", 3)]


def test_stretches_follow_lines_and_files():
    joined = Stretches.joined([(2, 5, "a"), (0, 9, "b"), (2, Stretches.of(np.array([1, 3])), "c")])
    assert [(joined.file(row), joined.line(row)) for row in range(4)] == [("a", 5), ("a", 6), ("c", 1), ("c", 3)]
    assert len(Stretches.joined([]).starts) == 0


def test_small_things():
    assert [narrow(np.array(numbers)).dtype.name for numbers in ([1], [2**40], [0.5], [0.1])] == [
        "int32", "int64", "float32", "float64",
    ]  # fmt: skip
    assert is_in_order(np.array([0, 0, 1]), np.array([1, 2, 0]))
    assert not is_in_order(np.array([0, 0]), np.array([1, 1]))
    assert not is_in_order(np.array([1, 0]), np.array([0, 0]))
