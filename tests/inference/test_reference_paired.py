"""Paired tests against R 4.2.2, exact counts and quadrature: the shared reference cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from inference import paired
from inference.paired import friedman, nemenyi, signed_rank
from inference.paired_hits import hit_tests_between
from inference.studentized_range import critical_range

pytestmark = pytest.mark.reference
Cases = Callable[[str], list[dict[str, Any]]]


def close(expected: float, rel: float = 1e-12) -> Any:
    return pytest.approx(expected, rel=rel, abs=1e-300)


def test_signed_rank_agrees_with_exact_counts_coin_and_r(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in cases("wilcoxon"):
        a, b = case["groups"][case["input"]["a"]], case["groups"][case["input"]["b"]]
        expected, exact = case["expected"], case["expected_exact"]
        found = signed_rank(a, b)
        assert found.p == close(exact["zeros_dropped"]["p_two_sided"]), case["id"]
        assert found.rank_biserial == close(expected["rank_biserial"])
        # Beyond what can be counted: the normal approximation, tie-corrected.
        with monkeypatch.context() as patched:
            patched.setattr(paired, "CELLS", 0)
            approximate = expected["normal_approx_zeros_dropped"]
            normal = signed_rank(a, b)
            # R and coin take these as one less a probability: good to 1e-16, not to ten digits where p is tiny.
            expected_p = approximate["p_two_sided_no_continuity"]
            assert normal.p == pytest.approx(expected_p, rel=1e-10, abs=1e-16), case["id"]


def test_friedman_agrees_with_r(cases: Cases) -> None:
    for case in cases("friedman"):
        found, expected = friedman(case["groups"]), case["expected"]
        assert found.chi_squared == close(expected["chi2"]), case["id"]
        assert found.p == close(expected["p"], rel=1e-10), case["id"]
        assert found.df == expected["df"]
        mean_ranks = {name: close(rank) for name, rank in expected["mean_ranks"].items()}
        assert nemenyi(case["groups"]).locations == mean_ranks


def test_friedman_agrees_with_kendalls_w(cases: Cases) -> None:
    for case in cases("kendall_w"):
        table = np.array(case["input"]["scores"], dtype=float)
        found = friedman({str(column): table[:, column] for column in range(table.shape[1])})
        assert found.chi_squared == close(case["expected"]["chi2"]), case["id"]


def test_nemenyi_agrees_with_quadrature(cases: Cases) -> None:
    for case in cases("nemenyi"):
        expected = case["expected"]
        if "pairs" not in expected:
            for alpha, key in ((0.05, "q05_quad"), (0.1, "q10_quad")):
                found = [critical_range(alpha, k, np.inf) / np.sqrt(2) for k in case["input"]["k"]]
                assert found == pytest.approx(expected[key], abs=1e-9)
            continue
        result = nemenyi(case["groups"], case["input"]["alpha"])
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
        # With one case a user the test by sign flips is McNemar's exact one.
        for test in ("mcnemar", "sign-flip"):
            values = {"a": a, "b": b}
            found = hit_tests_between(values, np.ones(len(a)), test, rng=np.random.default_rng(1))
            assert found.pairs[0].p == close(expected["exact_p_two_sided"], rel=1e-10), case["id"]
