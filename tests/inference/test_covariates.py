"""Covariates, interviewers, losses, levels and mediation: planted effects, and data without an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.errors import DataError
from inference import attrition as attrition_module
from inference.aggregation import LevelSlope, aggregation
from inference.ancova import ParticipantValues, adjusted_means, ancova
from inference.attrition import attrition_test
from inference.attrition_bounds import Arm, lee_bounds, worst_case_bounds
from inference.clusters import clustered
from inference.covariates import Covariate, blocks_of
from inference.item_effects import ItemAnswers, adjusted_items, fit_items
from inference.mediation import _Moments, mediation
from inference.results import Undefined

pytestmark = pytest.mark.unit


def planted(n: int = 60, *, effect: float = 0.5, slope: float = 1.0, seed: int = 1) -> ParticipantValues:
    rng = np.random.default_rng(seed)
    age, condition = rng.normal(0, 1, n), np.arange(n) % 2
    values = effect * condition + slope * age + rng.normal(0, 0.3, n)
    return ParticipantValues(values, [f"C{c}" for c in condition], [Covariate("age", age.tolist())])


def test_a_covariate_that_predicts_the_value_narrows_the_interval_of_a_difference() -> None:
    found = ancova(planted())
    pair = found.pairs[0]
    assert pair.adjusted.se < 0.4 * pair.unadjusted.se
    assert pair.adjusted.interval.low < -0.5 < pair.adjusted.interval.high
    assert found.sd_adjusted == pytest.approx(0.3, abs=0.06)
    assert pair.adjusted.is_significant
    assert not pair.unadjusted.is_significant


def test_covariates_that_cannot_be_used_are_named_with_the_reason() -> None:
    data = planted()
    age = data.covariates[0].values
    more = [
        *data.covariates,
        Covariate("same", [1.0] * 60),
        Covariate("unknown", [None] * 60),
        Covariate("years", [2 * value for value in age]),
        Covariate("room", list(data.conditions)),
        Covariate("band", ["young" if value < 0 else None for value in age]),
    ]
    found = ancova(replace(data, covariates=more))
    assert [test.name for test in found.covariates] == ["age", "band"]
    assert found.covariates[1].n_missing == sum(value >= 0 for value in age)
    assert {unused.name: unused.reason for unused in found.unused} == {
        "same": "It has the same value for every participant.",
        "unknown": "It has the same value for every participant.",
        "years": "The other covariates determine it.",
        "room": "It cannot be separated from the conditions.",
    }


def test_slopes_are_tested_only_where_degrees_of_freedom_remain() -> None:
    few = ParticipantValues([1, 2.1, 4, 3], ["A", "A", "B", "B"], [Covariate("x", [1.0, 2.0, 1.0, 3.0])])
    assert ancova(few).slopes is None
    one_slope = ParticipantValues([1, 2, 4, 3.5, 3], ["A", "A", "A", "B", "B"], [Covariate("x", [1.0, 2, 5, 3, 3])])
    assert ancova(one_slope).slopes is None
    exact = ParticipantValues(
        [1, 2, 3, 1, 3, 5], ["A"] * 3 + ["B"] * 3, [Covariate("x", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0])]
    )
    assert ancova(exact).slopes is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"conditions": ["C0"] * 60}, "two conditions"),
        ({"covariates": []}, "no covariate to adjust for"),
        ({"covariates": [Covariate("same", ["x"] * 60)]}, "same: It has the same value"),
        ({"covariates": [Covariate("who", [str(n // 2) for n in range(60)])]}, None),
        ({"values": np.arange(60) % 2}, "no residual variance"),
    ],
)
def test_an_analysis_without_a_result_says_why(changes: dict[str, Any], reason: str | None) -> None:
    found = ancova(replace(planted(), **changes))
    assert isinstance(found, Undefined) == (reason is not None)
    assert reason is None or reason in found.reason


def test_as_many_columns_as_participants_leave_nothing() -> None:
    data = ParticipantValues([1, 2, 3], ["A", "A", "B"], [Covariate("x", [1.0, 3.0, 2.0])])
    assert "no residual degrees of freedom" in ancova(data).reason


@pytest.mark.parametrize(
    "changes",
    [
        {"values": [np.nan] * 60},
        {"covariates": [Covariate("x", [1.0, "a"] * 30)]},
        {"covariates": [Covariate("x", [np.inf, 1.0] * 30)]},
    ],
)
def test_impossible_data_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        ancova(replace(planted(), **changes))


def test_conditions_without_participants_are_named() -> None:
    assert ancova(replace(planted(), names=["C0", "C2", "C1"])).left_out == ("C2",)


def test_a_covariate_without_any_value_has_one_level() -> None:
    blocks = blocks_of([Covariate("x", [None, None])], np.array([0, 1]))
    assert not blocks.used


def test_interviewers_are_accounted_for() -> None:
    rng = np.random.default_rng(3)
    interviewer, condition = np.arange(120) % 8, np.arange(120) // 8 % 2
    values = rng.normal(0, 1, 8)[interviewer] + rng.normal(0, 0.5, 120)
    data = ParticipantValues(values, [f"C{c}" for c in condition], ())
    found = clustered(data, interviewer.tolist())
    assert 0.5 < found.icc < 0.97
    assert found.p_clusters < 0.001
    assert found.n_clusters == 8
    without = clustered(replace(data, values=rng.normal(0, 1, 120)), [str(n % 8) for n in range(120)])
    assert without.icc < 0.2
    assert without.p_clusters > 0.05


@pytest.mark.parametrize(
    ("values", "clusters", "conditions", "reason"),
    [
        ([1, 2, 3, 4], [1, 1, 2, 2], "AAAA", "two conditions"),
        ([1, 2, 3, 4], [1, 1, 1, 1], "ABAB", "One interviewer"),
        ([1, 2, 3, 4], [1, 2, 3, 4], "ABAB", "Every interviewer led one interview"),
        ([1, 2, 3, 4], [1, 2, 1, 2], "ABAB", "Every condition has one interviewer"),
        ([1, 2, 1, 2], [1, 1, 2, 2], "ABAB", "all values are equal"),
        ([1, 1, 3, 3, 5, 5.0], [1, 1, 2, 2, 3, 3], "ABABAB", "no residual variance"),
    ],
)
def test_interviews_without_a_model_say_why(
    values: list[float], clusters: list[int], conditions: str, reason: str
) -> None:
    found = clustered(ParticipantValues(values, list(conditions), ()), clusters)
    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_losses_are_tested_by_what_the_counts_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    many = attrition_test({"A": (100, 10), "B": (100, 30), "C": (0, 0)})
    assert (many.p_method, len(many.rates)) == ("chi-square", 2)
    assert many.chi_squared == pytest.approx(12.5)
    few = {"A": (20, 1), "B": (20, 7), "C": (15, 2)}
    exact = attrition_test(few)
    monkeypatch.setattr(attrition_module, "MOST_TABLES", 1)
    drawn = attrition_test(few)
    assert (exact.p_method, drawn.p_method) == ("exact", "Monte Carlo")
    assert drawn.p == pytest.approx(exact.p, abs=4 * (exact.p / 99_999) ** 0.5)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({"A": (5, 1), "B": (0, 0)}, "two conditions"),
        ({"A": (5, 0), "B": (5, 0)}, "No assigned"),
        ({"A": (5, 5), "B": (5, 5)}, "Every assigned"),
    ],
)
def test_losses_that_cannot_be_compared_say_why(counts: dict[str, tuple[int, int]], reason: str) -> None:
    assert reason in attrition_test(counts).reason


def test_bounds_without_losses_are_the_difference() -> None:
    a, b = Arm([1, 2, 3, 5], 4), Arm([2, 2, 4, 5], 4)
    for found in (lee_bounds(a, b), worst_case_bounds(a, b, 1, 5)):
        assert found.low == found.high == -0.5
        welch = np.sqrt(np.var([1, 2, 3, 5], ddof=1) / 4 + np.var([2, 2, 4, 5], ddof=1) / 4)
        assert found.interval.high == pytest.approx(-0.5 + 1.959964 * welch, abs=0.2)


def test_equal_values_have_bounds_without_error() -> None:
    found = worst_case_bounds(Arm([2, 2], 2), Arm([3, 3], 2), 1, 5)
    assert (found.interval.low, found.interval.high) == (-1, -1)


def test_trimming_turns_with_the_order_of_the_conditions() -> None:
    a, b = Arm([1, 2, 3, 4, 5], 5), Arm([2, 3, 4], 5)
    one, other = lee_bounds(a, b), lee_bounds(b, a)
    assert (one.low, one.high) == (-other.high, -other.low)
    assert one.trimmed == other.trimmed == pytest.approx(0.4)


def test_bounds_that_cannot_be_computed_say_why() -> None:
    assert "two observed values" in lee_bounds(Arm([1], 3), Arm([1, 2], 2)).reason
    assert "two participants" in worst_case_bounds(Arm([1], 1), Arm([1, 2], 2), 1, 5).reason
    with pytest.raises(DataError):
        lee_bounds(Arm([np.nan, 1], 2), Arm([1, 2], 2))


@pytest.mark.slow
def test_lees_interval_covers_the_difference_of_those_who_stay() -> None:
    rng, covered = np.random.default_rng(5), 0
    for _ in range(400):
        would_stay, values = rng.random(400) < 0.75, rng.normal(3, 1, 400)
        stays_in_a = would_stay | (rng.random(400) < 0.5)
        in_a = np.arange(400) % 2 == 0
        a = values[in_a & stays_in_a] + 0.4
        found = lee_bounds(Arm(a, 200), Arm(values[~in_a & would_stay], 200))
        covered += found.interval.low <= 0.4 <= found.interval.high
    assert covered / 400 > 0.93


def answers(n: int = 40, m: int = 4) -> tuple[ItemAnswers, list[float]]:
    rng = np.random.default_rng(9)
    person, item = np.repeat(np.arange(n), m), np.concatenate([rng.choice(12, m, replace=False) for _ in range(n)])
    seen = (rng.random(n * m) < np.where(person % 2, 0.7, 0.2)).astype(float)
    values = rng.normal(0, 0.4, n)[person] + rng.normal(0, 0.4, 12)[item] + seen + rng.normal(0, 0.5, n * m)
    return ItemAnswers(values, np.where(person % 2, "A", "B"), person, item), seen.tolist()


def test_a_difference_that_knowledge_of_items_explains_shrinks() -> None:
    ratings, seen = answers()
    found = adjusted_items(ratings, [Covariate("seen", seen), Covariate("half", ["x", "y"] * 80)])
    before = fit_items(ratings).result().pairs.pairs[0].difference
    assert abs(found.model.pairs.pairs[0].difference) < 0.6 * abs(before)
    assert [slope.name for slope in found.slopes] == ["seen"]
    assert found.slopes[0].interval.low < 1 < found.slopes[0].interval.high


@pytest.mark.parametrize("kind", ["one condition", "one item each", "nothing", "constant", "saturated", "exact"])
def test_ratings_without_a_model_say_why(kind: str) -> None:
    ratings, seen = answers(8, 3)
    n = len(seen)
    covariates = [Covariate("seen", seen)]
    reason = {
        "one condition": "two conditions", "one item each": "share no items", "nothing": "no covariate",
        "constant": "same: It has the same value", "saturated": "no residual degrees", "exact": "reproduce all ratings",
    }[kind]  # fmt: skip
    if kind == "one condition":
        ratings = replace(ratings, conditions=["A"] * n)
    elif kind == "one item each":
        ratings = replace(ratings, items=list(range(n)))
    elif kind == "nothing":
        covariates = []
    elif kind == "constant":
        covariates = [Covariate("same", [1.0] * n)]
    elif kind == "saturated":
        rng = np.random.default_rng(2)
        covariates = [Covariate(str(number), rng.normal(0, 1, n).tolist()) for number in range(n - 2)]
    else:
        spread = np.random.default_rng(2).normal(0, 1, n)
        ratings, covariates = replace(ratings, values=spread), [Covariate("same", spread.tolist())]
    found = adjusted_items(ratings, covariates)
    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_a_relation_that_reverses_within_conditions_is_found() -> None:
    rng = np.random.default_rng(4)
    condition = np.arange(120) % 3
    by = condition + rng.normal(0, 0.4, 120)
    values = 3 * condition - by + rng.normal(0, 0.2, 120)
    found = aggregation(values, by, [f"C{c}" for c in condition], np.arange(120) // 3 * 3 + condition)
    assert found.is_reversed
    assert found.is_reversed_between
    assert found.opposite == ("C0", "C1", "C2")
    plain = aggregation(by + rng.normal(0, 0.2, 120), by, [f"C{c}" for c in condition], range(120))
    assert not plain.is_reversed
    assert isinstance(plain.within_participants, Undefined)


def test_levels_without_variation_have_no_slope() -> None:
    conditions, persons = ["A"] * 4 + ["B"] * 4, [0, 0, 1, 1, 2, 2, 3, 3]
    found = aggregation([1, 2, 1, 2, 4, 5, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1], conditions, persons)
    assert isinstance(found.total, LevelSlope)
    assert isinstance(found.within_conditions, Undefined)
    assert [slope.slope for slope in found.by_condition] == [None, None]
    assert not found.is_reversed
    alike = aggregation([1, 2, 1, 2, 4, 5, 4, 3], [0, 1, 0, 1, 0, 1, 0, 1], conditions, persons)
    assert alike.between_slope is None
    assert not alike.is_reversed_between


def test_relations_without_a_result_say_why() -> None:
    assert "three participants" in aggregation([1, 2], [1, 2], "AB", [1, 2]).reason
    assert "three participants" in aggregation([], [], [], []).reason
    assert "does not vary" in aggregation([1, 2, 3], [1, 1, 1], "ABA", [1, 2, 3]).reason
    assert "no residual variance" in aggregation([1, 1, 1], [1, 2, 3], "ABA", [1, 2, 3]).reason
    with pytest.raises(DataError):
        aggregation([1, np.inf], [1, 2], "AB", [1, 2])


def of_lists(n: int = 90) -> tuple[ParticipantValues, dict[str, list[float]]]:
    rng = np.random.default_rng(6)
    condition = np.arange(n) % 3
    popularity, diversity = condition + rng.normal(0, 0.5, n), rng.normal(0, 0.5, n)
    values = 0.8 * popularity + rng.normal(0, 0.3, n)
    data = ParticipantValues(values, [f"C{c}" for c in condition], ())
    return data, {"popularity": popularity.tolist(), "diversity": diversity.tolist()}


def test_a_difference_goes_along_with_the_mediator_that_carries_it() -> None:
    data, mediators = of_lists()
    found = mediation(data, mediators, resamples=2000, rng=np.random.default_rng(1))
    pair = next(pair for pair in found.pairs if (pair.a, pair.b) == ("C0", "C2"))
    popularity, diversity = pair.indirect
    assert popularity.interval.low < -1.6 < popularity.interval.high < 0
    assert diversity.interval.low < 0 < diversity.interval.high
    assert pair.direct_interval.low < 0 < pair.direct_interval.high
    assert pair.total == pytest.approx(pair.direct + popularity.estimate + diversity.estimate)


def test_resamples_are_those_of_plain_refits() -> None:
    data, mediators = of_lists(30)
    columns = np.array(list(mediators.values())).T
    condition = np.array([int(label[1]) for label in data.conditions])
    moments = _Moments(np.asarray(data.values), columns, condition)
    chosen = np.random.default_rng(8).integers(0, 10, 30) * 3 + condition
    counts = np.bincount(chosen, minlength=30)[np.newaxis].astype(float)
    slopes, means = moments.at([counts[:, condition == index] for index in range(3)])
    design = np.hstack([np.eye(3)[condition], columns[chosen]])
    fitted = np.linalg.lstsq(design, np.asarray(data.values)[chosen], rcond=None)[0]
    assert slopes[0] == pytest.approx(fitted[3:])
    assert means[0, 1, 0] == pytest.approx(columns[chosen][condition == 1, 0].mean())


def test_resamples_without_slopes_are_drawn_again() -> None:
    data = ParticipantValues([1, 2, 3, 4.5], ["A", "A", "B", "B"], ())
    found = mediation(data, {"m": [0, 1, 0, 2]}, resamples=50, rng=np.random.default_rng(1))
    assert np.isfinite(found.pairs[0].indirect[0].interval.low)


@pytest.mark.parametrize(
    ("mediators", "conditions", "reason"),
    [
        ({"m": [1, 2, 3, 4]}, "AAAA", "two conditions"),
        ({}, "ABAB", "do not vary"),
        ({"m": [1, 2, 1, 2]}, "ABAB", "do not vary"),
        ({"m": [1, 2, 3, 5], "n": [1, 0, 2, 2]}, "ABAB", "no residual degrees of freedom"),
    ],
)
def test_differences_without_parts_say_why(mediators: dict[str, list[float]], conditions: str, reason: str) -> None:
    data = ParticipantValues([1, 2, 3, 4], list(conditions), ())
    found = mediation(data, mediators, resamples=10, rng=np.random.default_rng(1))
    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_impossible_mediators_are_refused() -> None:
    data = ParticipantValues([1, 2, 3, 4], list("ABAB"), ())
    with pytest.raises(DataError):
        mediation(data, {"m": [1, 2, np.nan, 3]}, resamples=10, rng=np.random.default_rng(1))


def test_adjusted_means_need_a_covariate_and_residual_variance() -> None:
    age = Covariate("age", [1, 2, 1, 2])
    without = adjusted_means(ParticipantValues([1, 2, 3, 4], ["A", "A", "B", "B"], ()))
    assert isinstance(without, Undefined)
    assert "no covariate" in without.reason
    exact = adjusted_means(ParticipantValues([1, 2, 1], ["A", "A", "B"], [replace(age, values=[1, 2, 1])]))
    assert isinstance(exact, Undefined)
    assert "no residual variance" in exact.reason
