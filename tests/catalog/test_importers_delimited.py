"""Delimited files by named columns."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from catalog.importers.auto import parse
from catalog.importers.base import ImportRefused, ParsedDataset, Policy, RatingScale
from catalog.importers.options import Options
from core.errors import ParameterError

pytestmark = pytest.mark.unit

TABLE = "user;item;rating;when\nanna;x1;4;2020-01-02\nbob;x2;1;2020-01-03\nanna;x2;5;2020-01-04\n"
ITEMS = (
    "item,title,year,genres,story,poster,film,by\n"
    "x2,Second,2001,Drama|Crime,It goes.,http://a/2.jpg,http://b/2,Ann\n"
    "x1,First, ,,,,,\n"
    "x3,Third,1999.0,Drama| |Drama,,,,Bo\n"
)


def table(tmp_path: Path, content: str | bytes = TABLE, name: str = "table.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def first(path: Path, options: Options | None = None, **more) -> tuple[str, int | None, str | None, str]:
    with pytest.raises(ImportRefused) as refused:
        parse(path, format="delimited", options=options, **more)
    problem = refused.value.problems[0]
    return problem.file, problem.line, problem.column, problem.reason


def triples(dataset: ParsedDataset) -> list[tuple[str, str, float]]:
    return [
        (str(dataset.user_ids[user]), dataset.items[item].external_id, float(value))
        for user, item, value in zip(dataset.users, dataset.items_rated, dataset.values, strict=True)
    ]


def test_usual_names_and_the_delimiter_are_found(tmp_path):
    dataset = parse(table(tmp_path))
    assert triples(dataset) == [("anna", "x1", 4), ("bob", "x2", 1), ("anna", "x2", 5)]
    assert dataset.timestamps.tolist() == [1577923200, 1578009600, 1578096000]
    assert [(item.external_id, item.title) for item in dataset.items] == [("x1", "x1"), ("x2", "x2")]
    assert dataset.report.source_format == "delimited"
    assert dataset.report.scale == "1 to 5 in steps of 1, detected from the ratings"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", ["User_ID,Movie Id,stars,timestamp", "uid,asin,Overall,ts"])
def test_usual_names_are_known_in_any_spelling(tmp_path, delimiter, header):
    text = f"{header}\nb,2,4,1000000020\na,1,5,1000000010\n".replace(",", delimiter)
    dataset = parse(table(tmp_path, text))
    assert triples(dataset) == [("b", "2", 4), ("a", "1", 5)]
    assert dataset.timestamps.tolist() == [1_000_000_020, 1_000_000_010]


def test_day_counts_are_no_times_and_that_is_said(tmp_path):
    dataset = parse(table(tmp_path, "user,item,rating,timestamp\nb,2,4,20\na,1,5,10\n"))
    assert dataset.timestamps is None
    assert dataset.report.warnings[0] == ("Column timestamp is not used: its values are no times from 1990 to now.")


def test_named_columns_and_a_declared_scale(tmp_path):
    text = "who|rating|what|mark|seen\n7|x|9|2.5|2020-01-01\n"
    options = Options(user="who", item="what", rating="mark", time="seen", scale=RatingScale(0.5, 5, 0.5))
    dataset = parse(table(tmp_path, text), options=options)
    assert triples(dataset) == [("7", "9", 2.5)]
    assert dataset.timestamps is not None
    assert dataset.timestamps.tolist() == [1577836800]
    assert dataset.report.scale == "0.5 to 5 in steps of 0.5, declared"


def test_items_come_from_their_own_file(tmp_path):
    items = table(tmp_path, ITEMS, "items.csv")
    options = Options(
        items_file=items, year="year", plot="story", image="poster", trailer="film",
        features={"genre": "genres", "director": "by"},
    )  # fmt: skip
    dataset = parse(table(tmp_path), options=options)
    assert [item.external_id for item in dataset.items] == ["x2", "x1", "x3"]
    assert triples(dataset) == [("anna", "x1", 4), ("bob", "x2", 1), ("anna", "x2", 5)]
    second, one, third = dataset.items
    assert (second.title, second.year, second.plot) == ("Second", 2001, "It goes.")
    assert (second.image_url, second.trailer_url) == ("http://a/2.jpg", "http://b/2")
    assert second.features == (("genre", "Drama"), ("genre", "Crime"), ("director", "Ann"), ("decade", "2000s"))
    assert (one.year, one.features, one.plot) == (None, (), "")
    assert (third.year, third.features) == (1999, (("genre", "Drama"), ("director", "Bo"), ("decade", "1990s")))
    assert dataset.report.files == ("table.csv", "items.csv")


def test_items_are_found_by_usual_names_too(tmp_path):
    items = table(tmp_path, "movieId,name,genres\nx1,One,A\nx2,Two,B\n", "items.csv")
    dataset = parse(table(tmp_path), options=Options(items_file=items))
    assert [(item.title, item.features) for item in dataset.items] == [
        ("One", (("genre", "A"),)),
        ("Two", (("genre", "B"),)),
    ]


def test_items_share_the_name_that_was_given_for_ratings(tmp_path):
    items = table(tmp_path, "thing,item,title\nx1,no,One\nx2,no,Two\n", "items.csv")
    ratings = table(tmp_path, TABLE.replace("item", "thing"))
    assert parse(ratings, options=Options(item="thing", items_file=items)).n_items == 2


@pytest.mark.parametrize("wrap", ["plain", "gzip", "zip"])
def test_packed_files_give_what_the_plain_one_gives(tmp_path, wrap):
    path = table(tmp_path)
    if wrap == "gzip":
        path = table(tmp_path, gzip.compress(TABLE.encode()), "table.csv.gz")
    if wrap == "zip":
        with zipfile.ZipFile(tmp_path / "table.zip", "w") as archive:
            archive.write(path, "inner/table.csv")
        path = tmp_path / "table.zip"
    assert len(triples(parse(path))) == 3


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le"])
def test_encodings_are_detected_and_those_declared_win(tmp_path, encoding):
    path = table(tmp_path, TABLE.replace("bob", "Zoé").encode(encoding))
    assert "Zoé" in parse(path).user_ids
    if encoding == "latin-1":
        assert first(path, Options(encoding="utf-8"))[:4] == (
            "table.csv", 3, None, "byte 0xe9 at position 3 of the line is not UTF-8",
        )  # fmt: skip


def test_last_line_without_an_end_is_taken_and_said(tmp_path):
    dataset = parse(table(tmp_path, TABLE.rstrip("\n")))
    assert dataset.n_ratings == 3
    assert dataset.report.warnings[0].startswith("The last line of table.csv has no line end; it was taken")
    assert parse(table(tmp_path)).report.warnings == ("No rating of 2, 3; the scale is 1 to 5.",)


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        (
            "a,b,c\n1,2,3\n",
            Options(),
            (None, None, "it has no column of users: none has values that repeat over several items (there is 'a',"),
        ),
        ("1,2,3\n4,5,6\n", Options(), (None, None, "it has no column of users: none has values that repeat")),
        (TABLE, Options(user="who"), (1, None, "there is no column 'who' for the users: the header has user, item,")),
        (TABLE, Options(time="at"), (1, None, "there is no column 'at' for the times")),
        (TABLE, Options(user="user", item="user"), (1, None, "one column is named for two things (user)")),
        (
            TABLE,
            Options(delimiter="|"),
            (1, None, "the first line 'user;item;rating;when' has one column when parted at '|'"),
        ),
        ("users\n1\n", Options(), (1, None, "the first line 'users' has one column: no comma, semicolon")),
        ("user,user,rating\n1,2,3\n", Options(), (1, None, "the header names column 'user' twice")),
        ("", Options(), (1, None, "the file is empty")),
        ("user,item,rating\n", Options(), (2, None, "there is no row after the header")),
        (TABLE.replace("x1;4", "x1;4;5"), Options(), (2, None, "the line has 5 fields where 4 belong")),
        (TABLE.replace(";5;2020-01-04", ""), Options(), (4, "rating", "the line has 2 of 4 fields")),
        (TABLE.replace("x2;1", "x2;1;2"), Options(), (3, None, "the line has 5 fields where 4 belong")),
        (TABLE.replace("1;2020-01-03", "1"), Options(), (3, "when", "the line has 3 of 4 fields")),
        (TABLE.replace("x2;1", "x2;nan"), Options(), (3, "rating", "'nan' is not a number")),
        (TABLE.replace("x2;1", "x2;1,5"), Options(decimal="."), (3, "rating", "'1,5' is not a number")),
        (TABLE.replace("x2;1", "x2;1_0"), Options(), (3, "rating", "'1_0' is not a number")),
        (TABLE.replace("x2;1", "x2;1e999"), Options(rating="rating"), (3, "rating", "'1e999' is not a number")),
        (TABLE.replace("x2;1", "x\0;1"), Options(), (3, "item", "the field holds a NUL character")),
        (TABLE.replace("bob", ""), Options(), (3, "user", "the field is empty")),
        (TABLE, Options(scale=RatingScale(1, 4, 1)), (4, "rating", "5 is off the scale of 1 to 4")),
        (TABLE.replace("x2;1", "x2;2"), Options(scale=RatingScale(1, 5, 2)), (2, "rating", "4 is no step of 2")),
        (
            TABLE.replace("x2;1", "x2;3"),
            Options(scale=RatingScale(0, 3, 1)),
            (2, "rating", "4 is off the scale of 0 to 3"),
        ),
        (
            "user;item;rating\na;x;0\na;y;1\nb;x;2\n",
            Options(),
            (None, None, "1 of 3 ratings are 0: that can mean that"),
        ),
        (
            TABLE.replace("x1;4", "x1;5").replace("x2;1", "x2;5"),
            Options(),
            (None, None, "All ratings in column rating are 5"),
        ),
        (TABLE.replace("anna;x2", "anna;x1"), Options(), (4, None, "user anna rated item x1 on line 2 already")),
        (TABLE.replace("2020-01-02", "then"), Options(time="when"), (2, "when", "'then' is neither seconds")),
        (TABLE.replace("x1", "x" * 101), Options(), (2, "item", "the id has 101 characters; at most 100 are kept")),
    ],
)
def test_damaged_table_is_refused_with_file_line_and_reason(tmp_path, content, options, expected):
    file, line, column, reason = first(table(tmp_path, content), options)
    assert (file, line, column) == ("table.csv", *expected[:2])
    assert reason.startswith(expected[2])


def test_lines_are_exact_behind_a_quoted_line_end(tmp_path):
    text = 'user,item,rating\n"an\nna",x1,4\nbob,x2,5\nbob,x1,9\n'
    options = Options(scale=RatingScale(1, 5, 1))
    assert first(table(tmp_path, text), options)[1:3] == (5, "rating")
    assert triples(parse(table(tmp_path, text.replace("9", "1")), options=options))[0] == ("an\nna", "x1", 4)


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("id,title\n1,a\n", {}, (1, None, "no column is known to hold the ids")),
        ("item,colour\n1,a\n", {}, (1, None, "no column is known to hold the titles")),
        (ITEMS, {"plot": "text"}, (1, None, "there is no column 'text' for the plot: the header has item, title,")),
        (ITEMS, {"features": {"cast": "cast"}}, (1, None, "there is no column 'cast' for the features of kind cast")),
        (ITEMS.replace("x3", "x1"), {}, (4, "title", "item x1 was listed before")),
        (ITEMS.replace("Third", "T" * 301), {}, (4, "title", "the title has 301 characters; at most 300 are kept")),
        (ITEMS.replace("x3", "x" * 101), {}, (4, "item", "the id has 101 characters")),
        (ITEMS.replace("2001", "MMI"), {"year": "year"}, (2, "item", "'MMI' is no year")),
    ],
)
def test_damaged_items_are_refused_with_file_line_and_reason(tmp_path, content, options, expected):
    items = table(tmp_path, content, "items.csv")
    file, line, column, reason = first(table(tmp_path), Options(items_file=items, **options))
    assert (file, line, column) == ("items.csv", *expected[:2])
    assert reason.startswith(expected[2])


def test_items_without_a_row_or_a_title_have_their_id_for_a_title(tmp_path):
    items = table(tmp_path, "item,title\nx2,\nx3,Three\n", "items.csv")
    options = Options(items_file=items)
    dataset = parse(table(tmp_path), options=options)
    assert [(item.external_id, item.title) for item in dataset.items] == [("x2", "x2"), ("x3", "Three"), ("x1", "x1")]
    assert dataset.report.warnings[0].startswith("1 rated items are not in items.csv")
    assert "2 items have no title: participants would see the id." in dataset.report.warnings
    dataset = parse(table(tmp_path), options=options, policy=Policy(fix=("unknown-item",)))
    assert triples(dataset) == [("bob", "x2", 1), ("anna", "x2", 5)]
    assert dataset.report.dropped == {"unknown item": 1}
    assert str(dataset.report.examples["unknown item"][0]) == (
        "table.csv, line 2, column item: item x1 is not in items.csv"
    )


def test_items_that_are_several_files_are_refused(tmp_path):
    folder = tmp_path / "items"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        table(folder, ITEMS, name)
    assert "one file of items is needed, and there are 2 here" in first(table(tmp_path), Options(items_file=folder))[3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ""}, "at least one character"),
        ({"feature_separator": ""}, "at least one character"),
        ({"encoding": "utf-9"}, "no encoding 'utf-9'"),
        ({"bins": 1}, "cannot have 1 parts"),
        ({"decimal": ";"}, "a point or a comma"),
    ],
)
def test_options_refuse_what_cannot_be(options, message):
    with pytest.raises(ParameterError, match=message):
        Options(**options)
