"""The models of participants and items: against statsmodels, against planted values, and data without an answer."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.regression.mixed_linear_model import MixedLM

from core.errors import DataError
from inference import item_effects
from inference.item_effects import ItemAnswers, fit_items
from inference.results import Undefined
from inference.variance_components import Estimates
from tests.inference.mixed_models import crossed_fit, crossed_items


def planted(k: int, n: int, items: int, pool: int, seed: int, *, few: int = 0) -> ItemAnswers:
    """Answers with sd .5 of persons, .6 of items and .8 of the rest; the first condition shows `few` items only."""
    rng = np.random.default_rng(seed)
    condition = np.repeat(np.arange(k), n)
    person = np.repeat(np.arange(k * n), items)
    item = np.concatenate([rng.choice(few if few and c == 0 else pool, items, replace=False) for c in condition])
    noise = rng.normal(0, 0.5, k * n)[person] + rng.normal(0, 0.6, pool)[item] + rng.normal(0, 0.8, len(person))
    return ItemAnswers(3 + noise, np.array([f"C{c}" for c in condition])[person], person, item)


def nested_items(answers: ItemAnswers) -> Any:
    """The result with nested items."""
    return fit_items(answers).result()


@pytest.mark.reference
@pytest.mark.parametrize("is_nested", [True, False])
def test_the_fit_is_that_of_statsmodels(is_nested: bool) -> None:
    answers = planted(3, 12, 4, 20, seed=3)
    found = nested_items(answers) if is_nested else crossed_items(answers)
    frame = pd.DataFrame({"y": answers.values, "c": answers.conditions, "p": answers.persons, "all": 1})
    frame["i"] = [f"{c} {i}" if is_nested else i for c, i in zip(answers.conditions, answers.items, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its optimiser
        model = MixedLM.from_formula(
            "y ~ 0 + C(c)", groups="all", vc_formula={"p": "0 + C(p)", "i": "0 + C(i)"}, data=frame
        )
        other = model.fit(reml=True, method="lbfgs")
    assert found.log_likelihood == pytest.approx(other.llf, abs=1e-5)
    assert found.log_likelihood >= other.llf - 1e-9  # nothing better was missed
    assert [found.sd_items, found.sd_persons] == pytest.approx(np.sqrt(other.vcomp), rel=1e-3)
    assert found.sd_residual == pytest.approx(np.sqrt(other.scale), rel=1e-3)
    if not is_nested:  # whose means are those observed
        assert [one.mean for one in found.conditions] == pytest.approx(other.fe_params.to_numpy(), abs=1e-4)
        assert [one.se for one in found.conditions] == pytest.approx(other.bse_fe.to_numpy(), rel=5e-3)


@pytest.mark.parametrize("ratio", [1.0, 1e-2, 1e-3, 1e-4, 2e-5, 1e-6])
def test_degrees_of_freedom_are_exact_however_small_a_variance(ratio: float) -> None:
    """In balanced crossed data a difference of conditions has the degrees of freedom of the mean square of persons."""
    n, m = 24, 6
    rng = np.random.default_rng(1)
    condition, drawn = np.repeat([0, 1], n // 2), rng.normal(0, 1, (n, m))
    rest = drawn - drawn.mean(axis=1, keepdims=True) - drawn.mean(axis=0) + drawn.mean()
    persons = drawn.mean(axis=1)
    persons -= np.array([persons[condition == c].mean() for c in (0, 1)])[condition]
    # The ratio of the mean squares is that of these variances.
    wished = (rest**2).sum() / ((n - 1) * (m - 1)) * (1 + m * ratio)
    persons *= np.sqrt(wished / (m * (persons**2).sum() / (n - 2)))
    values = rest + persons[:, None] + np.arange(m) + 0.5 * condition[:, None]
    answers = ItemAnswers(
        values.ravel(), np.repeat(np.array(["A", "B"])[condition], m), np.repeat(np.arange(n), m),
        np.tile(np.arange(m), n),
    )  # fmt: skip
    fit, estimates = crossed_fit(answers)
    assert fit.ratios[0] > 0
    assert estimates.df(np.array([1.0, -1.0])) == pytest.approx(n - 2, rel=1e-4)


def test_balanced_data_without_items_are_the_analysis_of_variance_of_means() -> None:
    """With every item shown to everybody, differences of conditions do not depend on crossed items at all."""
    rng = np.random.default_rng(5)
    n, m = 20, 5
    person, item = np.repeat(np.arange(2 * n), m), np.tile(np.arange(m), 2 * n)
    values = rng.normal(0, 1, 2 * n)[person] + rng.normal(0, 1, m)[item] + rng.normal(0, 0.5, 2 * n * m)
    found = crossed_items(ItemAnswers(values, np.where(person < n, "A", "B"), person, item))
    means = values.reshape(2 * n, m).mean(axis=1)
    pooled = (means[:n].var(ddof=1) + means[n:].var(ddof=1)) / 2
    (pair,) = found.pairs.pairs
    assert pair.difference == pytest.approx(means[:n].mean() - means[n:].mean())
    assert pair.se == pytest.approx(np.sqrt(2 * pooled / n), rel=1e-4)
    assert pair.df == pytest.approx(2 * n - 2, rel=1e-3)
    assert found.f == pytest.approx((pair.difference / pair.se) ** 2)


def test_planted_spreads_are_found_and_few_items_widen_the_error() -> None:
    found = crossed_items(planted(4, 150, 5, 120, seed=7, few=5))
    assert found.sd_persons == pytest.approx(0.5, abs=0.06)
    assert found.sd_items == pytest.approx(0.6, abs=0.1)
    assert found.sd_residual == pytest.approx(0.8, abs=0.04)
    assert found.share_persons + found.share_items + found.share_residual == pytest.approx(1)
    first, *others = found.conditions
    assert (first.n_items, first.n_persons, first.n_answers) == (5, 150, 750)
    assert first.se > 1.4 * max(one.se for one in others)


def test_conditions_do_not_share_nested_items() -> None:
    answers = planted(3, 20, 4, 15, seed=17)
    apart = [f"{c} {i}" for c, i in zip(answers.conditions, answers.items, strict=True)]
    nested, renamed = nested_items(answers), crossed_items(replace(answers, items=apart))
    assert nested.log_likelihood == pytest.approx(renamed.log_likelihood)
    assert nested.sd_items == pytest.approx(renamed.sd_items, abs=1e-6)
    assert (nested.n_items, renamed.n_items) == (15, 45)


def test_means_of_nested_items_are_observed_means_of_participants() -> None:
    answers = planted(2, 30, 5, 25, seed=11)
    kept = np.ones(len(answers.values), dtype=bool)
    kept[:40:3] = False
    columns = (answers.values, answers.conditions, answers.persons, answers.items)
    fewer = ItemAnswers(*(column[kept] for column in columns))
    frame = pd.DataFrame({"y": fewer.values, "c": fewer.conditions, "p": fewer.persons})
    observed = frame.groupby(["c", "p"]).y.mean().groupby("c").mean()
    assert [one.mean for one in nested_items(fewer).conditions] == pytest.approx(observed.to_numpy())
    assert fit_items(fewer).means.means == pytest.approx(observed.to_numpy())


def chosen_by_recommenders(rng: np.random.Generator, sharpness: float) -> tuple[ItemAnswers, float]:
    """Two algorithms, of which the first recommends better items more often; and the true difference of their lists."""
    n, pool, rows, true = 30, 60, [], []
    quality = rng.normal(0, 0.8, pool)
    for condition, weight in (("A", sharpness), ("B", 0.0)):
        lists = np.argsort(-(weight * quality + rng.gumbel(size=(2000, pool))), axis=1)[:, :5]
        true.append(float(quality[lists].mean()))
        for person, items in enumerate(lists[:n]):
            leaning = rng.normal(0, 0.5)
            rows += [(3 + leaning + quality[i] + rng.normal(0, 0.8), condition, (condition, person), i) for i in items]
    values, conditions, persons, items = zip(*rows, strict=True)
    return ItemAnswers(values, conditions, persons, items), true[0] - true[1]


def least_squares(answers: ItemAnswers) -> Any:
    """The nested model with its generalised least squares means."""
    return crossed_items(replace(answers, items=list(zip(answers.conditions, answers.items, strict=True))))


@pytest.mark.slow
@pytest.mark.parametrize("sharpness", [1.0, 2.0])
def test_nested_items_cover_the_difference_of_recommenders_and_crossed_ones_do_not(sharpness: float) -> None:
    rng, n_studies = np.random.default_rng(1), 100
    covered, ratios = dict.fromkeys((nested_items, crossed_items, least_squares), 0), []
    for _ in range(n_studies):
        answers, true = chosen_by_recommenders(rng, sharpness)
        for model in covered:
            pair = model(answers).pairs.pairs[0]
            covered[model] += pair.interval.low <= true <= pair.interval.high
            ratios.append(pair.difference / true)
    assert covered[nested_items] >= 0.9 * n_studies
    assert covered[crossed_items] <= 0.5 * n_studies
    # Least squares means give items similar weights, however often an algorithm recommends them.
    assert covered[least_squares] <= 0.85 * n_studies
    nested, crossed, equal = np.median(np.reshape(ratios, (n_studies, 3)), axis=0)
    assert nested == pytest.approx(1, abs=0.1)
    assert crossed < equal < 0.7


def test_small_variances_are_not_taken_for_zero() -> None:
    """The restricted likelihood rises beside zero; a slope in the standard deviation does not show it."""
    rng = np.random.default_rng(2)
    person, item = np.repeat(np.arange(60), 5), np.tile(np.arange(5), 60)
    effect = np.tile([-1.0, 1.0], 30)
    values = 0.3 * effect[person] + rng.normal(0, 1, 300)
    found = crossed_items(ItemAnswers(values, np.where(person < 30, "A", "B"), person, item))
    assert found.sd_persons > 0.1


def test_lists_of_different_length_are_fitted_like_equal_ones() -> None:
    answers = planted(2, 30, 5, 25, seed=11)
    kept = np.ones(len(answers.values), dtype=bool)
    kept[:40:5] = False  # the first eight participants lack an answer
    columns = (answers.values, answers.conditions, answers.persons, answers.items)
    whole, less = crossed_items(answers), crossed_items(ItemAnswers(*(column[kept] for column in columns)))
    assert less.n_answers == whole.n_answers - 8
    assert less.sd_residual == pytest.approx(whole.sd_residual, rel=0.1)


@pytest.mark.parametrize("model", [nested_items, crossed_items])
def test_moving_all_answers_moves_the_means_only(model: Any) -> None:
    answers = planted(2, 20, 4, 15, seed=13)
    one, other = model(answers), model(replace(answers, values=answers.values + 100))
    assert [b.mean - a.mean for a, b in zip(one.conditions, other.conditions, strict=True)] == pytest.approx([100] * 2)
    assert other.chi_squared == pytest.approx(one.chi_squared, rel=1e-5)


def test_limits_and_p_are_those_of_students_t() -> None:
    found = fit_items(planted(3, 12, 4, 20, seed=3)).result(0.1)
    for pair in found.pairs.pairs:
        t = stats.t(pair.df)
        assert pair.p_unadjusted == pytest.approx(2 * t.sf(abs(pair.difference) / pair.se))
        assert pair.interval.high - pair.difference == pytest.approx(t.ppf(0.975) * pair.se)
        assert pair.is_significant == (pair.p < 0.1)
    mean = found.conditions[0]
    assert mean.mean - mean.interval.low == pytest.approx(stats.t.ppf(0.975, mean.df) * mean.se)


@pytest.mark.parametrize(
    ("values", "conditions", "persons", "items", "words"),
    [
        ([1, 2], "AA", [1, 1], [1, 2], "two conditions with answers; there are 1"),
        ([1, 2, 3], "ABB", [1, 2, 3], [1, 1, 2], "Every participant rated one item"),
        ([1, 2, 3, 4], "AABB", [1, 1, 2, 2], [1, 2, 3, 4], "share no items"),
        ([1, 2, 3, 4], "AABB", [1, 1, 2, 2], [1, 2, 1, 2], "share no items|one participant"),
        ([1, 2, 3, 4, 5, 7], "AAABBB", [1, 1, 1, 2, 2, 2], [1, 1, 2, 1, 1, 2], "Every condition has one participant"),
        ([1, 2, 3, 4, 5, 6, 7, 9], "AAAABBBB", [1, 1, 2, 2, 3, 3, 4, 4], [1] * 8, "Every condition shows one item"),
        ([1, 1, 1, 1, 4, 4, 4, 4], "AAAABBBB", [1, 1, 2, 2, 3, 3, 4, 4], [1, 2] * 4, "all answers are equal"),
        ([1, 1, 2, 2, 4, 4, 3, 3], "AAAABBBB", [1, 1, 2, 2, 3, 3, 4, 4], [1, 2] * 4, "no residual variance"),
    ],
)
def test_data_that_cannot_be_taken_apart_are_refused(
    values: list[int], conditions: str, persons: list[int], items: list[int], words: str
) -> None:
    found = fit_items(ItemAnswers(values, list(conditions), persons, items))
    assert isinstance(found, Undefined)
    assert re.search(words, found.reason)


def test_items_that_one_participant_of_each_condition_rated_cannot_be_nested() -> None:
    values = [1, 2, 4, 3, 2, 1, 5, 3]
    answers = ItemAnswers(values, list("AAAABBBB"), [1, 1, 2, 2, 3, 3, 4, 4], [1, 2, 3, 4, 1, 2, 3, 4])
    found = fit_items(answers)
    assert isinstance(found, Undefined)
    assert "The participants of a condition share no items" in found.reason


def test_too_much_to_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_effects, "MOST_LEVELS", 14)
    answers = planted(2, 20, 4, 15, seed=13)
    assert "up to 14" in fit_items(answers).reason
    monkeypatch.setattr(item_effects, "MOST_LEVELS", 40)
    assert not isinstance(fit_items(answers), Undefined)


def test_empty_conditions_are_named_and_others_refused() -> None:
    found = fit_items(replace(planted(2, 20, 4, 15, seed=13), names=("C1", "C9", "C0"))).result()
    assert found.left_out == ("C9",)
    assert [one.condition for one in found.conditions] == ["C1", "C0"]
    with pytest.raises(DataError, match="not a finite number"):
        fit_items(ItemAnswers([np.nan], ["A"], [1], [1]))
    with pytest.raises(DataError, match="two conditions"):
        fit_items(ItemAnswers([1.0, 2.0, 3.0], ["A", "B", "B"], [1, 1, 2], [1, 2, 2]))


def test_with_two_degrees_of_freedom_or_fewer_the_joint_test_has_two() -> None:
    changes = np.diag([1.0, 2.0, 3.0])
    estimates = Estimates(np.array([1.0, 2.0, 4.0]), np.eye(3), (changes,), np.array([[0.2]]))
    rows = np.array([[1.0, 0, 0], [0, 1, 0]])
    assert [estimates.df(row) for row in rows] == pytest.approx([5, 1.25])
    assert estimates.joint(rows) == (pytest.approx(2.5), 2.0)


def test_one_contrast_has_the_same_degrees_of_freedom_alone_and_jointly() -> None:
    estimates = Estimates(np.array([1.0, 2.0]), np.eye(2), (np.eye(2),), np.array([[1.0]]))
    assert estimates.df(np.array([1.0, -1.0])) == 1
    assert estimates.joint(np.array([[1.0, -1.0]])) == (pytest.approx(0.5), 1.0)
