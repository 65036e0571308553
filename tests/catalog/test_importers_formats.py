"""Every format beside MovieLens' own, sound: what becomes of its rows."""

from __future__ import annotations

import gzip
import json
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from catalog.importers.auto import parse, propose
from catalog.importers.base import ImportRefused, Limits, ParsedDataset, Policy, RatingScale
from catalog.importers.options import Options
from tests.sentences import assert_refused_as_approved, assert_sentences_approved

pytestmark = pytest.mark.unit

ONE_TO_FIVE = RatingScale(1, 5, 1)
DAY = 86_400


def write(folder: Path, **files: str | bytes) -> Path:
    """Files by name, where the last "_" of a name is its dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        stem, _, suffix = name.rpartition("_")
        data = content if isinstance(content, bytes) else content.encode()
        (folder / f"{stem.replace('__', '-')}.{suffix}").write_bytes(data)
    return folder


def triples(dataset: ParsedDataset) -> list[tuple[str, str, float]]:
    return [
        (str(dataset.user_ids[user]), dataset.items[item].external_id, float(value))
        for user, item, value in zip(dataset.users, dataset.items_rated, dataset.values, strict=True)
    ]


def utilities(dataset: ParsedDataset) -> dict[str, str]:
    return {item.external_id: value for item in dataset.items for kind, value in item.features if kind == "utility"}


# MovieLens 10M


def test_movielens_10m_has_half_stars_utf_8_and_tags(tmp_path):
    folder = write(
        tmp_path,
        ratings_dat="1::1::3.5::1000\n2::2::5::1001\n",
        movies_dat="1::Rue d'Été, La (1994)::Drama\n2::Harbour, The (1987)::Comedy|Crime\n",
        tags_dat="1::2::Sea::1000\n1::2::sea ::1001\n",
    )
    assert propose(folder).layout == "movielens-10m"
    dataset = parse(folder)
    assert triples(dataset) == [("1", "1", 3.5), ("2", "2", 5.0)]
    assert dataset.items[0].title == "La Rue d'Été"
    assert ("tag", "sea") in dataset.items[1].features
    assert dataset.report.files == ("ratings.dat", "movies.dat", "tags.dat")
    (folder / "tags.dat").unlink()
    assert propose(folder).layout == "movielens-1m"  # too few rows to contradict whole stars
    assert parse(folder, format="movielens-10m").report.files == ("ratings.dat", "movies.dat")


# Netflix

TITLES = "2,NULL,Harbour, The\n1,1994,Lantern Street\n3,2001,Unrated\n".encode("latin-1")
COMBINED = "1:\n7,3,2005-09-06\n8,5,1999-12-31\n2:\n7,4,2004-02-29\n"


def test_netflix_is_read_from_combined_files_with_its_probe_list(tmp_path):
    probe = "1:\n8\n9\n2:\n7\n7\n"
    folder = write(tmp_path, combined_data_1_txt=COMBINED, movie_titles_txt=TITLES, probe_txt=probe)
    (folder / "combined_data_2.txt.gz").write_bytes(gzip.compress(b"3:\r\n8,1,2005-01-01\r\n"))
    assert propose(folder).layout == "netflix"
    dataset = parse(folder)
    assert triples(dataset) == [("7", "1", 3), ("8", "1", 5), ("7", "2", 4), ("8", "3", 1)]
    assert dataset.timestamps.tolist() == [13032 * DAY, 10956 * DAY, 12477 * DAY, 12784 * DAY]
    assert [(item.title, item.year) for item in dataset.items] == [
        ("Lantern Street", 1994), ("Harbour, The", None), ("Unrated", 2001),
    ]  # fmt: skip
    assert dataset.probe.tolist() == [[0, 1], [1, 0]]
    assert_sentences_approved("warnings/netflix", {"a probe list": dataset.report.warnings})
    assert dataset.report.files == ("combined_data_1.txt", "combined_data_2.txt.gz", "movie_titles.txt", "probe.txt")


def test_netflix_is_read_from_many_files_in_their_folder(tmp_path):
    inner = tmp_path / "training_set"
    inner.mkdir()
    for movie in range(1, 12):
        (inner / f"mv_{movie:07d}.txt").write_text(f"{movie}:\n{movie % 4},{movie % 5 + 1},2005-09-06\n")
    (tmp_path / "movie_titles.txt").write_text("".join(f"{movie},1990,Film {movie}\n" for movie in range(1, 12)))
    dataset = parse(tmp_path)
    assert triples(dataset) == [(str(movie % 4), str(movie), movie % 5 + 1) for movie in range(1, 12)]
    assert dataset.report.files[0].endswith("(11 files)")
    assert dataset.probe is None


def test_netflix_drops_bad_lines_and_keeps_the_lines_of_the_others(tmp_path):
    combined = "1:\n7,3,2005-09-06\n\n8,x,2005-09-06\n9,4,2005-09-07\n2:\n9,9,2005-09-08\n9,1,2005-09-08"
    folder = write(tmp_path, combined_data_1_txt=combined, movie_titles_txt=TITLES)
    dataset = parse(folder, policy=Policy(on_bad_row="drop"))
    assert triples(dataset) == [("7", "1", 3), ("9", "1", 4), ("9", "2", 1)]
    assert dataset.report.dropped == {"not a number": 1, "rating off the scale": 1}
    (off,) = dataset.report.examples["rating off the scale"]
    assert (off.file, off.line) == ("combined_data_1.txt", 7)
    assert dataset.report.rows_read == 5


# BookCrossing

BOOK_HEADER = "ISBN;Book-Title;Book-Author;Year-Of-Publication;Publisher;Image-URL-S;Image-URL-M;Image-URL-L\n"
BOOKS = BOOK_HEADER + (
    '"000X";"Salt &amp; Rope: \\"A Tale\\"";"B. Écrivain";"1999";"Quay";"";"";"http://images.example/x.jpg"\n'
    '"0002";"Tide; Tables";"A. Writer";"0";"Quay";"";"";"n/a"\n'
)
BOOK_RATINGS = '"User-ID";"ISBN";"Book-Rating"\n"7";"000X";"5"\n"7";"0002";"0"\n"8";"000X";"10"\n'


def books(folder: Path) -> Path:
    (folder / "BX-Books.csv").write_bytes(BOOKS.encode("latin-1"))
    (folder / "BX-Book-Ratings.csv").write_text(BOOK_RATINGS)
    return folder


def test_bookcrossing_leaves_the_zeros_out_and_counts_them(tmp_path):
    dataset = parse(books(tmp_path))
    assert triples(dataset) == [("7", "000X", 5), ("8", "000X", 10)]
    assert dataset.scale == RatingScale(1, 10, 1)
    assert dataset.report.dropped == {"not rated": 1}
    assert dataset.report.examples["not rated"][0].line == 3
    assert_sentences_approved("warnings/bookcrossing", {"zeros": dataset.report.warnings})
    assert dataset.report.mapping == {"source_scale": "1:10:1", "not_rated": [0.0]}
    salt, tide = dataset.items
    assert (salt.title, salt.year, salt.image_url) == ('Salt & Rope: "A Tale"', 1999, "http://images.example/x.jpg")
    assert salt.features == (("author", "B. Écrivain"), ("publisher", "Quay"), ("decade", "1990s"))
    assert (tide.title, tide.year, tide.image_url) == ("Tide; Tables", None, "")


def test_bookcrossing_gives_the_zeros_apart_as_usage(tmp_path):
    dataset = parse(books(tmp_path), options=Options(zeros="apart"))
    assert triples(dataset) == [("7", "0002", 1)]
    assert dataset.scale == RatingScale(1, 1, 1)
    assert sum(dataset.report.dropped.values()) == 2


def test_bookcrossing_needs_no_books(tmp_path):
    (books(tmp_path) / "BX-Books.csv").unlink()
    assert [item.title for item in parse(tmp_path, format="bookcrossing").items] == ["000X"]


# Ta-Feng

MERGED = (
    "TRANSACTION_DT,CUSTOMER_ID,AGE_GROUP,PIN_CODE,PRODUCT_SUBCLASS,PRODUCT_ID,AMOUNT,ASSET,SALES_PRICE\n"
    '"11/1/2000","001  ","A","E","100","4710","2","24","30"\n'
    '"11/2/2000","002","B","F","100","4710","1","12","17"\n'
    '"11/3/2000","002","B","F","200","4711","1","9","5"\n'
    '"11/9/2000","002","B","F","100","4710","1","12","17"\n'
)
MONTH = "date;customer;age;area;subclass;product;amount;asset;price\n"


def test_tafeng_is_usage_with_the_price_of_a_piece_as_utility(tmp_path):
    folder = write(tmp_path, ta_feng_all_months_merged_csv=MERGED)
    dataset = parse(folder)
    assert triples(dataset) == [("001", "4710", 1), ("002", "4711", 1), ("002", "4710", 1)]
    assert dataset.timestamps.tolist() == [11262 * DAY, 11264 * DAY, 11270 * DAY]
    assert dataset.utilities.tolist() == [15, 5, 17]
    assert {item: float(worth) for item, worth in utilities(dataset).items()} == {
        "4710": pytest.approx(49 / 3), "4711": 5,
    }  # fmt: skip
    assert dataset.items[0].features[0] == ("subclass", "100")
    assert dataset.report.dropped == {"taken again": 1}
    profit = parse(folder, options=Options(utility="profit"))
    assert {item: float(worth) for item, worth in utilities(profit).items()} == {"4710": pytest.approx(13 / 3)}
    cases = {
        "another utility": partial(parse, folder, options=Options(utility="weight")),
        "taken twice": partial(parse, folder, policy=Policy(duplicates="refuse")),
    }
    assert_refused_as_approved("tafeng", cases)


def test_tafeng_is_read_from_its_months(tmp_path):
    (tmp_path / "D11").write_bytes((MONTH + "2000-11-01 00:00:00;1 ;A;E;10;x;1;2;3\n").encode())
    (tmp_path / "D12").write_bytes((MONTH + "2000-12-01 00:00:00;2 ;A;E;10;y;1;2;3\nnever;2;A;E;10;y;1;2;3\n").encode())
    dataset = parse(tmp_path, policy=Policy(on_bad_row="drop"))
    assert triples(dataset) == [("1", "x", 1), ("2", "y", 1)]
    (undated,) = dataset.report.examples["not a number"]
    assert (undated.file, undated.line) == ("D12", 3)


# Baskets


def test_fimi_lines_are_baskets(tmp_path):
    path = tmp_path / "retail.dat.gz"
    path.write_bytes(gzip.compress(b"30 31 32 \n\n33 31 33\n"))
    dataset = parse(path, format="fimi")
    assert triples(dataset) == [("1", "30", 1), ("1", "31", 1), ("1", "32", 1), ("3", "31", 1), ("3", "33", 1)]
    assert dataset.report.dropped == {"taken again": 1}
    assert dataset.scale == RatingScale(1, 1, 1)
    path.write_bytes(gzip.compress(b"30 31 32 \n\n33 31 33\n31\n30 34\n"))
    assert propose(path).layout == "fimi"  # lines of three lengths
    path.write_bytes(gzip.compress(b"1 2\n3 +4 5_0 six 6\n"))
    dataset = parse(path, format="fimi", policy=Policy(on_bad_row="drop"))
    assert triples(dataset) == [("1", "1", 1), ("1", "2", 1), ("2", "3", 1), ("2", "6", 1)]
    assert dataset.report.dropped == {"not a number": 3}


def test_long_lists_of_baskets_are_usage_with_prices(tmp_path):
    folder = write(
        tmp_path,
        baskets_csv="Invoice,StockCode\n489,85048\n489,79323P\n490,85048\n",
        prices_csv="StockCode,Price\n85048,6.95\n79323P,6.75\n10002,0\n",
    )
    options = Options(
        usage=True, items_file=folder / "prices.csv", title="StockCode", item_utility="Price", item="StockCode"
    )
    dataset = parse(folder / "baskets.csv", options=options)
    assert triples(dataset) == [("489", "85048", 1), ("489", "79323P", 1), ("490", "85048", 1)]
    assert utilities(dataset) == {"85048": "6.95", "79323P": "6.75"}


def test_online_retail_is_usage_with_its_prices(shared_dir):
    folder = shared_dir / "data" / "online-retail"
    options = Options(
        usage=True, items_file=folder / "orII_0910_median_price.csv.gz", title="StockCode", item="StockCode",
        item_utility="Price",
    )  # fmt: skip
    dataset = parse(folder / "orII_0910_baskets.csv.gz", options=options)
    assert (dataset.n_ratings, dataset.n_items, dataset.scale) == (496_001, 4_064, RatingScale(1, 1, 1))
    assert set(np.unique(dataset.values)) == {1.0}
    assert len(utilities(dataset)) == 4_064
    assert utilities(dataset)["10002"] == "0.85"


# JSON Lines and Parquet

RECORDS = [
    {"user": "ann", "item": 1, "rating": 4, "time": 1_000_000_000, "worth": 2.5},
    {"user": "bob", "item": "x", "rating": 2.0, "time": "2001-09-09T02:00:00", "worth": 1},
]


def test_json_lines_are_read_by_their_keys(tmp_path):
    lines = "\ufeff" + json.dumps(RECORDS[0]) + "\r\n\n" + json.dumps(RECORDS[1])
    (tmp_path / "ratings.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "items.ndjson").write_text(
        '{"item": "1", "title": "One", "genres": ["Drama", "War"], "year": 1999}\n{"item": "x", "title": "Ex"}\n'
    )
    options = Options(scale=ONE_TO_FIVE, utility="worth", items_file=tmp_path / "items.ndjson")
    said: list[tuple[str, int]] = []
    dataset = parse(tmp_path / "ratings.jsonl.gz", options=options, progress=lambda *now: said.append(now))
    assert triples(dataset) == [("ann", "1", 4), ("bob", "x", 2)]
    assert dataset.timestamps.tolist() == [1_000_000_000, 1_000_000_800]
    assert dataset.utilities.tolist() == [2.5, 1]
    assert dataset.items[0].features == (
        ("genre", "Drama"), ("genre", "War"), ("decade", "1990s"), ("utility", "2.5"),
    )  # fmt: skip
    assert dataset.report.source_format == "jsonlines"


def table(**changes: object) -> pa.Table:
    columns = {"user": ["ann", "bob", "ann"], "item": [1, 2, 2], "rating": [4.0, 2.0, 5.0], **changes}
    return pa.table(columns)


def test_parquet_is_read_by_its_columns(tmp_path):
    times = pa.array([9000 * DAY, 9001 * DAY, 9002 * DAY], pa.timestamp("s"))
    pq.write_table(table(time=times, more=["a", "b", "c"]), tmp_path / "ratings.parquet")
    pq.write_table(
        pa.table({"item": [1, 2], "title": ["One", "Two"], "genres": [["Drama"], None]}), tmp_path / "items.pq"
    )
    options = Options(scale=ONE_TO_FIVE, items_file=tmp_path / "items.pq")
    dataset = parse(tmp_path / "ratings.parquet", options=options)
    assert triples(dataset) == [("ann", "1", 4), ("bob", "2", 2), ("ann", "2", 5)]
    assert dataset.timestamps.tolist() == [9000 * DAY, 9001 * DAY, 9002 * DAY]
    assert [item.features for item in dataset.items] == [(("genre", "Drama"),), ()]
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.write(tmp_path / "ratings.parquet", "inside/ratings.parquet")
    assert triples(parse(tmp_path / "packed.zip", options=Options(scale=ONE_TO_FIVE))) == triples(dataset)


@pytest.mark.parametrize(
    "columns",
    [
        {"item": ["1", "2", "2"], "rating": pa.array([4, 2, 5], pa.int8())},
        {"item": pa.array(["1", "2", "2"]).dictionary_encode(), "rating": ["4", "2", " 5"]},
        {"item": pa.array([1, 2, 2], pa.uint64()), "rating": pa.array([4, 2, 5], pa.decimal128(3, 1))},
        {"item": [1.0, 2.0, 2.0], "rating": pa.array([4, 2, 5], pa.float32())},
    ],
)
def test_parquet_takes_ids_and_ratings_of_any_type(tmp_path, columns):
    pq.write_table(table(**columns), tmp_path / "ratings.parquet")
    dataset = parse(tmp_path / "ratings.parquet", options=Options(scale=ONE_TO_FIVE))
    assert triples(dataset) == [("ann", "1", 4), ("bob", "2", 2), ("ann", "2", 5)]


def test_parquet_drops_rows_and_names_them(tmp_path):
    broken = table(rating=[4.0, None, float("inf")], time=["1000", "1001", "soon"])
    pq.write_table(pa.concat_tables([broken, table(time=["5", "6", "7"], user=["eve", "b\0", ""])]), tmp_path / "r.pq")
    dataset = parse(tmp_path / "r.pq", options=Options(scale=ONE_TO_FIVE), policy=Policy(on_bad_row="drop"))
    assert triples(dataset) == [("ann", "1", 4), ("eve", "1", 4)]
    found = {(one.line, one.column) for kept in dataset.report.examples.values() for one in kept}
    assert found == {(2, "rating"), (3, "rating"), (5, "user"), (6, "user")}


def test_parquet_that_unfolds_beyond_its_limit_is_refused(tmp_path):
    pq.write_table(table(user=["u" * 5000] * 3), tmp_path / "r.parquet", compression="zstd", use_dictionary=False)
    policy = Policy(limits=Limits(bytes_unpacked=1000))
    with pytest.raises(ImportRefused, match="unpacks"):
        parse(tmp_path / "r.parquet", policy=policy)


# Ids


def test_numbers_written_as_ids_are_ids_however_the_file_is_read(tmp_path):
    head = "user,item,rating\n"
    digits = write(tmp_path / "digits", ratings_csv=head + "7,10,1\n10,9,2\n")
    zeros = write(tmp_path / "zeros", ratings_csv=head + "007,10,1\n10,9,2\n")
    assert triples(parse(digits)) == [("7", "10", 1), ("10", "9", 2)]
    assert triples(parse(zeros)) == [("007", "10", 1), ("10", "9", 2)]
    mixed = write(tmp_path / "digits", items_csv="item,title\n9,Nine\nnine,Word\n10,Ten\n99999999999999999999,Large\n")
    dataset = parse(digits / "ratings.csv", options=Options(items_file=mixed / "items.csv"))
    assert triples(dataset) == [("7", "10", 1), ("10", "9", 2)]
    unknown = write(tmp_path / "digits", items_csv="item,title\nnine,Word\n")
    dataset = parse(digits / "ratings.csv", options=Options(items_file=unknown / "items.csv"))
    assert [item.external_id for item in dataset.items] == ["nine", "9", "10"]
