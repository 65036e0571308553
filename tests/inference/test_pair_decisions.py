"""Decisions about every pair of algorithms on both sides."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.errors import DataError
from inference.pair_decisions import DRAWS, PairClass, decide_pairs, offline_pairs
from inference.results import Pair, PairwiseResult, Undefined
from inference.studentized_range import critical_range

pytestmark = pytest.mark.unit


def drawn(rates, n=600, cases=3, seed=1):
    """Users' mean hits, with a shared part that makes algorithms and cases of a user alike."""
    rng = np.random.default_rng(seed)
    liking = rng.normal(0, 0.1, n)
    return {
        name: rng.binomial(cases, np.clip(rate + liking, 0, 1)) / cases
        for name, rate in zip("ABCDEFG", rates, strict=False)
    }


def side(locations, significant):
    """A comparison whose significant pairs are those named."""
    names = list(locations)
    pairs = tuple(
        Pair(a, b, locations[a] - locations[b], 0.01 if a + b in significant else 0.5, a + b in significant)
        for at, a in enumerate(names)
        for b in names[at + 1 :]
    )
    return PairwiseResult("test", 0.05, pairs, dict(locations), dict.fromkeys(locations, 30))


def test_means_over_users_have_the_standard_error_of_paired_differences():
    values = drawn([0.3, 0.4, 0.5], n=50)
    found = offline_pairs(values)
    for pair in found.pairs:
        differences = values[pair.a] - values[pair.b]
        assert pair.difference == pytest.approx(differences.mean())
        assert pair.se == pytest.approx(differences.std(ddof=1) / math.sqrt(50))
        assert pair.statistic == pytest.approx(pair.difference / pair.se)


def test_pooled_rates_are_clustered_by_user():
    rng = np.random.default_rng(3)
    cases = rng.integers(1, 9, 400)
    liking = rng.beta(1, 2, 400)
    hits = {name: rng.binomial(cases, liking * scale) for name, scale in (("A", 0.9), ("B", 0.6))}
    (pair,) = offline_pairs({name: of / cases for name, of in hits.items()}, cases).pairs
    assert pair.difference == pytest.approx((hits["A"].sum() - hits["B"].sum()) / cases.sum())
    counts = np.random.default_rng(4).multinomial(400, np.full(400, 1 / 400), size=20_000)
    resampled = counts @ (hits["A"] - hits["B"]) / (counts @ cases)
    assert pair.se == pytest.approx(resampled.std(), rel=0.02)
    alone = offline_pairs({name: of / cases for name, of in hits.items()}).pairs[0]
    assert alone.difference == pytest.approx(np.mean((hits["A"] - hits["B"]) / cases))


def test_the_critical_value_is_that_of_the_largest_pair():
    rng = np.random.default_rng(5)
    independent = {name: rng.normal(0, 1, 4000) for name in "ABCDE"}
    expected = critical_range(0.05, 5, math.inf) / math.sqrt(2)
    assert offline_pairs(independent).critical == pytest.approx(expected, abs=0.03)
    two = offline_pairs({name: independent[name] for name in "AB"})
    assert two.critical == pytest.approx(1.96, abs=0.03)


def test_p_intervals_and_decisions_say_the_same():
    for seed in range(30):
        found = offline_pairs(drawn([0.3, 0.32, 0.34, 0.36, 0.38], seed=seed), np.full(600, 3))
        for pair in found.pairs:
            assert pair.is_significant == (pair.ci_low > 0 or pair.ci_high < 0) == (pair.p < 0.05)
            assert pair.is_significant == (abs(pair.statistic) > found.critical)
            assert pair.p >= 1 / (DRAWS + 1)
    assert {pair.is_significant for pair in found.pairs} == {True, False}


def test_the_same_data_have_the_same_result():
    values = drawn([0.3, 0.35, 0.4])
    assert offline_pairs(values) == offline_pairs(values)


def test_few_users_who_differ_need_sign_flips_too():
    n = 400
    a, b, c = np.zeros(n), np.zeros(n), np.zeros(n)
    a[:6] = 1  # six users differ, in one direction: exact p = 2/64, above α / 3
    c[:200] = 1
    found = offline_pairs({"A": a, "B": b, "C": c})
    pair = found.pairs[0]
    assert abs(pair.statistic) > found.critical
    assert (pair.n_differing, pair.p_sign_flip) == (6, pytest.approx(2 / 64))
    assert pair.p == pytest.approx(3 * 2 / 64)
    assert not pair.is_significant
    assert found.pairs[1].p_sign_flip is None
    assert found.pairs[1].is_significant
    a[:9] = 1
    assert offline_pairs({"A": a, "B": b, "C": c}).pairs[0].is_significant


def test_pairs_that_do_not_vary():
    same = offline_pairs({"A": [1, 0, 1], "B": [1, 0, 1]}).pairs[0]
    assert (same.p, same.is_significant, same.difference) == (None, False, 0.0)
    assert "same value" in same.reason
    apart = offline_pairs({"A": np.ones(40), "B": np.zeros(40)}).pairs[0]
    assert apart.is_significant
    assert (apart.ci_low, apart.ci_high, apart.statistic) == (1.0, 1.0, None)
    assert not offline_pairs({"A": np.ones(4), "B": np.zeros(4)}).pairs[0].is_significant


def test_users_without_a_value_are_left_out_for_every_algorithm():
    values = drawn([0.2, 0.4, 0.6], n=60)
    lacking = {name: np.append(of, [np.nan, 1.0]) for name, of in values.items()}
    lacking["B"][-1] = np.nan
    found = offline_pairs(lacking, np.append(np.full(60, 3), [3, 3]))
    assert (found.n_users, found.n_cases) == (60, 180)
    assert found == offline_pairs(values, np.full(60, 3))


def test_offline_errors():
    assert isinstance(offline_pairs({"A": [1.0, 0.0]}), Undefined)
    assert isinstance(offline_pairs({"A": [1.0], "B": [0.0]}), Undefined)
    with pytest.raises(DataError):
        offline_pairs({"A": [1.0, 0.0], "B": [0.0]})


def test_the_five_classes():
    people = side({"A": 4, "B": 3, "C": 2, "D": 1}, ["AC", "AD", "BD", "CD"])
    recall = side({"A": 0.4, "B": 0.2, "C": 0.1, "D": 0.3}, ["AB", "AC", "BD", "CD"])
    found = decide_pairs(people, recall)
    assert {pair.a + pair.b: str(pair.decision) for pair in found.pairs} == {
        "AB": "offline only", "AC": "agree", "AD": "participants only", "BC": "undecided", "BD": "contradict",
        "CD": "contradict",
    }  # fmt: skip
    assert found.counts == {
        PairClass.AGREE: 1, PairClass.CONTRADICT: 2, PairClass.PARTICIPANTS_ONLY: 1, PairClass.OFFLINE_ONLY: 1,
        PairClass.UNDECIDED: 1,
    }  # fmt: skip
    assert set(found.offline.direct) == {("A", "B"), ("A", "C"), ("D", "B"), ("D", "C")}
    assert found.offline_rank_sets.sets["A"] == (1, 2)
    assert found.participants_rank_sets.sets["D"] == (4, 4)


def test_a_metric_where_less_is_better_favours_the_lower_value():
    people, error = side({"A": 4, "B": 3}, ["AB"]), side({"A": 0.8, "B": 0.9}, ["AB"])
    assert decide_pairs(people, error, offline_higher_is_better=False).pairs[0].decision is PairClass.AGREE
    found = decide_pairs(people, error)
    assert found.pairs[0].decision is PairClass.CONTRADICT
    assert found.offline.direct == (("B", "A"),)


def test_pairs_that_only_the_closure_orders_are_named_not_decided():
    people = side({"A": 4, "B": 3, "C": 2}, ["AB", "BC"])
    recall = side({"A": 0.3, "B": 0.2, "C": 0.1}, ["AB", "AC", "BC"])
    found = decide_pairs(people, recall)
    assert found.participants.implied == (("A", "C"),)
    assert found.pairs[1].decision is PairClass.OFFLINE_ONLY
    assert found.offline.implied == ()
