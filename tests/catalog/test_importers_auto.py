"""Which layout a source has, by what is in it and not by the names of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.importers.auto import FORMATS, parse, propose
from catalog.importers.base import ImportRefused
from catalog.importers.options import Options
from catalog.importers.proposal import as_recipe, of_recipe
from core.errors import ParameterError

pytestmark = pytest.mark.unit

RATINGS = "user,item,rating\n1,1,1\n1,2,2\n"
MOVIELENS = {
    "ratings.csv": "userId,movieId,rating,timestamp\n1,1,4.0,964982703\n",
    "movies.csv": "movieId,title,genres\n1,Lantern Street (1994),Drama\n",
}


def folder_with(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({**MOVIELENS, "README.txt": "About."}, "movielens-csv"),
        ({**MOVIELENS, "ratings.csv": RATINGS}, "delimited"),  # the names alone say nothing
        ({"anything.tsv": RATINGS}, "delimited"),
        ({"anything.csv": RATINGS, "notes.md": "# Notes"}, "delimited"),
        ({"table": RATINGS}, "delimited"),
        ({"picture.png": RATINGS}, "delimited"),
        ({"table.csv": '[{"user": 1, "item": 2, "rating": 3}]'}, "json"),
    ],
)
def test_a_layout_is_detected_by_its_columns(tmp_path, files, expected):
    assert propose(folder_with(tmp_path, files)).layout == expected


def test_a_single_file_is_detected_without_those_beside_it(tmp_path):
    folder_with(tmp_path, MOVIELENS)
    assert propose(tmp_path / "ratings.csv").layout == "delimited"
    assert parse(tmp_path / "ratings.csv", options=Options(usage=True)).n_ratings == 1


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, r"there is no file in it"),
        ({"a.pdf": "x", "b.pdf": "y"}, r"no table is in it \(there is a\.pdf, b\.pdf\)"),
        ({"a.pdf": "%PDF-1.4"}, r"a\.pdf: this is a PDF document\. Export its table as CSV"),
        ({"movies.csv": MOVIELENS["movies.csv"], "tags.csv": "a,b\n1,2\n"}, "it has no column of users"),
    ],
)
def test_a_source_without_ratings_is_refused(tmp_path, files, message):
    with pytest.raises(ImportRefused, match=message):
        propose(folder_with(tmp_path, files))


def test_a_second_table_of_ratings_is_named(tmp_path):
    files = {"ratings_test.csv": RATINGS, "ratings_train.csv": RATINGS + "2,1,5\n", "notes.csv": "a,b\n1,2\n"}
    report = parse(folder_with(tmp_path, files)).report
    assert report.files == ("ratings_train.csv",)
    assert report.warnings[0] == (
        "ratings_test.csv has the columns of ratings_train.csv and is not read: join them in one file to import both."
    )


def test_named_columns_mean_no_named_layout(tmp_path):
    folder_with(tmp_path, MOVIELENS)
    assert propose(tmp_path, options=Options(user="userId")).layout == "delimited"


def test_formats_and_options_that_do_not_go_together_are_refused(tmp_path):
    folder_with(tmp_path, MOVIELENS)
    with pytest.raises(ParameterError, match="There is no format 'lastfm': the formats are auto, movielens-csv, "):
        parse(tmp_path, format="lastfm")
    with pytest.raises(ParameterError, match=r"movielens-csv has no option user; it takes bins, .*, zeros\."):
        parse(tmp_path, format="movielens-csv", options=Options(user="userId"))
    with pytest.raises(ImportRefused, match=r"no file is written as json \(there is movies\.csv \(delimited\), "):
        parse(tmp_path, format="json")
    with pytest.raises(ImportRefused, match=r"u\\?\.data: the file is missing from .*: it holds the ratings"):
        parse(tmp_path, format="movielens-100k")
    (tmp_path / "ratings.csv").write_text(RATINGS)
    with pytest.raises(
        ImportRefused, match=r"ratings\.csv, line 1: the columns are user, item, rating where userId, .* belong"
    ):
        parse(tmp_path, format="movielens-csv")


def test_a_recipe_imports_what_its_proposal_does(tmp_path):
    folder_with(tmp_path, MOVIELENS)
    proposal = propose(tmp_path)
    recipe = of_recipe(as_recipe(proposal))
    assert parse(tmp_path, proposal=recipe).report.recipe == parse(tmp_path).report.recipe
    for text, message in (("[]", "no mapping"), ("a: [", "no YAML"), ("layout: 3", "layout: Input should be")):
        with pytest.raises(ParameterError, match=message):
            of_recipe(text)


def test_every_format_says_what_it_is():
    for name, found in FORMATS.items():
        assert found.title
        assert found.sentence.endswith("."), name
