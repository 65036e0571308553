"""Areas by name, and F of resampled users."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import ParameterError
from evaluation.metrics import curve_areas
from evaluation.metrics.curves import area_until, precision_recall, roc
from evaluation.metrics.customer_curves import croc
from evaluation.metrics.ranking import measure_ranking
from evaluation.metrics.registry import metric
from evaluation.metrics.resampling import f_of_sums, fallout_of_sums, precision_of_sums, recall_of_sums
from evaluation.metrics.user_curves import eleven_points, roc_areas
from inference.user_bootstrap import pooled_interval

pytestmark = pytest.mark.unit


def drawn():
    rng = np.random.default_rng(3)
    people = rng.integers(0, 12, 150)
    return people, rng.normal(size=150), rng.random(150) < 0.4


def test_areas_by_name_are_those_of_the_curves():
    people, scores, good = drawn()

    def value(name):
        return curve_areas.overall(metric(name), people, scores, good, n_users=13).value

    assert value("average-precision") == precision_recall(scores, good).area
    assert value("groc-area") == pytest.approx(roc(scores, good).area)
    part = area_until(roc(scores, good), 0.3, "standardised")
    assert value("groc-area(until=.3,scale=standardised)") == part
    assert value("croc-area(until=.3)") == area_until(croc(people, scores, good).curve, 0.3)
    assert value("roc-area") == pytest.approx(np.nanmean(roc_areas(people, scores, good, n_users=13)))
    eleven = eleven_points(people, scores, good, n_users=13)
    assert value("precision-recall-11") == pytest.approx(eleven.curve.y.mean())
    found = curve_areas.overall(metric("groc-area"), people, scores, good, n_users=13)
    assert (found.n_users, found.n_empty) == (12, 1)


@pytest.mark.parametrize("key", curve_areas.AREAS)
def test_areas_without_a_good_pair_have_no_value(key):
    found = curve_areas.overall(metric(key), [0, 1], [1.0, 2.0], [False, False], n_users=2)
    assert found.value is None


def test_other_metrics_are_no_areas():
    with pytest.raises(ParameterError, match="not an area under a curve"):
        curve_areas.user_values(metric("ndcg@5"), [0], [1.0], [True], n_users=1)


@pytest.mark.parametrize("g", [None, 0.05])
def test_sums_over_all_users_give_the_metrics_themselves(g):
    rng = np.random.default_rng(6)
    users, relevant = rng.integers(0, 20, 300), rng.random(300) < 0.7
    result = measure_ranking(users, relevant, rng.integers(0, 20, 300), rng.integers(0, 3, 300), [5, 10], g=g)
    parts = np.zeros((20, 4))
    for first, means in ((0, result.user_recall), (2, result.user_fallout)):
        parts[means.groups, first] = means.values[:, 1] * means.n_cases
        parts[means.groups, first + 1] = means.n_cases
    sums = parts.sum(axis=0, keepdims=True)
    assert recall_of_sums(sums)[0] == pytest.approx(result.recall[1])
    assert fallout_of_sums(sums)[0] == pytest.approx(result.fallout[1])
    assert precision_of_sums(g)(sums)[0] == pytest.approx(result.precision[1])
    assert f_of_sums(g)(sums)[0] == pytest.approx(result.f[1])
    found = pooled_interval(parts, f_of_sums(g), 300, np.random.default_rng(1))
    assert found.value == pytest.approx(result.f[1])
    assert found.low < found.value < found.high


def test_f_of_nothing_retrieved_is_nothing_and_of_no_case_is_none():
    sums = np.array([[0.0, 3.0, 0.0, 2.0], [1.0, 3.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0], [0.0, 3.0, 1.0, 2.0]])
    assert f_of_sums()(sums)[[0, 3]].tolist() == [0.0, 0.0]
    assert np.isnan(f_of_sums()(sums)[[1, 2]]).all()
    assert np.isnan(precision_of_sums()(sums)[0])
