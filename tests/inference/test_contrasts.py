"""Planned contrasts beside R, Student's and Welch's t, and the analysis of variance."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from inference.anova import one_way
from inference.contrasts import ContrastResult, planned_contrast
from inference.results import Undefined

pytestmark = pytest.mark.unit
GROUPS = {"A": [4, 5, 3, 4, 4, 5], "B": [2, 3, 2, 4, 1], "C": [3, 3, 2, 4, 5, 1, 2], "D": [1, 2, 2, 1]}
sample = st.lists(st.integers(0, 25), min_size=2, max_size=8)


def found_of(**given: object) -> ContrastResult:
    found = planned_contrast(GROUPS, ["A", "C"], ["B", "D"], **given)  # type: ignore[arg-type]
    assert isinstance(found, ContrastResult)
    return found


def test_numbers_agree_with_r() -> None:
    """``lm(y ~ 0 + g)`` and weights of (1/2, -1/2, 1/2, -1/2), R 4.2.2."""
    found = found_of()
    assert found.difference == pytest.approx(1.56190476190476, rel=1e-13)
    assert found.pooled.se == pytest.approx(0.458064925186999, rel=1e-13)
    assert found.pooled.t == pytest.approx(3.40978904085951, rel=1e-13)
    assert found.pooled.df == 18
    assert found.pooled.p == pytest.approx(0.00312305349739781, rel=1e-11)
    assert found.pooled.ci_low == pytest.approx(0.599546064718034, rel=1e-11)
    assert found.pooled.ci_high == pytest.approx(2.52426345909149, rel=1e-11)
    assert found.d == pytest.approx(1.48582688132092, rel=1e-13)
    one = found_of(sides=1).pooled
    assert one.p == pytest.approx(0.0015615267486989, rel=1e-11)
    assert (one.ci_low, one.ci_high) == (pytest.approx(0.767591045670002, rel=1e-11), None)


def test_of_two_conditions_its_welch_test_is_welchs() -> None:
    """``t.test(A, B)``, R 4.2.2."""
    found = planned_contrast({name: GROUPS[name] for name in "AB"}, ["A"], ["B"])
    assert isinstance(found, ContrastResult)
    assert found.welch is not None
    assert found.welch.t == pytest.approx(2.96743030806603, rel=1e-12)
    assert found.welch.df == pytest.approx(6.72399894277785, rel=1e-12)
    assert found.welch.p == pytest.approx(0.0218838044786996, rel=1e-10)
    assert found.welch.ci_low == pytest.approx(0.347082698501223, rel=1e-9)


@given(sample, sample)
def test_of_two_conditions_t_squared_is_f(a: list[int], b: list[int]) -> None:
    assume(len(set(a)) > 1 and len(set(b)) > 1)
    found, anova = planned_contrast({"a": a, "b": b}, ["a"], ["b"]), one_way({"a": a, "b": b})
    assert isinstance(found, ContrastResult)
    assert not isinstance(anova, Undefined)
    assert found.pooled.t**2 == pytest.approx(anova.f, rel=1e-9, abs=1e-12)
    assert found.pooled.p == pytest.approx(float(stats.ttest_ind(a, b).pvalue), rel=1e-8)


@given(sample, sample, sample)
def test_turned_round_it_changes_its_sign_alone(a: list[int], b: list[int], c: list[int]) -> None:
    assume(any(len(set(one)) > 1 for one in (a, b, c)))
    groups = {"a": a, "b": b, "c": c}
    one, other = planned_contrast(groups, ["a"], ["b", "c"]), planned_contrast(groups, ["b", "c"], ["a"])
    assert isinstance(one, ContrastResult)
    assert isinstance(other, ContrastResult)
    assert one.difference == -other.difference
    assert one.pooled.p == other.pooled.p
    sides = [planned_contrast(groups, *sets, sides=1) for sets in ((["a"], ["b", "c"]), (["b", "c"], ["a"]))]
    assert sum(side.pooled.p for side in sides if isinstance(side, ContrastResult)) == pytest.approx(1)


def test_what_cannot_be_tested_says_why() -> None:
    few = planned_contrast({**GROUPS, "D": [1]}, ["A"], ["D"])
    assert isinstance(few, Undefined)
    assert few.reason == "Too few participants in D for the planned contrast."
    same = planned_contrast({"A": [4, 4], "B": [1, 1]}, ["A"], ["B"])
    assert isinstance(same, Undefined)
    partly = planned_contrast({"A": [4, 4], "B": [1, 1], "C": [1, 2]}, ["A"], ["B"])
    assert isinstance(partly, ContrastResult)
    assert partly.welch is None
