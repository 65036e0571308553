"""The closed form of one plus random, held against scipy, against sampling, and against what has to be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array

from evaluation.metrics.ranking import pooled, pooled_and_by_user
from evaluation.protocols import kernels
from evaluation.protocols.blocks import joined, measure_block
from evaluation.protocols.cases import Cases, build_cases
from evaluation.protocols.hit_metrics import (
    _means_of,
    exact_hit_probability,
    filled_share,
    mean_probabilities,
    one_plus_random,
)
from evaluation.protocols.registry import protocol
from tests.factories.kernels import interpreted_of
from tests.factories.splits import probe

pytestmark = pytest.mark.unit


def slowly(above: int, tied: int, n_all: int, negatives: int, n: int) -> float:
    """The same by adding up every place that the test item may have among those it is tied with."""
    places = np.arange(above, above + tied + 1)
    return float(stats.hypergeom.cdf(n - 1, n_all, places, min(negatives, n_all)).mean())


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 300), st.integers(1, 400), st.integers(0, 10**6))
def test_closed_form_is_the_sum_over_the_places_of_a_tie(n_all, negatives, seed):
    rng = np.random.default_rng(seed)
    above = rng.integers(0, n_all + 1, 4)
    tied = np.array([rng.integers(0, n_all - a + 1) for a in above])
    ns = [1, 2, 5, 20]
    found = exact_hit_probability(above, tied, np.full(4, n_all), negatives, ns)
    expected = [[slowly(a, t, n_all, negatives, n) for n in ns] for a, t in zip(above, tied, strict=True)]
    assert found == pytest.approx(np.array(expected), abs=1e-10)
    assert (np.diff(found, axis=1) >= -1e-12).all()


@pytest.mark.kernels
def test_worst_and_best_put_the_test_item_behind_and_before_its_ties():
    arguments = (np.array([3]), np.array([40]), np.array([500]), 100, [5])
    worst, expected, best = (
        exact_hit_probability(*arguments, ties=ties)[0, 0] for ties in ("worst", "expected", "best")
    )
    assert worst == pytest.approx(stats.hypergeom.cdf(4, 500, 43, 100))
    assert best == pytest.approx(stats.hypergeom.cdf(4, 500, 3, 100))
    assert worst < expected < best


@pytest.mark.kernels
@pytest.mark.parametrize("tied", [2, 40])  # few ties are summed one by one
def test_a_list_that_holds_all_that_are_drawn_has_the_test_item(tied):
    found = exact_hit_probability(np.array([3]), np.array([tied]), np.array([60]), 4, [4, 5, 9])
    assert found[0].tolist() == [pytest.approx(slowly(3, tied, 60, 4, 4), abs=1e-12), 1.0, 1.0]
    assert found[0, 0] < 1.0


@pytest.mark.kernels
@pytest.mark.parametrize(("n_all", "negatives"), [(1980, 1000), (1000, 1000), (13, 1000), (5000, 1000)])
def test_constant_scorer_gets_n_of_m_plus_1_to_the_last_bit(n_all, negatives):
    hits = exact_hit_probability(np.zeros(37, int), np.full(37, n_all), np.full(37, n_all), negatives, range(1, 21))
    found = pooled_and_by_user(np.arange(37) % 5, np.ones(37, bool), _means_of(hits))
    m = min(n_all, negatives)
    assert found.recall == tuple(min(1.0, n / (m + 1)) for n in range(1, 21))
    assert set(found.user_recall.values[:, 4]) == {min(1.0, 5 / (m + 1))}


def cases_and_split(seed: int, *, n_users: int = 120, n_items: int = 1300, negatives: int = 200) -> Cases:
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n_users, n_items)) < 0.05, rng.choice([1, 3, 5], (n_users, n_items)), 0)
    split = probe(csr_array(dense.astype(np.float32)), share=0.3, seed=seed)
    hidden = (split.hidden_users, split.hidden_items, split.hidden_values)
    return build_cases(split.train, *hidden, relevant=5, irrelevant=1, seed=seed, negatives=negatives)


def measured(cases: Cases, scores: np.ndarray, **chosen):
    wanted = protocol("one-plus-random").completed({"negatives": cases.negatives, **chosen})
    users = np.unique(cases.users)
    popularity = np.random.default_rng(5).integers(0, 50, cases.n_items)
    blocks = []
    for some in np.array_split(users, 3):
        rows = slice(*np.searchsorted(cases.users, [some[0], some[-1] + 1]).tolist())
        blocks.append(measure_block(wanted, cases, rows, scores[some], some, popularity=popularity, longest=20))
    return one_plus_random(cases, joined(wanted, blocks), wanted, range(1, 21))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sampled_lies_within_its_standard_error_of_exact(seed):
    cases = cases_and_split(seed)
    scores = np.random.default_rng(seed).integers(0, 200, (120, 1300)).astype(np.float64)
    sampled, exact = measured(cases, scores), measured(cases, scores, mode="exact")
    for n in (1, 5, 20):
        for kind, size in (("recall", cases.n_relevant), ("fallout", cases.n_irrelevant)):
            p = getattr(exact.main, kind)[n - 1]
            assert abs(getattr(sampled.main, kind)[n - 1] - p) < 4 * math.sqrt(p * (1 - p) / size)
    # What one calls its main values the other has beside them.
    assert sampled.secondary["recall(mode=exact)"] == exact.main.recall
    assert exact.secondary["recall(mode=sampled)"] == sampled.main.recall
    assert sampled.secondary["f(mode=exact)"] == exact.main.f


@pytest.mark.parametrize("mode", ["sampled", "exact"])
def test_constant_omniscient_and_random_scorers_get_what_they_have_to(mode):
    cases = cases_and_split(7, negatives=1000)
    assert cases.n_short == 0
    constant = measured(cases, np.zeros((120, 1300)), mode=mode)
    assert constant.main.recall == constant.main.fallout == tuple(n / 1001 for n in range(1, 21))
    knowing = np.zeros((120, 1300))
    knowing[cases.users, cases.items] = np.where(cases.is_relevant, 1.0, -1.0)
    assert measured(cases, knowing, mode=mode).main.recall == (1.0,) * 20
    assert measured(cases, knowing, mode=mode).main.fallout == (0.0,) * 20
    by_chance = measured(cases, np.random.default_rng(8).random((120, 1300)), mode=mode).main.recall[4]
    share = 5 / 1001
    assert abs(by_chance - share) < 4 * math.sqrt(share * (1 - share) / cases.n_relevant)


def test_as_served_orders_ties_by_popularity_and_counts_the_slots_it_fills():
    train = csr_array(np.array([[4.0, 0, 0, 0, 0, 0]]))
    hidden = (np.array([0, 0]), np.array([1, 2]), np.array([5.0, 1.0]))
    cases = build_cases(train, *hidden, relevant=5, irrelevant=1, seed=1, negatives=9)
    wanted = protocol("one-plus-random").completed({"negatives": 9})
    nothing = np.full((1, 6), -np.inf)
    counts = measure_block(
        wanted, cases, slice(None), nothing, np.array([0]), popularity=np.array([1, 7, 0, 9, 5, 5]), longest=3
    )
    found = one_plus_random(cases, counts, wanted, [1, 2, 3])
    # The candidates are items 3, 4 and 5: one of them is more popular than item 1, all are than item 2.
    assert found.secondary["recall(ties=served)"] == (0.0, 1.0, 1.0)
    assert found.secondary["fallout(ties=served)"] == (0.0, 0.0, 0.0)
    assert found.secondary["filled-slots"] == (1.0, 1.0, 1.0)
    assert found.main.recall == (0.25, 0.5, 0.75)


def test_cases_of_one_kind_have_no_fallout_in_either_mode():
    train = csr_array(np.array([[4.0, 0, 0, 0]]))
    cases = build_cases(train, np.array([0]), np.array([1]), np.array([5.0]), relevant=5, irrelevant=1, seed=1)
    wanted = protocol("one-plus-random").completed({"mode": "exact"})
    counts = measure_block(
        wanted, cases, slice(None), np.zeros((1, 4)), np.array([0]), popularity=np.ones(4), longest=2
    )
    found = one_plus_random(cases, counts, wanted, [1, 2])
    assert (found.main.fallout, found.main.f) == (None, None)
    assert found.secondary["fallout(mode=sampled)"] == (None, None)


@pytest.mark.kernels
def test_closed_form_does_the_same_compiled_and_interpreted():
    rng = np.random.default_rng(3)
    above = rng.integers(0, 30, 12).astype(np.int32)
    tied = np.array([0, 1, 9, 30, 60, 99, 5, 0, 12, 7, 40, 2], dtype=np.int32)
    above[5] = 0
    n_all = np.full(12, 99, dtype=np.int32)
    logs = np.array([math.lgamma(k + 1) for k in range(110)])
    for negatives in (20, 99):
        compiled, interpreted = np.empty((12, 7)), np.empty((12, 7))
        kernels.exact_hits(above, tied, n_all, negatives, 8, logs, compiled)
        interpreted_of(kernels.exact_hits)(above, tied, n_all, negatives, 8, logs, interpreted)
        assert compiled == pytest.approx(interpreted, abs=1e-12)
    one, two = np.empty(9), np.empty(9)
    kernels.below_or_at(50, 30, 30, logs, one)
    interpreted_of(kernels.below_or_at)(50, 30, 30, logs, two)
    assert one == pytest.approx(two)
    assert one == pytest.approx(stats.hypergeom.cdf(range(9), 50, 30, 30), abs=1e-12)
    sums = [np.empty(4), np.empty(4)]
    for how, out in zip((kernels.sum_of_hits, interpreted_of(kernels.sum_of_hits)), sums, strict=True):
        how(50, 51, 20, logs, np.empty(5), out)
    assert sums[0] == pytest.approx(sums[1])


def test_means_of_no_case_are_empty_and_g_may_be_given():
    assert len(mean_probabilities(np.zeros(0, int), np.zeros((0, 3))).groups) == 0
    means = mean_probabilities(np.array([4, 2, 4]), np.array([[0.5], [1.0], [0.25]]))
    assert (means.groups.tolist(), means.n_cases.tolist()) == ([2, 4], [1, 2])
    assert means.values.tolist() == [[1.0], [0.375]]
    assert pooled(np.zeros(0, bool), _means_of(np.zeros((0, 1)))).recall is None
    given_g = pooled(np.array([True, False]), _means_of(np.array([[0.5], [0.25]])), g=0.1)
    assert given_g.precision == (pytest.approx(0.5 * 0.1 / (0.5 * 0.1 + 0.25 * 0.9)),)
    assert np.isnan(filled_share(np.zeros(0, int), np.zeros(0, int), [5])).all()
