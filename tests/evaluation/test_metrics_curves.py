"""ROC, GROC, precision-recall and the areas below them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sklearn_metrics

from core.errors import DataError, ParameterError
from evaluation.metrics.curves import area_until, precision_recall, roc


def drawn(seed: int, n: int = 300):
    rng = np.random.default_rng(seed)
    good = rng.random(n) < 0.3
    return np.round(rng.normal(size=n) + good, 1), good  # rounded, so that there are ties


@pytest.mark.reference
@pytest.mark.parametrize("seed", range(5))
def test_areas_equal_those_of_scikit_learn_and_mann_whitney(seed):
    scores, good = drawn(seed)
    curve = roc(scores, good, name="GROC")
    assert curve.area == pytest.approx(sklearn_metrics.roc_auc_score(good, scores), abs=1e-12)
    u = stats.mannwhitneyu(scores[good], scores[~good]).statistic
    assert curve.area == pytest.approx(u / (good.sum() * (~good).sum()), abs=1e-12)
    for until in (0.1, 0.3, 0.77):
        theirs = sklearn_metrics.roc_auc_score(good, scores, max_fpr=until)
        assert area_until(curve, until, "standardised") == pytest.approx(theirs, abs=1e-12)
        assert area_until(curve, until) == pytest.approx(
            (2 * theirs - 1) * (until - until**2 / 2) + until**2 / 2, abs=1e-12
        )
    precision = precision_recall(scores, good)
    assert precision.area == pytest.approx(sklearn_metrics.average_precision_score(good, scores), abs=1e-12)
    their_precision, their_recall, _ = sklearn_metrics.precision_recall_curve(good, scores)
    assert precision.y == pytest.approx(their_precision[-2::-1])
    assert precision.x == pytest.approx(their_recall[-2::-1])


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
    assert precision_recall([1, 2], [False, False]) is None
    assert precision_recall([1, 2], [True, True]).area == 1.0


@pytest.mark.unit
def test_roc_of_one_list_of_ten():
    relevant = [True, True, False, True, False, True, False, True, True, False]
    assert roc(-np.arange(10.0), relevant).area == pytest.approx((4 + 4 + 3 + 2 + 1 + 1) / 24)


@pytest.mark.unit
def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="one of each a pair"):
        roc([1, 2], [True])
    curve = roc([2, 1], [True, False])
    for until in (0.0, 1.1):
        with pytest.raises(ParameterError, match="above 0 and at most 1"):
            area_until(curve, until)
    with pytest.raises(ParameterError, match="'raw' or 'standardised'"):
        area_until(curve, 0.3, "half")
