"""Quality flags: what raises them, and what does not."""

from __future__ import annotations

import doctest

import pytest

from core.field_problems import FieldProblems, read_model
from studies.instrument import flags
from studies.instrument.flags import Evidence, ScaleAnswers, flags_of, shortest_time
from studies.settings import Thresholds

pytestmark = pytest.mark.unit
FINE = Evidence(
    300.0, [(True, None, None, 4), (False, True, False, 2), (True, None, None, 5)], [1, 2, 3, 4, 5, 4, 2, 5]
)


def test_examples() -> None:
    assert doctest.testmod(flags).failed == 0


def test_nobody_has_a_flag_for_nothing() -> None:
    assert flags_of(FINE, Thresholds(), 60) == ()


@pytest.mark.parametrize(
    ("given", "key", "numbers"),
    [
        (Evidence(59.9, [], []), flags.TOO_FAST, {"seconds": 59.9, "shortest": 60}),
        (Evidence(None, [(True, None, None, 3)] * 3, []), flags.STRAIGHT_LINED, {"items": 3}),
        (Evidence(None, [], [4] * 6), flags.ALL_RATINGS_ALIKE, {"ratings": 6, "rating": 4}),
        (Evidence(None, [], [], ["look"]), flags.ATTENTION_FAILED, {"failed": 1}),
        (Evidence(None, [], [], (), ["AB23CD"]), flags.SAME_EXTERNAL_ID, {"others": 1}),
        (Evidence(None, [], [], n_contradictory=1), flags.CONTRADICTORY, {"items": 1}),
    ],
)
def test_each_flag_has_its_reason_and_numbers(given: Evidence, key: str, numbers: dict[str, float]) -> None:
    (flag,) = flags_of(given, Thresholds(), 60)
    assert (flag.key, dict(flag.numbers), flag.name) == (key, numbers, flags.NAMES[key])
    assert flag.reason.endswith(".")


@pytest.mark.parametrize(
    "given",
    [
        Evidence(60.0, [], []),
        Evidence(None, [(True, None, None, 3)] * 2, []),
        Evidence(None, [(True, None, None, 3), (True, None, None, 4), (True, None, None, 3)], []),
        Evidence(None, [], [4] * 5),
    ],
)
def test_what_is_just_within_the_thresholds_raises_nothing(given: Evidence) -> None:
    assert flags_of(given, Thresholds(), 60) == ()


MIXED = [(2, False)] * 4 + [(2, True)] * 2
ONE_WAY = [(4, False)] * 10


def _marking(*points: list[tuple[int, bool]]) -> Evidence:
    return Evidence(None, [], [], scale_answers=[ScaleAnswers("after the list", 5, own) for own in points])


@pytest.mark.parametrize(
    ("points", "words", "numbers"),
    [
        (MIXED, "all 6 statements after the list, 2 of them reverse-scored.", {"statements": 6, "reversed": 2}),
        (ONE_WAY, "all 10 statements after the list.", {"statements": 10, "reversed": 0}),
        ([(0, True)] * 10, "10 of them reverse-scored.", {"statements": 10, "reversed": 10}),
    ],
)
def test_the_same_point_throughout_a_block_is_straight_lined_and_which_it_is_is_not_said(
    points: list[tuple[int, bool]], words: str, numbers: dict[str, float]
) -> None:
    (flag,) = flags_of(_marking(points), Thresholds(), 60)
    assert (flag.key, dict(flag.numbers)) == (flags.STRAIGHT_LINED, numbers)
    assert flag.reason.startswith("Chose the same of 5 points for ")
    assert flag.reason.endswith(words)


@pytest.mark.parametrize(
    "points",
    [
        MIXED[1:],
        [*MIXED, (3, False)],
        [*MIXED, (3, True)],
        ONE_WAY[1:],
        [*ONE_WAY, (3, False)],
        [(2, True)] * 9,
        [],
    ],
)
def test_an_honest_way_to_answer_statements_raises_nothing(points: list[tuple[int, bool]]) -> None:
    assert flags_of(_marking(points), Thresholds(), 60) == ()


def test_the_threshold_of_statements_counts_for_each_block_and_lowers_nothing_without_a_contradiction() -> None:
    assert flags_of(_marking(MIXED[1:], MIXED[2:]), Thresholds(), 60) == ()
    assert flags_of(_marking(MIXED[1:]), Thresholds(alike_statements=5), 60)
    assert flags_of(_marking(ONE_WAY[1:]), Thresholds(alike_statements=2), 60) == ()
    assert flags_of(_marking(ONE_WAY), Thresholds(alike_statements=11), 60) == ()


def test_items_and_statements_alike_are_one_flag_with_a_sentence_each() -> None:
    given = Evidence(
        None, [(True, None, None, 3)] * 3, [], scale_answers=[ScaleAnswers("about the list", 7, MIXED)] * 2
    )
    (flag,) = flags_of(given, Thresholds(), 60)
    assert flag.reason.count(".") == 3
    assert dict(flag.numbers) == {"items": 3, "statements": 12, "reversed": 4}


def test_the_median_counts_from_five_people_on_and_the_higher_limit_holds() -> None:
    assert shortest_time([900] * 4, Thresholds()) == 60
    assert shortest_time([900] * 5, Thresholds()) == 300
    assert shortest_time([90] * 5, Thresholds()) == 60
    assert shortest_time([], Thresholds(fastest_seconds=0)) == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"fastest": 1}, "fastest: There is no such field. Correct its name, or remove it."),
        ({"fastest_seconds": "60"}, "fastest_seconds: Expected a number; got '60'."),
        ({"alike_items": True}, "alike_items: Expected a whole number; got True."),
        ({"fastest_seconds": -1}, "fastest_seconds: Expected a number of at least 0; got -1."),
        ({"fastest_share": 1.5}, "fastest_share: Expected a number of at most 1; got 1.5."),
        ({"alike_ratings": 1}, "alike_ratings: Expected a number of at least 2; got 1."),
        ({"alike_statements": 1}, "alike_statements: Expected a number of at least 2; got 1."),
    ],
)
def test_thresholds_that_cannot_be_used_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(FieldProblems) as refused:
        read_model(Thresholds, given)
    assert str(refused.value) == words
