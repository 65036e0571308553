"""Quotas by what people said about themselves."""

from __future__ import annotations

import pytest

from core.errors import ParameterError
from studies.allocation.assignment.quotas import Quota, count_by_quota, first_full, quotas_from

pytestmark = pytest.mark.unit

WOMEN = Quota("women", 2, ({"question": "gender", "values": ["woman"]},))
YOUNG = Quota("young men", 1, ({"question": "gender", "values": ["man"]}, {"question": "age", "band": [20, 29]}))


@pytest.mark.parametrize(
    ("answers", "women", "young"),
    [
        ({"gender": "woman", "age": 25}, True, False),
        ({"gender": "man", "age": 20}, False, True),
        ({"gender": "man", "age": 29}, False, True),
        ({"gender": "man", "age": 30}, False, False),
        ({"gender": "man"}, False, False),
        ({"gender": "man", "age": True}, False, False),
        ({"age": 25}, False, False),
    ],
)
def test_a_quota_counts_those_who_meet_every_test(answers: dict[str, object], women: bool, young: bool) -> None:
    assert (WOMEN.counts(answers), YOUNG.counts(answers)) == (women, young)


def test_the_first_full_quota_keeps_a_newcomer_out_and_nobody_else() -> None:
    people = [{"gender": "woman", "age": 25}, {"gender": "man", "age": 25}]
    assert count_by_quota([WOMEN, YOUNG], people) == [1, 1]
    assert first_full([WOMEN, YOUNG], {"gender": "woman", "age": 40}, people) is None
    full = first_full([WOMEN, YOUNG], {"gender": "man", "age": 22}, people)
    assert full is YOUNG
    assert first_full([WOMEN, YOUNG], {"gender": "man", "age": 40}, people) is None
    assert first_full([WOMEN], {"gender": "woman"}, [*people, people[0]]) is WOMEN


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"most": -1, "where": [{"question": "age", "band": [20, 29]}]}, "is a whole number from 0; got -1."),
        ({"most": True, "where": [{"question": "age", "band": [20, 29]}]}, "is a whole number from 0; got True."),
        ({"where": [{"question": "age", "band": [20, 29]}]}, "is a whole number from 0; got -1."),
        ({"most": 3}, "has no rule. Add a question with its values or band."),
        *(
            ({"most": 3, "where": [test]}, f"needs a question with values or a rising band; got {test}.")
            for test in (
                {"question": "age"},
                {"question": "age", "band": [29, 20]},
                {"question": "age", "band": [20]},
                {"question": "age", "band": [20, 29], "values": ["a"]},
                {"values": ["woman"]},
            )
        ),
    ],
)
def test_a_quota_that_cannot_be_used_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError) as refused:
        quotas_from({"quotas": [{"name": "a", **given}]})
    assert str(refused.value) == f"The quota 'a' {message}"


def test_a_quota_may_be_zero_and_a_band_one_number() -> None:
    (quota,) = quotas_from({"quotas": [{"name": "a", "most": 0, "where": [{"question": "age", "band": [20, 20]}]}]})
    assert (quota.name, quota.most, quota.counts({"age": 20}), quota.counts({"age": 21})) == ("a", 0, True, False)


def test_two_quotas_of_one_name_are_refused() -> None:
    one = {"name": "a", "most": 3, "where": [{"question": "age", "band": [20, 29]}]}
    with pytest.raises(ParameterError) as refused:
        quotas_from({"quotas": [one, one]})
    assert str(refused.value) == "Two quotas have the same name; they are a, a."
    assert quotas_from({}) == ()
