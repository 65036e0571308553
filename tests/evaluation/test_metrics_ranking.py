"""Recall, fallout, precision and F."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.ranking import f_measure, measure_ranking, raghavan_precision

pytestmark = pytest.mark.unit

shares = st.floats(0, 1)


@pytest.mark.reference
@pytest.mark.parametrize(
    ("algorithm", "recall", "fallout", "printed"),
    [
        ("PureSVD50", 0.29, 0.005, "0.45"),
        ("PureSVD300", 0.25, 0.005, "0.40"),
        ("AsySVD", 0.13, 0.001, "0.23"),
        ("NNCosNgr", 0.12, 0.010, "0.21"),
        ("TopPop", 0.11, 0.025, "0.20"),
        ("CorNgr", 0.08, 0.010, "0.15"),
        ("LSA", 0.01, 0.002, "0.02"),
    ],
)
def test_f_of_the_published_table_follows_from_its_recall_and_fallout(algorithm, recall, fallout, printed):
    # Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), INTERACT, Table 2.
    precision = raghavan_precision(recall, fallout, 0.8)
    assert f"{f_measure(precision, recall):.2f}" == printed, algorithm


def test_f_of_toppop_is_not_the_published_one_at_another_generality():
    assert f"{f_measure(raghavan_precision(0.11, 0.025, 0.5), 0.11):.3f}" == "0.194"


@pytest.mark.parametrize(
    ("recall", "fallout", "g", "precision", "f"),
    [
        # r g = .005, f (1 - g) = .0198
        (0.5, 0.02, 0.01, 25 / 124, 25 / 87),
        # r g = .04, f (1 - g) = .045
        (0.4, 0.05, 0.1, 8 / 17, 16 / 37),
        # r g = .02, f (1 - g) = .18
        (0.2, 0.2, 0.1, 0.1, 2 / 15),
        (1.0, 0.0, 0.01, 1.0, 1.0),
        (0.0, 0.3, 0.1, 0.0, 0.0),
    ],
)
def test_precision_and_f_by_hand_where_relevant_cases_are_rare(recall, fallout, g, precision, f):
    found = raghavan_precision(recall, fallout, g)
    assert found == pytest.approx(precision, rel=1e-14)
    assert f_measure(found, recall) == pytest.approx(f, rel=1e-14)


@settings(deadline=None)
@given(shares, shares, shares)
def test_precision_is_a_share_or_nothing_was_retrieved(recall, fallout, g):
    precision = raghavan_precision(recall, fallout, g)
    if precision is None:
        assert recall * g + fallout * (1 - g) == 0
    else:
        assert 0 <= precision <= 1
    assert 0 <= f_measure(precision, recall) <= 1


def test_f_where_nothing_was_retrieved_is_nothing():
    assert raghavan_precision(0.0, 0.0, 0.5) is None
    assert f_measure(None, 0.0) == f_measure(0.0, 0.0) == 0.0


def five_cases(**options):
    return measure_ranking(
        np.array([0, 0, 2, 2, 2]),
        np.array([True, False, True, True, False]),
        np.array([0, 9, 4, 30, 0]),
        np.array([0, 0, 1, 0, 3]),
        [1, 5, 10],
        **options,
    )


def test_measure_ranking_by_hand():
    result = five_cases()
    assert result.recall == pytest.approx((1 / 3, 1.5 / 3, 2 / 3))
    assert result.fallout == pytest.approx((0.25 / 2, 1 / 2, 2 / 2))
    # P = r g / (r g + f (1 - g)) at 5: .3 / (.3 + .2)
    assert result.precision[1] == pytest.approx(0.6)
    assert result.f[1] == pytest.approx(2 * 0.6 * 0.5 / 1.1)
    assert result.user_recall.groups.tolist() == [0, 2]
    assert result.user_recall.values[:, 1].tolist() == [1.0, 0.25]
    assert result.user_fallout.values[:, 1].tolist() == [0.0, 1.0]


def test_measure_ranking_uses_the_given_generality_and_rule_for_ties():
    result = five_cases(g=0.1, ties="best")
    assert result.recall == pytest.approx((1 / 3, 2 / 3, 2 / 3))
    assert result.precision[1] == raghavan_precision(result.recall[1], result.fallout[1], 0.1)


def test_measure_ranking_without_irrelevant_cases_has_recall_alone():
    result = measure_ranking(np.array([4]), np.array([True]), np.array([0]), np.array([0]), [5])
    assert result.recall == (1.0,)
    assert result.fallout is result.precision is result.f is None
    assert len(result.user_fallout.groups) == 0


def test_measure_ranking_without_relevant_cases_has_fallout_alone():
    result = measure_ranking(np.array([4]), np.array([False]), np.array([0]), np.array([0]), [5])
    assert result.fallout == (1.0,)
    assert result.recall is result.precision is result.f is None


def test_measure_ranking_without_cases_has_no_value_and_no_nan():
    none = np.zeros(0, dtype=int)
    result = measure_ranking(none, none.astype(bool), none, none, [5])
    assert result.recall is result.fallout is result.precision is result.f is None
