"""Ranks and agreement from draws of both sides."""

from __future__ import annotations

import numpy as np
import pytest

from inference.order_bootstrap import PosteriorRanks, posterior_ranks
from inference.results import Undefined

pytestmark = pytest.mark.unit
NAMES = ("A", "B", "C")


def ranks(x: object, y: object, names: tuple[str, ...] = NAMES) -> PosteriorRanks:
    found = posterior_ranks(x, y, names, rng=np.random.default_rng(1))  # type: ignore[arg-type]
    assert isinstance(found, PosteriorRanks)
    return found


def test_certain_sides_agree_or_do_not() -> None:
    order, reverse = [[3.0, 2.0, 1.0]] * 5, [[1.0, 2.0, 3.0]] * 7
    same, opposite = ranks(order, order), ranks(order, reverse)
    assert [pair.agree for pair in same.pairs] == [1, 1, 1]
    assert (same.tau.mean, same.tau.ci_low, same.tau.ci_high) == (1, 1, 1)
    assert [pair.agree for pair in opposite.pairs] == [0, 0, 0]
    assert opposite.tau.mean == -1
    assert same.perceived.best() == {"A": 1, "B": 0, "C": 0}
    assert opposite.objective.best() == {"A": 0, "B": 0, "C": 1}


def test_agreement_is_that_of_independent_sides() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal([0.5, 0, 0], 1, (4000, 3)), rng.normal([1, 0, -1], 1, (3000, 3))
    found = ranks(x, y)
    first = found.pairs[0]
    assert (first.a, first.b) == ("A", "B")
    assert first.perceived == np.mean(x[:, 0] > x[:, 1])
    assert first.objective == np.mean(y[:, 0] > y[:, 1])
    together = (np.sign(x[:3000, 0] - x[:3000, 1]) == np.sign(y[:, 0] - y[:, 1])).mean()
    assert first.agree == pytest.approx(together, abs=0.02)
    # Tau is 2 P(agree) - 1 averaged over pairs, where draws never tie.
    assert found.tau.mean == pytest.approx(np.mean([2 * pair.agree - 1 for pair in found.pairs]), abs=0.02)


def test_ties_count_half() -> None:
    found = ranks([[1.0, 1.0], [2.0, 1.0]], [[2.0, 1.0]] * 2, ("A", "B")).pairs[0]
    assert (found.perceived, found.objective, found.agree) == (0.75, 1, 0.75)


def test_nothing_to_compare() -> None:
    alone = posterior_ranks([[1.0]], [[1.0]], ["A"], rng=np.random.default_rng(1))
    assert isinstance(alone, Undefined)
    constant = posterior_ranks([[1.0, 1.0]], [[1.0, 2.0]], ["A", "B"], rng=np.random.default_rng(1))
    assert isinstance(constant, Undefined)
