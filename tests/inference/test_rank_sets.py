"""Confidence sets for ranks: what they say of given draws, and their coverage in simulated studies."""

from __future__ import annotations

import doctest
import math
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from core.errors import DataError
from inference import rank_sets as module
from inference.rank_sets import RankSets, rank_sets
from inference.results import Undefined

pytestmark = pytest.mark.unit
Floats = NDArray[np.float64]


def test_examples_run() -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def sets_of(values: Floats, draws: Floats, **changes: object) -> RankSets:
    found = rank_sets({str(at): float(value) for at, value in enumerate(values)}, draws, **changes)
    assert isinstance(found, RankSets)
    return found


def test_every_step_uses_the_largest_difference_that_still_stands() -> None:
    """A plain double loop over pairs, directions and steps gives the same pairs."""
    rng = np.random.default_rng(28)
    values = np.array([0.0, 0.28, 0.55, 0.6])
    draws = values + rng.standard_normal((400, 4)) @ np.diag([0.1, 0.1, 0.05, 0.2])
    pairs = list(combinations(range(4), 2))
    ordered = [*pairs, *((k, j) for j, k in pairs)]
    spread = {(j, k): np.std(draws[:, j] - draws[:, k]) for j, k in ordered}
    rejected: set[tuple[int, int]] = set()
    n_steps = 0
    while True:
        largest = [
            max(((row[j] - row[k]) - (values[j] - values[k])) / spread[j, k] for j, k in set(ordered) - rejected)
            for row in draws
        ]
        limit = sorted(largest)[math.ceil(0.95 * 401) - 1]
        more = {(j, k) for j, k in ordered if (values[j] - values[k]) / spread[j, k] > limit} | rejected
        n_steps += 1
        if more == rejected:
            break
        rejected = more
    assert n_steps == 3  # the second step adds a pair that the first does not reject
    expected = {
        str(at): (1 + sum(k == at for _j, k in rejected), 4 - sum(j == at for j, _k in rejected)) for at in range(4)
    }
    found = sets_of(values, draws)
    assert (found.sets, found.n_decided, found.resamples) == (expected, len(rejected), 400)
    mirrored = sets_of(-values, -draws, higher_is_better=False)
    assert mirrored.sets == expected


def test_equal_columns_and_constant_differences_decide_nothing() -> None:
    same = np.random.default_rng(1).normal(0.3, 0.1, (200, 1))
    found = sets_of(np.array([0.3, 0.3, 0.4]), np.hstack([same, same, same + 0.1]))
    assert found.sets == {"0": (1, 3), "1": (1, 3), "2": (1, 3)}
    assert found.best == ("0", "1", "2")


def test_too_few_draws_for_the_quantile_decide_nothing() -> None:
    draws = np.random.default_rng(1).normal([0.0, 9.0], 0.1, (10, 2))
    assert sets_of(np.array([0.0, 9.0]), draws).n_decided == 0


def test_what_cannot_be_is_refused() -> None:
    draws = np.zeros((3, 2))
    with pytest.raises(DataError, match="not finite"):
        rank_sets({"A": 1.0, "B": math.nan}, draws)
    assert isinstance(rank_sets({"A": 1.0}, draws[:, :1]), Undefined)


def coverage(rates: list[float], n_users: int, studies: int, seed: int) -> float:
    """Share of simulated runs in which all true ranks are in their sets: hits of 4 cases, resampled users."""
    rng, k = np.random.default_rng(seed), len(rates)
    true = [1 + sum(other > rate for other in rates) for rate in rates]
    covered = 0
    for _ in range(studies):
        propensity = rng.normal(size=(n_users, 1))
        chance = 1 / (1 + np.exp(-np.log(np.array(rates) / (1 - np.array(rates))) - propensity))
        recall = rng.binomial(4, chance, (n_users, k)) / 4
        weights = rng.multinomial(n_users, np.full(n_users, 1 / n_users), size=999) / n_users
        found = sets_of(recall.mean(axis=0), weights @ recall)
        covered += all(low <= rank <= high for rank, (low, high) in zip(true, found.sets.values(), strict=True))
    return covered / studies


@pytest.mark.parametrize(("rates", "n_users"), [([0.3] * 5, 200), ([0.2, 0.2, 0.5, 0.5, 0.5], 100)])
def test_sets_cover_all_ranks_at_once(rates: list[float], n_users: int) -> None:
    studies = 200
    error = math.sqrt(0.05 * 0.95 / studies)
    assert coverage(rates, n_users, studies, 5) >= 0.95 - 3 * error
