"""The exploratory family of average advantages."""

from __future__ import annotations

import pytest

from inference.average_advantage import MeanEstimates, average_advantage, exploratory_family, same_metrics
from inference.corrections import holm
from inference.partial_order import partial_order
from inference.results import Pair, PairwiseResult, Undefined

pytestmark = pytest.mark.unit


def side(locations, significant):
    names = list(locations)
    pairs = tuple(
        Pair(a, b, locations[a] - locations[b], 0.01, a + b in significant)
        for at, a in enumerate(names)
        for b in names[at + 1 :]
    )
    return PairwiseResult("test", 0.05, pairs, dict(locations), {})


def ordered(locations, significant, *, higher_is_better=True):
    return partial_order(locations, side(locations, significant), higher_is_better)


def test_metrics_with_the_same_ranks_and_pairs_are_one():
    metrics = {
        "recall": ordered({"A": 0.3, "B": 0.2, "C": 0.1}, ["AB", "AC"]),
        "ndcg": ordered({"A": 0.8, "B": 0.6, "C": 0.5}, ["AB", "AC"]),
        "fallout": ordered({"A": 0.1, "B": 0.2, "C": 0.3}, ["AB", "AC"], higher_is_better=False),
        "other pairs": ordered({"A": 0.3, "B": 0.2, "C": 0.1}, ["AC"]),
        "other ranks": ordered({"A": 0.3, "B": 0.1, "C": 0.2}, ["AB", "AC"]),
        "opposite": ordered({"A": 0.1, "B": 0.2, "C": 0.3}, ["AB", "AC"]),
    }
    assert same_metrics(metrics) == (
        ("recall", "ndcg", "fallout"), ("other pairs",), ("other ranks",), ("opposite",),
    )  # fmt: skip


def test_the_family_is_corrected_by_holm_and_names_what_it_could_not_test():
    estimates = [MeanEstimates.independent({"A": first, "B": 3.0}, [0.6, 0.7], [30, 30]) for first in (3.7, 3.4, 3.05)]
    tests = {
        (measure, ("recall",)): average_advantage(means, [("A", "B")])
        for measure, means in zip(("accuracy", "novelty", "trust"), estimates, strict=True)
    }
    undefined = {("accuracy", ("rmse", "mae")): average_advantage(estimates[0], [])}
    found = exploratory_family({**tests, **undefined})
    assert [test.p for test in found.tests] == list(holm([test.p for test in tests.values()]))
    assert [test.advantage for test in found.tests] == list(tests.values())
    assert found.smallest_p_below == pytest.approx(0.05 / 3)
    assert list(found.undefined) == ["accuracy, rmse and mae"]
    only = exploratory_family(undefined)
    assert (only.tests, only.smallest_p_below) == ((), None)
    assert isinstance(next(iter(undefined.values())), Undefined)
