"""What a test item is worth in a list of n."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.hits import mean_hits

pytestmark = pytest.mark.unit

counts = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(0, 12)), min_size=1, max_size=25)


def hit_probability(above, tied, ns, ties="expected"):
    """The mean of every case by itself."""
    return mean_hits(np.arange(len(above)), above, tied, ns, ties=ties).values


def test_hit_probability_by_hand():
    above, tied = np.array([0, 4, 5, 3, 0]), np.array([0, 0, 0, 3, 9])
    assert hit_probability(above, tied, [5])[:, 0].tolist() == [1, 1, 0, 0.5, 0.5]
    assert hit_probability(above, tied, [5], ties="best")[:, 0].tolist() == [1, 1, 0, 1, 1]
    assert hit_probability(above, tied, [5], ties="worst")[:, 0].tolist() == [1, 1, 0, 0, 0]
    assert hit_probability(above, tied, [7], ties="worst")[:, 0].tolist() == [1, 1, 1, 1, 0]


@settings(deadline=None)
@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 12))
def test_hit_probability_is_the_share_of_orders_that_hit(n_above, n_tied, n):
    # The test item stands at each of the tied places equally often.
    places = [n_above + place for place in range(n_tied + 1)]
    expected = sum(place < n for place in places) / len(places)
    above, tied = np.array([n_above]), np.array([n_tied])
    assert hit_probability(above, tied, [n])[0, 0] == expected
    worst, best = (hit_probability(above, tied, [n], ties=ties)[0, 0] for ties in ("worst", "best"))
    assert (worst, best) == (float(places[-1] < n), float(places[0] < n))


@settings(deadline=None)
@given(counts, st.permutations(range(25)), st.sampled_from(["expected", "worst", "best"]))
def test_mean_hits_are_exact_and_do_not_depend_on_order(rows, shuffle, ties):
    groups, above, tied = (np.array(column) for column in zip(*rows, strict=True))
    means = mean_hits(groups, above, tied, [1, 5, 17], ties=ties)
    order = [place for place in shuffle if place < len(rows)]
    shuffled = mean_hits(groups[order], above[order], tied[order], [1, 5, 17], ties=ties)
    assert np.array_equal(means.values, shuffled.values)
    assert means.groups.tolist() == sorted(set(groups.tolist()))
    hits = hit_probability(above, tied, [1, 5, 17], ties=ties)
    for group, n_cases, values in zip(means.groups, means.n_cases, means.values, strict=True):
        assert n_cases == (groups == group).sum()
        assert values == pytest.approx(hits[groups == group].mean(axis=0), abs=1e-15)


def test_mean_hits_of_equal_hits_are_equal_to_the_last_bit():
    # 1/1 and 10/10 are both whole hits; three of seven, whatever they are made of.
    zeros = np.zeros(7, dtype=int)
    plain = mean_hits(zeros, np.array([0, 0, 0, 9, 9, 9, 9]), zeros, [5])
    among_ties = mean_hits(zeros, np.array([0, 1, 2, 9, 9, 9, 9]), np.array([0, 3, 1, 0, 5, 9, 2]), [5])
    assert plain.values[0, 0] == among_ties.values[0, 0] == 3 / 7


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(0, 1000), st.integers(1, 1200))
def test_mean_hits_of_a_constant_scorer_is_the_fraction_itself(n_cases, m, n):
    zeros = np.zeros(n_cases, dtype=int)
    mean = mean_hits(zeros, zeros, np.full(n_cases, m), [n]).values[0, 0]
    assert mean == float(min(Fraction(n, m + 1), Fraction(1)))


def test_mean_hits_of_no_case_has_no_group():
    none = np.zeros(0, dtype=int)
    means = mean_hits(none, none, none, [1, 2])
    assert means.values.shape == (0, 2)
    assert len(means.groups) == len(means.n_cases) == 0
