"""Perceived accuracy, novelty and satisfaction from answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import DataError
from studies.instrument.measures import item_measures, participant_measures

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("watched", "heard", "trailer_seen", "fon", "son", "branch"),
    [
        (True, None, None, 0, 0, "watched"),
        (False, True, False, 1, 0, "neither"),
        (False, True, True, 1, 0, "trailer_seen"),
        (False, False, False, 1, 1, "neither"),
        (False, False, True, 1, 1, "trailer_seen"),
    ],
)
def test_item_measures_of_each_way_to_answer(
    watched: bool, heard: bool | None, trailer_seen: bool | None, fon: int, son: int, branch: str
) -> None:
    found = item_measures(watched=watched, heard=heard, trailer_seen=trailer_seen, rating=3)
    assert (found.fon, found.son, found.branch) == (fon, son, branch)


@given(st.booleans(), st.booleans(), st.booleans(), st.integers(1, 5))
def test_second_order_novelty_never_exceeds_the_first(watched: bool, heard: bool, seen: bool, rating: int) -> None:
    found = item_measures(watched=watched, heard=heard, trailer_seen=seen, rating=rating)
    assert found.son <= found.fon


def test_participant_measures_are_means_over_the_list_with_liking_and_interest_apart() -> None:
    items = [
        item_measures(watched=True, rating=5),
        item_measures(watched=True, rating=2),
        item_measures(watched=False, heard=True, trailer_seen=False, rating=4),
        item_measures(watched=False, heard=False, trailer_seen=True, rating=1),
        item_measures(watched=False, heard=False, trailer_seen=False, rating=3),
    ]
    found = participant_measures(items, satisfaction=4)
    assert (found.n_items, found.accuracy_sum, found.fon_sum, found.son_sum) == (5, 15, 3, 2)
    assert (found.accuracy, found.fon, found.son, found.satisfaction) == (3.0, 0.6, 0.4, 4)
    assert (found.n_liking, found.liking, found.n_interest, found.interest) == (2, 3.5, 3, 8 / 3)


def test_liking_and_interest_are_none_where_nothing_counts_for_them() -> None:
    assert participant_measures([item_measures(watched=True, rating=5)], satisfaction=1).interest is None
    new = item_measures(watched=False, heard=False, trailer_seen=False, rating=5)
    assert participant_measures([new], satisfaction=1).liking is None


@pytest.mark.parametrize("answers", [{"watched": True, "rating": 0}, {"watched": True, "rating": 6}])
def test_item_measures_refuse_a_rating_off_the_scale(answers: dict[str, object]) -> None:
    with pytest.raises(DataError):
        item_measures(**answers)  # type: ignore[arg-type]


def test_item_measures_refuse_an_unwatched_item_without_its_answers() -> None:
    with pytest.raises(DataError):
        item_measures(watched=False, rating=3, heard=True)


@pytest.mark.parametrize(("n", "satisfaction"), [(0, 3), (1, 0), (1, 6)])
def test_participant_measures_refuse_nothing_and_what_is_off_the_scale(n: int, satisfaction: int) -> None:
    with pytest.raises(DataError):
        participant_measures([item_measures(watched=True, rating=3)] * n, satisfaction)
