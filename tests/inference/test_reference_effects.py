"""Effect sizes, correlations, ordinal models, BCa intervals and overlaps against R 4.2.2: the reference cases.

Tolerances are those of the cases' README: statistics 1e-12 relative, noncentral distributions 1e-9, cumulative link
models 1e-4 for coefficients, 1e-3 for errors and 1e-8 for log likelihoods.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pytest

from inference import anova, correlation, ordinal
from inference.effect_sizes import hedges_g_between
from inference.results import Undefined

pytestmark = pytest.mark.reference
Cases = Callable[[str], list[dict[str, Any]]]


def close(expected: float, rel: float = 1e-12, floor: float = 1e-14) -> Any:
    return pytest.approx(expected, rel=rel, abs=floor)


def test_hedges_g_agrees_with_exact_correction_and_noncentral_t(cases: Cases) -> None:
    n_undefined = 0
    for case in cases("effect_sizes"):
        found = hedges_g_between(case["groups"])
        assert len(found) == len(case["expected"]["pairs"])
        for one, expected in zip(found, case["expected"]["pairs"], strict=True):
            where = (case["id"], expected["a"], expected["b"])
            if expected.get("undefined"):
                assert isinstance(one, Undefined), where
                assert "any variance" in one.reason
                n_undefined += 1
                continue
            assert (one.a, one.b) == (expected["a"], expected["b"])
            # R takes the second less the first.
            assert -one.d == close(expected["cohens_d"]), where
            assert one.correction == close(expected["J_exact"], rel=1e-13 * 2000), where
            assert -one.g == close(expected["hedges_g"], rel=1e-10), where
            low, high = expected["g_ci95_nct_tight"]
            assert (-one.interval.high, -one.interval.low) == (
                pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9)
            ), where  # fmt: skip
    assert n_undefined > 0


def test_shares_of_variance_agree_with_effectsize(cases: Cases) -> None:
    for case in cases("effect_sizes"):
        found, expected = anova.one_way(case["groups"]), case["expected"]
        assert found.eta_squared == close(expected["eta_squared"])
        assert found.eta_squared == close(expected["partial_eta_squared"])
        assert found.omega_squared == close(expected["omega_squared_raw"])
        assert found.epsilon_squared == close(expected["epsilon_squared_raw"])
        assert math.sqrt(found.eta_squared / (1 - found.eta_squared)) == close(expected["cohens_f"])


def test_pearson_agrees_with_r(cases: Cases) -> None:
    n = 0
    for case in cases("correlation"):
        expected = case["expected"]
        if "r" not in expected:
            continue  # ranks, in test_reference_orders
        n += 1
        given = case["input"]
        if "dataset_x" in given:
            fon, son = (next(one for one in cases("effect_sizes") if one["input"]["dataset"] == given[key])["groups"]
                        for key in ("dataset_x", "dataset_y"))  # fmt: skip
            x, y = list(chain(*fon.values())), list(chain(*son.values()))
            over_all = correlation.over_all(fon, son)
            assert over_all.coefficient == close(expected["r"])
        else:
            x, y = given["x"], given["y"]
        found = correlation.pearson(x, y)
        assert found.coefficient == close(expected["r"]), case["id"]
        assert found.t == close(expected["t"]), case["id"]
        assert found.df == expected["df"]
        assert found.p == close(expected["p"], rel=1e-10, floor=0), case["id"]
        assert [found.interval.low, found.interval.high] == [close(end, rel=1e-11) for end in expected["ci95"]]
    assert n == 2


def test_cumulative_link_models_agree_with_clm(cases: Cases) -> None:
    for case in cases("ordinal_clm"):
        expected, where = case["expected"], case["id"]
        if not where.endswith("/logit"):
            continue
        found = ordinal.cumulative_link(case["groups"], range(1, 6))
        assert not isinstance(found, Undefined), where
        assert found.log_likelihood == pytest.approx(expected["logLik"], abs=1e-8), where
        assert found.log_likelihood_null == pytest.approx(expected["logLik_null"], abs=1e-8), where
        assert found.lr == pytest.approx(expected["LR"], abs=1e-7)
        assert found.df == expected["LR_df"]
        assert found.p == pytest.approx(expected["LR_p"], rel=1e-7)
        for threshold in found.thresholds:
            name = f"{threshold.between[0]:g}|{threshold.between[1]:g}"
            assert threshold.estimate == pytest.approx(expected["thresholds"][name], abs=1e-4), (where, name)
            assert threshold.se == pytest.approx(expected["se"][name], abs=1e-3), (where, name)
        for effect in found.effects:
            name = f"g{effect.condition}"
            assert effect.estimate == pytest.approx(expected["beta"][name], abs=1e-4), (where, name)
            assert effect.se == pytest.approx(expected["se"][name], abs=1e-3), (where, name)
            assert effect.p == pytest.approx(expected["p"][name], rel=1e-3), (where, name)
            if "odds_ratio" in expected:
                assert effect.odds_ratio == pytest.approx(expected["odds_ratio"][name], rel=1e-4), (where, name)
        totals = np.array(list(found.counts.values())).sum(axis=0)
        assert dict(zip(("1", "2", "3", "4", "5"), totals.tolist(), strict=True)) == expected["category_counts"]
        if "proportional_odds_nominal_test" in expected:
            nominal = expected["proportional_odds_nominal_test"]
            assert found.proportional_lr == pytest.approx(nominal["LR"], abs=1e-6)
            assert found.proportional_df == nominal["df"]
            assert found.proportional_p == pytest.approx(nominal["p"], rel=1e-6)
            for name, shares in expected["predicted_probabilities"].items():
                assert found.shares[name] == pytest.approx(tuple(shares), abs=1e-6), (where, name)


def test_degenerate_data_have_welch_or_a_reason(cases: Cases) -> None:
    for case in cases("degenerate"):
        found, expected = anova.welch(case["input"]["groups"]), case["expected"]["welch"]
        value = expected.get("value", {})
        if "error" in expected:
            # R gives up over a single observation; here that condition is left out by name.
            assert found.left_out == ("B",), case["id"]
        elif value["F"] == "NaN":
            assert isinstance(found, Undefined), case["id"]
        else:
            assert found.f == close(value["F"]), case["id"]
            assert found.p == close(value["p"], rel=1e-10), case["id"]
