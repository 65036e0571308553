"""Tests of conditions against R 4.2.2, rational arithmetic, quadrature and NIST: the shared reference cases.

Tolerances are those that the cases' README gives: statistics 1e-12 relative, p of F, chi-square and z 1e-10
relative, studentized range 1e-9 absolute (intervals 1e-8), Shapiro-Wilk's W 1e-8 and its p 1e-6 relative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from analysis.present import apa
from documents import numbers
from inference import anova, descriptive, posthoc, rank_tests, studentized_range
from inference.results import (
    Interval,
    KruskalResult,
    Undefined,
)

pytestmark = pytest.mark.reference
Cases = Callable[[str], list[dict[str, Any]]]


def close(expected: float, rel: float = 1e-12, floor: float = 1e-14) -> Any:
    return pytest.approx(expected, rel=rel, abs=floor)


def test_descriptives_agree_with_r(cases: Cases) -> None:
    for case in cases("descriptives"):
        found = descriptive.describe(case["groups"])
        for expected in case["expected"]:
            one, where = found[expected["group"]], (case["id"], expected["group"])
            assert one.n == expected["n"], where
            for field, key in (
                ("mean", "mean"),
                ("sd", "sd"),
                ("se", "se"),
                ("q1", "q1_type7"),
                ("median", "median"),
                ("q3", "q3_type7"),
                ("whisker_low", "whisker_low_type7"),
                ("whisker_high", "whisker_high_type7"),
            ):
                assert getattr(one, field) == close(expected[key]), (where, field)
            assert [one.ci_low, one.ci_high] == [close(end) for end in expected["ci95"]], where
            assert list(one.outliers) == expected["outliers_type7"], where


def test_one_way_anova_agrees_with_rational_arithmetic(cases: Cases) -> None:
    for case in cases("anova"):
        found, r, better = anova.one_way(case["groups"]), case["expected"], case["expected_exact"]
        assert (found.df_between, found.df_within) == (r["df_between"], r["df_within"])
        assert found.ms_between == close(r["ms_between"])
        assert found.ms_within == close(r["ms_within"])
        assert found.f == close(better["F"]), case["id"]
        assert found.p == close(better["p"], rel=1e-10, floor=0), case["id"]
        for field in ("ss_between", "ss_within", "eta_squared", "omega_squared", "epsilon_squared"):
            assert getattr(found, field) == close(better[field]), (case["id"], field)


def test_interval_of_eta_squared_agrees_in_both_conventions(cases: Cases) -> None:
    for case in cases("effect_sizes"):
        found, expected = anova.one_way(case["groups"]), case["expected"]["eta2_ncF"]
        for interval, key in (
            (found.eta_squared_ci, "ci95_boost_effectsize_convention"),
            (found.eta_squared_ci_steiger, "ci95_boost"),
        ):
            assert [interval.low, interval.high] == [pytest.approx(end, abs=1e-9) for end in expected[key]], case["id"]


def test_one_way_anova_keeps_the_digits_of_nist(cases: Cases) -> None:
    for case in cases("nist_anova"):
        given = case["input"]
        if "groups_text" in given:
            groups = {name: [float(text) for text in texts] for name, texts in given["groups_text"].items()}
        else:
            groups = {}
            for i in range(1, given["treatments"] + 1):
                centre = 4 if i == 1 else 3 if i % 2 == 0 else 5
                digits = [centre] + [centre - 1 + 2 * (j % 2) for j in range(given["replicates"] - 1)]
                groups[str(i)] = [float(f"{given['base']}.{digit}") for digit in digits]
        found, certified = anova.one_way(groups), case["expected"]["F"]
        error = abs(found.f - certified) / certified
        digits_reached = 15.0 if error == 0 else min(15.0, -math.log10(error))
        assert digits_reached >= case["digits_possible_in_double"] - 0.3, case["id"]
        assert found.ss_within == pytest.approx(case["expected"]["ss_within"], rel=1e-9), case["id"]


def test_welch_anova_agrees_with_r_and_refuses_where_r_gives_nan(cases: Cases) -> None:
    n_undefined = 0
    for case in cases("welch"):
        found, expected = anova.welch(case["groups"]), case["expected"]
        if expected.get("undefined"):
            assert isinstance(found, Undefined), case["id"]
            assert "no variance" in found.reason
            n_undefined += 1
            continue
        assert found.f == close(expected["F"]), case["id"]
        assert found.df_between == expected["df_num"]
        assert found.df_within == close(expected["df_den"]), case["id"]
        assert found.p == close(expected["p"], rel=1e-10, floor=0), case["id"]
    assert n_undefined == 4


def test_equality_of_spread_agrees_with_r(cases: Cases) -> None:
    for case in cases("levene"):
        found, expected = anova.brown_forsythe(case["groups"]), case["expected"]["brown_forsythe_median"]
        assert found.f == close(expected["F"]), case["id"]
        assert (found.df_between, found.df_within) == (expected["df1"], expected["df2"])
        assert found.p == close(expected["p"], rel=1e-10, floor=0), case["id"]


def test_shapiro_wilk_agrees_with_r(cases: Cases) -> None:
    for case in cases("shapiro"):
        # The residuals of a single condition are its own deviations from its mean.
        expected = [
            (anova.shapiro_residuals({row["group"]: case["groups"][row["group"]]}), row)
            for row in case["expected"]["groups"]
        ]
        expected.append((anova.shapiro_residuals(case["groups"]), case["expected"]["residuals"]))
        for found, row in expected:
            if row.get("undefined"):
                assert isinstance(found, Undefined), case["id"]
                continue
            assert found.w == pytest.approx(row["W"], rel=1e-8), case["id"]
            assert found.p == pytest.approx(row["p"], rel=1e-6), case["id"]


def test_tukey_hsd_agrees_with_quadrature(cases: Cases) -> None:
    for case in cases("tukey_hsd"):
        found = posthoc.tukey_hsd(case["groups"], case["input"]["alpha"])
        for pair, expected in zip(found.pairs, case["expected"]["pairs"], strict=True):
            where = (case["id"], pair.a, pair.b)
            assert (pair.a, pair.b) == (expected["a"], expected["b"])
            assert pair.difference == close(-expected["diff_b_minus_a"]), where
            assert pair.statistic == close(expected["q"]), where
            assert pair.p == pytest.approx(expected["p_quad"], abs=1e-9), where
            assert pair.ci_low == pytest.approx(-expected["upr_quad"], abs=1e-8), where
            assert pair.ci_high == pytest.approx(-expected["lwr_quad"], abs=1e-8), where
            assert pair.is_significant == (expected["p_quad"] < 0.05)


@pytest.mark.slow
def test_games_howell_agrees_with_quadrature_and_leaves_two_constants_untested(cases: Cases) -> None:
    n_untested = 0
    for case in cases("games_howell"):
        found = posthoc.games_howell(case["groups"])
        for pair, expected in zip(found.pairs, case["expected"]["pairs"], strict=True):
            where = (case["id"], pair.a, pair.b)
            assert (pair.a, pair.b) == (expected["a"], expected["b"])
            assert pair.difference == close(-expected["diff_b_minus_a"]), where
            if expected.get("undefined"):
                assert (pair.p, pair.ci_low, pair.is_significant) == (None, None, False), where
                assert "variance" in pair.reason
                n_untested += 1
                continue
            assert pair.statistic == close(expected["q"]), where
            # rstatix prints the error of q, which is smaller by the root of 2 than that of the difference.
            assert pair.se == close(math.sqrt(2) * expected["se"]), where
            assert pair.df == close(expected["df"]), where
            assert pair.p == pytest.approx(expected["p_quad"], abs=1e-9), where
            assert pair.ci_low == pytest.approx(-expected["upr_quad"], abs=1e-8), where
            assert pair.ci_high == pytest.approx(-expected["lwr_quad"], abs=1e-8), where
    assert n_untested == 4


def test_studentized_range_agrees_with_high_precision_quadrature(cases: Cases) -> None:
    for case in cases("studentized_range"):
        found = studentized_range.upper_tail(case["q"], case["k"], float(case["df"]))
        assert found == pytest.approx(case["sf"], abs=1e-11), case


def test_kruskal_wallis_agrees_with_rational_ranks(cases: Cases) -> None:
    for case in cases("kruskal"):
        found, expected, better = (
            rank_tests.kruskal_wallis(case["groups"]),
            case["expected"],
            case["expected_exact"],
        )
        assert found.h == close(better["H"]), case["id"]
        assert found.p == close(better["p"], rel=1e-10, floor=0), case["id"]
        assert found.df == expected["df"]
        assert found.tie_correction == close(expected["tie_correction"])
        assert found.rank_epsilon_squared == close(expected["epsilon_squared"])
        assert found.rank_eta_squared == close(expected["eta_squared_H"])
        assert found.mean_ranks == {name: close(rank) for name, rank in expected["mean_ranks"].items()}


def test_dunn_agrees_with_rstatix(cases: Cases) -> None:
    for case in cases("dunn"):
        found = rank_tests.dunn_holm(case["groups"])
        for pair, expected in zip(found.pairs, case["expected"]["pairs"], strict=True):
            where = (case["id"], pair.a, pair.b)
            assert (pair.a, pair.b) == (expected["a"], expected["b"])
            assert pair.statistic == close(-expected["z_b_minus_a"]), where
            assert pair.p_unadjusted == close(expected["p"], rel=1e-10, floor=0), where
            assert pair.p == close(expected["p_holm"], rel=1e-10, floor=0), where


def test_degenerate_data_give_what_r_gives_or_a_reason(cases: Cases) -> None:
    for case in cases("degenerate"):
        groups = case["input"]["groups"]
        for key, found, statistic in (
            ("anova", anova.one_way(groups), "F"),
            ("kruskal", rank_tests.kruskal_wallis(groups), "H"),
            ("brown_forsythe", anova.brown_forsythe(groups), "F"),
        ):
            expected = case["expected"][key]["value"]
            # R's F of 1.8e31 on constant conditions is its rounding error, not a statistic.
            if expected[statistic] == "NaN" or expected[statistic] > 1e30:
                assert isinstance(found, Undefined), (case["id"], key)
                continue
            assert getattr(found, statistic.lower()) == close(expected[statistic]), (case["id"], key)
            assert found.p == close(expected["p"], rel=1e-10), (case["id"], key)
        tukey = posthoc.tukey_hsd(groups)
        if isinstance(tukey, Undefined):
            assert case["id"] in ("degenerate/all_identical", "degenerate/constant_within_different_between")
            continue
        for pair, expected in zip(tukey.pairs, case["expected"]["tukey"]["value"], strict=True):
            assert expected["pair"] == f"{pair.b}-{pair.a}"
            assert pair.p == pytest.approx(expected["p"], abs=2e-8), (case["id"], expected["pair"])
            assert pair.difference == close(-expected["diff"], floor=1e-15)


def test_strings_follow_the_apa_cases(cases: Cases) -> None:
    written = {case["id"]: case for case in cases("apa_strings")}

    def given(name: str) -> dict[str, Any]:
        return written[f"apa/{name}"]["input"]

    def expected(name: str) -> Any:
        return written[f"apa/{name}"]["expected"]

    assert len(written) == 8

    for name in ("anova", "anova_ns"):
        i = given(name)
        given_facts = {
            "f": i["F"],
            "df_between": i["df1"],
            "df_within": i["df2"],
            "p": i["p"],
            "eta_squared": i["eta2"],
        }
        result = anova.one_way({"A": [1, 2], "B": [3, 5]})
        assert apa.anova(replace(result, **given_facts, eta_squared_ci=Interval(*i["ci"]))) == expected(name)
    i = given("kruskal")
    kruskal = KruskalResult(i["H"], i["df"], i["p"], 1.0, {}, i["eps2"], None, i["N"], ())
    assert apa.kruskal(kruskal) == expected("kruskal")
    assert [numbers.named_p(p, alpha=None) for p in given("p_boundaries")["p"]] == expected("p_boundaries")
    with_side = written["apa/p_boundaries"]["expected_with_side"]
    assert [numbers.named_p(p) for p in given("p_boundaries")["p"]] == with_side
