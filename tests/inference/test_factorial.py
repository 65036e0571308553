"""Factorial and dose designs: against R on random studies, by hand, and where nothing can be said."""

from __future__ import annotations

import csv
import importlib.util
import sys
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from inference.ancova import FTest
from inference.anova import welch
from inference.contrasts import ContrastResult, planned_contrast
from inference.factorial import (
    CellMeans,
    MeanContrast,
    Term,
    factor_term,
    factorial_anova,
    interaction_term,
    joint_test,
    levels_of,
    mean_contrast,
    trend_term,
)
from inference.posthoc import games_howell
from inference.results import PairwiseResult, Undefined, WelchResult

pytestmark = pytest.mark.unit
DATA = Path(__file__).parents[1] / "data" / "statistics"


@cache
def designs() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("factorial_designs", DATA / "factorial_designs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return {design.name: design for design in module.designs()}


@cache
def references() -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    with (DATA / "factorial.csv").open() as stream:
        for row in csv.DictReader(stream):
            found.setdefault(row["design"], {})[row["statistic"]] = [float(each) for each in row["values"].split(";")]
    return found


def numbers(found: Any) -> list[float]:
    """The numbers of a result in the order of the reference script."""
    if isinstance(found, MeanContrast):
        return [found.value, found.se, found.df, found.p, found.p_family,
                found.family_interval.low, found.family_interval.high]  # fmt: skip
    assert isinstance(found, FTest), found
    return [found.f, found.df, found.df_within, found.p]


def named(kind: str, term: Term) -> dict[str, list[float]]:
    """Its contrasts under the names of the reference script."""
    return {
        f"{kind}.{name.replace(' against ', '.').replace(', ', '.')}": numbers(contrast)
        for name, contrast in term.contrasts.items()
    }


def computed(design: Any) -> dict[str, list[float]]:
    means = CellMeans.of_groups(design.groups, list(design.cells))
    assert isinstance(means, CellMeans)
    found: dict[str, list[float]] = {}
    factors = list(next(iter(design.cells.values())))
    for factor in factors:
        effect = factor_term(means, design.cells, factor)
        assert effect.means is not None
        assert effect.margins is not None
        found |= {f"mean.{factor}.{level}": numbers(mean) for level, mean in effect.margins.items()}
        assert list(effect.means.values()) == pytest.approx([mean.value for mean in effect.margins.values()])
        found |= {**named("pair", effect), f"joint.{factor}": numbers(effect.joint)}
    for first, second in combinations(factors, 2):
        both = interaction_term(means, design.cells, first, second)
        found |= {**named("tetrad", both), f"joint.{first}.{second}": numbers(both.joint)}
    if len(factors) > 1:
        anova = factorial_anova(design.groups, design.cells)
        assert not isinstance(anova, Undefined)
        found |= {f"anova.{term.replace(' × ', ':')}": numbers(test) for term, test in anova.items()}
    if design.doses:
        trend = trend_term(means, design.doses)
        assert trend.in_sd is not None
        found |= {"trend": numbers(trend.contrasts["trend"]), "departure": numbers(trend.joint)}
        found |= {"in_sd": [trend.in_sd]}
    return found


@pytest.mark.reference
@pytest.mark.parametrize("name", list(designs()))
def test_numbers_agree_with_r(name: str) -> None:
    """afex, emmeans and sandwich, R 4.2.2; the script is tests/data/statistics/factorial.R."""
    found, expected = computed(designs()[name]), references()[name]
    assert found.keys() == expected.keys()
    for statistic, values in expected.items():
        assert found[statistic][:4] == pytest.approx(values[:4], rel=1e-8, abs=1e-9), statistic
        # R's ptukey is off by up to 1e-4 at few degrees of freedom; `studentized_range` is tested against quadrature.
        assert found[statistic] == pytest.approx(values, rel=1e-4, abs=1e-6), statistic


ONE = {"A": [4, 5, 3, 4, 4, 5], "B": [2, 3, 2, 4, 1], "C": [3, 3, 2, 4, 5, 1, 2]}


def means_of(groups: dict[str, list[int]]) -> CellMeans:
    means = CellMeans.of_groups(groups, list(groups))
    assert isinstance(means, CellMeans)
    return means


def test_of_one_factor_it_is_welchs_test_and_games_howell() -> None:
    effect = factor_term(means_of(ONE), {name: {"x": name} for name in ONE}, "x")
    of_welch, pairs = welch(ONE), games_howell(ONE)
    assert isinstance(effect.joint, FTest)
    assert isinstance(of_welch, WelchResult)
    assert isinstance(pairs, PairwiseResult)
    assert (effect.joint.f, effect.joint.df_within) == pytest.approx((of_welch.f, of_welch.df_within))
    for pair in pairs.pairs:
        found = effect.contrasts[f"{pair.b} against {pair.a}"]
        assert isinstance(found, MeanContrast)
        own = (found.value, found.p_family, found.family_interval.low, found.family_interval.high)
        assert own == pytest.approx((-pair.difference, pair.p, -(pair.ci_high or 0), -(pair.ci_low or 0)))


def test_a_contrast_is_that_of_the_planned_contrast_with_separate_variances() -> None:
    found = mean_contrast(means_of(ONE), {"A": 1.0, "B": -0.5, "C": -0.5}, alpha=0.01)
    planned = planned_contrast(ONE, ["A"], ["B", "C"], alpha=0.01)
    assert isinstance(found, MeanContrast)
    assert isinstance(planned, ContrastResult)
    assert planned.welch is not None
    assert (found.value, found.se, found.df, found.p) == pytest.approx(
        (planned.difference, planned.welch.se, planned.welch.df, planned.welch.p)
    )
    assert (found.interval.low, found.interval.high) == pytest.approx((planned.welch.ci_low, planned.welch.ci_high))
    assert found.p_family == pytest.approx(found.p)
    assert found.family_interval.low == pytest.approx(found.interval.low)


def test_two_doses_are_welchs_t_test_per_unit() -> None:
    """The slope over doses 0 and 0.5 is twice the difference of the means."""
    trend = trend_term(means_of({"B": ONE["B"], "A": ONE["A"]}), {"B": 0.0, "A": 0.5})
    test, slope = stats.ttest_ind(ONE["A"], ONE["B"], equal_var=False), trend.contrasts["trend"]
    assert isinstance(slope, MeanContrast)
    assert (slope.t, slope.p) == pytest.approx((test.statistic, test.pvalue))
    assert slope.value == pytest.approx(2 * (25 / 6 - 2.4))
    assert trend.joint == Undefined("Two doses always lie on a straight line.")


def test_a_straight_line_has_no_departure() -> None:
    trend = trend_term(means_of({"none": [1, 2, 3], "some": [2, 3, 4], "much": [3, 4, 5]}),
                       {"none": 0.0, "some": 0.3, "much": 0.6})  # fmt: skip
    slope = trend.contrasts["trend"]
    assert isinstance(slope, MeanContrast)
    assert isinstance(trend.joint, FTest)
    assert (slope.value, trend.in_sd) == pytest.approx((1 / 0.3, 2.0))
    assert trend.joint.f == pytest.approx(0, abs=1e-20)
    assert trend.joint.df == 1


CROSSED = {x + y: {"x": x, "y": y} for x in "AB" for y in "12"}


def test_conditions_without_variance_are_compared_as_far_as_one_varies() -> None:
    means = means_of({"A1": [2, 2], "A2": [3, 3], "B1": [4, 4], "B2": [1, 3]})
    effect, both = factor_term(means, CROSSED, "x"), interaction_term(means, CROSSED, "x", "y")
    assert effect.means == {"A": 2.5, "B": 3.0}
    assert isinstance(effect.contrasts["B against A"], MeanContrast)
    crossed = both.contrasts["B against A, 2 against 1"]
    assert isinstance(crossed, MeanContrast)
    assert crossed.df == 1  # of the one condition that varies
    within = "Within the compared conditions all values are equal."
    assert mean_contrast(means, {"A1": 1.0, "A2": -1.0}) == Undefined(within)
    assert joint_test(means, [{"A1": 1.0, "A2": -1.0}, {"B1": 1.0, "B2": -1.0}]) == Undefined(
        "Too many conditions have no variance for a joint test."
    )
    constant = trend_term(means_of({"a": [1, 1], "b": [2, 2], "c": [4, 4]}), {"a": 0.0, "b": 0.5, "c": 1.0})
    assert (constant.contrasts["trend"], constant.in_sd) == (Undefined(within), None)
    assert isinstance(constant.joint, Undefined)


def test_a_condition_without_participants_leaves_the_design_undefined() -> None:
    groups = {"A1": [1, 2], "A2": [2, 3], "B1": [4], "B2": []}
    assert CellMeans.of_groups(groups, list(CROSSED)) == Undefined(
        "Too few participants in B1 and B2: the design needs every condition."
    )
    assert isinstance(factorial_anova({name: [3, 3] for name in CROSSED}, CROSSED), Undefined)


def test_a_factor_with_one_level_is_no_term() -> None:
    cells = {name: {**own, "z": "only"} for name, own in CROSSED.items()}
    anova = factorial_anova({"A1": [1, 2], "A2": [2, 3], "B1": [3, 4], "B2": [1, 1]}, cells)
    assert not isinstance(anova, Undefined)
    assert list(anova) == ["x", "y", "x × y"]
    assert levels_of(cells, "z") == ("only",)
