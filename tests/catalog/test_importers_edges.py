"""What is read, and what is refused, at the edges of formats."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.importers.auto import parse
from catalog.importers.base import ImportRefused, ParsedDataset, Policy, RatingScale
from catalog.importers.items import utility_of
from catalog.importers.options import Options
from catalog.importers.problems import Problems
from catalog.importers.reading import parquet, read, records, texts
from catalog.importers.reading.numbers import narrow
from catalog.importers.reading.tables import LONGEST_LINE, Written
from catalog.importers.rows import is_in_order
from catalog.importers.sources import open_source
from core.errors import ParameterError

pytestmark = pytest.mark.unit

ONE_TO_FIVE = RatingScale(1, 5, 1)


def refusal(path: Path, **options) -> str:
    with pytest.raises(ImportRefused) as refused:
        parse(path, **options)
    return str(refused.value)


def triples(dataset: ParsedDataset) -> list[tuple[str, str, float]]:
    return [
        (str(dataset.user_ids[user]), dataset.items[item].external_id, float(value))
        for user, item, value in zip(dataset.users, dataset.items_rated, dataset.values, strict=True)
    ]


parts = st.sampled_from(
    [
        "1:\n", "22:\r\n", "7,3,2005-09-06\n", "8,5,2004-02-29\n", "8,9,1999-12-31\r\n", "9,1,2005-02-29\n", "\n",
        "5,3,1969-12-31\n", "6,2,2038-01-01\n", "4,2,2005-13-01\n", "4,2,2005-00-01\n", "4,2,2005-01-00\n",
        "4,x,2005-01-01\n", "4,2,2005/01/01\n", "4,2,20a5-01-01\n", "12345678901,2,2005-01-01\n", "x\n", "4,2\n",
        "2147483648,2,2005-01-01\n", "1,2,3,4\n", "1234567890:\n", "3,4,2005-01-01", "4,2,2005-01-01 \n",
        "5,10,2005-01-01\n",
    ]
)  # fmt: skip
SECTIONS = Written(("item", "user", "rating", "time"), "sections", has_quotes=False)
OF_SECTIONS = {"item": "whole", "user": "whole", "rating": "number", "time": "time"}


@settings(max_examples=300)
@given(st.lists(parts, min_size=1, max_size=12), st.integers(48, 120))
def test_sections_give_the_same_in_blocks_of_any_size_and_row_by_row(tmp_path_factory, lines, block):
    path = tmp_path_factory.mktemp("sections") / "combined_data_1.txt"
    path.write_text("".join(lines), newline="")
    (file,) = open_source(path).files.values()
    found = []
    for patches in ({}, {"BLOCK": block}, {"_by_arrow": lambda *block: None}):
        problems = Problems()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in patches.items():
                patch.setattr(texts, name, value)
            try:
                table = read(file, SECTIONS, OF_SECTIONS, problems)
            except ImportRefused as refused:
                found.append(str(refused))
                continue
        rows = [
            (*(column[row].item() for column in table.columns.values()), table.lines.line(row))
            for row in range(len(table))
        ]
        kinds = {kind: n for kind, n in problems.counts.items() if kind != "no heading"}
        found.append((rows, kinds, table.rows_read))
    assert found[0] == found[1] == found[2]


def test_rows_stand_below_their_heading_by_line(tmp_path):
    text = "9,4,2005-01-01\n12:\n7,3,2005-09-06\n\n 13: \n8,x,2005-09-06\n8,2,2005-09-07\n"
    (tmp_path / "s.txt").write_text(text)
    (file,) = open_source(tmp_path / "s.txt").files.values()
    problems = Problems()
    table = read(file, SECTIONS, OF_SECTIONS, problems)
    assert table.columns["item"].tolist() == [12, 13]
    assert [table.lines.line(row) for row in range(2)] == [3, 7]
    assert {kind: [each.line for each in kept] for kind, kept in problems.examples.items()} == {
        "no heading": [1], "not a number": [6],
    }  # fmt: skip


def test_lines_that_do_not_end_are_no_tables(tmp_path):
    endless = b"1" * (LONGEST_LINE + 10)
    (tmp_path / "r.jsonl").write_bytes(b'{"user": 1, "item": 2, "rating": 3}\n' + endless)
    assert refusal(tmp_path / "r.jsonl").startswith("r.jsonl, line 2: the line does not end")
    (tmp_path / "r.csv").write_bytes(b"user,item,rating\n1,1,3\n1,2,4\n" + endless * 5)
    assert refusal(tmp_path / "r.csv").startswith("r.csv, line 4: the line does not end")
    (tmp_path / "clicks.dat").write_bytes(b"1 " * LONGEST_LINE)
    assert refusal(tmp_path / "clicks.dat").startswith("clicks.dat, line 1: the line does not end")


N_LONG = 60_000  # rows of more than a MiB
LONG = "user,item,rating\n" + "".join(f"user {at % 997},item {at % 1009},{at % 5 + 1}\n" for at in range(N_LONG))


@pytest.mark.parametrize(
    "content",
    [
        LONG.encode(),
        LONG.replace("\n", "\r").encode(),
        LONG.encode("utf-16"),
        LONG.encode("utf-16-be"),
        json.dumps(
            [{"user": f"user {at % 997}", "item": f"item {at % 1009}", "rating": at % 5 + 1} for at in range(N_LONG)]
        ).encode(),
    ],
    ids=["LF", "CR", "UTF-16", "UTF-16 without a mark", "an array on one line"],
)
def test_large_files_are_sampled_however_their_lines_end(tmp_path, content):
    (tmp_path / "ratings.txt").write_bytes(content)
    assert len(content) > 1 << 20
    dataset = parse(tmp_path / "ratings.txt")
    assert (dataset.n_users, dataset.n_items, dataset.n_ratings) == (997, 1009, N_LONG)


def test_what_the_sample_does_not_show_is_refused_where_it_comes(tmp_path):
    (tmp_path / "r.csv").write_text(LONG + "u,i,1_0\nu,i2,7\nu,,4\n")
    message = refusal(tmp_path / "r.csv", options=Options(scale=ONE_TO_FIVE))
    assert message.startswith(f"r.csv, line {N_LONG + 2}, column rating: '1_0' is not a number. (2 more problems)")


def test_numbers_are_read_to_the_last_bit_either_way(tmp_path):
    rows = ('"4",123456789.123456789,1', "1,0.1234567890123456,2", "2,4.35,3")
    written = Written(("user", "rating", "time"), lines_before=1)
    found = []
    for name, chosen in (("texts.csv", rows), ("blocks.csv", rows[1:])):
        (tmp_path / name).write_text("user,rating,time\n" + "".join(f"{row}\n" for row in chosen))
        (file,) = open_source(tmp_path / name).files.values()
        kinds = {"user": "id", "rating": "number", "time": "whole"}
        found.append(read(file, written, kinds, Problems()).columns["rating"].tolist())
    assert found == [[123456789.123456789, 0.1234567890123456, 4.35], [0.1234567890123456, 4.35]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1", "movie_titles.txt, line 2, column year: the line has 1 of 3 fields"),
        ("one,1990,A", "movie_titles.txt, line 2, column item: 'one' is not a whole number"),
        ("2,1990,A", "movie_titles.txt, line 2, column title: item 2 was listed before"),
        ("3,1990,a\0b", "movie_titles.txt, line 2, column title: the field holds a NUL character"),
        (f"3,1990,{'a' * 301}", "movie_titles.txt, line 2, column title: the title has 301 characters"),
        ("3,XC,A", "movie_titles.txt, line 2, column item: 'XC' is no year"),
    ],
)
def test_titles_of_netflix_that_cannot_be_rows(tmp_path, line, message):
    (tmp_path / "movie_titles.txt").write_text(f"2,1990,B\n{line}\n")
    (tmp_path / "combined_data_1.txt").write_text("2:\n1,3,2005-01-01\n")
    assert refusal(tmp_path).startswith(message)


def test_netflix_needs_ratings(tmp_path):
    (tmp_path / "movie_titles.txt").write_text("2,1990,B\n")
    message = refusal(tmp_path, format="netflix")
    assert "no file of netflix is in it that holds the ratings" in message
    assert "Netflix Prize consists of mv_*.txt (in training_set) or combined_data_*.txt" in message
    (tmp_path / "combined_data_1.txt").write_text("2:\n1,3,2005-01-01\n")
    calls: list[tuple[str, int]] = []
    assert parse(tmp_path, progress=lambda *now: calls.append(now)).n_ratings == 1
    assert calls == [("combined_data_1.txt", 1)]


def test_parquet_values_that_are_no_values_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_AT_A_TIME", 2)
    table = pa.table(
        {"user": ["a", "b", "c"], "item": ["x", "y", "z"], "rating": [True, False, True], "time": [1.0, 2.0, 3.5]}
    )
    pq.write_table(table, tmp_path / "r.parquet")
    assert "row 1, column rating: 'True' is neither a text nor a number" in refusal(
        tmp_path / "r.parquet", options=Options(scale=ONE_TO_FIVE, rating="rating")
    )
    calls: list[tuple[str, int]] = []
    dataset = parse(
        tmp_path / "r.parquet",
        options=Options(usage=True, time="time"),
        policy=Policy(on_bad_row="drop"),
        progress=lambda *now: calls.append(now),
    )
    assert triples(dataset) == [("a", "x", 1), ("b", "y", 1)]
    assert dataset.timestamps.tolist() == [1, 2]
    assert calls == [("r.parquet", 2), ("r.parquet", 3)]
    items = pa.table({"item": ["x", "y", "z"], "title": ["X", "Y\0", "Z"]})
    pq.write_table(items, tmp_path / "items.parquet")
    assert "items.parquet, row 2, column title: the field holds a NUL" in refusal(
        tmp_path / "r.parquet", options=Options(usage=True, items_file=tmp_path / "items.parquet")
    )
    twice = pa.Table.from_arrays([pa.array([1])] * 3, names=["user", "item", "item"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    assert refusal(tmp_path / "twice.parquet").startswith("twice.parquet: the file has column 'item' twice")


def test_json_lines_that_are_broken_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "ROWS_AT_A_TIME", 1)
    (tmp_path / "r.jsonl").write_bytes(
        b'{"user": "a", "item": "b", "rating": 1}\n{"user": "\xff"}\n{"user": "a", "item": "c", "rating": "good"}\n'
    )
    calls: list[tuple[str, int]] = []
    message = refusal(tmp_path / "r.jsonl", progress=lambda *now: calls.append(now))
    assert message.startswith("r.jsonl, line 2: byte 0xff at position 11 of the line is not UTF-8. (1 more problem)")
    assert calls[-1] == ("r.jsonl", 3)


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
    assert refusal(tmp_path).startswith("BX-Books.csv, line 2, column Book-Title: the title is empty")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("x 5 6", "column user: 'x' is not a whole number"),
        ("9 apple", "column item: 'apple' is not a whole number"),
        ("9 99999999999999999999999", "column item: '99999999999999999999999' is not a whole number"),
        ("9 -3", "column item: the id -3 is below 0"),
    ],
)
def test_lines_of_a_user_that_contradict_the_others_are_named(tmp_path, line, reason):
    first = "".join(f"{user} 1 {' '.join(map(str, range(2, 2 + user % 4)))}\n" for user in range(300))
    (tmp_path / "train.txt").write_text(f"{first}{line}\n")
    assert (
        refusal(tmp_path / "train.txt", format="fimi")
        .replace("column line", "column user")
        .startswith(f"train.txt, line 301, {reason}")
    )


def test_counts_that_contradict_their_line_are_named(tmp_path):
    lines = [f"{at % 4 + 1} " + " ".join(map(str, range(at % 4 + 1))) for at in range(100_000)]
    (tmp_path / "users.dat").write_text("\n".join([*lines, "3 1 2"]) + "\n")
    message = refusal(tmp_path / "users.dat")
    assert message.startswith("users.dat, line 100001, column line: the line begins with the count 3 and has 2 items")


def test_counts_that_cannot_be_stored_are_named_and_sums_stay_below(tmp_path):
    rows = [f"u{at % 7},i{at % 5},{1 + at * (at % 9 == 0)}" for at in range(40)]
    text = "user,item,plays\n" + "\n".join([*rows, "u1,i9,99999999999"]) + "\n"
    (tmp_path / "plays.csv").write_text(text)
    assert refusal(tmp_path / "plays.csv").startswith(
        "plays.csv, line 42, column plays: 1e+11 is above 2,147,483,647, the largest count"
    )
    (tmp_path / "plays.csv").write_text(text.replace("99999999999", "2147483647\nu1,i9,5"))
    assert parse(tmp_path / "plays.csv").counts.max() == 2**31 - 1


def test_a_line_of_marks_alone_is_no_table(tmp_path):
    (tmp_path / "r.csv").write_text('sep=;\n"\n')
    assert "r.csv" in refusal(tmp_path / "r.csv")


def test_small_things():
    assert [narrow(np.array(values)).dtype.name for values in ([1], [2**40], [0.5], [0.1])] == [
        "int32", "int64", "float32", "float64",
    ]  # fmt: skip
    assert is_in_order(np.array([0, 0, 1]), np.array([1, 2, 0]))
    assert not is_in_order(np.array([0, 0]), np.array([1, 1]))
    assert not is_in_order(np.array([1, 0]), np.array([0, 0]))
