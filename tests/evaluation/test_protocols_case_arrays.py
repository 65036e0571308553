"""Test cases as arrays of a file: what is read, what is written, and what is refused in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from core.errors import DataError
from evaluation.protocols import case_arrays
from evaluation.protocols.case_arrays import FileCases, case_file_arrays, read_cases

pytestmark = pytest.mark.unit

# The dataset's ids in the order of its indexes, which is not the order of the ids.
USERS = np.array(["30", "7", "12"])
ITEMS = np.array(["90", "10", "80", "20", "70", "30", "60", "40", "50", "11"])
KNOWN = "candidates that the user has rated in training"


def arrays(**changed: Any) -> dict[str, np.ndarray]:
    """Five training ratings and three cases, neither in order; two candidates have been rated in training."""
    given = {
        "train_user": np.array([12, 30, 12, 7, 30]),
        "train_item": np.array([50, 10, 90, 70, 11]),
        "train_rating": np.array([4.0, 2.0, 5.0, 3.0, 1.0]),
        "case_user": np.array([12, 30, 12]),
        "case_item": np.array([20, 60, 10]),
        "case_relevant": np.array([True, False, True]),
        "case_candidates": np.array([[50, 11, 80, 40], [11, -1, 90, 70], [11, -1, -1, -1]]),
    }
    return given | changed


def as_text(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        name: array.astype(str) if name.endswith(("user", "item", "candidates")) else array
        for name, array in given.items()
    }


def read(given: dict[str, np.ndarray]) -> FileCases:
    return read_cases(given, USERS, ITEMS, seed=4)


def candidates(found: FileCases) -> list[list[int]]:
    return [found.cases.candidates(case).tolist() for case in range(len(found.cases))]


@pytest.mark.parametrize("kind", ["numbers", "text"])
def test_a_file_is_read_by_the_ids_of_the_dataset(kind: str) -> None:
    found = read(arrays() if kind == "numbers" else as_text(arrays()))
    cases = found.cases
    assert found.file_rows.tolist() == [1, 2, 0]
    assert found.counted == {KNOWN: 2}
    assert (cases.users.tolist(), cases.items.tolist()) == ([0, 2, 2], [6, 1, 3])
    assert cases.is_relevant.tolist() == [False, True, True]
    assert candidates(found) == [[0, 4, 9], [9], [2, 7, 8, 9]]
    assert cases.n_candidates.tolist() == [3, 1, 4]
    assert (cases.n_items, cases.n_users, cases.negatives, cases.seed, cases.is_given) == (10, 3, 4, 4, True)
    assert cases.rated_indptr.tolist() == [0, 3, 4, 8]
    assert cases.rated_items.tolist() == [1, 6, 9, 4, 0, 1, 3, 8]
    assert np.isnan(cases.values).all()
    assert found.train.toarray().tolist() == [
        [0, 2, 0, 0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 3, 0, 0, 0, 0, 0],
        [5, 0, 0, 0, 0, 0, 0, 0, 4, 0],
    ]
    types = {name: getattr(cases, name).dtype.name for name in ("users", "items", "is_relevant", "values")}
    assert types == {"users": "int32", "items": "int32", "is_relevant": "bool", "values": "float32"}
    assert (cases.rated_indptr.dtype.name, cases.rated_items.dtype.name) == ("int64", "int32")
    assert (found.train.dtype, found.train.has_sorted_indices) == (np.float32, True)


def test_candidates_are_looked_up_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = candidates(read(arrays()))
    monkeypatch.setattr(case_arrays, "BLOCK", 2)
    assert candidates(read(arrays())) == whole


def test_relevance_may_be_1_and_0_and_text_may_end_with_nothing() -> None:
    given = as_text(arrays(case_relevant=np.array([1, 0, 0])))
    given["case_candidates"][1, 1] = ""
    found = read(given)
    assert found.cases.is_relevant.tolist() == [False, False, True]
    assert candidates(found)[0] == [0, 4, 9]


def test_a_dataset_without_trained_candidates_counts_none() -> None:
    found = read(arrays(case_candidates=np.array([[80], [70], [40]])))
    assert (candidates(found), found.counted) == ([[4], [7], [2]], {KNOWN: 0})


@pytest.mark.parametrize("kind", ["numbers", "text"])
def test_what_is_written_is_read_again_as_it_was(kind: str) -> None:
    end = "" if kind == "numbers" else "x"
    users, items = (np.array([f"{one}{end}" for one in ids.tolist()]) for ids in (USERS, ITEMS))
    first = read(arrays())
    # The training rows of users 2 and 0 alone, in that order.
    written = case_file_arrays(csr_array(first.train[[2, 0]]), first.cases, users, items, np.array([2, 0]))
    assert [str(one) for one in written["train_user"]] == [f"12{end}"] * 2 + [f"30{end}"] * 2
    assert [str(one) for one in written["train_item"]] == [f"{one}{end}" for one in (90, 50, 10, 11)]
    assert written["train_rating"].tolist() == [5.0, 4.0, 2.0, 1.0]
    assert written["train_rating"].dtype == np.float32
    assert [str(one) for one in written["case_user"]] == [f"{one}{end}" for one in (30, 12, 12)]
    assert [str(one) for one in written["case_item"]] == [f"{one}{end}" for one in (60, 10, 20)]
    assert written["case_relevant"].tolist() == [False, True, True]
    none = -1 if kind == "numbers" else ""
    listed = [[90, 70, 11, None], [11, None, None, None], [80, 40, 50, 11]]
    expected = [[str(none) if one is None else f"{one}{end}" for one in row] for row in listed]
    assert written["case_candidates"].astype(str).tolist() == expected
    assert {written[name].dtype.kind for name in ("train_user", "case_item", "case_candidates")} == {
        "i" if kind == "numbers" else "U"
    }
    again = read_cases(written, users, items, seed=4)
    assert candidates(again) == candidates(first)
    assert again.train[[0, 2]].toarray().tolist() == first.train[[0, 2]].toarray().tolist()


def test_no_case_is_written_as_empty_arrays() -> None:
    none, _ = read(arrays()).cases.of_users(np.array([1]))
    written = case_file_arrays(csr_array((1, 10)), none, USERS, ITEMS, np.array([0]))
    assert written["case_candidates"].shape == (0, 0)
    assert len(written["train_user"]) == len(written["case_user"]) == 0


@pytest.mark.parametrize("odd", ["01", "-1", "", "1.0", "1234567890123456789"])
def test_ids_stay_text_if_one_is_no_plain_number(odd: str) -> None:
    first = read(arrays())
    items = np.array([odd, *ITEMS[1:]])
    written = case_file_arrays(first.train, first.cases, USERS, items, np.arange(3))
    assert written["case_item"].tolist() == ["60", "10", "20"]
    assert written["case_user"].tolist() == [30, 12, 12]


@pytest.mark.parametrize("number", ["0", "123456789012345678"])
def test_ids_of_plain_numbers_are_numbers(number: str) -> None:
    first = read(arrays())
    items = np.array([number, *ITEMS[1:]])
    written = case_file_arrays(first.train, first.cases, USERS, items, np.arange(3))
    assert int(number) in written["train_item"].tolist()


def refused(given: dict[str, np.ndarray]) -> str:
    with pytest.raises(DataError) as caught:
        read(given)
    return str(caught.value)


def changed_at(name: str, place: Any, value: Any) -> dict[str, np.ndarray]:
    given = arrays()
    given[name][place] = value
    return given


ALL = ", ".join(arrays())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {name: array for name, array in arrays().items() if name not in {"case_user", "case_item"}},
            f"A file of cases has the arrays {ALL}; here: case_user, case_item missing.",
        ),
        (arrays(z=np.zeros(1), b=np.zeros(1)), f"A file of cases has the arrays {ALL}; here: b, z unknown."),
        (
            {("extra" if name == "train_item" else name): array for name, array in arrays().items()},
            f"A file of cases has the arrays {ALL}; here: train_item missing; extra unknown.",
        ),
        (
            arrays(case_candidates=np.array([50, 90, 11])),
            "The array case_candidates has 1 dimensions; it should have 2.",
        ),
        (arrays(train_user=np.array([[12]])), "The array train_user has 2 dimensions; it should have 1."),
        (
            arrays(train_rating=np.array(["4"] * 5)),
            "The array train_rating is of type <U1; it should hold numbers.",
        ),
        (
            arrays(case_relevant=np.array([1.0, 0.0, 1.0])),
            "The array case_relevant is of type float64; it should hold true and false, or 1 and 0.",
        ),
        (
            arrays(train_item=np.array([50.0, 10, 90, 70, 11])),
            "The array train_item is of type float64; it should hold ids, as text or whole numbers.",
        ),
        (
            arrays(case_relevant=np.array([1, 2, 0])),
            "The array case_relevant holds something that is neither 0 nor 1.",
        ),
        (
            arrays(train_item=np.array([50])),
            "The array train_item has 1 rows and train_user has 5: they should be as many.",
        ),
        (
            arrays(train_rating=np.array([4.0])),
            "The array train_rating has 1 rows and train_user has 5: they should be as many.",
        ),
        (
            arrays(case_item=np.array([20])),
            "The array case_item has 1 rows and case_user has 3: they should be as many.",
        ),
        (
            arrays(case_relevant=np.array([True])),
            "The array case_relevant has 1 rows and case_user has 3: they should be as many.",
        ),
        (
            arrays(case_candidates=np.array([[50]])),
            "The array case_candidates has 1 rows and case_user has 3: they should be as many.",
        ),
        (
            {name: array[:0] if name.startswith("train") else array for name, array in arrays().items()},
            "The array train_user is empty: there is nothing to train.",
        ),
        (
            {name: array[:0] if name.startswith("case") else array for name, array in arrays().items()},
            "The array case_user is empty: there is nothing to case.",
        ),
        (
            changed_at("train_rating", [2, 4], np.nan),
            "The rating in row 2 of train_rating is not a finite number.",
        ),
        (
            changed_at("train_user", [1, 3], [99, 100]),
            "The dataset has no user 99, which is in row 1 of train_user (2 rows have one that is unknown). "
            "Give a file that was written for this dataset.",
        ),
        (
            changed_at("train_item", 3, 1),
            "The dataset has no item 1, which is in row 3 of train_item (1 rows have one that is unknown). "
            "Give a file that was written for this dataset.",
        ),
        (
            changed_at("case_user", 1, 8),
            "The dataset has no user 8, which is in row 1 of case_user (1 rows have one that is unknown). "
            "Give a file that was written for this dataset.",
        ),
        (
            changed_at("case_item", 2, 99),
            "The dataset has no item 99, which is in row 2 of case_item (1 rows have one that is unknown). "
            "Give a file that was written for this dataset.",
        ),
        (
            changed_at("train_item", 2, 50),
            "Rows 0 and 2 of train_user and train_item are the same pair; keep one of them.",
        ),
        (
            changed_at("case_item", 2, 20),
            "Rows 0 and 2 of case_user and case_item are the same pair; keep one of them.",
        ),
        (
            changed_at("case_item", 1, 10),
            "The case in row 1 (user 30, item 10) is among the training ratings too: a model would be measured on "
            "what it has seen.",
        ),
        (
            changed_at("train_user", 3, 12) | {"case_user": np.array([12, 30, 7])},
            "The user of the case in row 2 (7) has no training rating, so there is no profile to score. "
            "Leave the case out.",
        ),
        (changed_at("case_candidates", 2, -1), "There is no candidate for the case in row 2."),
        (
            changed_at("case_candidates", (1, 2), 77),
            "The dataset has no item 77, which is a candidate of the case in row 1.",
        ),
        (
            changed_at("case_candidates", (1, 3), 77),  # after the dataset's first item
            "The dataset has no item 77, which is a candidate of the case in row 1.",
        ),
        (changed_at("case_candidates", (1, 2), 70), "A candidate of the case in row 1 comes twice."),
        (changed_at("case_candidates", (1, 2), 60), "The item of the case in row 1 is among its own candidates."),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(given: dict[str, np.ndarray], words: str) -> None:
    assert refused(given) == words


def test_an_unknown_candidate_is_named_from_the_second_block_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_arrays, "BLOCK", 2)
    given = changed_at("case_candidates", (2, 0), 77)
    assert "item 77" in refused(given)
    assert "row 2" in refused(given)
