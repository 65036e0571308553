"""The simulation of the verdict's error rates: its short cut is exact, and its rates are those of the documentation."""

from __future__ import annotations

import importlib
import math
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from inference.posthoc import games_howell

pytestmark = pytest.mark.unit
BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")
N_STUDIES = 60


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    sys.path.insert(0, BENCHMARKS)
    try:
        return importlib.import_module("operating_characteristics")
    finally:
        sys.path.remove(BENCHMARKS)


def near(rate: float, expected: float, n: int = N_STUDIES) -> bool:
    """Within three and a half standard errors of both simulations."""
    return abs(rate - expected) <= 3.5 * math.sqrt(expected * (1 - expected) * (1 / n + 1 / 4000))


def test_games_howell_of_many_studies_is_that_of_each(simulation):
    design = simulation.Design(5, (4, 8, 12, 20, 30), order=simulation.agreeing, sd=(1.4, 1.0, 0.8, 0.6, 0.4))
    groups = simulation.draw_participants(design, 10, np.random.default_rng(1))
    fast = simulation.games_howell_decisions(design, simulation.Summaries.of(groups))
    n_significant = 0
    for row, found in enumerate(fast):
        # Means of five answers, as the fifths they are.
        values = {name: (np.rint(of[row] * 5) / 5).tolist() for name, of in zip(design.names, groups, strict=True)}
        expected = {(pair.a, pair.b): pair.is_significant for pair in games_howell(values).pairs}
        assert {(pair.a, pair.b): pair.is_significant for pair in found.pairs} == expected
        n_significant += sum(expected.values())
    assert n_significant > 2


@pytest.mark.parametrize(
    ("k", "agree", "partly", "opposite", "c_of_n"), [(3, 0.632, 0.206, 0.632, 0.234), (7, 0.938, 0.709, 0.937, 0.082)]
)
def test_rates_are_those_of_the_documentation(simulation, k, agree, partly, opposite, c_of_n):
    _cells, by = simulation.main_row(k, 30, N_STUDIES)
    assert near(by["agree"].rate("agree"), agree)
    assert near(by["partly"].rate("agree"), partly)
    assert near(by["opposite"].rate("disagree"), opposite)
    assert by["agree"].rate("C/N") == pytest.approx(c_of_n, abs=0.05)
    assert by["agree"].rate("wrong") == by["opposite"].rate("wrong") == 0
    for name in ("balanced", "tied"):
        assert near(by[name].rate("excludes 0"), 0.05)
        assert near(by[name].rate("covered"), 0.95)
    for tally in by.values():
        assert tally.rate("false C or D") <= 0.05 + 3.5 * math.sqrt(0.05 * 0.95 / N_STUDIES)
        assert tally.rate("τ covered") >= 0.95


def test_a_tally_finds_what_is_wrong(simulation):
    # What is called equal truly differs: the wrong verdicts and pairs are then counted.
    design = simulation.Design(3, (60,) * 3, order=simulation.agreeing)
    claimed = replace(design, order=simulation.tied)
    rng, tally = np.random.default_rng(2), simulation.Tally()
    of = simulation.Summaries.of(simulation.draw_participants(design, 20, rng))
    for row, people in enumerate(simulation.games_howell_decisions(design, of)):
        means = dict(zip(design.names, of.means[row].tolist(), strict=True))
        estimates = simulation.MeanEstimates.independent(means, of.sds[row].tolist(), of.ns[row].tolist())
        simulation.judge(claimed, simulation.offline_of(design, rng), people, estimates, tally)
    assert tally.rate("wrong") > 0.5
    assert tally.rate("false C or D") > 0.5
    assert tally.rate("covered") < 0.5


@pytest.mark.parametrize("correlation", [0.0, 0.3])
def test_limits_of_rare_rates_cover_where_the_bootstrap_does_not(simulation, correlation):
    exact, bootstrap = simulation.limits_coverage(0.004, correlation, 400)
    assert exact >= 0.95
    assert bootstrap < 0.75


@pytest.fixture(scope="module")
def factorial(simulation) -> ModuleType:
    sys.path.insert(0, BENCHMARKS)
    try:
        return importlib.import_module("factorial_characteristics")
    finally:
        sys.path.remove(BENCHMARKS)


def test_planned_effects_have_the_rates_of_the_documentation(factorial):
    n_studies = 300
    rows = factorial.rows_of(n_studies, ("as planned", "sizes inverse to spreads"))
    powers = {"2 × 2, interaction": (0.783, 128, 0.8), "four doses, trend": (0.869, 160, 0.88)}
    for name, (power, n, textbook) in powers.items():
        plain, unequal = (rows[name, strain] for strain in ("as planned", "sizes inverse to spreads"))
        assert factorial.expected_power(n) == pytest.approx(textbook, abs=0.005)
        assert near(plain["power"], power, n_studies)
        assert abs(plain["bias"]) < 0.06
        for row in (plain, unequal):
            assert near(row["size"], 0.05, n_studies)
            assert near(row["other"], 0.05, n_studies)
            assert near(row["covers"], 0.95, n_studies)
        assert unequal["pooled"] > 0.08


def test_the_dissatisfied_who_leave_some_doses_bias_the_trend(factorial):
    rows = factorial.rows_of(300, ("the dissatisfied leave two conditions",))
    assert rows["four doses, trend", "the dissatisfied leave two conditions"]["bias"] > 0.04
