"""F, recall and fallout of resampled users."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.ranking import measure_ranking
from evaluation.metrics.resampling import f_of_sums, fallout_of_sums, precision_of_sums, recall_of_sums
from inference.bootstrap import pooled_interval

pytestmark = pytest.mark.unit


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
