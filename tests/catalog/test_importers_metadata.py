"""Facts about known items: what is read, and what is refused, by line."""

from __future__ import annotations

import gzip
import json
import zipfile
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from catalog.importers.base import Limits, Policy
from catalog.importers.metadata import Metadata, MetadataOptions, read_metadata
from tests.sentences import assert_refused_as_approved, assert_sentences_approved

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


def bytes_at(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def lines(*objects: object) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in objects)


PACKED = {"facts.csv.gz": FACTS, "facts.jsonl.gz": lines({"item": 1, "tag": "x"})}


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
    assert_sentences_approved("warnings/facts", {"unknown columns": metadata.report.warnings})


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
    assert (example.file, example.line) == ("facts.csv", 7)


ROWS = {
    "field missing": "1,plot",
    "value empty": "1,plot,",
    "item empty": ",plot,x",
    "field too many": "1,plot,x,y",
    "no year": "1,year,MM",
    "no web address": "1,trailer,javascript:x",
    "title too long": f"1,title,{'x' * 301}",
    "plot too long": f"1,plot,{'x' * 100_001}",
    "tag too long": f"1,tag,{'x' * 201}",
    "kind too long": f"1,{'k' * 31},x",
    "two plots": "1,plot,x\n1,plot,y",
    "open quotation mark": '1,plot,"x',
}
OBJECTS = {
    "no JSON": "{",
    "a list": '["a"]',
    "an object for a value": '{"item": 1, "tag": {"id": 3}}',
    "true for a value": '{"item": 1, "tag": [true]}',
    "NaN": '{"item": 1, "tag": NaN}',
    "infinite": '{"item": 1, "tag": 1e999}',
    "a key twice": '{"item": 1, "tag": "a", "tag": "b"}',
    "no item": '{"tag": "a"}',
    "a list for an item": '{"item": [1, 2], "tag": "a"}',
    "half a character": '{"item": 1, "tag": "\\ud800"}',
    "nested too deeply": '{"item": 1, "tag": ' + "[" * 100_000,
    "a number too long": '{"item": 1, "tag": ' + "9" * 5000 + "}",
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_rows_that_cannot_be_taken_are_left_out_on_request(tmp_path, row):
    metadata = read(tmp_path, f"movieId,relation,freebase_mid\n2,tag,kept\n{row}\n", drop=True)
    assert list(metadata.items["2"].features) == [("tag", "kept")]
    assert sum(metadata.report.dropped.values()) == 1
    assert metadata.report.rows_read - metadata.report.rows_kept == 1


@pytest.mark.parametrize("line", OBJECTS.values(), ids=OBJECTS)
def test_lines_of_json_that_cannot_be_taken_are_left_out_on_request(tmp_path, line):
    metadata = read(tmp_path, f'{{"item": 2, "tag": "kept"}}\n{line}\n', "facts.jsonl", drop=True)
    assert sum(metadata.report.dropped.values()) == 1
    assert (metadata.report.rows_read, metadata.report.rows_kept) == (2, 1)


HEADERS = {
    "no ids": ("a,b,c", {}),
    "no facts": ("item,b,c", {}),
    "no such column of ids": ("item,b,c", {"item": "z"}),
    "no such column of plots": ("item,b,c", {"plot": "z"}),
    "a column for two fields": ("item,b,c", {"plot": "b", "tag": "b"}),
    "the column of ids for a field": ("item,b,c", {"plot": "item"}),
    "a column for kinds and values": ("item,b,c", {"kind": "b", "value": "b"}),
    "many columns": (",".join(f"c{number}" for number in range(20)), {}),
}
OPTIONS = {
    "kinds without values": {"columns": {"kind": "a"}},
    "kinds, values and a field": {"columns": {"kind": "a", "value": "b", "plot": "c"}},
    "no separator": {"separator": ""},
    "no such encoding": {"encoding": "klingon"},
    "no delimiter": {"delimiter": ""},
}


def test_facts_that_cannot_be_read(tmp_path, monkeypatch):
    monkeypatch.setattr("catalog.importers.metadata.MOST_FACTS", 2)
    two = tmp_path / "two"
    two.mkdir()
    for name in ("a.csv", "b.csv"):
        written(two, FACTS, name)
    facts, head = partial(read, tmp_path), "item,kind,value\n"
    packed = {name: written(tmp_path, text + " " * 3_000_000, name) for name, text in PACKED.items()}
    cut = {name: bytes_at(tmp_path / f"cut-{name}", path.read_bytes()[:200]) for name, path in packed.items()}
    bounded = Policy(limits=Limits(bytes_unsuspicious=1_000_000, ratio=10))
    cases = {
        **{name: partial(facts, f"movieId,relation,freebase_mid\n{row}\n") for name, row in ROWS.items()},
        "broken bytes": partial(facts, b"item,kind,value\n1,plot,ab\xff\n", encoding="utf-8"),
        "NUL": partial(facts, head + "1,plot,a\0b\n"),
        "too many facts": partial(facts, head + "1,tag,a\n1,tag,b\n1,tag,c\n"),
        **{f"utility {bad}": partial(facts, f"{head}1,utility,2.5\n2,utility,{bad}\n")
           for bad in ("much", "-1", "nan")},
        "unknown items only": partial(facts, head + "8,tag,x\n9,tag,y\n"),
        "nothing said": partial(facts, ITEMS.splitlines()[0] + "\n8;2;;;;;;;;\n"),
        **{f"header: {name}": partial(facts, f"{header}\n1,2,3\n", columns=columns)
           for name, (header, columns) in HEADERS.items()},
        "two files": partial(read_metadata, two, KNOWN),
        **{f"bomb {name}": partial(read_metadata, path, KNOWN, policy=bounded) for name, path in packed.items()},
        **{f"cut {name}": partial(read_metadata, path, KNOWN) for name, path in cut.items()},
        **{f"option: {name}": partial(MetadataOptions, **options) for name, options in OPTIONS.items()},
    }  # fmt: skip
    assert_refused_as_approved("facts", cases)


def test_facts_of_json_that_cannot_be_read(tmp_path, monkeypatch):
    monkeypatch.setattr("catalog.importers.reading.records.LONGEST_LINE", 200_000)
    facts = partial(read, tmp_path, name="facts.jsonl")
    cases = {
        **{name: partial(facts, f'{{"item": 2, "tag": "kept"}}\n{line}\n') for name, line in OBJECTS.items()},
        "NUL": partial(facts, lines({"item": 1, "tag": "a\0b"})),
        "empty": partial(facts, ""),
        "blank": partial(facts, "\n\n"),
        "broken bytes": partial(facts, lines({"item": 1, "tag": "x"}).encode() + b"{\xff\n"),
        "no such key": partial(facts, lines({"item": 1}), columns={"item": "who"}),
        "a line that does not end": partial(facts, lines({"item": 1, "tag": "x" * 200_000})),
        "an array with NaN": partial(read, tmp_path, '[{"item": 1, "tag": NaN}]', "facts.json"),
        "an array with a key twice": partial(read, tmp_path, '[{"item": 1, "tag": 1, "tag": 2}]', "facts.json"),
    }
    assert_refused_as_approved("facts-json", cases)


def test_facts_are_read_from_whatever_rows_are_read_from(tmp_path):
    pd.DataFrame({"item": [1, 2], "genres": ["Drama|War", ""], "year": [1999.0, None]}).to_parquet(tmp_path / "f.pq")
    (tmp_path / "f.json").write_text('[{"item": 1, "genres": ["Drama", "War"], "year": 1999}]')
    for name in ("f.pq", "f.json"):
        (one,) = read_metadata(tmp_path / name, KNOWN).items.values()
        assert list(one.features) == [("genre", "Drama"), ("genre", "War")]
        assert one.fields == {"year": "1999"}


def test_utilities_of_zero_are_not_kept(tmp_path):
    metadata = read(tmp_path, "item,kind,value\n1,utility,2.5\n1,tag,x\n2,utility,0\n2,tag,y\n")
    assert ("utility", "2.5") in metadata.items["1"].features
    assert list(metadata.items["2"].features) == [("tag", "y")]


def test_facts_are_found_in_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "facts.zip", "w") as archive:
        archive.writestr("facts.csv", FACTS)
    assert set(read_metadata(tmp_path / "facts.zip", KNOWN).items) == {"1", "2"}


def test_an_open_end_is_said_and_progress_told(tmp_path, monkeypatch):
    monkeypatch.setattr("catalog.importers.reading.texts.BLOCK", 50)
    monkeypatch.setattr("catalog.importers.reading.records.ROWS_AT_A_TIME", 1)
    said: list[tuple[str, int]] = []
    metadata = read_metadata(written(tmp_path, FACTS.rstrip("\n")), KNOWN, progress=lambda *now: said.append(now))
    assert metadata.report.warnings
    read_metadata(
        written(tmp_path, lines({"item": 1, "tag": "x"}), "a.jsonl"), KNOWN, progress=lambda *now: said.append(now)
    )
    assert ("facts.csv", 5) in said
    assert said[-1] == ("a.jsonl", 1)
    assert said[0][1] < 5


def test_html_entities_become_characters_and_the_report_says_so(tmp_path):
    metadata = read(tmp_path, "item,plot,genre\n1,Singin&#039; &amp; dancing,R&B\n2,A & B,R&amp;B\n")
    assert metadata.items["1"].fields["plot"] == "Singin' & dancing"
    assert metadata.items["2"].features == metadata.items["1"].features
    assert "HTML entities were replaced by characters in 2 texts." in metadata.report.warnings
