from __future__ import annotations

import math
from dataclasses import asdict

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from inference import anova, posthoc, rank_tests
from inference.results import Undefined

sample = st.lists(st.integers(0, 25).map(lambda count: count / 5), min_size=2, max_size=12)
wild = st.one_of(
    st.integers(-5, 5),
    st.floats(-1e12, 1e12).filter(lambda x: x == 0 or abs(x) > 1e-50),
    st.sampled_from([1e-60, 1e60, -1e60, 1e-30, 1.0, 1.0000000000000002]),
)
wild_groups = st.dictionaries(st.sampled_from("ABC"), st.lists(wild, max_size=5), max_size=3)


def numbers(value: object) -> list[float]:
    """Every number inside a value."""
    if isinstance(value, dict):
        return [found for item in value.values() for found in numbers(item)]
    if isinstance(value, list | tuple):
        return [found for item in value for found in numbers(item)]
    return [value] if isinstance(value, int | float) else []


@given(sample, sample)
def test_f_of_two_conditions_is_the_square_of_t(a: list[float], b: list[float]) -> None:
    assume(len(set(a)) > 1 and len(set(b)) > 1)
    found = anova.one_way({"a": a, "b": b})
    t = stats.ttest_ind(a, b)
    assert found.f == pytest.approx(t.statistic**2, rel=1e-9, abs=1e-12)
    assert found.p == pytest.approx(t.pvalue, rel=1e-8)


@given(sample, sample)
def test_welch_of_two_conditions_is_the_t_test_for_unequal_variances(a: list[float], b: list[float]) -> None:
    assume(len(set(a)) > 1 and len(set(b)) > 1)
    found = anova.welch({"a": a, "b": b})
    t = stats.ttest_ind(a, b, equal_var=False)
    assert found.f == pytest.approx(t.statistic**2, rel=1e-9, abs=1e-12)
    assert found.df_within == pytest.approx(t.df, rel=1e-9)
    assert found.p == pytest.approx(t.pvalue, rel=1e-8)


@given(st.lists(sample, min_size=2, max_size=4), st.integers(-7, 7), st.sampled_from([0.25, 3, 10]))
def test_f_knows_neither_origin_nor_unit(data: list[list[float]], origin: int, unit: float) -> None:
    groups = {str(place): values for place, values in enumerate(data)}
    moved = {name: [round(unit * value + origin, 6) for value in values] for name, values in groups.items()}
    found, of_moved = anova.one_way(groups), anova.one_way(moved)
    if isinstance(found, Undefined):
        assert of_moved == found
    else:
        assert of_moved.f == pytest.approx(found.f, rel=1e-13)


@settings(max_examples=150, deadline=None)
@given(wild_groups)
def test_no_procedure_raises_or_gives_nan_on_degenerate_data(groups: dict[str, list[float]]) -> None:
    for procedure in (
        anova.one_way,
        anova.welch,
        anova.brown_forsythe,
        anova.shapiro_residuals,
        rank_tests.kruskal_wallis,
        rank_tests.dunn_holm,
        posthoc.tukey_hsd,
    ):
        found = procedure(groups)
        if isinstance(found, Undefined):
            assert found.reason.endswith(".")
        else:
            assert all(math.isfinite(number) for number in numbers(asdict(found)))
            p = getattr(found, "p", 0.5)
            assert 0 <= p <= 1


@settings(max_examples=20, deadline=None)
@given(wild_groups)
def test_games_howell_neither_raises_nor_gives_nan(groups: dict[str, list[float]]) -> None:
    found = posthoc.games_howell(groups)
    assert all(math.isfinite(number) for number in numbers(asdict(found)))


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ({}, "none has"),
        ({"A": [1, 2], "B": []}, "only A has"),
        ({"A": [3, 3], "B": [3]}, "All 3 participants have the same value"),
        ({"A": [1], "B": [2]}, "single observation"),
        ({"A": [3, 3], "B": [4, 4]}, "without that variance"),
    ],
)
def test_pooled_tests_name_the_reason_when_they_are_undefined(groups: dict, reason: str) -> None:
    for procedure in (anova.one_way, posthoc.tukey_hsd):
        found = procedure(groups)
        assert isinstance(found, Undefined)
        assert reason in found.reason


def test_conditions_that_took_part_oddly_or_not_at_all_are_named() -> None:
    groups = {"none": [], "one": [4], "equal": [2, 2, 2], "plain": [1, 2, 5]}
    for found in (anova.one_way(groups), posthoc.tukey_hsd(groups)):
        assert (found.left_out, found.single, found.constant) == (("none",), ("one",), ("equal",))
    strict = anova.one_way(groups, least_n=2)
    assert (strict.left_out, strict.single, strict.n_conditions) == (("none", "one"), (), 2)


def test_interval_of_eta_squared_starts_at_zero_when_nothing_differs() -> None:
    found = anova.one_way({"A": [1, 2, 3], "B": [1, 2, 3]})
    assert found.f == 0
    assert found.p == 1
    assert (found.eta_squared_ci.low, found.eta_squared_ci.high) == (0.0, 0.0)


def test_interval_of_eta_squared_is_left_out_when_f_is_beyond_reach() -> None:
    found = anova.one_way({"A": [0, 0.001], "B": [1e6, 1e6]})
    assert found.f > anova.LARGEST_F_FOR_INTERVAL
    assert found.eta_squared_ci is None
    assert found.eta_squared_ci_steiger is None
    assert found.eta_squared == pytest.approx(1)


@pytest.mark.parametrize("f_over", [1.0, 3.0, 50.0, 1e3, 6e5])
@pytest.mark.parametrize("n", [3, 30])
def test_limits_of_eta_squared_put_f_at_the_tails_of_its_distribution(f_over: float, n: int) -> None:
    half = math.sqrt(f_over * 2 / n)
    found = anova.one_way({"A": [0, 1, 2] * (n // 3), "B": [0 + half, 1 + half, 2 + half] * (n // 3)})
    interval, df = found.eta_squared_ci, found.df_within
    assert interval.low <= found.eta_squared <= interval.high + 1e-12
    for share, tail in ((interval.low, 0.975), (interval.high, 0.025)):
        noncentrality = share / (1 - share) * df
        if noncentrality:
            assert stats.ncf.cdf(found.f, 1, df, noncentrality) == pytest.approx(tail, abs=1e-6)


def test_welch_leaves_conditions_out_by_name_when_told_to() -> None:
    groups = {"TopPop": [0, 0, 0], "one": [1], "LSA": [0, 1, 2, 1], "CorNgr": [2, 3, 5]}
    assert anova.welch(groups).reason.startswith("TopPop has no variance")
    found = anova.welch(groups, leave_out_constant=True)
    alone = anova.welch({"LSA": groups["LSA"], "CorNgr": groups["CorNgr"]})
    assert (found.f, found.df_within, found.p) == (alone.f, alone.df_within, alone.p)
    assert found.left_out == ("one", "TopPop")


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ({"A": [1, 2]}, "two conditions"),
        ({"A": [3, 3], "B": [3, 3]}, "All 4 participants"),
        ({"A": [3, 3], "B": [4, 4], "C": [1, 2]}, "A and B have no variance: their weight"),
    ],
)
def test_welch_names_the_reason_when_it_is_undefined(groups: dict, reason: str) -> None:
    found = anova.welch(groups)
    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_welch_is_undefined_when_leaving_out_leaves_one_condition() -> None:
    found = anova.welch({"A": [3, 3], "B": [1, 2]}, leave_out_constant=True)
    assert "two conditions" in found.reason
