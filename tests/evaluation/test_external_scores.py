"""Scores of other systems, read from their files, and cases written for them."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from core.errors import DataError
from evaluation.external_scores import read_scores, write_interactions, write_qrels
from evaluation.protocols.cases import Cases

pytestmark = pytest.mark.unit
USERS, ITEMS = np.array(["u1", "u2", "7"]), np.array(["a", "b", "10"])
FILES = {
    "trec": "u1 Q0 b 1 0.5 mine\nu1 Q0 a 2 0 mine\n7 Q0 10 1 -2e-1 mine\n",
    "recbole": "user_id:token\titem_id:token\tscore:float\nu1\tb\t0.5\nu1\ta\t0\n7\t10\t-0.2\n",
    "lenskit": "item_id,user_id,score,rank\nb,u1,0.5,1\na,u1,0,2\n10,7,-0.2,1\n",
    "windows": "\ufeffuser_id,item_id,score\r\nu1,b,0.5\r\nu1,a,0\r\n7,10,-0.2\r\n",
}


@pytest.mark.parametrize("name", FILES)
def test_scores_are_read_whatever_their_format_and_zero_is_one(tmp_path: Path, name: str) -> None:
    file = tmp_path / "scores.txt"
    file.write_bytes(FILES[name].encode())
    scores = read_scores(file, USERS, ITEMS)
    assert scores.shape == (3, 3)
    assert [list(each) for each in (scores.indptr, scores.indices, scores.data)] == [
        [0, 2, 2, 3],
        [0, 1, 2],
        [0.0, 0.5, -0.2],
    ]


def test_all_problems_are_named_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("user_id,item_id,score\nu1,a,1\nu9,a,2\nu1,c,nan\nu2,b,high\nu1,a,3\n")
    with pytest.raises(DataError) as refusal:
        read_scores(file, USERS, ITEMS)
    assert str(refusal.value) == (
        "scores.csv: No user of the dataset in line 3: 'u9'. No item of the dataset in line 4: 'c'. "
        "No finite number in line 4: 'nan', line 5: 'high'. "
        "An item that the user has in an earlier line in line 6: 'a'. Correct these lines, or remove them."
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("u1;a;1\n", "none of the formats"),
        ("user_id,item_id,score\n", "has no scores"),
        ("", "none of the formats"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=words):
        read_scores(file, USERS, ITEMS)
    with pytest.raises(DataError, match="cannot be read"):
        read_scores(tmp_path / "none.csv", USERS, ITEMS)


def test_only_the_first_lines_of_a_problem_are_named(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("user_id,item_id,score\n" + "u9,a,1\n" * 1234)
    with pytest.raises(DataError, match=r"line 11: 'u9' and 1,224 more\."):
        read_scores(file, USERS, ITEMS)


def _cases() -> Cases:
    return Cases(
        users=np.array([0, 2], dtype=np.int32),
        items=np.array([1, 2], dtype=np.int32),
        is_relevant=np.array([True, False]),
        values=np.array([5, 1], dtype=np.float32),
        rated_indptr=np.array([0, 1, 1, 2]),
        rated_items=np.array([1, 2], dtype=np.int32),
        n_items=3,
        negatives=1,
        seed=1,
    )


def test_cases_and_training_ratings_are_written_for_other_systems() -> None:
    file = StringIO()
    write_qrels(file, _cases(), USERS, ITEMS)
    assert file.getvalue() == "u1 0 b 1\n7 0 10 0\n"
    file = StringIO()
    ratings = csr_array(np.array([[4.5, 0, 0], [0, 3, 1]], dtype=np.float32))
    write_interactions(file, ratings, np.array([0, 2]), USERS, ITEMS)
    assert file.getvalue() == "user_id:token\titem_id:token\trating:float\nu1\ta\t4.5\n7\tb\t3\n7\t10\t1\n"
    with pytest.raises(DataError, match="the id 'a b' has one"):
        write_qrels(StringIO(), _cases(), USERS, np.array(["a b", "b", "10"]))
