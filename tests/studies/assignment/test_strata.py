"""Strata: who belongs where, what is expected of them, and sparse ones merged by the stated rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.allocation.assignment.strata import Strata, margins_of, stratum_of, traits_of
from studies.settings import StratumGroup, StratumRule

pytestmark = pytest.mark.unit

WOMEN, MEN = (StratumGroup(name=f"{word}en", values=(f"{word}an",)) for word in ("wom", "m"))
BY_AGE = StratumRule(question="age", bands=((20, 34), (35, 50)))
RULES = [StratumRule(question="gender", groups=(WOMEN,)), BY_AGE]


@pytest.mark.parametrize(
    ("answers", "stratum"),
    [
        ({"gender": "woman", "age": 20}, "women, 20-34"),
        ({"gender": "woman", "age": 34}, "women, 20-34"),
        ({"gender": "man", "age": 35}, "all others, 35-50"),
        ({"gender": "not_said", "age": 50}, "all others, 35-50"),
        ({"age": 18}, "all others, 20-34"),
        ({"gender": "woman", "age": 70}, "women, 35-50"),
        ({"gender": "woman"}, "women, not given"),
    ],
)
def test_stratum_of_merges_what_is_outside_by_the_stated_rule(answers: dict[str, object], stratum: str) -> None:
    assert stratum_of(answers, RULES) == stratum


def test_stratum_of_no_rule_is_everybody() -> None:
    assert stratum_of({"gender": "woman"}, ()) == "all"


def test_the_longest_name_is_that_of_the_most_letters() -> None:
    groups = (
        StratumGroup(name="women and girls", values=("woman",)),
        StratumGroup(name="young men", values=("man",)),
    )
    by_gender = StratumRule(question="gender", groups=groups, rest="zest")
    assert Strata([by_gender, BY_AGE], {}).longest_name() == "women and girls, not given"
    sparse = Strata([by_gender], {"gender": {"women and girls": 98, "young men": 1, "zest": 1}}, 0.02)
    assert sparse.longest_name() == "young men and 1 more"
    girls = StratumGroup(name="girls", values=("girl",))
    by_group = StratumRule(question="gender", groups=(MEN, girls), rest="others")
    merged = Strata([by_group], {"gender": {"men": 1, "girls": 1, "others": 98}}, 0.02)
    assert merged.longest_name() == "men and 1 more"


THREE = [StratumRule(question="gender", groups=(WOMEN, MEN)), BY_AGE]
FEW_OTHERS = {"gender": {"women": 48, "men": 48, "all others": 4}}


def test_expected_shares_are_products_and_equal_where_none_are_given() -> None:
    found = Strata(THREE, FEW_OTHERS).expected()
    assert found["women, 20-34"] == pytest.approx(0.24)
    assert found["all others, 35-50"] == pytest.approx(0.02)
    assert sum(found.values()) == pytest.approx(1)
    assert Strata((), {}).expected() == {"all": 1.0}


def test_no_stratum_is_merged_unless_a_limit_is_stated() -> None:
    strata = Strata(THREE, FEW_OTHERS)
    assert strata.merged() == {}
    assert strata.expected_merged() == strata.expected()


def test_a_sparse_stratum_joins_the_one_that_shares_its_leading_fields() -> None:
    strata = Strata(THREE, FEW_OTHERS, 0.03)
    merged = "all others, 20-34 and 1 more"
    assert strata.merged() == {"all others, 20-34": merged, "all others, 35-50": merged}
    assert strata.of({"gender": "not_said", "age": 44}) == merged
    assert strata.of({"gender": "not_said", "age": 44}, is_merged=False) == "all others, 35-50"
    assert strata.of({"gender": "woman", "age": 44}) == "women, 35-50"
    assert strata.expected_merged()[merged] == pytest.approx(0.04)


def test_a_stratum_that_is_still_sparse_joins_the_least_frequent_of_the_others() -> None:
    shares = {"gender": {"women": 50, "men": 46, "all others": 4}}
    assert Strata(THREE, shares, 0.05).merged() == dict.fromkeys(
        ["men, 20-34", "all others, 20-34", "all others, 35-50"], "men, 20-34 and 2 more"
    )


def test_a_sparse_stratum_and_the_only_other_one_become_one() -> None:
    one = "women and 1 more"
    strata = Strata(RULES[:1], {"gender": {"women": 9, "all others": 1}}, 0.2)
    assert strata.merged() == {"women": one, "all others": one}
    assert strata.expected_merged() == {one: 1.0}


@given(
    gender=st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any),
    age=st.lists(st.integers(0, 50), min_size=2, max_size=2).filter(any),
    limit=st.floats(0, 0.5),
)
def test_after_merging_no_stratum_is_sparse_and_nobody_is_lost(gender: list[int], age: list[int], limit: float) -> None:
    shares = {
        "gender": dict(zip(THREE[0].levels, gender, strict=True)),
        "age": dict(zip(THREE[1].levels, age, strict=True)),
    }
    strata = Strata(THREE, shares, limit)
    found = strata.expected_merged()
    assert sum(found.values()) == pytest.approx(1)
    assert len(found) == 1 or min(found.values()) >= limit - 1e-6
    assert set(strata.merged()) <= set(strata.expected())


def test_margins_count_those_who_share_a_trait_and_everybody() -> None:
    held = {("women, 20-34", 0): 3, ("women, 35-50", 1): 2, ("men, 20-34", 1): 4, ("not foreseen", 0): 1}
    assert margins_of("women, 20-34", held, 2) == [[3, 2], [3, 4], [4, 6]]
    assert margins_of("all", {}, 3) == [[0, 0, 0], [0, 0, 0]]
    assert traits_of("women, 20-34") == ("women", "20-34")
