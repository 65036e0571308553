"""Metrics of lists: the sources' examples, pytrec_eval's values, and the empty cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ParameterError
from evaluation.metrics.half_life import half_life
from evaluation.metrics.list_values import Overall, mean_of_users, overall, user_values
from evaluation.metrics.ranks import Ranks
from evaluation.metrics.registry import metric

SYSTEMS = np.array([[6, 2, 1, 0, 3], [4, 1, 7, 2, 6]])


def ranks_in(lists, users, items, gains=None, n_candidates=None):
    """Ranks of relevant pairs in lists without gaps, by comparing every entry."""
    is_hit = lists[users] == items[:, None]
    ranks = np.where(is_hit.any(axis=1), is_hit.argmax(axis=1) + 1, 0)
    return Ranks.of(users, ranks, gains, n_listed=[lists.shape[1]] * len(lists), n_candidates=n_candidates)


@pytest.fixture
def systems():
    """The blog's systems A and B as two users; items 2 and 6 are relevant."""
    return ranks_in(SYSTEMS, np.array([0, 0, 1, 1]), np.array([2, 6, 2, 6]), n_candidates=[12, 12])


def one(name, ranks):
    return user_values(metric(name), ranks).tolist()


@pytest.mark.unit
def test_systems_a_and_b_have_equal_precision_and_unequal_order(systems):
    assert one("precision@5", systems) == [0.4, 0.4]
    assert one("recall@5", systems) == [1.0, 1.0]
    assert one("f1@5", systems) == pytest.approx([4 / 7, 4 / 7])
    assert one("ap@5(over=retrieved)", systems) == pytest.approx([1.0, (1 / 4 + 2 / 5) / 2])
    assert one("rr@5", systems) == [1.0, 0.25]
    ideal = 1 + 1 / math.log2(3)
    assert one("ndcg@5", systems) == pytest.approx([1.0, (1 / math.log2(5) + 1 / math.log2(6)) / ideal])
    assert one("hit-rate@3", systems) == [1.0, 0.0]
    assert one("fdr@5", systems) == [0.6, 0.6]
    assert one("fpr@5", systems) == [0.3, 0.3]
    assert overall(metric("map@5"), systems).value == pytest.approx((1 + 0.325) / 2)


@pytest.mark.unit
def test_average_precision_says_what_it_divides_by():
    ranks = Ranks.of([0, 0, 0, 0], [1, 4, 0, 0], n_listed=[5])
    total = 1 + 2 / 4
    assert one("ap@5(over=relevant)", ranks) == [total / 4]
    assert one("ap@3(over=capped)", ranks) == [1 / 3]
    assert one("ap@5(over=capped)", ranks) == [total / 4]
    assert one("ap@5(over=retrieved)", ranks) == [total / 2]
    assert one("ap@5(over=length)", ranks) == [total / 5]
    assert one("ap@3(over=length)", ranks) == [1 / 3]
    missed = Ranks.of([0], [0], n_listed=[5])
    assert one("ap@5(over=retrieved)", missed) == [0.0]
    assert one("rr@5", missed) == [0.0]


@pytest.mark.unit
def test_capped_recall_reaches_one_where_more_items_are_relevant_than_fit():
    ranks = Ranks.of([0, 0, 0, 0, 1, 2], [1, 2, 4, 0, 3, 0], n_listed=[5, 5, 5])
    assert one("capped-recall@2", ranks) == [1.0, 0.0, 0.0]
    assert one("capped-recall@5", ranks) == [3 / 4, 1.0, 0.0]
    assert one("recall@2", ranks) == [2 / 4, 0.0, 0.0]


@pytest.mark.unit
def test_graded_gains_count_linearly_or_exponentially():
    ranks = Ranks.of([0, 0, 0], [2, 1, 0], [3.0, 1.0, 2.0], n_listed=[4])
    assert one("dcg@4", ranks) == pytest.approx([1 + 3 / math.log2(3)])
    assert one("dcg@4(gain=exponential)", ranks) == pytest.approx([1 + 7 / math.log2(3)])
    best = 3 + 2 / math.log2(3) + 1 / 2
    assert one("ndcg@4", ranks) == pytest.approx([(1 + 3 / math.log2(3)) / best])
    assert one("utility@1", ranks) == [1.0]
    assert one("utility@2", ranks) == [4.0]


@pytest.mark.unit
def test_f_is_a_mean_of_users_or_that_of_the_means():
    ranks = Ranks.of([0, 1, 1, 1, 1], [1, 0, 0, 1, 0], n_listed=[2, 2])
    precision, recall = [0.5, 0.5], [1.0, 0.25]
    of_users = [2 * p * r / (p + r) for p, r in zip(precision, recall, strict=True)]
    assert one("f1@2", ranks) == pytest.approx(of_users)
    assert overall(metric("f1@2"), ranks).value == pytest.approx(sum(of_users) / 2)
    assert overall(metric("f1@2(of=means)"), ranks).value == pytest.approx(2 * 0.5 * 0.625 / 1.125)
    assert one("f-beta@2(beta=2)", ranks)[0] == pytest.approx(5 * 0.5 * 1 / (4 * 0.5 + 1))


@pytest.mark.unit
def test_users_without_relevant_items_are_left_out_and_counted():
    ranks = Ranks.of([1], [2], n_listed=[3, 3, 0], n_candidates=[9, 1 + 2, 4])
    for name in ("precision@2", "recall@2", "f1@2", "hit-rate@2", "ap@2", "rr@2", "dcg@2", "ndcg@2", "utility@2"):
        assert np.isnan(one(name, ranks)).tolist() == [True, False, True], name
        assert overall(metric(name), ranks).n_empty == 2
    assert overall(metric("half-life"), ranks) == Overall(value=2 ** (-1 / 4), n_users=1, n_empty=2)
    nobody = Ranks.of([], [], n_listed=[3, 3])
    assert overall(metric("f1@2(of=means)"), nobody) == Overall(value=None, n_users=0, n_empty=2)
    assert mean_of_users(np.empty(0)) == Overall(value=None, n_users=0, n_empty=0)


@pytest.mark.unit
def test_false_positives_need_something_to_be_wrong_about():
    ranks = Ranks.of([0, 1], [1, 0], n_listed=[1, 0], n_candidates=[1, 4])
    assert np.isnan(one("fpr@3", ranks)).tolist() == [True, False]
    assert one("fpr@3", ranks)[1] == 0.0
    assert one("fdr@3", ranks)[0] == 0.0
    assert np.isnan(one("fdr@3", ranks)[1])
    with pytest.raises(ParameterError, match="number of candidates"):
        one("fpr@3", Ranks.of([0], [1], n_listed=[1]))


@pytest.mark.unit
def test_half_life_halves_attention_and_is_one_ratio_of_sums():
    ranks = Ranks.of([0, 0, 1], [1, 5, 9], [5.0, 4.0, 3.0], n_listed=[9, 9])
    found = half_life(ranks, alpha=5.0, default=3.0)
    assert found.utilities.tolist() == [2 + 1 / 2, 0.0]
    assert found.best.tolist() == pytest.approx([2 + 2 ** (-1 / 4), 0.0])
    assert found.value == pytest.approx(2.5 / (2 + 2 ** (-1 / 4)))
    assert np.isnan(found.user_values).tolist() == [False, True]
    assert overall(metric("half-life(default=3)"), ranks).value == found.value
    assert half_life(Ranks.of([], [], n_listed=[4])).value is None
    binary = half_life(Ranks.of([0, 0, 1], [1, 3, 2], n_listed=[5, 5]), alpha=2.0)
    assert binary.value == pytest.approx((1 + 1 / 4 + 1 / 2) / (1 + 1 / 2 + 1))


@pytest.mark.unit
def test_known_viewing_probabilities_replace_the_decay():
    ranks = Ranks.of([0, 0, 0, 1], [1, 3, 7, 4], [2.0, 5.0, 9.0, 1.0], n_listed=[9, 9])
    known = half_life(ranks, viewed=np.array([1.0, 0.5, 0.25]))
    assert known.utilities.tolist() == [2 + 5 / 4, 0.0]
    assert known.best.tolist() == [9 + 5 / 2 + 2 / 4, 1.0]
    found = overall(metric("half-life(viewed=1:.5:.25)"), ranks)
    assert (found.value, found.n_empty) == (known.value, 0) == (3.25 / 13, 0)
    assert one("half-life(viewed=1:.5:.25)", ranks) == known.user_values.tolist() == [3.25 / 12, 0.0]
    # The first ranks all seen, and no other: the utility of a fixed list, as a share of the best one.
    assert one("half-life(viewed=1x5,default=1)", ranks)[0] == (1 + 4) / (8 + 4 + 1)


@pytest.mark.unit
def test_known_probabilities_that_are_the_decay_give_its_values():
    ranks = Ranks.of([0, 0, 1, 2], [2, 9, 4, 0], [2.0, 5.0, 9.0, 1.0], n_listed=[9, 9, 9])
    decay = np.exp2(-np.arange(9) / 4)
    assert half_life(ranks, viewed=decay).user_values.tolist() == half_life(ranks, alpha=5.0).user_values.tolist()


@pytest.mark.unit
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: one("rmse", r), "not a metric of one list per user"),
        (lambda r: one("recall@5(ties=worst)", r), "a finished list has no ties"),
    ],
)
def test_choices_that_do_not_exist_are_refused(systems, call, message):
    with pytest.raises(ParameterError, match=message):
        call(systems)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
@pytest.mark.unit
def test_a_perfect_list_is_worth_one_and_values_stay_in_range(seed):
    rng = np.random.default_rng(seed)
    shown = np.argsort(rng.random((4, 12)), axis=1)
    users, items = np.nonzero(rng.random((4, 12)) < 0.4)
    gains = rng.integers(1, 4, len(users)).astype(float)
    ranks = ranks_in(shown, users, items, gains, n_candidates=[12] * 4)
    for name in ("precision@5", "recall@5", "f1@5", "hit-rate@5", "ap@5", "ap@5(over=capped)", "rr@5", "ndcg@5",
                 "ap@5(over=length)", "capped-recall@5",
                 "ndcg@5(gain=exponential)", "fpr@5", "fdr@5", "half-life"):  # fmt: skip
        values = user_values(metric(name), ranks)
        known = values[~np.isnan(values)]
        assert ((known >= 0) & (known <= 1 + 1e-12)).all(), name
    best = Ranks.of(ranks.users, ranks.best[1], ranks.best[0], n_listed=[12] * 4)
    for name in ("ap@12", "rr@12", "ndcg@12", "ndcg@3", "half-life", "recall@12"):
        values = user_values(metric(name), best)
        assert values[~np.isnan(values)] == pytest.approx(1.0), name


@pytest.mark.reference
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_values_equal_those_of_pytrec_eval(seed):
    rng = np.random.default_rng(seed)
    n_users, n_items, depth = 60, 50, 20
    shown = np.argsort(rng.random((n_users, n_items)), axis=1)[:, :depth]
    users, items = np.nonzero(rng.random((n_users, n_items)) < 0.15)
    gains = rng.integers(1, 5, len(users))
    truth = {f"u{user}": {} for user in np.unique(users)}
    for user, item, gain in zip(users, items, gains.tolist(), strict=True):
        truth[f"u{user}"][f"i{item}"] = gain
    run = {
        f"u{user}": {f"i{item}": float(depth - place) for place, item in enumerate(shown[user])}
        for user in range(n_users)
    }
    measures = {"P.1,5,10", "recall.1,5,10", "map_cut.1,5,10", "ndcg_cut.1,5,10", "recip_rank", "success.1,5,10"}
    theirs = pytrec_eval.RelevanceEvaluator(truth, measures).evaluate(run)
    ours = ranks_in(shown, users, items, gains)
    for name, key in (
        *((f"precision@{k}", f"P_{k}") for k in (1, 5, 10)),
        *((f"recall@{k}", f"recall_{k}") for k in (1, 5, 10)),
        *((f"ap@{k}", f"map_cut_{k}") for k in (1, 5, 10)),
        *((f"ndcg@{k}", f"ndcg_cut_{k}") for k in (1, 5, 10)),
        *((f"hit-rate@{k}", f"success_{k}") for k in (1, 5, 10)),
        (f"rr@{depth}", "recip_rank"),
    ):
        values = user_values(metric(name), ours)
        for user in range(n_users):
            if f"u{user}" in theirs:
                assert values[user] == pytest.approx(theirs[f"u{user}"][key], abs=1e-12), (name, user)
            else:
                assert np.isnan(values[user])
