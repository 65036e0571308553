"""CROC: the paper's three people, theorem 1, and every point counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.curves import area_until
from evaluation.metrics.customer_curves import croc

pytestmark = pytest.mark.unit


def people_of(likes: dict[int, tuple[int, int]]):
    """People, a perfect score and outcomes, from person -> (good items, items)."""
    people = np.repeat(list(likes), [n for _, n in likes.values()])
    good = np.concatenate([np.arange(n) < s for s, n in likes.values()])
    return people, good


def test_three_people_with_six_observations_each():
    """Person a likes four of six movies, b two, c all six: at four each, two false alarms from b."""
    people, good = people_of({0: (4, 6), 1: (2, 6), 2: (6, 6)})
    found = croc(people, good.astype(float), good)
    assert found.omniscient.y.tolist() == pytest.approx([0, 3 / 12, 6 / 12, 8 / 12, 10 / 12, 11 / 12, 1])
    assert found.omniscient.x.tolist() == pytest.approx([0, 0, 0, 1 / 6, 2 / 6, 4 / 6, 1])
    assert (found.tp[4], found.fp[4]) == (10, 2)
    assert found.curve.y.tolist() == found.omniscient.y.tolist()  # the scores are perfect
    assert found.omniscient.area < 1
    expected = sum(
        (y + z) / 2 * width for y, z, width in ((8, 6, 1 / 6), (10, 8, 1 / 6), (11, 10, 2 / 6), (12, 11, 2 / 6))
    )
    assert found.omniscient.area == pytest.approx(expected / 12)


def test_random_recommendation_runs_along_the_diagonal_where_all_have_as_many():
    people, good = people_of({4: (4, 6), 7: (2, 6), 9: (6, 6)})
    found = croc(people, np.arange(18.0), good)
    assert found.random.x == pytest.approx(found.random.y, abs=1e-15)
    assert found.random.y == pytest.approx(np.arange(7) / 6, abs=1e-15)
    assert found.random.area == pytest.approx(0.5)


def test_random_line_lies_above_the_diagonal_where_few_observations_go_with_many_likes():
    people, good = people_of({0: (2, 2), 1: (1, 8)})
    found = croc(people, np.zeros(10), good)
    assert (found.random.y >= found.random.x - 1e-15).all()
    assert found.random.area > 0.5
    assert found.curve.y == pytest.approx(found.random.y)  # equal scores are a random order
    # Exactly: after 1 each, 2/2 and 1/8 hits of 3, and 7/8 false alarms of 7.
    assert (found.random.x[1], found.random.y[1]) == pytest.approx((7 / 8 / 7, (1 + 1 / 8) / 3))


def test_random_line_is_the_mean_of_simulated_random_orders():
    people, good = people_of({0: (3, 5), 1: (1, 9), 2: (2, 2)})
    rng = np.random.default_rng(3)
    rounds = [croc(people, rng.random(len(people)), good).curve for _ in range(2000)]
    exact = croc(people, rng.random(len(people)), good).random
    assert np.mean([one.y for one in rounds], axis=0) == pytest.approx(exact.y, abs=0.02)
    assert np.mean([one.x for one in rounds], axis=0) == pytest.approx(exact.x, abs=0.02)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6))
def test_points_are_the_counts_at_each_length(seed):
    rng = np.random.default_rng(seed)
    people = rng.permutation(np.repeat([2, 3, 8], rng.integers(1, 9, 3)))
    scores = rng.permutation(len(people)).astype(float)
    good = rng.random(len(people)) < 0.5
    found = croc(people, scores, good)
    if good.all() or not good.any():
        assert found is None
        return
    for k in range(len(found.tp)):
        tp = fp = 0
        for person in (2, 3, 8):
            own = np.flatnonzero(people == person)
            best = own[np.argsort(-scores[own])][:k]
            tp, fp = tp + good[best].sum(), fp + (~good[best]).sum()
        assert (found.tp[k], found.fp[k]) == (tp, fp)
    assert (found.curve.y <= found.omniscient.y + 1e-12).all()
    assert 0 <= area_until(found.curve, 0.3) <= 0.3


def test_nobody_has_no_curve_and_no_score_ranks_last():
    assert croc([], [], []) is None
    assert croc([0, 1], [np.nan, 0.0], [False, True]).curve.area == 0.5


@pytest.mark.parametrize("n_people", [3, 7, 11, 60])
def test_no_line_goes_back_where_many_ties_leave_rounding_behind(n_people):
    # After a tie of seven items of which some are good, everything is good: hits grow, false alarms do not.
    scores, good = np.tile(np.append(np.full(7, 1), -np.arange(40)), n_people), np.tile(np.arange(47) > 2, n_people)
    found = croc(np.repeat(np.arange(n_people), 47), scores, good)
    for line in (found.curve, found.omniscient, found.random):
        assert (np.diff(line.x) >= 0).all()
        assert (np.diff(line.y) >= 0).all()
        assert (line.x[-1], line.y[-1]) == (1.0, 1.0)
    assert (np.diff(found.fp) >= 0).all()
