"""Quotas by what people said about themselves."""

from __future__ import annotations

import pytest

from studies.allocation.assignment.quotas import count_by_quota, first_full
from studies.settings import Quota, QuotaTest

pytestmark = pytest.mark.unit

WOMEN = Quota(name="women", most=2, where=(QuotaTest(question="gender", values=("woman",)),))
YOUNG = Quota(
    name="young men",
    most=1,
    where=(QuotaTest(question="gender", values=("man",)), QuotaTest(question="age", band=(20, 29))),
)


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


def test_a_quota_may_be_zero_and_a_band_one_number() -> None:
    quota = Quota(name="a", most=0, where=(QuotaTest(question="age", band=(20, 20)),))
    assert (quota.counts({"age": 20}), quota.counts({"age": 21}), quota.counts({})) == (True, False, False)
