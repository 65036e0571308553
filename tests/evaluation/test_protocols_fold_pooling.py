"""Measurements of folds, pooled by user: small answers known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from evaluation.protocols.cases import Cases, build_cases
from evaluation.protocols.fold_pooling import by_user, pool
from evaluation.protocols.outcomes import Outcome, Outcomes

pytestmark = pytest.mark.unit


def fold(users: list[int], items: list[int], values: list[float]) -> Cases:
    train = csr_array(np.array([[0, 0, 0, 0, 3.0]] * 3))
    hidden = (np.array(users), np.array(items), np.array(values))
    return build_cases(train, *hidden, relevant=4, irrelevant=2, seed=1, every=True)


FIRST, SECOND = fold([0, 1], [2, 0], [5.0, 1.0]), fold([0, 0, 2], [1, 3, 1], [4.0, 2.0, 3.0])


def test_cases_of_folds_are_pooled_by_user_and_item() -> None:
    scores = [{"scores": np.array([0.1, 0.2])}, {"scores": np.array([0.3, 0.4, 0.5])}]
    found = pool({"name": "rating-prediction"}, [FIRST, SECOND], scores)
    cases = found.cases
    assert found.n_lists == 1
    assert (cases.users.tolist(), cases.items.tolist()) == ([0, 0, 0, 1, 2], [1, 2, 3, 0, 1])
    assert cases.values.tolist() == [4.0, 5.0, 2.0, 1.0, 3.0]
    assert cases.is_relevant.tolist() == [True, True, False, False, False]
    assert found.arrays["scores"].tolist() == [0.3, 0.1, 0.4, 0.2, 0.5]
    # Nobody has anything excluded, and candidates are not drawn any more.
    assert (cases.n_users, cases.rated_indptr.tolist(), len(cases.rated_items)) == (3, [0] * 4, 0)
    assert (cases.rated_indptr.dtype.name, cases.rated_items.dtype.name) == ("int64", "int32")
    assert (cases.users.dtype.name, cases.bits) == ("int64", None)
    assert cases.excluded(2).tolist() == []


@pytest.mark.parametrize("name", ["full-ranking", "test-observations"])
def test_a_user_has_a_list_of_each_fold(name: str) -> None:
    measured = [
        {"all_before": np.array([7, 8]), "list_users": np.array([1, 0]), "list_items": np.array([[10], [20]])},
        {"all_before": np.array([4, 5, 6]), "list_users": np.array([0, 2]), "list_items": np.array([[30], [40]])},
    ]
    found = pool({"name": name}, [FIRST, SECOND], measured)
    # User and fold as one number: 2 · user + fold.
    assert (found.n_lists, found.cases.n_users) == (2, 6)
    assert found.cases.users.tolist() == [0, 1, 1, 2, 5]
    assert found.cases.items.tolist() == [2, 1, 3, 0, 1]
    assert found.arrays["all_before"].tolist() == [7, 4, 5, 8, 6]
    assert found.arrays["list_users"].tolist() == [0, 1, 2, 5]
    assert found.arrays["list_items"].tolist() == [[20], [30], [10], [40]]


def test_bitmaps_of_a_fold_are_left_behind() -> None:
    given = [one.of_users(np.arange(3))[0] for one in (FIRST, SECOND)]
    drawn = Cases(
        **{name: getattr(given[0], name) for name in Cases.__slots__} | {"bits": given[0].bitmaps(np.arange(2))}
    )
    found = pool({"name": "rating-prediction"}, [drawn, given[1]], [{"x": np.arange(2)}, {"x": np.arange(3)}])
    assert found.cases.bits is None


def test_means_over_lists_become_means_over_users_and_other_metrics_stay() -> None:
    values = np.array([[1.0, 0.5, np.nan, 0.2], [0.0, 0.5, np.nan, np.nan], [1.0, np.nan, np.nan, 0.4], [np.nan] * 4])
    lists = {"user_ids": np.array([2, 3, 4, 7]), "user_values": values, "line": np.array([9.0])}
    measured = (
        Outcome("rr", 2 / 3, (2 / 3,), "a caveat"),
        Outcome("hit-rate", 0.5),
        Outcome("novelty", None),
        Outcome("gini", 0.9),
    )
    found = by_user(Outcomes(measured, lists), 2)
    assert found.values == (
        Outcome("rr", 0.75, (2 / 3,), "a caveat"),
        Outcome("hit-rate", 0.5),
        Outcome("novelty", None),
        Outcome("gini", 0.9),
    )
    assert found.arrays["user_ids"].tolist() == [1, 2, 3]
    assert found.arrays["line"].tolist() == [9.0]
    expected = np.array([[0.5, 0.5, np.nan, 0.2], [1.0, np.nan, np.nan, 0.4], [np.nan] * 4])
    assert np.array_equal(found.arrays["user_values"], expected, equal_nan=True)


def test_a_value_where_no_list_has_one_stays_and_a_mean_may_be_off_by_rounding() -> None:
    lists = {"user_ids": np.array([0, 1]), "user_values": np.array([[np.nan, 0.5], [np.nan, 0.0]])}
    nobody, near = Outcome("gini", 0.3), Outcome("rr", 0.25 + 1e-13)
    found = by_user(Outcomes((nobody, near), lists), 2)
    assert found.values == (nobody, Outcome("rr", 0.25))
    far = Outcome("rr", 0.25 + 1e-9)
    assert by_user(Outcomes((nobody, far), lists), 2).values == (nobody, far)


def test_one_list_a_user_is_left_as_it_is() -> None:
    given = Outcomes((Outcome("rr", 0.5),), {"user_ids": np.array([4])})
    assert by_user(given, 1) is given
