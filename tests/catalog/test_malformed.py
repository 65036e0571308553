"""The corpus of malformed sources: each is refused with file, line, column and reason, and leaves nothing behind, or is
read as it is meant.
"""

from __future__ import annotations

import gzip
import io
import zipfile
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

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

CORPUS = Path(__file__).resolve().parents[1] / "data" / "malformed"
ONE_TO_FIVE = RatingScale(1, 5, 1)
DECLARED = ("parquet/", "jsonlines/off-scale", "delimited/twice")  # where it would be detected otherwise

# Source to the beginning of what is said of it: file, line, column and reason.
REFUSALS = {
    # bookcrossing
    "bookcrossing/bad-year": "BX-Books.csv, line 2, column ISBN: 'MCM' is no year",
    "bookcrossing/escaped-delimiter": "BX-Books.csv, line 2: ';' expected after '\"'",
    "bookcrossing/nothing-rated": "BX-Book-Ratings.csv, line 2, column Book-Rating: 0 says that the item wa",
    "bookcrossing/off-scale": "BX-Book-Ratings.csv, line 4, column Book-Rating: 11 is off the scale of 1 to 10",
    "bookcrossing/unknown-book": "BX-Book-Ratings.csv, line 4, column ISBN: item 0003 is not in BX-Books.csv",
    # delimited
    "delimited/binary.csv": "binary.csv: it has no column of users: none has values that repeat over severa",
    "delimited/blank-first-line.csv": "blank-first-line.csv, line 1: the first line is empty",
    "delimited/bomb.csv.gz": "bomb.csv.gz: it unpacks to more than 16,777,216 bytes, far more than its size",
    "delimited/column-twice.csv": "column-twice.csv, line 1: the header names column 'user' twice",
    "delimited/cut.csv.gz": "cut.csv.gz: the compressed file is damaged or cut short after 0 bytes (Compressed",
    "delimited/damaged.csv.gz": "damaged.csv.gz: the compressed file is damaged or cut short after 0 bytes",
    "delimited/empty-user.csv": "empty-user.csv, line 4, column user: the field is empty",
    "delimited/from-zero.csv": "from-zero.csv: 1 of 3 ratings are 0: that can mean that an item was not rat",
    "delimited/half-quoted.csv": "half-quoted.csv, line 3: a quotation mark opens here and is never closed:",
    "delimited/long-id.csv": "long-id.csv, line 3, column item: the id has 101 characters; at most 100 are kept",
    "delimited/long-user.csv": "long-user.csv, line 4, column user: the id has 101 characters; at most 100 are",
    "delimited/nul-in-id.csv": "nul-in-id.csv, line 4, column user: the field holds a NUL character; it is",
    "delimited/one-column.csv": "one-column.csv: All ratings in column rating are 1, so no scale can be see",
    "delimited/one-value.csv": "one-value.csv: All ratings in column rating are 1, so no scale can be seen.",
    "delimited/twice.csv": "twice.csv, line 5: user bob rated item x on line 4 already",
    # fimi
    "fimi/blank.dat": "blank.dat, line 1: the file is empty.",
    "fimi/commas.dat": "commas.dat, line 3, column item: '' is not a whole number. Correct the source, or e",
    "fimi/empty.dat": "empty.dat, line 1: the file is empty",
    "fimi/huge.dat": "huge.dat, line 1, column item: '99999999999999999999999' is not a whole number",
    "fimi/negative.dat": "negative.dat, line 2, column item: the id -3 is below 0",
    "fimi/word.dat": "word.dat, line 2, column item: 'apple' is not a whole number",
    # jsonlines
    "jsonlines/cut.jsonl": "cut.jsonl, line 3: this is not valid JSON: Unterminated string starting at at position 30",
    "jsonlines/deep.jsonl": "deep.jsonl, line 2: the JSON object is nested too deeply",
    "jsonlines/empty.jsonl": "empty.jsonl, line 1: the file is empty",
    "jsonlines/half-character.jsonl": "half-character.jsonl, line 2, column user: the field holds a NUL or",
    "jsonlines/missing-key.jsonl": "missing-key.jsonl, line 3, column rating: the object has no such key",
    "jsonlines/nan.jsonl": "nan.jsonl, line 2: NaN is not a number",
    "jsonlines/nested-user.jsonl": "nested-user.jsonl, line 3, column user: '{\"id\": 3}' is neither a text nor",
    "jsonlines/nul.jsonl": "nul.jsonl, line 3, column user: the field holds a NUL or half a character, which",
    "jsonlines/null-item.jsonl": "null-item.jsonl, line 3, column item: the field is empty",
    "jsonlines/off-scale.jsonl": "off-scale.jsonl, line 3, column rating: 7.5 is off the scale of 1 to 5",
    "jsonlines/scalar-line.jsonl": "scalar-line.jsonl, line 2: '42' is not a JSON object",
    "jsonlines/true-for-rating.jsonl": "true-for-rating.jsonl, line 3, column rating: 'true' is neither a text",
    # movielens-100k
    "movielens-100k/off-scale": "u.data, line 2, column rating: 6 is off the scale of 1 to 5",
    # movielens-csv
    "movielens-csv/arabic-digits": "ratings.csv, line 4, column rating: 'x' is not a number",
    "movielens-csv/cut-in-field": "ratings.csv, line 4, column timestamp: the line has 3 of 4 fields (the file",
    "movielens-csv/cut-short": "ratings.csv, line 4: the last line has no line end, so the file is probably",
    "movielens-csv/empty-ratings": "ratings.csv, line 1: the file is empty",
    "movielens-csv/header-only": "ratings.csv, line 2: there is no row after the header",
    "movielens-csv/html-instead": "ratings.csv: this is a web page, not a table. Correct the file, or remov",
    "movielens-csv/huge-id": "ratings.csv, line 4, column userId: '99999999999999999999' is not a whole number",
    "movielens-csv/latin-1-in-utf-8": "ratings.csv, line 3, column rating: '3é5' is not a number. Correct t",
    "movielens-csv/link-word": "links.csv, line 2, column movieId: 'one' is not a whole number",
    "movielens-csv/movie-title-too-long": "movies.csv, line 2, column title: the title has 301 characters; at",
    "movielens-csv/movie-twice": "movies.csv, line 4, column title: item 2 was listed before. Correct the s",
    "movielens-csv/movie-unquoted-comma": "movies.csv, line 3: the line has 4 fields where 3 belong",
    "movielens-csv/movie-without-title": "movies.csv, line 2, column title: the title is empty",
    "movielens-csv/negative-movie": "ratings.csv, line 4, column movieId: item -1 is not in movies.csv",
    "movielens-csv/negative-user": "ratings.csv, line 4, column userId: the id -2 is below 0",
    "movielens-csv/nul-byte": "ratings.csv, line 3, column rating: the field holds a NUL character; it is n",
    "movielens-csv/open-quote": "ratings.csv, line 3: a quotation mark opens here and is never closed: the",
    "movielens-csv/rated-twice": "ratings.csv, line 5: user 1 rated item 2 on line 3 already",
    "movielens-csv/rating-between-steps": "ratings.csv, line 3, column rating: 3.7 is no step of 0.5 on the",
    "movielens-csv/rating-decimal-comma": "ratings.csv, line 3, column rating: '3,5' is not a number",
    "movielens-csv/rating-empty": "ratings.csv, line 3, column rating: the field is empty",
    "movielens-csv/rating-hexadecimal": "ratings.csv, line 3, column movieId: '0x2' is not a whole number",
    "movielens-csv/rating-infinite": "ratings.csv, line 3, column rating: '1e999' is not a number",
    "movielens-csv/rating-nan": "ratings.csv, line 3, column rating: 'NaN' is not a number",
    "movielens-csv/rating-negative": "ratings.csv, line 3, column rating: -3.5 is off the scale of 0.5 to 5",
    "movielens-csv/rating-too-high": "ratings.csv, line 3, column rating: 5.5 is off the scale of 0.5 to 5",
    "movielens-csv/rating-word": "ratings.csv, line 3, column rating: 'good' is not a number",
    "movielens-csv/rating-zero": "ratings.csv, line 3, column rating: 0 is off the scale of 0.5 to 5",
    "movielens-csv/tag-of-unknown-movie": "tags.csv, line 3, column movieId: item 8 is not in movies.csv. C",
    "movielens-csv/too-few-columns": "ratings.csv, line 3, column timestamp: the line has 3 of 4 fields",
    "movielens-csv/too-many-columns": "ratings.csv, line 3: the line has 5 fields where 4 belong",
    "movielens-csv/underscored-number": "ratings.csv, line 4, column timestamp: '1_002' is neither seconds",
    "movielens-csv/unknown-movie": "ratings.csv, line 4, column movieId: item 9 is not in movies.csv",
    "movielens-csv/user-fraction": "ratings.csv, line 4, column userId: '2.5' is not a whole number",
    # movielens-dat
    "movielens-dat/half-star-in-1m": "ratings.dat, line 2, column rating: 3.5 is no step of 1 on the scale of",
    "movielens-dat/single-colon": "ratings.dat, line 2, column time: the line has 3 of 4 fields. Correct th",
    # netflix
    "netflix/day-first": "combined_data_1.txt, line 3, column time: '13-05-2005' is neither seconds since 1",
    "netflix/empty": "combined_data_1.txt, line 1: the file is empty",
    "netflix/missing-date": "combined_data_1.txt, line 3, column time: the line has 2 of 3 fields. Correct",
    "netflix/no-heading": "combined_data_1.txt: it has no column of items: none has values that repeat over",
    "netflix/no-such-day": "combined_data_1.txt, line 3, column time: '2005-02-30' is neither seconds since",
    "netflix/off-scale": "combined_data_1.txt, line 3, column rating: 9 is off the scale of 1 to 5",
    "netflix/probe-word": "probe.txt, line 3, column user: 'someone' is not a whole number. Correct the pro",
    "netflix/twice": "combined_data_1.txt, line 6: user 7 rated item 2 on line 5 already",
    "netflix/two-files": "mv_0000002.txt, line 3, column rating: 6 is off the scale of 1 to 5",
    "netflix/word-for-user": "combined_data_1.txt, line 3, column user: 'eight' is not a whole number. Corr",
    # parquet
    "parquet/cut.parquet": "cut.parquet: this is not a Parquet file, or a damaged one (Parquet magic bytes not",
    "parquet/damaged.parquet": "damaged.parquet: this is not a Parquet file, or a damaged one (Couldn't",
    "parquet/list-for-user.parquet": "list-for-user.parquet, row 1, column user: \"['a']\" is neither a text nor",
    "parquet/nan-rating.parquet": "nan-rating.parquet, row 2, column rating: 'nan' is not a number",
    "parquet/no-item.parquet": "no-item.parquet: it has no column of items: none has values that repeat ove",
    "parquet/no-rows.parquet": "no-rows.parquet: the file has no row",
    "parquet/null-rating.parquet": "null-rating.parquet, row 2, column rating: the field is empty",
    # tafeng
    "tafeng/eight-columns": "ta_feng_all_months_merged.csv: no column is known to hold the ratings. Columns",
    "tafeng/no-date": "ta_feng_all_months_merged.csv, line 3, column time: '2/30/2001' is not a time in the fo",
    "tafeng/price-word": "ta_feng_all_months_merged.csv, line 3, column utility: 'free' is not a number. Co",
    # zip
    "zip/absolute.zip": "absolute.zip: the archive names a file outside itself ('/etc/ratings.csv')",
    "zip/bomb.zip": "bomb.zip: the archive's 17,645 bytes unpack to 17,825,880, above the limit. If the",
    "zip/cut.zip": "cut.zip: this is not a ZIP archive, or a damaged one (File is not a zip file)",
    "zip/drive.zip": "drive.zip: the archive names a file outside itself ('C:\\\\ratings.csv')",
    "zip/encrypted.zip": "ratings.csv: the file is encrypted",
    "zip/no-archive.zip": "no-archive.zip: this is not a ZIP archive, or a damaged one (File is not a zip file)",
    "zip/nothing-known.zip": "notes.md, line 1: there is no row after the header.",
    "zip/slip.zip": "slip.zip: the archive names a file outside itself ('../ratings.csv')",
    "zip/twice.zip": "twice.zip: the archive has ratings.csv twice (a/ratings.csv and b/ratings.csv)",
}
# Sources that look malformed and are read as they are meant: users, items, ratings, and a sentence of the report.
IMPORTED = {
    "bookcrossing/commas": (2, 2, 2, "HTML entities were replaced by characters in 1 texts."),
    "bookcrossing/user-word": (2, 2, 2, "HTML entities were replaced by characters in 1 texts."),
    "delimited/no-gzip.csv.gz": (2, 2, 3, "No rating of 3, 4; the scale is 1 to 5."),
    "delimited/no-rating-column.csv": (2, 2, 3, ""),
    "delimited/no-scale.csv": (3, 100, 300, ""),
    "delimited/not-utf-8.csv": (2, 2, 3, "No rating of 3, 4; the scale is 1 to 5."),
    "delimited/time-word.csv": (2, 1, 2, "Column time is not used: its values are no times from 1990 to now."),
    "jsonlines/array-of-all.jsonl": (2, 2, 3, "No rating of 3, 4; the scale is 1 to 5."),
    "movielens-csv/bom-twice": (2, 2, 3, "Column timestamp is not used: its values are no times from 1990 to now."),
    "movielens-csv/empty-movies": (2, 2, 3, "movies.csv is not read: the file is empty."),
    "movielens-csv/old-mac-lines": (
        2,
        2,
        3,
        "No rating of 1, 1.5, 2, 2.5, 3 and 2 more points; the scale is 0.5 to 5.",
    ),
    "movielens-csv/semicolons": (2, 2, 3, "No rating of 1, 1.5, 2, 2.5, 3 and 2 more points; the scale is 0.5 to 5."),
    "movielens-csv/utf-16": (2, 2, 3, "No rating of 1, 1.5, 2, 2.5, 3 and 2 more points; the scale is 0.5 to 5."),
    "movielens-dat/latin-1-title-in-10m": (
        2,
        2,
        2,
        "No rating of 0.5, 1, 1.5, 2, 2.5 and 3 more points; the scale is 0.5 to 5.",
    ),
    "movielens-dat/tag-with-colons": (2, 2, 2, "No rating of 1, 2, 5; the scale is 1 to 5."),
    "netflix/bad-year": (2, 2, 3, "No rating of 1, 2; the scale is 1 to 5."),
    "netflix/no-titles": (2, 2, 3, "No rating of 1, 2; the scale is 1 to 5."),
    "netflix/unknown-movie": (
        2,
        3,
        3,
        "1 rated items are not in movie_titles.txt: without other facts, their ids are their titles.",
    ),
    "parquet/text.parquet": (2, 2, 3, "No rating of 3, 4; the scale is 1 to 5."),
    "tafeng/nothing-sold": (1, 1, 1, "100% of the users have one rating only."),
}


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


def test_the_table_and_the_folder_name_the_same_sources() -> None:
    found = {
        case.relative_to(CORPUS).as_posix()
        for family in CORPUS.iterdir()
        if family.is_dir()
        for case in family.iterdir()
    }
    assert found == {*REFUSALS, *IMPORTED}
    assert not REFUSALS.keys() & IMPORTED.keys()
    assert len(found) >= 60


@pytest.mark.parametrize(("source", "message"), REFUSALS.items(), ids=REFUSALS)
def test_a_malformed_source_is_refused_and_leaves_nothing(source: str, message: str) -> None:
    before = everything()
    with pytest.raises(ParallaxError) as caught:
        import_dataset(
            path=CORPUS / source,
            name="malformed",
            source_format=format_of_source(source),
            options=options_of(source),
        )
    assert caught.value.code == "import.refused"
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith(".")
    assert everything() == before


@pytest.mark.parametrize(("source", "expected"), IMPORTED.items(), ids=IMPORTED)
def test_a_source_that_only_looks_malformed_is_imported(source: str, expected: tuple[int, int, int, str]) -> None:
    version = import_dataset(path=CORPUS / source, name="read", options=options_of(source))
    *sizes, sentence = expected
    assert [version.n_users, version.n_items, version.n_ratings] == sizes
    assert not sentence or sentence in version.report["warnings"]


@pytest.mark.parametrize("source", [*REFUSALS, *IMPORTED])
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
