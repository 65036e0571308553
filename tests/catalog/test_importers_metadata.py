"""Facts about known items: what is read, and what is refused, by line."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from catalog.importers.base import ImportRefused, Limits, Policy
from catalog.importers.metadata import Metadata, MetadataOptions, read_metadata
from core.errors import ParameterError

pytestmark = pytest.mark.unit

KNOWN = ("1", "2", "3")
FACTS = (
    "movieId,relation,freebase_mid\n1,actor,m.01\n1,actor,m.02\n1,genre,m.g\n2,Production Company,Acme\n1,actor,m.01\n"
)
ITEMS = (
    "id;item;Genres;Directed by;overview;poster_url;trailer;people;year;box office\n"
    "7;1;Drama| War |;Ann;It goes.;https://a.example/1.jpg;https://b.example/1;Bo|Cy;2001.0;12\n"
    "8;2;;;;;;;;\n"
)


def written(tmp_path: Path, text: str | bytes, name: str = "facts.csv") -> Path:
    path = tmp_path / name
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def read(tmp_path: Path, text: str | bytes, name: str = "facts.csv", **more) -> Metadata:
    drop = more.pop("drop", False)
    options = MetadataOptions(**more) if more else None
    policy = Policy(on_bad_row="drop") if drop else None
    return read_metadata(written(tmp_path, text, name), KNOWN, options=options, policy=policy)


def refused(tmp_path: Path, text: str | bytes, name: str = "facts.csv", **more) -> str:
    with pytest.raises(ImportRefused) as refusal:
        read(tmp_path, text, name, **more)
    return str(refusal.value)


def lines(*objects: object) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in objects)


@pytest.mark.parametrize("name", ["facts.csv", "facts.csv.gz"])
def test_a_table_with_a_row_a_fact(tmp_path, name):
    metadata = read(tmp_path, FACTS, name)
    assert list(metadata.items["1"].features) == [("cast", "m.01"), ("cast", "m.02"), ("genre", "m.g")]
    assert list(metadata.items["2"].features) == [("production company", "Acme")]
    assert (metadata.report.source_format, metadata.report.rows_read) == ("metadata, facts", 5)
    assert metadata.report.files == (name,)


def test_fields_may_stand_among_facts_and_kinds_be_renamed(tmp_path):
    text = "item,kind,value\n1,plot,It goes.\n1,year,1999\n1,genre,m.g\n1,plot,It goes.\n"
    metadata = read(tmp_path, text, rename={"Genres": "theme"})
    assert metadata.items["1"].fields == {"plot": "It goes.", "year": "1999"}
    assert list(metadata.items["1"].features) == [("theme", "m.g")]


def test_a_table_with_a_row_an_item(tmp_path):
    metadata = read(tmp_path, ITEMS)
    one = metadata.items["1"]
    assert one.fields == {
        "plot": "It goes.",
        "image": "https://a.example/1.jpg",
        "trailer": "https://b.example/1",
        "year": "2001",
    }
    assert list(one.features) == [
        ("genre", "Drama"),
        ("genre", "War"),
        ("director", "Ann"),
        ("person", "Bo"),
        ("person", "Cy"),
    ]
    assert set(metadata.items) == {"1"}
    assert metadata.report.rows_kept == 2
    assert metadata.report.warnings == (
        "Ignored columns with unknown names: 'id', 'box office'. Name them as kinds to read them.",
    )


def test_columns_are_named(tmp_path):
    text = "who;story;genre;starring\n1;It goes.;slow/sad;Ann/Bo\n"
    metadata = read(
        tmp_path, text, columns={"item": "who", "plot": "story", "mood": "genre", "actors": "starring"}, separator="/"
    )
    assert metadata.items["1"].fields == {"plot": "It goes."}
    assert list(metadata.items["1"].features) == [("mood", "slow"), ("mood", "sad"), ("cast", "Ann"), ("cast", "Bo")]
    assert metadata.report.warnings == ()
    long = "a,b,c,d\n1,tag,fine,x\n"
    metadata = read(tmp_path, long, columns={"item": "a", "kind": "b", "value": "c"})
    assert list(metadata.items["1"].features) == [("tag", "fine")]


def test_a_type_among_columns_of_items_makes_no_table_of_facts(tmp_path):
    metadata = read(tmp_path, "item,type,name,genres\n1,film,One,Drama\n")
    assert list(metadata.items["1"].features) == [("genre", "Drama")]
    assert metadata.items["1"].fields == {}


@pytest.mark.parametrize("name", ["facts.jsonl", "facts.ndjson.gz"])
def test_json_lines(tmp_path, name):
    text = "\ufeff" + lines(
        {
            "movieId": 1,
            "overview": " It goes. ",
            "genres": ["Drama", "War", None],
            "year": 1999,
            "votes": 3,
            "cast": [],
        },
        {"movieId": "2", "tag": "a|b", "image": None, "cast": ["Bo", 7]},
    )
    metadata = read(tmp_path, text + "\n", name)
    assert metadata.items["1"].fields == {"plot": "It goes.", "year": "1999"}
    assert list(metadata.items["1"].features) == [("genre", "Drama"), ("genre", "War")]
    assert list(metadata.items["2"].features) == [("cast", "Bo"), ("cast", "7"), ("tag", "a"), ("tag", "b")]
    assert "'votes'" in metadata.report.warnings[0]
    named = read(tmp_path, lines({"a": 3, "b": "It."}), name, columns={"item": "a", "plot": "b"})
    assert named.items["3"].fields == {"plot": "It."}
    assert named.report.warnings == ()


def test_unknown_items_are_counted_with_examples(tmp_path):
    metadata = read(tmp_path, FACTS + "9,actor,m.1\n9,actor,m.2\n")
    assert metadata.report.dropped == {"unknown item": 2}
    assert (metadata.report.rows_read, metadata.report.rows_kept) == (7, 5)
    example = metadata.report.examples["unknown item"][0]
    assert str(example) == "facts.csv, line 7: the dataset has no item '9'"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,plot", "line 2, column freebase_mid: the line has 2 of 3 fields"),
        ("1,plot,", "line 2, column freebase_mid: the field is empty"),
        (",plot,x", "line 2, column movieId: the field is empty"),
        ("1,plot,x,y", "line 2: the line has 4 fields where 3 belong"),
        ("1,year,MM", "line 2, column freebase_mid: 'MM' is no year"),
        ("1,trailer,javascript:x", "the trailer 'javascript:x' is not a web address"),
        (f"1,title,{'x' * 301}", "the title has 301 characters; at most 300 are kept"),
        (f"1,plot,{'x' * 100_001}", "the plot has 100,001 characters; at most 100,000 are kept"),
        (f"1,tag,{'x' * 201}", "has 201 characters; at most 200 are kept"),
        (f"1,{'k' * 31},x", "has to have 1 to 30 characters"),
        ("1,plot,x\n1,plot,y", "line 3, column freebase_mid: the plot was 'x' before, and is 'y' here"),
        ('1,plot,"x', "a quotation mark opens here and is never closed"),
    ],
)
def test_rows_that_cannot_be_taken_refuse_the_file_or_are_left_out(tmp_path, row, message):
    text = f"movieId,relation,freebase_mid\n{row}\n"
    assert message in refused(tmp_path, text)
    text = f"movieId,relation,freebase_mid\n2,tag,kept\n{row}\n"
    metadata = read(tmp_path, text, drop=True)
    assert list(metadata.items["2"].features) == [("tag", "kept")]
    assert sum(metadata.report.dropped.values()) == 1
    assert metadata.report.rows_read - metadata.report.rows_kept == 1


def test_broken_bytes_and_nul_characters_are_named(tmp_path):
    assert "line 2: byte 0xff at position 10 of the line is not UTF-8" in refused(
        tmp_path, b"item,kind,value\n1,plot,ab\xff\n", encoding="utf-8"
    )
    assert "NUL character" in refused(tmp_path, "item,kind,value\n1,plot,a\0b\n")
    assert "holds a NUL" in refused(tmp_path, lines({"item": 1, "tag": "a\0b"}), "facts.jsonl")


@pytest.mark.parametrize("tag", ["NaN", '1, "tag": 2'])
def test_an_array_says_in_words_why_it_cannot_be_read(tmp_path, tag):
    message = refused(tmp_path, f'[{{"item": 1, "tag": {tag}}}]', "facts.json")
    assert "(NaN is not a number)" in message or "(a key comes twice in one object)" in message


def test_facts_are_read_from_whatever_rows_are_read_from(tmp_path):
    pd.DataFrame({"item": [1, 2], "genres": ["Drama|War", ""], "year": [1999.0, None]}).to_parquet(tmp_path / "f.pq")
    (tmp_path / "f.json").write_text('[{"item": 1, "genres": ["Drama", "War"], "year": 1999}]')
    for name in ("f.pq", "f.json"):
        (one,) = read_metadata(tmp_path / name, KNOWN).items.values()
        assert list(one.features) == [("genre", "Drama"), ("genre", "War")]
        assert one.fields == {"year": "1999"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: this is not valid JSON"),
        ('["a"]', "is not a JSON object"),
        ('{"item": 1, "tag": {"id": 3}}', "line 2, column tag: '{\"id\": 3}' is neither a text nor a number"),
        ('{"item": 1, "tag": [true]}', "column tag: '[true]' is neither a text nor a number"),
        ('{"item": 1, "tag": NaN}', "NaN is not a number"),
        ('{"item": 1, "tag": 1e999}', "column tag: 'Infinity' is neither a text nor a number"),
        ('{"item": 1, "tag": "a", "tag": "b"}', "a key comes twice in one object"),
        ('{"tag": "a"}', "column item: the object has no such key"),
        ('{"item": [1, 2], "tag": "a"}', "column item: '[1, 2]' is neither a text nor a number"),
        ('{"item": 1, "tag": "\\ud800"}', "column tag: the field holds a NUL or half a character"),
        ('{"item": 1, "tag": ' + "[" * 100_000, "the JSON object is nested too deeply"),
        ('{"item": 1, "tag": ' + "9" * 5000 + "}", "line 2: this is not a valid JSON object"),
    ],
)
def test_lines_of_json_that_cannot_be_taken(tmp_path, line, message):
    text = f'{{"item": 2, "tag": "kept"}}\n{line}\n'
    assert message in refused(tmp_path, text, "facts.jsonl")
    metadata = read(tmp_path, text, "facts.jsonl", drop=True)
    assert sum(metadata.report.dropped.values()) == 1
    assert (metadata.report.rows_read, metadata.report.rows_kept) == (2, 1)


def test_json_that_is_broken_as_a_whole(tmp_path, monkeypatch):
    assert "the file is empty" in refused(tmp_path, "", "facts.jsonl")
    assert "the file is empty" in refused(tmp_path, "\n\n", "facts.jsonl")
    content = lines({"item": 1, "tag": "x"}).encode() + b"{\xff\n"
    assert "line 2: byte 0xff at position 2" in refused(tmp_path, content, "facts.jsonl")
    assert "there is no column 'who'" in refused(tmp_path, lines({"item": 1}), "facts.jsonl", columns={"item": "who"})
    monkeypatch.setattr("catalog.importers.reading.records.LONGEST_LINE", 64)
    assert "line 1: the line does not end" in refused(tmp_path, lines({"item": 1, "tag": "x" * 99}), "facts.jsonl")


@pytest.mark.parametrize(
    ("header", "columns", "message"),
    [
        ("a,b,c", {}, "no column is known to hold the ids: the header has 'a', 'b', 'c'"),
        ("item,b,c", {}, "no column is known to hold facts: the header has 'item', 'b', 'c'"),
        ("item,b,c", {"item": "z"}, "there is no column 'z' for item"),
        ("item,b,c", {"plot": "z"}, "there is no column 'z' for plot"),
        ("item,b,c", {"plot": "b", "tag": "b"}, "column 'b' is named for two things"),
        ("item,b,c", {"plot": "item"}, "column 'item' is named for two things"),
        ("item,b,c", {"kind": "b", "value": "b"}, "column 'b' is named for two things"),
        (",".join(f"c{number}" for number in range(20)), {}, "and 8 more"),
    ],
)
def test_headers_without_what_is_needed(tmp_path, header, columns, message):
    assert message in refused(tmp_path, f"{header}\n1,2,3\n", columns=columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"kind": "a"}}, "both a column of kinds and a column of values"),
        ({"columns": {"kind": "a", "value": "b", "plot": "c"}}, "kind and value and for plot as well"),
        ({"separator": ""}, "separator"),
        ({"encoding": "klingon"}, "There is no encoding 'klingon'"),
        ({"delimiter": ""}, "at least one character"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ParameterError, match=message):
        MetadataOptions(**options)


def test_files_that_say_nothing_of_any_item(tmp_path):
    text = "item,kind,value\n8,tag,x\n9,tag,y\n"
    message = refused(tmp_path, text)
    assert "facts.csv, line 2: the dataset has no item '8'. (1 more problem)" in message
    assert message.endswith("says nothing of any item of the dataset. Nothing was added.")
    assert "it says nothing of any item" in refused(tmp_path, ITEMS.splitlines()[0] + "\n8;2;;;;;;;;\n")


def test_utility_that_is_no_number_is_refused_when_it_is_read(tmp_path):
    for bad in ("much", "-1", "nan"):
        message = refused(tmp_path, f"item,kind,value\n1,utility,2.5\n2,utility,{bad}\n")
        assert f"line 3, column value: '{bad}' is not a number of 0 or more" in message
    written(tmp_path, "item,kind,value\n1,utility,2.5\n1,tag,x\n2,utility,0\n2,tag,y\n")
    found = read_metadata(tmp_path / "facts.csv", KNOWN).items
    assert ("utility", "2.5") in found["1"].features
    assert list(found["2"].features) == [("tag", "y")]


def test_one_file_is_needed(tmp_path):
    folder = tmp_path / "two"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        written(folder, FACTS, name)
    with pytest.raises(ImportRefused, match="one file of facts is needed, and there are 2 here"):
        read_metadata(folder, KNOWN)
    with zipfile.ZipFile(tmp_path / "facts.zip", "w") as archive:
        archive.writestr("facts.csv", FACTS)
    assert set(read_metadata(tmp_path / "facts.zip", KNOWN).items) == {"1", "2"}


@pytest.mark.parametrize("name", ["facts.csv.gz", "facts.jsonl.gz"])
def test_files_that_unfold_beyond_the_limits_are_refused(tmp_path, name):
    text = FACTS if name.startswith("facts.csv") else lines({"item": 1, "tag": "x"})
    path = written(tmp_path, text + " " * 3_000_000, name)
    policy = Policy(limits=Limits(bytes_unsuspicious=1_000_000, ratio=10))
    with pytest.raises(ImportRefused, match="it unpacks to more than"):
        read_metadata(path, KNOWN, policy=policy)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ImportRefused, match="damaged or cut short"):
        read_metadata(path, KNOWN)


def test_an_item_has_so_many_facts_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr("catalog.importers.metadata.MOST_FACTS", 2)
    assert "line 4, column value: the item has more than 2 facts" in refused(
        tmp_path, "item,kind,value\n1,tag,a\n1,tag,b\n1,tag,c\n"
    )


def test_an_open_end_is_said_and_progress_told(tmp_path, monkeypatch):
    monkeypatch.setattr("catalog.importers.reading.texts.BLOCK", 50)
    monkeypatch.setattr("catalog.importers.reading.records.ROWS_AT_A_TIME", 1)
    said: list[tuple[str, int]] = []
    metadata = read_metadata(written(tmp_path, FACTS.rstrip("\n")), KNOWN, progress=lambda *now: said.append(now))
    assert "has no line end" in metadata.report.warnings[0]
    read_metadata(
        written(tmp_path, lines({"item": 1, "tag": "x"}), "a.jsonl"), KNOWN, progress=lambda *now: said.append(now)
    )
    assert ("facts.csv", 5) in said
    assert said[-1] == ("a.jsonl", 1)
    assert said[0][1] < 5
