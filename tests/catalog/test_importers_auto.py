"""Which importer a source is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.importers.auto import detect, parse
from catalog.importers.base import ImportRefused
from catalog.importers.options import Options
from core.errors import ParameterError

pytestmark = pytest.mark.unit


def folder_with(tmp_path: Path, *names: str) -> Path:
    for name in names:
        (tmp_path / name).write_text("user,item,rating\n1,1,1\n1,2,2\n")
    return tmp_path


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["ratings.csv", "movies.csv", "README.txt"], "movielens-csv"),
        (["ratings.dat", "movies.dat", "users.dat"], "movielens-1m"),
        (["u.data", "u.item", "u.genre", "u.user"], "movielens-100k"),
        (["anything.tsv"], "delimited"),
        (["anything.csv", "notes.md"], "delimited"),
        (["table"], "delimited"),
    ],
)
def test_detect_goes_by_the_names_of_files(tmp_path, names, expected):
    assert detect(folder_with(tmp_path, *names)) == expected


def test_detect_takes_a_single_file(tmp_path):
    folder_with(tmp_path, "ratings.csv")
    assert detect(tmp_path / "ratings.csv") == "delimited"
    assert parse(tmp_path / "ratings.csv").n_ratings == 2


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], r"no dataset is recognised in it \(there is nothing\)"),
        (["a.pdf", "b.pdf"], r"there is a\.pdf, b\.pdf"),
        (["a.csv", "b.csv"], r"there is a\.csv, b\.csv"),
        (["picture.png"], r"there is picture\.png"),
        (["ratings.csv", "tags.csv"], r"movies\.csv: the file is missing from .*, which looks like movielens-csv"),
        (["u.item", "u.user"], r"u\.data: the file is missing"),
        (["ratings.csv", "movies.csv", "u.data", "u.item"], "movielens-csv and movielens-100k at once"),
    ],
)
def test_detect_refuses_what_it_does_not_recognise(tmp_path, names, message):
    with pytest.raises(ImportRefused, match=message):
        detect(folder_with(tmp_path, *names))


def test_options_mean_a_delimited_file(tmp_path):
    folder_with(tmp_path, "ratings.csv")
    assert parse(tmp_path, options=Options(user="user")).report.source_format == "delimited"


def test_parse_refuses_formats_and_options_that_do_not_go_together(tmp_path):
    with pytest.raises(
        ParameterError, match="the formats are auto, movielens-csv, movielens-10m, movielens-1m, movielens-100k"
    ):
        parse(tmp_path, format="lastfm")
    with pytest.raises(ParameterError, match="movielens-csv has no option user; it takes none: its columns are fixed"):
        parse(tmp_path, format="movielens-csv", options=Options(user="userId"))
    with pytest.raises(ParameterError, match="bookcrossing has no option user; it takes zeros"):
        parse(tmp_path, format="bookcrossing", options=Options(user="userId"))
