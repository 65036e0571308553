"""The corpus of malformed sources: each is refused with file, line, column and reason, and leaves nothing behind, or is
read as it is meant.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from functools import partial
from pathlib import Path

import pyarrow
import pytest
from django.core.files.storage import storages
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from catalog.importers.auto import FORMATS
from catalog.importers.base import RatingScale
from catalog.models import Dataset, DatasetVersion, Feature, Item
from catalog.services import import_dataset
from core.errors import ParallaxError
from tests.sentences import assert_refused_as_approved, assert_sentences_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

CORPUS = Path(__file__).resolve().parents[1] / "data" / "malformed"
ONE_TO_FIVE = RatingScale(1, 5, 1)
DECLARED = ("parquet/", "jsonlines/off-scale", "delimited/twice")  # where it would be detected otherwise

# Sources that look malformed and are read as they are meant: users, items and ratings.
IMPORTED = {
    "bookcrossing/commas": (2, 2, 2),
    "bookcrossing/user-word": (2, 2, 2),
    "delimited/no-gzip.csv.gz": (2, 2, 3),
    "delimited/no-rating-column.csv": (2, 2, 3),
    "delimited/no-scale.csv": (3, 100, 300),
    "delimited/not-utf-8.csv": (2, 2, 3),
    "delimited/time-word.csv": (2, 1, 2),
    "jsonlines/array-of-all.jsonl": (2, 2, 3),
    "movielens-csv/bom-twice": (2, 2, 3),
    "movielens-csv/empty-movies": (2, 2, 3),
    "movielens-csv/old-mac-lines": (2, 2, 3),
    "movielens-csv/semicolons": (2, 2, 3),
    "movielens-csv/utf-16": (2, 2, 3),
    "movielens-dat/latin-1-title-in-10m": (2, 2, 2),
    "movielens-dat/tag-with-colons": (2, 2, 2),
    "netflix/bad-year": (2, 2, 3),
    "netflix/no-titles": (2, 2, 3),
    "netflix/unknown-movie": (2, 3, 3),
    "parquet/text.parquet": (2, 2, 3),
    "tafeng/nothing-sold": (1, 1, 1),
}
CASES = sorted(
    case.relative_to(CORPUS).as_posix() for family in CORPUS.iterdir() if family.is_dir() for case in family.iterdir()
)
REFUSED = [case for case in CASES if case not in IMPORTED]


def options_of(source: str, **more: object) -> dict[str, object]:
    return {**({"scale": ONE_TO_FIVE} if source.startswith(DECLARED) else {}), **more}


def format_of_source(source: str) -> str:
    """Few lines are no evidence of baskets: they are named as such."""
    return "fimi" if source.startswith("fimi/") else "auto"


def everything() -> tuple[object, ...]:
    """What an import could leave: rows of each table, and the files of the storage."""
    storage = storages["artefacts"]
    files = sorted(storage.listdir("ratings")[0]) if storage.exists("ratings") else []
    rows = [list(model.objects.order_by("pk").values_list("pk")) for model in (Dataset, DatasetVersion, Item, Feature)]
    return rows, files


def outcome(path: Path, **options: object) -> DatasetVersion | ParallaxError:
    """The version that an import made, or its refusal."""
    source_format = str(options.pop("source_format", "auto"))
    try:
        return import_dataset(path=path, name="tried", source_format=source_format, options=options)
    except ParallaxError as refusal:
        return refusal


def test_malformed_sources_are_refused_and_leave_nothing() -> None:
    assert IMPORTED.keys() < set(CASES)
    before = everything()
    cases = {
        source: partial(
            import_dataset, path=CORPUS / source, name="malformed", source_format=format_of_source(source),
            options=options_of(source),
        )
        for source in REFUSED
    }  # fmt: skip
    assert_refused_as_approved("malformed", cases)
    assert everything() == before


def test_sources_that_only_look_malformed_are_imported() -> None:
    versions = {
        source: import_dataset(path=CORPUS / source, name=f"read-{at}", options=options_of(source))
        for at, source in enumerate(IMPORTED)
    }
    assert {source: (found.n_users, found.n_items, found.n_ratings) for source, found in versions.items()} == IMPORTED
    assert_sentences_approved(
        "warnings/malformed", {source: found.report["warnings"] for source, found in versions.items()}
    )


@pytest.mark.parametrize("source", CASES)
def test_what_is_dropped_is_counted_or_nothing_is_left(source: str) -> None:
    before = everything()
    version = outcome(
        CORPUS / source,
        source_format=format_of_source(source),
        **options_of(source, on_bad_row="drop", duplicates="last"),
    )
    if isinstance(version, ParallaxError):
        assert version.code == "import.refused"
        assert everything() == before
        return
    report = version.report
    assert report["rows_kept"] == version.n_ratings > 0
    assert sum(report["dropped"].values()) >= report["rows_read"] - report["rows_kept"] > -1
    for reason, examples in report["examples"].items():
        assert report["dropped"][reason] >= len(examples) > 0
        assert all(example["file"] and example["reason"] for example in examples)


GOOD = b"userId,movieId,rating,timestamp\n" + b"".join(
    b"%d,%d,%.1f,%d\n" % (user, movie, (user + movie) % 10 / 2 + 0.5, 1000 + user)
    for user in range(1, 9)
    for movie in (1, 2)
)
MOVIES = b'movieId,title,genres\n1,Lantern Street (1994),Drama\n2,"Harbour, The (1987)",Comedy\n'


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.binary(max_size=3), st.integers(0, 3)), min_size=1, max_size=3)
)
def test_whatever_happens_to_a_file_the_import_is_whole_or_nothing(
    tmp_path: Path, harms: list[tuple[int, bytes, int]]
) -> None:
    content = GOOD
    for place, put, cut in harms:
        content = content[:place] + put + content[place + cut :]
    (tmp_path / "ratings.csv").write_bytes(content)
    (tmp_path / "movies.csv").write_bytes(MOVIES)
    before = everything()
    version = outcome(tmp_path)
    if isinstance(version, ParallaxError):
        assert version.code == "import.refused"
        assert version.extra["problems"][0]["file"] in {"ratings.csv", "movies.csv"}
        assert everything() == before
    else:
        report = version.report
        assert version.n_ratings == report["rows_kept"] == report["rows_read"] - sum(report["dropped"].values())
        assert version.items.count() == version.n_items >= 2


def parquet_bytes() -> bytes:
    """A small Parquet file."""
    sink = io.BytesIO()
    columns = {"user": ["a", "a", "b", "b"], "item": ["x", "y", "x", "y"], "rating": [1.0, 5.0, 3.0, 4.0]}
    parquet.write_table(pyarrow.table(columns), sink)
    return sink.getvalue()


def zip_bytes(files: dict[str, bytes]) -> bytes:
    """An archive."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return sink.getvalue()


JSON_ROWS = b"".join(
    b'{"user": "%s", "item": "%s", "rating": %d, "time": "2020-01-0%dT00:00:00Z"}\n' % row
    for row in ((b"a", b"x", 5, 1), (b"a", b"y", 1, 2), (b"b", b"x", 3, 3), (b"b", b"y", 4, 4))
)
# A sound source of each format, whose files are then harmed.
SOUND: dict[str, dict[str, bytes]] = {
    "movielens-csv": {
        "ratings.csv": GOOD,
        "movies.csv": MOVIES,
        "tags.csv": b"userId,movieId,tag,timestamp\n1,1,sea,1000\n2,2,Quay,1001\n",
        "links.csv": b"movieId,imdbId,tmdbId\n1,0114709,862\n2,0113497,\n",
    },
    "movielens-10m": {
        "ratings.dat": b"1::1::3.5::1000\n2::2::5::1001\n1::2::0.5::1002\n",
        "movies.dat": "1::Rue d'Été, La (1994)::Drama\n2::Harbour, The (1987)::Comedy|Crime\n".encode(),
        "tags.dat": b"1::2::Sea::1000\n1::2::sea ::1001\n",
    },
    "movielens-1m": {
        "ratings.dat": b"1::1::3::1000\n2::2::5::1001\n1::2::1::1002\n",
        "movies.dat": "1::Rue d'Été, La (1994)::Drama\n2::Harbour, The (1987)::Comedy|Crime\n".encode("latin-1"),
    },
    "movielens-100k": {
        "u.data": b"1\t1\t3\t881250949\n2\t2\t5\t881250950\n1\t2\t1\t881250951\n",
        "u.item": (
            b"1|Lantern Street (1994)|01-Jan-1994||http://a.example/1|" + b"|".join([b"0"] * 18 + [b"1"]) + b"\n"
            b"2|Quay (1987)|||http://a.example/2|" + b"|".join([b"1"] + [b"0"] * 18) + b"\n"
        ),
    },
    "netflix": {
        "combined_data_1.txt": b"1:\n7,3,2005-09-06\n8,5,1999-12-31\n2:\n7,4,2004-02-29\n",
        "movie_titles.txt": b"2,1987,Harbour, The\n1,1994,Lantern Street\n",
        "probe.txt": b"1:\n8\n2:\n7\n",
    },
    "bookcrossing": {
        "BX-Book-Ratings.csv": b'"User-ID";"ISBN";"Book-Rating"\n"7";"000X";"5"\n"7";"0002";"0"\n"8";"000X";"10"\n',
        "BX-Books.csv": (
            b"ISBN;Book-Title;Book-Author;Year-Of-Publication;Publisher;Image-URL-S;Image-URL-M;Image-URL-L\n"
            b'"000X";"Salt &amp; Rope";"B. Writer";"1999";"Quay";"";"";"http://images.example/x.jpg"\n'
            b'"0002";"Tide; Tables";"A. Writer";"0";"Quay";"";"";"n/a"\n'
        ),
    },
    "tafeng": {
        "ta_feng_all_months_merged.csv": (
            b"TRANSACTION_DT,CUSTOMER_ID,AGE_GROUP,PIN_CODE,PRODUCT_SUBCLASS,PRODUCT_ID,AMOUNT,ASSET,SALES_PRICE\n"
            b'"11/1/2000","001  ","A","E","100","4710","2","24","30"\n'
            b'"11/2/2000","002","B","F","100","4710","1","12","17"\n'
            b'"11/3/2000","002","B","F","200","4711","1","9","5"\n'
        )
    },
    "fimi": {"retail.dat": b"1 2 3\n2 3\n\n5 1 \n"},
    "parquet": {"ratings.parquet": parquet_bytes()},
    "jsonlines": {"ratings.jsonl": JSON_ROWS},
    "json": {"ratings.json": b"[" + JSON_ROWS.strip().replace(b"\n", b",") + b"]"},
    "dicts": {"ratings.json": JSON_ROWS.replace(b'"', b"'")},
    "sections": {"ratings.txt": b"1:\n7,3,2005-09-06\n8,5,1999-12-31\n2:\n7,4,2004-02-29\n8,1,2004-02-29\n"},
    "delimited": {"ratings.csv": b'user;item;rating;time\na;"x;1";1;2020-01-01\na;y;5;7\nb;y;3;2021-05-05T10:00:00Z\n'},
    "gzip": {"ratings.csv.gz": gzip.compress(b"user,item,rating\na,x,1\na,y,5\nb,x,3\nb,y,4\n", mtime=0)},
    "zip": {"set.zip": zip_bytes({"ratings.csv": GOOD, "movies.csv": MOVIES})},
}
HARMS = st.lists(
    st.tuples(st.integers(0, 2**16), st.integers(0, 2**16), st.binary(max_size=3), st.integers(0, 9)),
    min_size=1,
    max_size=3,
)


def test_every_source_is_sound_before_it_is_harmed(tmp_path: Path) -> None:
    assert set(SOUND) <= {*FORMATS, "gzip", "zip"}
    for name, files in SOUND.items():
        version = outcome(placed(tmp_path / name, files), **format_of(name))
        assert isinstance(version, DatasetVersion), (name, version)


def placed(folder: Path, files: dict[str, bytes]) -> Path:
    """The files in a folder; its path, or that of the one file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder / next(iter(files)) if len(files) == 1 else folder


def format_of(name: str) -> dict[str, object]:
    return {"source_format": name} if name in FORMATS else {}


@pytest.mark.parametrize("name", SOUND)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(harms=HARMS, policy=st.sampled_from(["refuse", "drop"]))
def test_whatever_happens_to_a_source_of_any_format_the_import_is_whole_or_nothing(
    tmp_path: Path, name: str, policy: str, harms: list[tuple[int, int, bytes, int]]
) -> None:
    files = dict(SOUND[name])
    for which, where, put, cut in harms:
        file = sorted(files)[which % len(files)]
        place = where % (len(files[file]) + 1)
        files[file] = files[file][:place] + put + files[file][place + cut :]
    before = everything()
    version = outcome(placed(tmp_path, files), on_bad_row=policy, duplicates="last", **format_of(name))
    if isinstance(version, ParallaxError):
        assert version.code in ("import.refused", "import.bad_data")
        assert everything() == before
        if version.code == "import.refused":
            (problem, *_) = version.extra["problems"]
            assert problem["file"]
            assert problem["reason"]
        return
    assert version.n_ratings == version.report["rows_kept"] > 0
    assert version.items.count() == version.n_items
    assert sum(version.report["dropped"].values()) >= version.report["rows_read"] - version.n_ratings >= 0
