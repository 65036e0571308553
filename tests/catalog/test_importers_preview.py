"""The first rows of a dataset, and what is detected in them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pytest

from catalog.importers.base import ImportRefused, Limits
from catalog.importers.preview import Declared, Preview, TablePreview, item_roles, preview_dataset, preview_items

NO_ROLES: dict[str, str] = {}


def seen(tmp_path: Path, content: str | bytes, name: str = "x.csv", declared: Declared | None = None) -> Preview:
    file = tmp_path / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return preview_dataset(file, limits=Limits(), declared=declared)


def table_of(
    tmp_path: Path, content: str | bytes, name: str = "x.csv", declared: Declared | None = None
) -> TablePreview:
    table = seen(tmp_path, content, name, declared).table
    assert table is not None
    return table


@pytest.mark.parametrize(
    ("text", "delimiter", "has_header", "roles"),
    [
        ("userId,movieId,rating,timestamp\n1,2,3.5,978300760\n", ",", True, ["user", "item", "rating", "time"]),
        ("1\t2\t3\t978300760\n2\t2\t4\t978300761\n", "\t", False, ["user", "item", "rating", "time"]),
        ("a|b|c|2020-01-01\nd|e|f|2020-01-02\n", "|", False, ["user", "item", "", "time"]),
        ("1 2 3\n2 2 4\n", " ", False, ["user", "item", "rating"]),
        ("Invoice,StockCode,Quantity,Price\n1,A,2,3.5\n", ",", True, ["user", "item", "", ""]),
        ("voto;utente;libro\n3,5;a;b\n4;c;d\n", ";", True, ["rating", "user", "item"]),
        ("rating,userid,item\n3,7,8\n", ",", True, ["rating", "user", "item"]),
        ('"u,1",i1,3\n"u,2",i2,4\n', ",", False, ["user", "item", "rating"]),
    ],
)
def test_delimiter_header_and_roles_are_detected(
    tmp_path: Path, text: str, delimiter: str, has_header: bool, roles: list[str]
) -> None:
    table = table_of(tmp_path, text)
    assert (table.delimiter, table.has_header) == (delimiter, has_header)
    assert [table.roles.get(name, "") for name in table.columns] == roles
    assert table.is_usage is ("rating" not in roles)


def test_what_is_declared_is_not_detected(tmp_path: Path) -> None:
    text = "a;b;c\n1;2;3\n"
    assert table_of(tmp_path, text, declared=Declared(has_header=False)).columns == ("Column 1", "Column 2", "Column 3")
    assert table_of(tmp_path, "a,x;b\n1,y;2\n", declared=Declared(delimiter=";")).columns == ("a,x", "b")
    with pytest.raises(ImportRefused, match="one column when parted at"):
        table_of(tmp_path, text, declared=Declared(delimiter="|"))


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("user,item\nNiccolò,2\n".encode(), "utf-8"),
        ("\ufeffuser,item\nNiccolò,2\n".encode(), "utf-8"),
        ("user,item\nNiccolò,2\n".encode("latin-1"), "cp1252"),
        (b"user,item\nNiccol\xf2\x81,2\n", "latin-1"),
    ],
)
def test_the_encoding_is_detected(tmp_path: Path, content: bytes, encoding: str) -> None:
    table = table_of(tmp_path, content)
    assert table.encoding == encoding
    assert table.columns == ("user", "item")
    assert table.rows[0][1][0].startswith("Niccolò")


def test_quoted_newlines_belong_to_a_field_and_lines_are_the_importer_s(tmp_path: Path) -> None:
    table = table_of(tmp_path, 'user,item,rating\n1,"two\nlines",3\n\n2,x,4\n')
    assert [(line, cells[1]) for line, cells in table.rows] == [(3, "two\nlines"), (5, "x")]


@pytest.mark.parametrize(
    ("marks", "scale", "decimal"),
    [
        (["1", "10", "4", "5"], (1, 10, 1), "."),
        (["0.5", "5", "3.5", "3"], (0.5, 5, 0.5), "."),
        (["0,5", "5", "3,5", "3"], (0.5, 5, 0.5), ","),
        (["3", "3"], None, "."),
    ],
)
def test_the_scale_is_that_of_the_first_rows(
    tmp_path: Path, marks: list[str], scale: tuple[float, ...] | None, decimal: str
) -> None:
    table = table_of(tmp_path, "user;item;rating\n" + "".join(f"{at};1;{mark}\n" for at, mark in enumerate(marks)))
    assert (None if table.scale is None else (table.scale.low, table.scale.high, table.scale.step)) == scale
    assert table.decimal == decimal


def test_a_column_with_a_wrong_value_is_still_one_of_ratings(tmp_path: Path) -> None:
    rows = "".join(f"{at},1,{1 + at % 5}\n" for at in range(50))
    table = table_of(tmp_path, f"user,book,mark\n{rows}51,1,good\n")
    assert table.roles["mark"] == "rating"
    assert table.n_sampled == 51


def test_parquet_and_json_lines_have_first_rows_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"user": [1, 2], "item": ["a", None], "rating": [3.0, 4.5]})
    frame.to_parquet(tmp_path / "x.parquet")
    table = preview_dataset(tmp_path / "x.parquet", limits=Limits()).table
    assert table is not None
    assert table.rows == ((1, ("1", "a", "3.0")), (2, ("2", "", "4.5")))
    assert not table.is_text
    lines = '{"user": 1, "item": "a", "rating": 3}\n\nnothing\n{"user": 2, "item": true}\n'
    table = table_of(tmp_path, lines, "x.jsonl")
    assert [cells for _, cells in table.rows] == [("1", "a", "3"), ("2", "", "")]
    assert table_of(tmp_path, gzip.compress(b"user,item\n1,2\n"), "x.csv.gz").columns == ("user", "item")


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        ("\n1,2\n", "x.csv", "the first line is empty"),
        (",".join(f"c{at}" for at in range(70)) + "\n" + "1," * 69 + "1\n", "x.csv", "70 columns"),
        ("a" * (1 << 20) + ",b\n", "x.csv", "does not end"),
        ('a,"' + "b" * 200_000 + "\n", "x.csv", "one column"),
        ("user,item\n", "x.csv", "no row after the header"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: str, name: str, said: str) -> None:
    with pytest.raises(ImportRefused, match=said):
        seen(tmp_path, content, name)


def test_several_tables_are_refused_and_known_layouts_have_no_table(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    for name in ("a.csv", "b.csv"):
        (tmp_path / "set" / name).write_text("user,item\n1,2\n")
    with pytest.raises(ImportRefused, match=r"a\.csv, b\.csv"):
        preview_dataset(tmp_path / "set", limits=Limits())
    with pytest.raises(ImportRefused, match="one table is needed"):
        preview_items(tmp_path / "set", limits=Limits())
    assert seen(tmp_path, "1 2\n3 4\n", "retail.dat").table is None


def test_columns_of_items_are_recognised(tmp_path: Path) -> None:
    (tmp_path / "i.csv").write_bytes("id;name;genres;title_it\n1;Perché;x;y\n".encode("latin-1"))
    table = preview_items(tmp_path / "i.csv", limits=Limits())
    assert table.roles == {"id": "items_id", "name": "title", "genres": "genre"}
    assert table.encoding == "cp1252"
    assert item_roles(["what", "title", "description"]) == {"what": "items_id", "title": "title", "description": "plot"}
    assert item_roles([]) == NO_ROLES
