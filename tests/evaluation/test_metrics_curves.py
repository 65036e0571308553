"""ROC, GROC, precision-recall and the areas below them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sklearn_metrics

from evaluation.metrics.curves import area_until, roc


def drawn(seed: int, n: int = 300):
    rng = np.random.default_rng(seed)
    good = rng.random(n) < 0.3
    return np.round(rng.normal(size=n) + good, 1), good  # rounded, so that there are ties


@pytest.mark.reference
@pytest.mark.parametrize("seed", range(5))
def test_areas_equal_those_of_scikit_learn_and_mann_whitney(seed):
    scores, good = drawn(seed)
    curve = roc(scores, good)
    assert curve.area == pytest.approx(sklearn_metrics.roc_auc_score(good, scores), abs=1e-12)
    u = stats.mannwhitneyu(scores[good], scores[~good]).statistic
    assert curve.area == pytest.approx(u / (good.sum() * (~good).sum()), abs=1e-12)
    for until in (0.1, 0.3, 0.77):
        theirs = sklearn_metrics.roc_auc_score(good, scores, max_fpr=until)
        assert area_until(curve, until, "standardised") == pytest.approx(theirs, abs=1e-12)
        assert area_until(curve, until) == pytest.approx(
            (2 * theirs - 1) * (until - until**2 / 2) + until**2 / 2, abs=1e-12
        )


@pytest.mark.unit
def test_perfection_chance_and_ties():
    assert roc([2, 1], [True, False]).area == 1.0
    assert roc([1, 1, 1], [True, False, False]).area == 0.5
    assert roc([np.nan, -9.0], [True, False]).area == 0.0  # no score ranks below every score
    perfect = roc([2, 1], [True, False])
    assert area_until(perfect, 0.3) == pytest.approx(0.3)
    assert area_until(perfect, 0.3, "standardised") == pytest.approx(1.0)
    assert area_until(perfect) == 1.0


@pytest.mark.unit
def test_one_class_has_no_curve():
    assert roc([1, 2], [True, True]) is None
    assert roc([1, 2], [False, False]) is None
    assert roc([], []) is None


@pytest.mark.unit
def test_roc_of_one_list_of_ten():
    relevant = [True, True, False, True, False, True, False, True, True, False]
    assert roc(-np.arange(10.0), relevant).area == pytest.approx((4 + 4 + 3 + 2 + 1 + 1) / 24)
