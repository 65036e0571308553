"""Curves within people and their means."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from sklearn import metrics as sklearn_metrics

from evaluation.metrics import user_curves
from evaluation.metrics.user_curves import eleven_points, mean_at_lengths, roc_areas


def drawn(seed: int, n_people: int = 25):
    rng = np.random.default_rng(seed)
    people = rng.permutation(np.repeat(np.arange(n_people), rng.integers(1, 15, n_people)))
    scores = rng.permutation(len(people)).astype(float)
    return people, scores, rng.random(len(people)) < 0.4


@pytest.mark.unit
@pytest.mark.parametrize("cells", [1 << 22, 30])
@pytest.mark.parametrize("seed", [1, 2])
def test_means_at_each_length_are_means_over_people(monkeypatch, seed, cells):
    monkeypatch.setattr(user_curves, "CELLS", cells)
    people, scores, good = drawn(seed)
    roc_curve = mean_at_lengths(people, scores, good)
    longest = np.bincount(people).max()
    for k in range(1, longest + 1):
        rates = []
        for person in range(25):
            own = np.flatnonzero(people == person)
            best = good[own[np.argsort(-scores[own])][:k]]
            n_good, n_bad = good[own].sum(), (~good[own]).sum()
            if n_good and n_bad:
                rates.append(((~best).sum() / n_bad, best.sum() / n_good))
        assert (roc_curve.x[k], roc_curve.y[k]) == pytest.approx(np.mean(rates, axis=0))
    assert roc_curve.n_people == len(rates)
    assert roc_curve.n_people + roc_curve.n_one_class == 25


@pytest.mark.reference
@pytest.mark.parametrize("cells", [1 << 22, 30])
def test_eleven_points_equal_those_of_pytrec_eval(monkeypatch, cells):
    monkeypatch.setattr(user_curves, "CELLS", cells)
    people, scores, good = drawn(7)
    found = eleven_points(people, scores, good, n_users=26)
    truth: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for place, (person, score, is_good) in enumerate(zip(people, scores, good, strict=True)):
        truth.setdefault(str(person), {})[str(place)] = int(is_good)
        run.setdefault(str(person), {})[str(place)] = score
    theirs = pytrec_eval.RelevanceEvaluator(truth, {"iprec_at_recall"}).evaluate(run)
    kept = [person for person in range(25) if good[people == person].any()]
    for person in kept:
        n_good = int(good[people == person].sum())
        for level in range(11):
            if level * n_good % 10 == 1:
                continue  # there trec_eval's rounding lets a recall pass that is a tenth of an item short
            expected = theirs[str(person)][f"iprec_at_recall_{level / 10:.2f}"]
            assert found.user_values[person, level] == pytest.approx(expected, abs=1e-12), (person, level)
    assert found.n_people == len(kept)
    assert found.n_people + found.n_one_class == 26
    assert found.y == pytest.approx(found.user_values[kept].mean(axis=0))


@pytest.mark.reference
def test_areas_of_people_equal_those_of_scikit_learn():
    people, scores, good = drawn(9)
    scores = np.round(scores / 20)  # ties
    whole = roc_areas(people, scores, good, n_users=25)
    start = roc_areas(people, scores, good, n_users=25, until=0.3, scale="standardised")
    for person in range(25):
        own = people == person
        if good[own].all() or not good[own].any():
            assert np.isnan([whole[person], start[person]]).all()
        else:
            assert whole[person] == pytest.approx(sklearn_metrics.roc_auc_score(good[own], scores[own]))
            expected = sklearn_metrics.roc_auc_score(good[own], scores[own], max_fpr=0.3)
            assert start[person] == pytest.approx(expected)


@pytest.mark.unit
def test_ties_share_their_outcomes():
    tied = mean_at_lengths([0, 0, 0], [1, 1, 1], [True, False, False])
    assert tied.x == pytest.approx(tied.y)
    assert eleven_points([0, 0], [1, 1], [True, False], n_users=1).y == pytest.approx([0.5] * 11)
    assert eleven_points([0, 0], [np.nan, 1], [True, False], n_users=1).y == pytest.approx([0.5] * 11)


@pytest.mark.unit
def test_nobody_with_both_kinds_has_no_curve():
    assert mean_at_lengths([0, 1], [1, 1], [True, False]) is None
    assert mean_at_lengths([], [], []) is None
    assert eleven_points([0], [1], [False], n_users=1) is None
    assert np.isnan(roc_areas([], [], [], n_users=2)).all()
