"""Orders, letters, agreement, paired tests, corrections and intervals against the shared reference cases."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from inference import agreement, bootstrap, corrections, paired, partial_order, posthoc
from inference.results import Pair

pytestmark = pytest.mark.reference
Cases = Callable[[str], list[dict[str, Any]]]


def test_partial_orders_agree_with_their_definition(cases: Cases) -> None:
    for case in cases("partial_order"):
        given, expected = case["input"], case["expected"]
        if "groups" in case:
            test = posthoc.tukey_hsd(case["groups"], given["alpha"])
            found = partial_order.partial_order(test.locations, test)
        else:
            centre = given["centre"]
            pairs = [Pair(a, b, centre[a] - centre[b], 0.01, True) for a, b in given["significant_pairs"]]
            higher_is_better = given.get("larger_is_better", True)
            found = partial_order.partial_order(centre, pairs, higher_is_better)
        where = case["id"]
        assert {str(name): str(tier) for name, tier in found.tiers.items()} == expected["tier"], where
        dominated = sorted([a, b] for a, below in found.dominates.items() for b in below)
        assert dominated == sorted(expected["dominates"]), where
        assert sorted([a, b] for b, above in found.dominated_by.items() for a in above) == dominated
        assert sorted(map(list, found.covers)) == sorted(expected["hasse_edges"]), where
        assert found.is_transitive == expected["is_transitive"], where
        assert found.is_empty == expected["empty_order"], where
        assert found.depth == expected["depth_from_top"], where
        assert sorted(map(sorted, found.incomparable)) == sorted(map(sorted, expected["incomparable_pairs"])), where
        assert found.cycle == ()


def test_compact_letters_agree_with_multcompview(cases: Cases) -> None:
    n_identical = 0
    for case in cases("compact_letters"):
        given, expected = case["input"], case["expected"]
        if "groups" in case:
            test = posthoc.tukey_hsd(case["groups"])
            locations, pairs = test.locations, test.pairs
        else:
            locations = dict(zip(given["groups"], given["means"], strict=True))
            alpha = given["alpha"]
            pairs = tuple(
                Pair(*key.split("-"), difference=0.1, p=p, is_significant=p < alpha) for key, p in given["p"].items()
            )
        letters = partial_order.compact_letters(locations, pairs)
        for pair in pairs:
            share_one = bool(set(letters[pair.a]) & set(letters[pair.b]))
            assert share_one is not pair.is_significant, (case["id"], pair)
        assert len(set("".join(letters.values()))) == expected["n_letters"], case["id"]
        n_identical += letters == expected["letters_ordered_by_mean"]
    # Letters are not unique in general; here they are all alike, dealt from the best condition downward.
    assert n_identical == len(cases("compact_letters"))


@pytest.mark.slow
def test_rank_correlation_agrees_with_all_permutations(cases: Cases) -> None:
    n_permuted = 0
    for case in cases("correlation"):
        if "tau_b" not in case["expected"]:
            continue  # Pearson's
        x, y, expected = case["input"]["x"], case["input"]["y"], case["expected"]
        tau, rho = agreement.kendall(x, y), agreement.spearman(x, y)
        assert tau.coefficient == pytest.approx(expected["tau_b"], rel=1e-12), case["id"]
        assert rho.coefficient == pytest.approx(expected["rho"], rel=1e-12), case["id"]
        if "permutation_5040" in expected:
            permuted = expected["permutation_5040"]
            assert tau.p_method == rho.p_method == agreement.PERMUTED
            assert tau.p == pytest.approx(permuted["kendall"]["p_two_sided_abs"], rel=1e-12), case["id"]
            assert rho.p == pytest.approx(permuted["spearman"]["p_two_sided_abs"], rel=1e-12), case["id"]
            n_permuted += 1
            continue
        if "kendall_exact" in expected:
            assert tau.p_method == agreement.COUNTED
            assert tau.p == pytest.approx(expected["kendall_exact"]["p_two_sided"], rel=1e-10), case["id"]
        else:
            assert tau.p_method == agreement.SAMPLED
            assert tau.p == pytest.approx(expected["kendall_asymptotic"]["p_two_sided"], abs=0.02), case["id"]
        # R approximates the p of rho by a t distribution; random orders come close to it.
        assert rho.p_method == agreement.SAMPLED
        assert rho.p == pytest.approx(expected["spearman_asymptotic"]["p_two_sided"], abs=0.02), case["id"]
    assert n_permuted == 7


def test_sign_test_agrees_with_binom_test(cases: Cases) -> None:
    for case in cases("sign_test"):
        given, expected = case["input"], case["expected"]
        if "groups" in case:
            a, b = case["groups"][given["a"]], case["groups"][given["b"]]
        else:
            a, b = [1] * given["nA"] + [0] * given["nB"], [0] * given["nA"] + [1] * given["nB"]
        found = paired.sign_test(a, b)
        assert (found.n_a, found.n_b) == (given["nA"], given["nB"]), case["id"]
        assert found.n_ties == given.get("ties", 0), case["id"]
        assert found.p == pytest.approx(expected["p_two_sided"], rel=1e-12), case["id"]


def test_corrections_agree_with_p_adjust(cases: Cases) -> None:
    for case in cases("p_adjust"):
        given, expected = case["input"], case["expected"]
        if "p" in given:
            for name in ("holm", "bonferroni", "sidak"):
                found = corrections.adjust(given["p"], name)
                assert list(found) == [pytest.approx(p, rel=1e-12) for p in expected[name]], (
                    case["id"],
                    name,
                )
        else:  # p values at the level of each comparison are adjusted to the level of the family
            for level, alpha in zip(expected["sidak"], given["alpha"], strict=True):
                assert corrections.adjust([level] * given["N"], "sidak")[0] == pytest.approx(alpha, rel=1e-12), case[
                    "id"
                ]


def test_percentile_interval_agrees_with_quantile_type_7(cases: Cases) -> None:
    exhaustive, given = cases("bootstrap")
    y = exhaustive["input"]["y"]
    means = np.array([[np.mean(resample)] for resample in product(y, repeat=4)])
    (interval,) = bootstrap.percentile_intervals(means)
    assert [interval.low, interval.high] == pytest.approx(exhaustive["expected"]["percentile95_type7"], rel=1e-12)
    (interval,) = bootstrap.percentile_intervals(np.array(given["input"]["replicates"])[:, None])
    assert [interval.low, interval.high] == pytest.approx(given["expected"]["percentile95_type7"], rel=1e-12)


def test_bootstrap_of_a_mean_has_the_moments_of_all_its_resamples(cases: Cases) -> None:
    exhaustive = cases("bootstrap")[0]
    means = bootstrap.user_means(np.array([exhaustive["input"]["y"]]).T, 40_000, np.random.default_rng(7))
    # Standard errors: .27 / sqrt(40000) = .0014 of the mean, about .001 of the standard deviation.
    assert means.mean() == pytest.approx(exhaustive["expected"]["mean"], abs=0.006)
    assert means.std() == pytest.approx(exhaustive["expected"]["sd_population"], abs=0.005)


def test_smallest_detectable_tau_of_seven_without_ties_is_15_of_21_pairs() -> None:
    found = agreement.kendall(range(7), range(7))
    assert found.smallest_detectable == pytest.approx(15 / 21)
    shares = {}
    for s in (13, 15):
        null = agreement.concordance_without_ties(7)
        shares[s] = null.share_at_least(s)
    assert shares == {13: pytest.approx(0.069, abs=5e-4), 15: pytest.approx(0.0302, abs=5e-5)}


def test_every_pair_of_the_sign_tests_matches_its_own_test_and_holm(cases: Cases) -> None:
    groups = next(case for case in cases("sign_test") if "groups" in case)["groups"]
    found = paired.sign_tests_between(groups)
    alone = [paired.sign_test(groups[a], groups[b]) for a, b in combinations(groups, 2)]
    assert [pair.p for pair in found.pairs] == list(corrections.holm([one.p for one in alone]))
    assert [(pair.n_a, pair.n_b, pair.n_ties) for pair in found.pairs] == [
        (one.n_a, one.n_b, one.n_ties) for one in alone
    ]
