"""The rates that docs/explanation/operating-characteristics.md states of lists side by side, on fewer studies."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.unit]
BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")


@pytest.fixture(scope="module")
def program() -> ModuleType:
    sys.path.insert(0, BENCHMARKS)
    try:
        return importlib.import_module("side_by_side_characteristics")
    finally:
        sys.path.remove(BENCHMARKS)


def test_the_sign_test_has_its_textbook_power_and_size(program: ModuleType) -> None:
    assert program.expected() == pytest.approx((0.828, 0.035), abs=0.001)
    n = 800
    name, power, size, covered, _null, bias, bootstrap = program.sign_row("as planned", n)
    assert name == "as planned"
    for text, rate in ((power, 0.828), (size, 0.035), (covered, 0.955), (bootstrap, 0.946)):
        assert float(text) == pytest.approx(rate, abs=4 * (rate * (1 - rate) / n) ** 0.5)
    assert abs(float(bias.replace("−", "-"))) < 0.01
    # Sides that lose different numbers of people no longer cancel out.
    assert float(program.sign_row("the same, 40% of one side leave", n)[2]) > 0.06


def test_judgements_of_one_participant_are_clustered(program: ModuleType) -> None:
    design = program.DESIGNS["60 people judge each pair three times"]
    rng = np.random.default_rng(5)
    rejected = {True: 0, False: 0}
    n = 150
    for _study in range(n):
        drawn = design.draw((0.0, 0.0, 0.0), design.n, rng)
        for is_clustered in rejected:
            rejected[is_clustered] += program.fitted(*drawn, is_clustered=is_clustered)[3] < 0.05
    assert rejected[True] / n < 0.11
    assert rejected[False] > 1.5 * rejected[True]


def test_every_pair_is_judged_in_each_sequence_and_on_both_sides(program: ModuleType) -> None:
    order, chosen = program.DESIGNS["60 people judge each pair twice"].draw((0, 0, 0), 60, np.random.default_rng(1))
    assert (order.shape, chosen.shape) == ((60, 6, 2), (60, 6))
    pairs, counts = np.unique(order.reshape(-1, 2), axis=0, return_counts=True)
    assert len(pairs) == 6
    assert set(counts.tolist()) == {60}
