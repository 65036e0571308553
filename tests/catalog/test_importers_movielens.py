"""MovieLens in its three shapes, sound and damaged."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest

from catalog.importers.auto import parse
from catalog.importers.base import ImportRefused, ParsedDataset, Policy
from catalog.importers.scales import text_of
from tests.sentences import assert_refused_as_approved, assert_sentences_approved

pytestmark = pytest.mark.unit

MOVIES = """movieId,title,genres
1,Toy Story (1995),Adventure|Animation
2,"Matrix, The (a.k.a. Matrix) (1999)",Action|Sci-Fi
7,Sabrina (1995),(no genres listed)
10,"City of Lost Children, The (Cité des enfants perdus, La)",Fantasy
"""
RATINGS = """userId,movieId,rating,timestamp
3,1,4.0,964982703
3,7,0.5,964981247
11,1,5.0,964982224
"""
TAGS = """userId,movieId,tag,timestamp
3,1,Pixar ,1445714994
4,1, pixar,1445714996
4,1,"fun,  really",1445714996
4,2, ,1445714996
"""
LINKS = """movieId,imdbId,tmdbId
1,0114709,862
2,0133093,
"""


def csv_folder(folder: Path, **changes: str | bytes | None) -> Path:
    contents: dict[str, str | bytes | None] = {
        "ratings": RATINGS, "movies": MOVIES, "tags": TAGS, "links": LINKS, **changes,
    }  # fmt: skip
    for name, content in contents.items():
        if content is not None:
            data = content if isinstance(content, bytes) else content.encode()
            (folder / f"{name}.csv").write_bytes(data)
    return folder


def triples(dataset: ParsedDataset) -> list[tuple[str, str, float]]:
    return [
        (str(dataset.user_ids[user]), dataset.items[item].external_id, float(value))
        for user, item, value in zip(dataset.users, dataset.items_rated, dataset.values, strict=True)
    ]


def refusal(path: Path, **options) -> ImportRefused:
    with pytest.raises(ImportRefused) as refused:
        parse(path, **options)
    return refused.value


def first(path: Path, **options) -> tuple[str, int | None, str | None, str]:
    problem = refusal(path, **options).problems[0]
    return problem.file, problem.line, problem.column, problem.reason


def test_csv_is_parsed_with_tags_and_links(tmp_path):
    dataset = parse(csv_folder(tmp_path))
    assert dataset.user_ids.tolist() == ["3", "11"]
    assert triples(dataset) == [("3", "1", 4.0), ("3", "7", 0.5), ("11", "1", 5.0)]
    assert dataset.timestamps is not None
    assert dataset.timestamps.tolist() == [964982703, 964981247, 964982224]
    assert (dataset.users.dtype, dataset.items_rated.dtype, dataset.values.dtype) == (np.int32, np.int32, np.float32)
    assert [(item.external_id, item.title, item.year) for item in dataset.items] == [
        ("1", "Toy Story", 1995),
        ("2", "The Matrix", 1999),
        ("7", "Sabrina", 1995),
        ("10", "The City of Lost Children", None),
    ]
    assert dataset.items[0].features == (
        ("genre", "Adventure"), ("genre", "Animation"), ("decade", "1990s"), ("tag", "fun, really"), ("tag", "pixar"),
    )  # fmt: skip
    assert dataset.items[1].features == (
        ("genre", "Action"), ("genre", "Sci-Fi"), ("decade", "1990s"), ("alias", "Matrix"),
    )  # fmt: skip
    assert dataset.items[2].features == (("decade", "1990s"),)
    assert dataset.items[3].features == (("genre", "Fantasy"), ("alias", "La Cité des enfants perdus"))
    assert dataset.items[0].links == (("imdb", "0114709"), ("tmdb", "862"))
    assert dataset.items[1].links == (("imdb", "0133093"),)
    assert dataset.items[2].links == ()
    report = dataset.report
    assert report.source_format == "movielens-csv"
    assert report.files == ("ratings.csv", "movies.csv", "tags.csv", "links.csv")
    assert (report.rows_read, report.rows_kept, report.dropped) == (3, 3, {})
    assert len(report.warnings) == 1
    assert text_of(dataset.scale) == "0.5:5:0.5"


def test_csv_needs_no_tags_and_no_links(tmp_path):
    dataset = parse(csv_folder(tmp_path, tags=None, links=None))
    assert dataset.n_ratings == 3
    assert not any(kind == "tag" for item in dataset.items for kind, _ in item.features)


def test_archive_gives_what_its_folder_gives(tmp_path):
    folder = tmp_path / "ml"
    folder.mkdir()
    csv_folder(folder)
    with zipfile.ZipFile(tmp_path / "ml.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"ml-latest/{file.name}")
    plain, packed = parse(folder), parse(tmp_path / "ml.zip")
    assert packed.items == plain.items
    assert triples(packed) == triples(plain)
    assert packed.report == plain.report


DAMAGED = {
    "rating above the scale": {"ratings": RATINGS.replace("0.5", "5.5")},
    "rating below the scale": {"ratings": RATINGS.replace("0.5", "0")},
    "rating between steps": {"ratings": RATINGS.replace("0.5", "3.7")},
    "rating NaN": {"ratings": RATINGS.replace("0.5", "NaN")},
    "rating empty": {"ratings": RATINGS.replace("0.5", "")},
    "word for a user": {"ratings": RATINGS.replace("3,7", "x,7")},
    "unknown movie": {"ratings": RATINGS.replace("3,7", "3,8")},
    "unknown movie beyond the last": {"ratings": RATINGS.replace("3,7", "3,99")},
    "movie below 0": {"ratings": RATINGS.replace("3,7", "3,-1")},
    "user below 0": {"ratings": RATINGS + "-4,1,3.0,1\n"},
    "rated twice": {"ratings": RATINGS.replace("3,7", "3,1")},
    "two problems": {"ratings": RATINGS.replace("0.5", "7").replace("11,1", "11,4")},
    "user of Latin-1": {"ratings": RATINGS.encode().replace(b"3,7", b"3\xff,7")},
    "last line without an end": {"ratings": RATINGS[:-5]},
    "last line cut": {"ratings": RATINGS[:-14]},
    "no ratings": {"ratings": ""},
    "no row of ratings": {"ratings": RATINGS.splitlines()[0] + "\n"},
    "movie twice": {"movies": MOVIES.replace("7,Sab", "2,Sab")},
    "title empty": {"movies": MOVIES.replace("Sabrina (1995)", " ")},
    "title too long": {"movies": MOVIES.replace("Sabrina", "S" * 301)},
    "title of Latin-1": {
        "movies": (MOVIES + "11,Élève (1999),Drama\n12,Été (2000),Drama\n").encode() + b"13,\xe9 (2001),Drama\n"
    },
    "genre too long": {"movies": MOVIES.replace("Action", "A" * 201)},
    "NUL in a title": {"movies": MOVIES.replace("Sabrina", "Sab\0rina")},
    "NUL in a tag": {"tags": TAGS.replace("fun", "fu\0n")},
    "open quotation mark": {"movies": MOVIES[:75]},
    "word for a movie": {"movies": "movieId,title,genres\nx,A,B\n"},
    "tag of an unknown movie": {"tags": TAGS.replace("4,2", "4,8")},
    "tags cut": {"tags": TAGS[:-12]},
    "link of an unknown movie": {"links": LINKS.replace("2,01", "8,01")},
}
DROPPED = {
    "duplicates though bad rows are dropped": RATINGS + "3,1,1.0,5\n",
    "only a rating off the scale": RATINGS.splitlines()[0] + "\n3,1,9,5\n",
    "only a row of words": RATINGS.splitlines()[0] + "\nx,y,z,5\n",
}


def test_damaged_csv(tmp_path):
    def read(changes, policy=None):
        return lambda: parse(csv_folder(tmp_path, **changes), policy=policy)

    drop = Policy(on_bad_row="drop")
    cases = {name: read(changes) for name, changes in DAMAGED.items()}
    assert_refused_as_approved(
        "movielens-csv", cases | {name: read({"ratings": ratings}, drop) for name, ratings in DROPPED.items()}
    )


def test_a_folder_of_other_columns_is_a_table_with_items(tmp_path):
    ratings = RATINGS.replace("movieId", "item", 1) + "11,2,2.5,964982999\n"
    dataset = parse(csv_folder(tmp_path, ratings=ratings))
    assert dataset.report.source_format == "delimited"
    assert triples(dataset)[-1] == ("11", "2", 2.5)
    assert dataset.items[0].title == "Toy Story (1995)"


@pytest.mark.parametrize("changes", [{"tags": "a,b\n"}, {"links": ""}, {"links": "a,b\n1,2\n"}])
def test_optional_files_that_cannot_be_used_are_named(tmp_path, changes):
    (name,) = changes
    dataset = parse(csv_folder(tmp_path, **changes))
    assert dataset.report.source_format == "movielens-csv"
    assert f"{name}.csv" not in dataset.report.files
    assert f"{name}.csv" in dataset.report.summary["files_not_used"]


def test_warnings(tmp_path):
    changes = {
        "sound": {},
        "tag too long": {"tags": TAGS + f"4,2,{'y' * 201},1\n"},
        "tags of other columns": {"tags": "a,b\n"},
        "links empty": {"links": ""},
    }
    read = {name: parse(csv_folder(tmp_path, **files)).report.warnings for name, files in changes.items()}
    assert_sentences_approved("warnings/movielens", read)


def test_every_kind_of_problem_is_counted_in_one_pass(tmp_path):
    ratings = RATINGS + "12,1,9,1\n12,2,3.2,1\n12,8,4,1\n12,7,x,1\n12\n3,1,2,7\n" + "13,1,,1\n" * 12
    refused = refusal(csv_folder(tmp_path, ratings=ratings))
    assert refused.counts == {
        "rating off the scale": 1, "rating between steps": 1, "unknown item": 1, "not a number": 1, "missing field": 13,
        "rated twice": 1,
    }  # fmt: skip
    assert refused.total == 18
    assert len(refused.problems) == 15  # ten of a kind
    assert refused.options == ("on_bad_row", "duplicates")


def test_bad_rows_are_dropped_and_counted_where_that_is_asked_for(tmp_path):
    ratings = RATINGS + "12,1,9,1\n12,2,3.2,1\n12,8,4,1\n12,7,x,1\n12\n12,7,4,5\n11,1,3,6\n11,1,2,7\n"
    path = csv_folder(tmp_path, ratings=ratings, tags=TAGS + "4,99,tag,1\n")
    dataset = parse(path, policy=Policy(on_bad_row="drop", duplicates="last"))
    assert triples(dataset) == [("3", "1", 4.0), ("3", "7", 0.5), ("12", "7", 4.0), ("11", "1", 2.0)]
    report = dataset.report
    assert (report.rows_read, report.rows_kept) == (11, 4)
    assert report.dropped == {
        "not a number": 1,
        "missing field": 1,
        "rating off the scale": 1,
        "rating between steps": 1,
        "unknown item": 2,  # one of a tag
        "rated twice": 2,
    }
    assert [problem.line for problem in report.examples["rated twice"]] == [11, 12]


def test_tags_and_aliases_too_long_to_keep_are_left_out(tmp_path):
    movies = MOVIES.replace("Sabrina (1995)", f"Sabrina ({'x' * 201}) (1995)")
    dataset = parse(csv_folder(tmp_path, tags=TAGS + f"4,2,{'y' * 201},1\n", movies=movies))
    assert all(len(value) <= 200 for item in dataset.items for _, value in item.features)


def test_large_user_ids_are_users_too(tmp_path):
    ratings = RATINGS + "9007199254740993,1,3.0,1\n"
    dataset = parse(csv_folder(tmp_path, ratings=ratings))
    assert dataset.user_ids.tolist() == ["3", "11", "9007199254740993"]


def test_large_movie_ids_are_movies_too(tmp_path):
    path = csv_folder(
        tmp_path, tags=None, links=None,
        ratings=RATINGS + "11,9007199254740993,3.0,1\n", movies=MOVIES + "9007199254740993,Far (2001),Drama\n",
    )  # fmt: skip
    assert triples(parse(path))[-1] == ("11", "9007199254740993", 3.0)
    (tmp_path / "ratings.csv").write_text(RATINGS + "11,9007199254740994,3.0,1\n")
    assert first(path)[:3] == ("ratings.csv", 5, "movieId")


MOVIES_1M = "1::Toy Story (1995)::Animation|Children's\n2::Misérables, Les: Part 1 (1995)::Drama\n3::Empty (2000)::\n"
RATINGS_1M = "1::2::5::978300760\n2::1::3::978298413\n"


def folder_1m(folder: Path, ratings: str = RATINGS_1M, movies: str = MOVIES_1M) -> Path:
    (folder / "ratings.dat").write_text(ratings, encoding="latin-1")
    (folder / "movies.dat").write_text(movies, encoding="latin-1")
    (folder / "users.dat").write_text("1::F::1::10::48067\n")
    return folder


def test_1m_is_parsed(tmp_path):
    told: list[tuple[str, int]] = []
    dataset = parse(folder_1m(tmp_path), progress=lambda file, rows: told.append((file, rows)))
    assert dataset.report.source_format == "movielens-1m"
    assert text_of(dataset.scale) == "1:5:1"
    assert triples(dataset) == [("1", "2", 5.0), ("2", "1", 3.0)]
    assert [(item.title, item.year, item.features) for item in dataset.items] == [
        ("Toy Story", 1995, (("genre", "Animation"), ("genre", "Children's"), ("decade", "1990s"))),
        ("Misérables, Les: Part 1", 1995, (("genre", "Drama"), ("decade", "1990s"))),
        ("Empty", 2000, (("decade", "2000s"),)),
    ]
    assert told == [("ratings.dat", 2)]


def of_genres(*numbers: int) -> str:
    """The 19 flags of a row of u.item: "unknown", Action, Adventure, …"""
    return "|".join(str(int(number in numbers)) for number in range(19))


ITEMS_100K = (
    f"1|Toy Story (1995)|01-Jan-1995||http://us.imdb.com/M/title-exact?Toy%20Story%20(1995)|{of_genres(1)}\n"
    f"2|Misérables, Les|04-Feb-1996|||{of_genres(1, 8)}\n"
    f"3|unknown||||{of_genres(0)}\n"
)
RATINGS_100K = "196\t2\t3\t881250949\n186\t1\t5\t891717742\n"


def folder_100k(folder: Path, ratings: str = RATINGS_100K, items: str = ITEMS_100K) -> Path:
    (folder / "u.data").write_text(ratings)
    (folder / "u.item").write_text(items, encoding="latin-1")
    (folder / "u.user").write_text("186|24|M|technician|85711\n196|53|F|other|94043\n")
    return folder


def test_100k_is_parsed(tmp_path):
    dataset = parse(folder_100k(tmp_path))
    assert dataset.report.source_format == "movielens-100k"
    assert dataset.user_ids.tolist() == ["186", "196"]
    assert triples(dataset) == [("196", "2", 3.0), ("186", "1", 5.0)]
    assert [(item.title, item.year, item.features) for item in dataset.items] == [
        ("Toy Story", 1995, (("genre", "Action"), ("decade", "1990s"))),
        ("Les Misérables", 1996, (("genre", "Action"), ("genre", "Drama"), ("decade", "1990s"))),
        ("unknown", None, ()),
    ]


def test_damaged_dat_and_data(tmp_path):
    of_1m = {
        "1M: rating between steps": {"ratings": RATINGS_1M.replace("::3::", "::3.5::")},
        "1M: rating above the scale": {"ratings": RATINGS_1M.replace("::5::", "::6::")},
        "1M: single colon": {"ratings": RATINGS_1M.replace("2::1", "2:1")},
        "1M: last line without an end": {"ratings": RATINGS_1M[:-3]},
        "1M: no genres": {"movies": MOVIES_1M.replace("::Drama", "")},
    }
    of_100k = {
        "100K: rating below the scale": {"ratings": RATINGS_100K.replace("\t5\t", "\t0\t")},
        "100K: a genre missing": {"items": ITEMS_100K.replace(of_genres(1, 8), of_genres(1, 8)[:-2])},
    }
    folders = [tmp_path / "1m", tmp_path / "100k"]
    for folder in folders:
        folder.mkdir()
    cases = {name: lambda parts=parts: parse(folder_1m(folders[0], **parts)) for name, parts in of_1m.items()}
    cases |= {name: lambda parts=parts: parse(folder_100k(folders[1], **parts)) for name, parts in of_100k.items()}
    assert_refused_as_approved("movielens-dat", cases)


def test_real_movielens_small_is_parsed(movielens_small):
    dataset = parse(movielens_small)
    assert (dataset.n_users, dataset.n_items, dataset.n_ratings) == (610, 9742, 100_836)
    assert len(np.unique(dataset.items_rated)) == 9724
    assert dataset.report.dropped == {}
    titles = {item.external_id: item for item in dataset.items}
    assert (titles["2571"].title, titles["2571"].year) == ("The Matrix", 1999)
    assert titles["47"].title == "Seven"
    assert ("alias", "Se7en") in titles["47"].features
    assert sum(kind == "tag" for item in dataset.items for kind, _ in item.features) > 3000
    assert dataset.values.min() == 0.5
    assert dataset.values.max() == 5.0
    assert dataset.users[0] == 0
    assert dataset.user_ids[609] == "610"


def test_real_movielens_small_cut_anywhere_is_refused(movielens_small, tmp_path):
    whole = (movielens_small / "ratings.csv").read_bytes()
    rng = np.random.default_rng(1)
    csv_folder(tmp_path, movies=(movielens_small / "movies.csv").read_bytes(), tags=None, links=None)
    for cut in rng.integers(100, 60_000, 5):
        if whole[:cut].endswith(b"\n"):
            continue
        (tmp_path / "ratings.csv").write_bytes(whole[:cut])
        file, line, _, _ = first(tmp_path)
        assert (file, line) == ("ratings.csv", whole[:cut].count(b"\n") + 1)


def test_files_of_a_folder_may_be_packed(tmp_path):
    csv_folder(tmp_path, ratings=None)
    (tmp_path / "ratings.csv.gz").write_bytes(gzip.compress(RATINGS.encode()))
    dataset = parse(tmp_path)
    assert dataset.report.source_format == "movielens-csv"
    assert dataset.report.files[0] == "ratings.csv.gz"
