"""Delimited files by named columns."""

from __future__ import annotations

import gzip
import zipfile
from functools import partial
from pathlib import Path

import pytest

from catalog.importers.auto import parse
from catalog.importers.base import ParsedDataset, Policy, RatingScale
from catalog.importers.options import Options
from catalog.importers.scales import text_of
from tests.sentences import assert_refused_as_approved, assert_sentences_approved

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
    assert (text_of(dataset.scale), dataset.scale.is_declared) == ("1:5:1", False)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", ["User_ID,Movie Id,stars,timestamp", "uid,asin,Overall,ts"])
def test_usual_names_are_known_in_any_spelling(tmp_path, delimiter, header):
    text = f"{header}\nb,2,4,1000000020\na,1,5,1000000010\n".replace(",", delimiter)
    dataset = parse(table(tmp_path, text))
    assert triples(dataset) == [("b", "2", 4), ("a", "1", 5)]
    assert dataset.timestamps.tolist() == [1_000_000_020, 1_000_000_010]


def test_day_counts_are_no_times(tmp_path):
    dataset = parse(table(tmp_path, "user,item,rating,timestamp\nb,2,4,20\na,1,5,10\n"))
    assert dataset.timestamps is None


def test_named_columns_and_a_declared_scale(tmp_path):
    text = "who|rating|what|mark|seen\n7|x|9|2.5|2020-01-01\n"
    options = Options(user="who", item="what", rating="mark", time="seen", scale=RatingScale(0.5, 5, 0.5))
    dataset = parse(table(tmp_path, text), options=options)
    assert triples(dataset) == [("7", "9", 2.5)]
    assert dataset.timestamps is not None
    assert dataset.timestamps.tolist() == [1577836800]
    assert (text_of(dataset.scale), dataset.scale.is_declared) == ("0.5:5:0.5", True)


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
def test_encodings_are_detected(tmp_path, encoding):
    assert "Zoé" in parse(table(tmp_path, TABLE.replace("bob", "Zoé").encode(encoding))).user_ids


def test_warnings(tmp_path):
    items = table(tmp_path, "item,title\nx2,\nx3,Three\n", "items.csv")
    warnings = {
        "sound": parse(table(tmp_path)).report.warnings,
        "last line without an end": parse(table(tmp_path, TABLE.rstrip("\n"))).report.warnings,
        "counts of days": parse(table(tmp_path, "user,item,rating,timestamp\nb,2,4,20\na,1,5,10\n")).report.warnings,
        "items without titles": parse(table(tmp_path), options=Options(items_file=items)).report.warnings,
        "usage": parse(table(tmp_path, "user,item\na,1\na,2\nb,1\n"), options=Options(user="user")).report.warnings,
    }
    assert_sentences_approved("warnings/delimited", warnings)


def test_last_line_without_an_end_is_taken(tmp_path):
    assert parse(table(tmp_path, TABLE.rstrip("\n"))).n_ratings == 3


DAMAGED = {
    "no column of users": ("a,b,c\n1,2,3\n", {}),
    "no header": ("1,2,3\n4,5,6\n", {}),
    "no such column of users": (TABLE, {"user": "who"}),
    "no such column of times": (TABLE, {"time": "at"}),
    "a column for two things": (TABLE, {"user": "user", "item": "user"}),
    "another delimiter": (TABLE, {"delimiter": "|"}),
    "one column": ("users\n1\n", {}),
    "a column twice": ("user,user,rating\n1,2,3\n", {}),
    "empty": ("", {}),
    "no row": ("user,item,rating\n", {}),
    "first row has a field too many": (TABLE.replace("x1;4", "x1;4;5"), {}),
    "last row cut": (TABLE.replace(";5;2020-01-04", ""), {}),
    "a field too many": (TABLE.replace("x2;1", "x2;1;2"), {}),
    "a field missing": (TABLE.replace("1;2020-01-03", "1"), {}),
    "rating nan": (TABLE.replace("x2;1", "x2;nan"), {}),
    "decimal comma": (TABLE.replace("x2;1", "x2;1,5"), {"decimal": "."}),
    "decimal commas only": ("user;item;rating\n1;1;4,5\n1;2;3,5\n", {"decimal": ".", "rating": "rating"}),
    "decimal point": ("user;item;rating\nu1;1;4,5\nu1;2;3\nu1;3;4.5\n", {"decimal": ","}),
    "unquoted decimal commas": ("user,item,rating\n1,1,4,5\n1,2,3,5\n", {"decimal": ","}),
    "rating underscored": (TABLE.replace("x2;1", "x2;1_0"), {}),
    "rating infinite": (TABLE.replace("x2;1", "x2;1e999"), {"rating": "rating"}),
    "NUL": (TABLE.replace("x2;1", "x\0;1"), {}),
    "user empty": (TABLE.replace("bob", ""), {}),
    "rating above the scale": (TABLE, {"scale": RatingScale(1, 4, 1)}),
    "rating between steps": (TABLE.replace("x2;1", "x2;2"), {"scale": RatingScale(1, 5, 2)}),
    "rating above a scale from 0": (TABLE.replace("x2;1", "x2;3"), {"scale": RatingScale(0, 3, 1)}),
    "rating above the scale behind a quoted line end": (
        'user,item,rating\n"an\nna",x1,4\nbob,x2,5\nbob,x1,9\n', {"scale": RatingScale(1, 5, 1)}
    ),
    "zeros": ("user;item;rating\na;x;0\na;y;1\nb;x;2\n", {}),
    "one rating only": (TABLE.replace("x1;4", "x1;5").replace("x2;1", "x2;5"), {}),
    "rated twice": (TABLE.replace("anna;x2", "anna;x1"), {}),
    "no time": (TABLE.replace("2020-01-02", "then"), {"time": "when"}),
    "id too long": (TABLE.replace("x1", "x" * 101), {}),
    "Latin-1 for UTF-8": (TABLE.replace("bob", "Zoé").encode("latin-1"), {"encoding": "utf-8"}),
}  # fmt: skip
DAMAGED_ITEMS = {
    "no ids": ("id,title\n1,a\n", {}),
    "no titles": ("item,colour\n1,a\n", {}),
    "no such column of plots": (ITEMS, {"plot": "text"}),
    "no such column of features": (ITEMS, {"features": {"cast": "cast"}}),
    "item twice": (ITEMS.replace("x3", "x1"), {}),
    "title too long": (ITEMS.replace("Third", "T" * 301), {}),
    "id too long": (ITEMS.replace("x3", "x" * 101), {}),
    "no year": (ITEMS.replace("2001", "MMI"), {"year": "year"}),
}
OPTIONS = {
    "no delimiter": {"delimiter": ""},
    "no separator of features": {"feature_separator": ""},
    "no such encoding": {"encoding": "utf-9"},
    "one part": {"bins": 1},
    "decimal semicolon": {"decimal": ";"},
    "zeros kept": {"zeros": "keep"},
    "usage with ratings": {"usage": True, "rating": "Price"},
}


def test_damaged_tables(tmp_path):
    def read(content, **options):
        return parse(table(tmp_path, content), format="delimited", options=Options(**options))

    def read_items(content, **options):
        return read(TABLE, items_file=table(tmp_path, content, "items.csv"), **options)

    folder = tmp_path / "items"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        table(folder, ITEMS, name)
    cases = {name: partial(read, content, **options) for name, (content, options) in DAMAGED.items()}
    cases |= {
        f"items: {name}": partial(read_items, content, **options) for name, (content, options) in DAMAGED_ITEMS.items()
    }
    cases |= {"items: two files": partial(read, TABLE, items_file=folder)}
    cases |= {f"option: {name}": partial(Options, **options) for name, options in OPTIONS.items()}
    assert_refused_as_approved("delimited", cases)


def test_quoted_line_ends_belong_to_their_field(tmp_path):
    text = 'user,item,rating\n"an\nna",x1,4\nbob,x2,5\nbob,x1,1\n'
    assert triples(parse(table(tmp_path, text)))[0] == ("an\nna", "x1", 4)


def test_items_without_a_row_or_a_title_have_their_id_for_a_title(tmp_path):
    items = table(tmp_path, "item,title\nx2,\nx3,Three\n", "items.csv")
    options = Options(items_file=items)
    dataset = parse(table(tmp_path), options=options)
    assert [(item.external_id, item.title) for item in dataset.items] == [("x2", "x2"), ("x3", "Three"), ("x1", "x1")]
    dataset = parse(table(tmp_path), options=options, policy=Policy(fix=("unknown-item",)))
    assert triples(dataset) == [("bob", "x2", 1), ("anna", "x2", 5)]
    assert dataset.report.dropped == {"unknown item": 1}
    (example,) = dataset.report.examples["unknown item"]
    assert (example.file, example.line, example.column) == ("table.csv", 2, "item")
