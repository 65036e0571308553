"""Paired tests against R 4.2.2, exact counts and quadrature: the shared reference cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from inference import sign_flips
from inference.friedman import friedman, nemenyi
from inference.paired_hits import mcnemar, sign_flip
from inference.results import Undefined
from inference.signed_rank import signed_rank
from inference.studentized_range import critical_range

pytestmark = pytest.mark.reference
Cases = Callable[[str], list[dict[str, Any]]]


def close(expected: float, rel: float = 1e-12) -> Any:
    return pytest.approx(expected, rel=rel, abs=1e-300)


def test_signed_rank_agrees_with_exact_counts_coin_and_r(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in cases("wilcoxon"):
        a, b = case["groups"][case["input"]["a"]], case["groups"][case["input"]["b"]]
        expected, exact = case["expected"], case["expected_exact"]
        for zeros, key in (("dropped", "zeros_dropped"), ("pratt", "pratt")):
            one, two = signed_rank(a, b, "greater", zeros=zeros), signed_rank(a, b, "two-sided", zeros=zeros)
            where = (case["id"], zeros)
            assert one.p_method == two.p_method == "exact"
            assert one.v_plus == exact[key]["V_plus"], where
            assert one.p == close(exact[key]["p_greater"]), where
            assert two.p == close(exact[key]["p_two_sided"]), where
        dropped = signed_rank(a, b, "greater")
        assert (dropped.v_plus, dropped.v_minus) == (expected["V_plus"], expected["V_minus"])
        assert dropped.rank_biserial == close(expected["rank_biserial"])
        assert (dropped.n, dropped.n_zeros) == (expected["n_nonzero"], expected["n"] - expected["n_nonzero"])
        # Beyond what can be counted: the normal approximation, tie-corrected.
        with monkeypatch.context() as patched:
            patched.setattr(sign_flips, "CELLS", 0)
            approximate = expected["normal_approx_zeros_dropped"]
            one, two = signed_rank(a, b, "greater"), signed_rank(a, b, "two-sided")
            assert two.p_method == "normal approximation"
            assert one.p == close(approximate["p_greater_no_continuity"], rel=1e-10), case["id"]
            # R and coin take these as one less a probability: good to 1e-16, not to ten digits where p is tiny.
            expected_p = approximate["p_two_sided_no_continuity"]
            assert two.p == pytest.approx(expected_p, rel=1e-10, abs=1e-16), case["id"]
            pratt = signed_rank(a, b, "two-sided", zeros="pratt")
            expected_p = expected["coin"]["asymptotic_pratt_p"]
            assert pratt.p == pytest.approx(expected_p, rel=1e-10, abs=1e-16), case["id"]


def test_friedman_agrees_with_r(cases: Cases) -> None:
    for case in cases("friedman"):
        found, expected = friedman(case["groups"]), case["expected"]
        assert found.chi_squared == close(expected["chi2"]), case["id"]
        assert found.p == close(expected["p"], rel=1e-10), case["id"]
        assert found.df == expected["df"]
        assert found.iman_davenport_f == close(expected["iman_davenport_F"]), case["id"]
        assert found.iman_davenport_df == (expected["id_df1"], expected["id_df2"])
        assert found.iman_davenport_p == close(expected["id_p"], rel=1e-10), case["id"]
        assert found.kendalls_w == close(expected["kendalls_W"])
        assert found.mean_ranks == {name: close(rank) for name, rank in expected["mean_ranks"].items()}
        for name, rank in found.mean_ranks.items():
            assert found.ranks_from_best[name] == close(len(found.mean_ranks) + 1 - rank)


def test_friedman_agrees_with_kendalls_w(cases: Cases) -> None:
    for case in cases("kendall_w"):
        table = np.array(case["input"]["scores"], dtype=float)
        found = friedman({str(column): table[:, column] for column in range(table.shape[1])})
        assert found.kendalls_w == close(case["expected"]["W"]), case["id"]
        assert found.chi_squared == close(case["expected"]["chi2"]), case["id"]
        assert (found.iman_davenport_f is None) == (case["expected"]["W"] == 1)


def test_nemenyi_agrees_with_quadrature(cases: Cases) -> None:
    for case in cases("nemenyi"):
        expected = case["expected"]
        if "pairs" not in expected:
            for alpha, key in ((0.05, "q05_quad"), (0.1, "q10_quad")):
                found = [critical_range(alpha, k, np.inf) / np.sqrt(2) for k in case["input"]["k"]]
                assert found == pytest.approx(expected[key], abs=1e-9)
            continue
        result = nemenyi(case["groups"], case["input"]["alpha"])
        assert result.critical_difference == pytest.approx(expected["critical_difference"], rel=1e-6)
        for pair, row in zip(result.pairs, expected["pairs"], strict=True):
            where = (case["id"], pair.a, pair.b)
            assert (pair.a, pair.b) == (row["a"], row["b"])
            assert pair.difference == pytest.approx(-row["diff_mean_rank_b_minus_a"], abs=1e-12), where
            assert pair.statistic == pytest.approx(row["q"], rel=1e-12, abs=1e-12), where
            assert pair.p == pytest.approx(row["p_quad"], abs=1e-9), where
            assert pair.is_significant == (row["p_quad"] < 0.05)


def test_mcnemar_agrees_with_r(cases: Cases) -> None:
    for case in cases("mcnemar"):
        given, expected = case["input"], case["expected"]
        if "groups" in case:
            a, b = case["groups"][given["a"]], case["groups"][given["b"]]
        else:
            sizes = [given[key] for key in ("both_hit", "only_a", "only_b", "neither")]
            a, b = np.repeat([1, 1, 0, 0], sizes), np.repeat([1, 0, 1, 0], sizes)
        found = mcnemar(range(len(a)), a, b)
        where = case["id"]
        assert not isinstance(found, Undefined)
        assert (found.n_both, found.n_only_a, found.n_only_b, found.n_neither) == (
            given["both_hit"], given["only_a"], given["only_b"], given["neither"]
        ), where  # fmt: skip
        assert found.p == close(expected["exact_p_two_sided"], rel=1e-10), where
        assert found.p_greater == close(expected["exact_p_greater"], rel=1e-10), where
        assert found.mid_p == close(expected["mid_p"], rel=1e-10), where
        assert found.chi_squared == close(expected["chi2_uncorrected"]), where
        assert found.chi_squared_p == close(expected["p_uncorrected"], rel=1e-10), where
        assert found.corrected_chi_squared == close(expected["chi2_corrected"]), where
        assert found.corrected_p == close(expected["p_corrected"], rel=1e-10), where
        assert found.odds_ratio == (None if expected["odds_ratio"] is None else close(expected["odds_ratio"]))
        # With one case a user the clustered test is McNemar's exact one.
        flipped = sign_flip(range(len(a)), a, b, rng=np.random.default_rng(1))
        assert flipped.p_method == "exact"
        assert flipped.p == close(expected["exact_p_two_sided"], rel=1e-10), where
        greater = sign_flip(range(len(a)), a, b, "greater", rng=np.random.default_rng(1))
        assert greater.p == close(expected["exact_p_greater"], rel=1e-10), where
