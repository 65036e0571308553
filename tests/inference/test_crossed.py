"""The mixed model of persons and items: against statsmodels, against what was planted, and where it has no answer."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from statsmodels.regression.mixed_linear_model import MixedLM

from core.errors import DataError
from inference import crossed
from inference.results import Undefined


def planted(k: int, n: int, items: int, pool: int, seed: int, *, few: int = 0) -> tuple[np.ndarray, ...]:
    """Answers with sd .5 of persons, .6 of items and .8 of the rest; the first condition shows `few` items only."""
    rng = np.random.default_rng(seed)
    condition = np.repeat(np.arange(k), n)
    person = np.repeat(np.arange(k * n), items)
    item = np.concatenate([rng.choice(few if few and c == 0 else pool, items, replace=False) for c in condition])
    noise = rng.normal(0, 0.5, k * n)[person] + rng.normal(0, 0.6, pool)[item] + rng.normal(0, 0.8, len(person))
    return 3 + noise, np.array([f"C{c}" for c in condition])[person], person, item


@pytest.mark.reference
def test_the_fit_is_that_of_statsmodels() -> None:
    values, conditions, persons, items = planted(3, 12, 4, 20, seed=3)
    found = crossed.crossed_model(values, conditions, persons, items)
    frame = pd.DataFrame({"y": values, "c": conditions, "p": persons, "i": items, "all": 1})
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
    assert [one.mean for one in found.conditions] == pytest.approx(other.fe_params.to_numpy(), abs=1e-4)
    assert [one.se for one in found.conditions] == pytest.approx(other.bse_fe.to_numpy(), rel=5e-3)


def test_balanced_data_without_items_are_the_analysis_of_variance_of_means() -> None:
    """With every item shown to everybody, differences of conditions do not depend on items at all."""
    rng = np.random.default_rng(5)
    n, m = 20, 5
    person, item = np.repeat(np.arange(2 * n), m), np.tile(np.arange(m), 2 * n)
    values = rng.normal(0, 1, 2 * n)[person] + rng.normal(0, 1, m)[item] + rng.normal(0, 0.5, 2 * n * m)
    found = crossed.crossed_model(values, np.where(person < n, "A", "B"), person, item)
    means = values.reshape(2 * n, m).mean(axis=1)
    pooled = (means[:n].var(ddof=1) + means[n:].var(ddof=1)) / 2
    (pair,) = found.pairs.pairs
    assert pair.difference == pytest.approx(means[:n].mean() - means[n:].mean())
    assert pair.se == pytest.approx(np.sqrt(2 * pooled / n), rel=1e-4)


def test_planted_spreads_are_found_and_few_items_widen_the_error() -> None:
    found = crossed.crossed_model(*planted(4, 150, 5, 120, seed=7, few=5))
    assert found.sd_persons == pytest.approx(0.5, abs=0.06)
    assert found.sd_items == pytest.approx(0.6, abs=0.1)
    assert found.sd_residual == pytest.approx(0.8, abs=0.04)
    assert found.share_persons + found.share_items + found.share_residual == pytest.approx(1)
    first, *others = found.conditions
    assert (first.n_items, first.n_persons, first.n_answers) == (5, 150, 750)
    assert first.se > 1.4 * max(one.se for one in others)


def test_lists_of_different_length_are_fitted_like_equal_ones() -> None:
    values, conditions, persons, items = planted(2, 30, 5, 25, seed=11)
    whole = crossed.crossed_model(values, conditions, persons, items)
    kept = np.ones(len(values), dtype=bool)
    kept[:40:5] = False  # the first eight participants lack an answer
    less = crossed.crossed_model(values[kept], conditions[kept], persons[kept], items[kept])
    assert less.n_answers == whole.n_answers - 8
    assert less.sd_residual == pytest.approx(whole.sd_residual, rel=0.1)


def test_moving_all_answers_moves_the_means_only() -> None:
    values, conditions, persons, items = planted(2, 20, 4, 15, seed=13)
    one = crossed.crossed_model(values, conditions, persons, items)
    other = crossed.crossed_model(values + 100, conditions, persons, items)
    assert [b.mean - a.mean for a, b in zip(one.conditions, other.conditions, strict=True)] == pytest.approx([100] * 2)
    assert other.chi_squared == pytest.approx(one.chi_squared, rel=1e-5)


@pytest.mark.parametrize(
    ("values", "conditions", "persons", "items", "words"),
    [
        ([1, 2], ["A", "A"], [1, 1], [1, 2], "two conditions with answers; there are 1"),
        ([1, 2, 3], ["A", "B", "B"], [1, 2, 3], [1, 1, 2], "Every person answered about one item"),
        ([1, 2, 3, 4], ["A", "A", "B", "B"], [1, 1, 2, 2], [1, 2, 3, 4], "items are not shared"),
        ([1, 2, 3, 4], ["A", "A", "B", "B"], [1, 1, 2, 2], [1, 1, 1, 1], "items are not shared"),
        ([1, 1, 4, 4], ["A", "A", "B", "B"], [1, 1, 2, 2], [1, 2, 1, 2], "all answers are equal"),
    ],
)
def test_data_that_cannot_be_taken_apart_are_refused(
    values: list[int], conditions: list[str], persons: list[int], items: list[int], words: str
) -> None:
    found = crossed.crossed_model(values, conditions, persons, items)
    assert isinstance(found, Undefined)
    assert words in found.reason


def test_too_many_items_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossed, "MOST_ITEMS", 10)
    assert "up to 10" in crossed.crossed_model(*planted(2, 20, 4, 15, seed=13)).reason


def test_empty_conditions_are_named_and_others_refused() -> None:
    values, conditions, persons, items = planted(2, 20, 4, 15, seed=13)
    found = crossed.crossed_model(values, conditions, persons, items, names=("C1", "C9", "C0"))
    assert found.left_out == ("C9",)
    assert [one.condition for one in found.conditions] == ["C1", "C0"]
    with pytest.raises(DataError, match="one condition, one person"):
        crossed.crossed_model([1.0], ["A", "B"], [1], [1])
    with pytest.raises(DataError, match="not a finite number"):
        crossed.crossed_model([np.nan], ["A"], [1], [1])
    with pytest.raises(DataError, match="two conditions"):
        crossed.crossed_model([1.0, 2.0, 3.0], ["A", "B", "B"], [1, 1, 2], [1, 2, 2])
    with pytest.raises(DataError, match="not asked for: C"):
        crossed.crossed_model([1.0, 2.0, 3.0], ["A", "B", "C"], [1, 2, 3], [1, 2, 2], names=("A", "B"))
