"""What is read, and what is refused, at the edges of formats."""

from __future__ import annotations

import json
from functools import partial
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
from tests.sentences import assert_refused_as_approved

pytestmark = pytest.mark.unit

ONE_TO_FIVE = RatingScale(1, 5, 1)


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


TITLES = {
    "title missing": "1",
    "word for an item": "one,1990,A",
    "item twice": "2,1990,A",
    "NUL in a title": "3,1990,a\0b",
    "title too long": f"3,1990,{'a' * 301}",
    "no year": "3,XC,A",
}


def test_netflix_that_cannot_be_read(tmp_path):
    def read(line):
        (tmp_path / "movie_titles.txt").write_text(f"2,1990,B\n{line}\n")
        return parse(tmp_path)

    titles = tmp_path / "titles"
    titles.mkdir()
    (titles / "movie_titles.txt").write_text("2,1990,B\n")
    (tmp_path / "combined_data_1.txt").write_text("2:\n1,3,2005-01-01\n")
    cases = {name: partial(read, line) for name, line in TITLES.items()}
    assert_refused_as_approved("netflix", cases | {"no ratings": partial(parse, titles, format="netflix")}, tmp_path)
    calls: list[tuple[str, int]] = []
    (tmp_path / "movie_titles.txt").write_text("2,1990,B\n")
    assert parse(tmp_path, progress=lambda *now: calls.append(now)).n_ratings == 1
    assert calls == [("combined_data_1.txt", 1)]


def test_parquet_is_read_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_AT_A_TIME", 2)
    table = pa.table({"user": ["a", "b", "c"], "item": ["x", "y", "z"], "time": [1.0, 2.0, 3.5]})
    pq.write_table(table, tmp_path / "r.parquet")
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


CONTRARY = {
    "a word for the user": "x 5 6",
    "a word among the items": "9 apple",
    "an item beyond 64 bits": "9 99999999999999999999999",
    "an item below 0": "9 -3",
}
BOOKS = "ISBN;Book-Title;Book-Author;Year-Of-Publication;Publisher;Image-URL-S;Image-URL-M;Image-URL-L\n"


def test_edges_that_are_refused(tmp_path):
    def file(name: str, content: str | bytes) -> Path:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    def rows(name: str, **columns: list[object]) -> Path:
        pq.write_table(pa.table(columns), tmp_path / name)
        return tmp_path / name

    endless = b"1" * (LONGEST_LINE + 10)
    table = {"user": ["a", "b", "c"], "item": ["x", "y", "z"]}
    users = "".join(f"{user} 1 {' '.join(map(str, range(2, 2 + user % 4)))}\n" for user in range(300))
    counted = "".join(f"{at % 4 + 1} {' '.join(map(str, range(at % 4 + 1)))}\n" for at in range(100_000))
    books = file("BX-Books.csv", BOOKS + '"1";"";"";"";"";"";"";""\n').parent
    file("BX-Book-Ratings.csv", '"User-ID";"ISBN";"Book-Rating"\n"7";"1";"5"\n')
    twice = pa.Table.from_arrays([pa.array([1])] * 3, names=["user", "item", "item"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    prices = Options(
        usage=True, items_file=file("prices.csv", "item,price\na,free\n"), title="item", item_utility="price"
    )
    titles = Options(usage=True, items_file=rows("items.parquet", item=["x", "y", "z"], title=["X", "Y\0", "Z"]))
    plain = rows("plain.parquet", **table)
    ratings = rows("r.parquet", **table, rating=[True, False, True])
    broken = b'{"user": "a", "item": "b", "rating": 1}\n{"user": "\xff"}\n{"user": "a", "item": "c"}\n'
    cases = {
        "an endless line of JSON": partial(parse, file("e.jsonl", b'{"user": 1, "item": 2, "rating": 3}\n' + endless)),
        "an endless line": partial(parse, file("e.csv", b"user,item,rating\n1,1,3\n1,2,4\n" + endless * 5)),
        "an endless basket": partial(parse, file("clicks.dat", b"1 " * LONGEST_LINE)),
        "beyond the sample": partial(
            parse, file("long.csv", LONG + "u,i,1_0\nu,i2,7\nu,,4\n"), options=Options(scale=ONE_TO_FIVE)
        ),
        "true for a rating": partial(parse, ratings, options=Options(scale=ONE_TO_FIVE, rating="rating")),
        "NUL in Parquet": partial(parse, plain, options=titles),
        "a column of Parquet twice": partial(parse, tmp_path / "twice.parquet"),
        "broken JSON lines": partial(parse, file("broken.jsonl", broken)),
        "a word for a utility": partial(parse, file("baskets.csv", "basket,item\n1,a\n"), options=prices),
        "books without titles": partial(parse, books, format="bookcrossing"),
        **{
            f"baskets: {name}": partial(parse, file(f"train-{at}.txt", f"{users}{line}\n"), format="fimi")
            for at, (name, line) in enumerate(CONTRARY.items())
        },
        "baskets: a wrong count": partial(parse, file("users.dat", f"{counted}3 1 2\n")),
        "a count beyond 32 bits": partial(parse, file("plays.csv", plays("99999999999"))),
    }
    assert_refused_as_approved("edges", cases, tmp_path)


def plays(last: str) -> str:
    rows = [f"u{at % 7},i{at % 5},{1 + at * (at % 9 == 0)}" for at in range(40)]
    return "user,item,plays\n" + "\n".join([*rows, f"u1,i9,{last}"]) + "\n"


def test_sums_of_counts_stay_below_what_can_be_stored(tmp_path):
    (tmp_path / "plays.csv").write_text(plays("2147483647\nu1,i9,5"))
    assert parse(tmp_path / "plays.csv").counts.max() == 2**31 - 1


def test_progress_of_json_lines_counts_broken_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "ROWS_AT_A_TIME", 1)
    (tmp_path / "r.jsonl").write_bytes(b'{"user": "a", "item": "b", "rating": 1}\n{"user": "\xff"}\n{"user": "a"}\n')
    calls: list[tuple[str, int]] = []
    with pytest.raises(ImportRefused):
        parse(tmp_path / "r.jsonl", progress=lambda *now: calls.append(now))
    assert calls[-1] == ("r.jsonl", 3)


def test_a_line_of_marks_alone_is_no_table(tmp_path):
    (tmp_path / "r.csv").write_text('sep=;\n"\n')
    with pytest.raises(ImportRefused, match=r"r\.csv"):
        parse(tmp_path / "r.csv")


def test_small_things():
    assert [utility_of(text) for text in ("2.5", "-1", "nan", "inf", "1_0", "x")] == [2.5, *[None] * 5]
    assert [narrow(np.array(values)).dtype.name for values in ([1], [2**40], [0.5], [0.1])] == [
        "int32", "int64", "float32", "float64",
    ]  # fmt: skip
    assert is_in_order(np.array([0, 0, 1]), np.array([1, 2, 0]))
    assert not is_in_order(np.array([0, 0]), np.array([1, 1]))
    assert not is_in_order(np.array([1, 0]), np.array([0, 0]))
