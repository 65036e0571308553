"""Which layout a source has, by what is in it and not by the names of its files."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from catalog.importers.auto import FORMATS, parse, propose
from catalog.importers.options import Options
from catalog.importers.proposal import as_recipe, of_recipe
from core.errors import ParameterError
from tests.sentences import assert_refused_as_approved, assert_sentences_approved

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


def test_a_second_table_of_ratings_is_named(tmp_path):
    files = {"ratings_test.csv": RATINGS, "ratings_train.csv": RATINGS + "2,1,5\n", "notes.csv": "a,b\n1,2\n"}
    report = parse(folder_with(tmp_path, files)).report
    assert report.files == ("ratings_train.csv",)
    assert_sentences_approved("warnings/layouts", {"two tables of ratings": report.warnings})


def test_named_columns_mean_no_named_layout(tmp_path):
    folder_with(tmp_path, MOVIELENS)
    assert propose(tmp_path, options=Options(user="userId")).layout == "delimited"


def test_sources_without_a_layout(tmp_path):
    def folder(name: str, files: dict[str, str]) -> Path:
        (tmp_path / name).mkdir()
        return folder_with(tmp_path / name, files)

    movielens = folder("movielens", MOVIELENS)
    table = folder("table", {**MOVIELENS, "ratings.csv": RATINGS})
    movies = {"movies.csv": MOVIELENS["movies.csv"], "tags.csv": "a,b\n1,2\n"}
    named = Options(user="userId")
    cases = {
        "nothing": partial(propose, folder("empty", {})),
        "two documents": partial(propose, folder("documents", {"a.pdf": "x", "b.pdf": "y"})),
        "a document": partial(propose, folder("document", {"a.pdf": "%PDF-1.4"})),
        "no ratings": partial(propose, folder("movies", movies)),
        "unknown format": partial(parse, movielens, format="lastfm"),
        "option of another format": partial(parse, movielens, format="movielens-csv", options=named),
        "named as another format": partial(parse, movielens, format="json"),
        "files of the named format missing": partial(parse, movielens, format="movielens-100k"),
        "columns of the named format missing": partial(parse, table, format="movielens-csv"),
        "a list for a recipe": partial(of_recipe, "[]"),
        "a recipe of an unknown kind": partial(of_recipe, "layout: 3"),
    }
    assert_refused_as_approved("layouts", cases, tmp_path)


def test_a_recipe_imports_what_its_proposal_does(tmp_path):
    folder_with(tmp_path, MOVIELENS)
    proposal = propose(tmp_path)
    recipe = of_recipe(as_recipe(proposal))
    assert parse(tmp_path, proposal=recipe).report.recipe == parse(tmp_path).report.recipe
    with pytest.raises(ParameterError, match="no YAML"):
        of_recipe("a: [")


def test_every_format_says_what_it_is():
    for name, found in FORMATS.items():
        assert found.title
        assert found.sentence.endswith("."), name
