"""The steps: order, what may be looked at, what may be changed."""

from __future__ import annotations

import doctest

import pytest

from core.errors import ParameterError
from studies.instrument import flow, measures
from studies.instrument.flow import Place, may_change, may_view, next_place, page_sequence
from studies.instrument.questionnaires import schema

pytestmark = pytest.mark.unit
WAY = page_sequence(3)


@pytest.mark.parametrize("module", [flow, measures, schema])
def test_examples_in_docstrings_run(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0


def test_next_place_walks_the_whole_way_and_stays_at_the_end() -> None:
    here = WAY[0]
    walked = [here]
    for _ in range(len(WAY)):
        here = next_place(here, 3)
        walked.append(here)
    assert walked == [*WAY, WAY[-1]]


def test_next_place_refuses_a_rank_past_the_list() -> None:
    with pytest.raises(ParameterError):
        next_place(Place("items", 4), 3)


@pytest.mark.parametrize(("step", "rank"), [("nowhere", 0), ("items", 0), ("rate", 1)])
def test_place_refuses_what_is_not_on_the_way(step: str, rank: int) -> None:
    with pytest.raises(ParameterError):
        Place(step, rank)


def test_a_study_that_asks_something_after_the_list_has_a_page_for_it() -> None:
    assert Place("after") not in page_sequence(2)
    way = page_sequence(2, has_after=True)
    assert [place.step for place in way[-3:]] == ["overall", "after", "thanks"]
    assert next_place(Place("overall"), 2, has_after=True) == Place("after")
    assert next_place(Place("overall"), 2) == Place("thanks")
    assert all(may_change(Place("after"), at) for at in (Place("items", 2), Place("overall"), Place("after")))
    assert not may_change(Place("overall"), Place("after"))
    assert not may_change(Place("after"), Place("rate"))


def test_places_refuse_an_empty_list() -> None:
    with pytest.raises(ParameterError):
        page_sequence(0)


@pytest.mark.parametrize("here", WAY, ids=str)
@pytest.mark.parametrize("at", WAY, ids=str)
def test_nothing_ahead_may_be_looked_at_or_changed(here: Place, at: Place) -> None:
    if WAY.index(at) > WAY.index(here):
        assert not may_view(here, at)
        assert not may_change(here, at)


@pytest.mark.parametrize("here", WAY, ids=str)
def test_where_one_stands_may_be_looked_at_and_changed_until_the_end(here: Place) -> None:
    assert may_view(here, here)
    assert may_change(here, here) == (here.step != "thanks")


@pytest.mark.parametrize("here", WAY[2:], ids=str)
def test_answers_about_the_person_and_ratings_close_with_their_step(here: Place) -> None:
    for step in ("about", "rate"):
        assert not may_view(here, Place(step))
        assert not may_change(here, Place(step))


def test_items_stay_changeable_until_completed() -> None:
    assert may_change(Place("overall"), Place("items", 1))
    assert may_view(Place("items", 2), Place("recommendations"))
    assert not may_view(Place("thanks"), Place("items", 1))


@pytest.mark.parametrize(
    ("answers", "missing"),
    [
        ({}, ("watched", "rating")),
        ({"watched": True}, ("rating",)),
        ({"watched": True, "rating": 3}, ()),
        ({"watched": False, "rating": 3}, ("heard", "trailer_seen")),
        ({"watched": False, "heard": False, "trailer_seen": False, "rating": 3}, ()),
    ],
)
def test_missing_of_item_follows_the_first_answer(answers: dict[str, object], missing: tuple[str, ...]) -> None:
    assert flow.missing_of_item(answers) == missing


def test_branch_of_an_unwatched_item_without_trailer() -> None:
    assert [flow.branch_of(True, None), flow.branch_of(False, False)] == ["watched", "neither"]
