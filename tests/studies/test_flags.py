"""Quality flags: what raises them, and what does not."""

from __future__ import annotations

import doctest

import pytest

from core.errors import ParameterError
from studies import flags
from studies.flags import Given, Thresholds, flags_of, shortest_time, thresholds_from

pytestmark = pytest.mark.unit
FINE = Given(300.0, [(True, None, None, 4), (False, True, False, 2), (True, None, None, 5)], [1, 2, 3, 4, 5, 4, 2, 5])


def test_examples() -> None:
    assert doctest.testmod(flags).failed == 0


def test_nobody_has_a_flag_for_nothing() -> None:
    assert flags_of(FINE, Thresholds(), 60) == ()


@pytest.mark.parametrize(
    ("given", "key", "numbers"),
    [
        (Given(59.9, [], []), flags.TOO_FAST, {"seconds": 59.9, "shortest": 60}),
        (Given(None, [(True, None, None, 3)] * 3, []), flags.STRAIGHT_LINED, {"items": 3}),
        (Given(None, [], [4] * 6), flags.ALL_RATINGS_ALIKE, {"ratings": 6, "rating": 4}),
        (Given(None, [], [], ["look"]), flags.ATTENTION_FAILED, {"failed": 1}),
        (Given(None, [], [], (), ["AB23CD"]), flags.SAME_EXTERNAL_ID, {"others": 1}),
    ],
)
def test_each_flag_has_its_reason_and_numbers(given: Given, key: str, numbers: dict[str, float]) -> None:
    (flag,) = flags_of(given, Thresholds(), 60)
    assert (flag.key, dict(flag.numbers), flag.name) == (key, numbers, flags.NAMES[key])
    assert flag.reason.endswith(".")


@pytest.mark.parametrize(
    "given",
    [
        Given(60.0, [], []),
        Given(None, [(True, None, None, 3)] * 2, []),
        Given(None, [(True, None, None, 3), (True, None, None, 4), (True, None, None, 3)], []),
        Given(None, [], [4] * 5),
    ],
)
def test_what_is_just_within_the_thresholds_raises_nothing(given: Given) -> None:
    assert flags_of(given, Thresholds(), 60) == ()


def test_the_median_counts_from_five_people_on_and_the_higher_limit_holds() -> None:
    assert shortest_time([900] * 4, Thresholds()) == 60
    assert shortest_time([900] * 5, Thresholds()) == 300
    assert shortest_time([90] * 5, Thresholds()) == 60
    assert shortest_time([], Thresholds(fastest_seconds=0)) == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"fastest": 1}, "no threshold 'fastest'"),
        ({"fastest_seconds": "60"}, "is a number"),
        ({"alike_items": True}, "is a number"),
        ({"fastest_seconds": -1}, "0 seconds or more"),
        ({"fastest_share": 1.5}, "from 0 to 1"),
        ({"alike_ratings": 1}, "from 2"),
    ],
)
def test_thresholds_that_cannot_be_used_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        thresholds_from({"quality": given})
    assert thresholds_from({}) == Thresholds()
