"""The simulation of studies within participants: its short cut is the mixed model, and its rates are as documented."""

from __future__ import annotations

import importlib
import itertools
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from inference.sequences import Occasions, fit_within

pytestmark = pytest.mark.unit
BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    sys.path.insert(0, BENCHMARKS)
    try:
        return importlib.import_module("within_subject_characteristics")
    finally:
        sys.path.remove(BENCHMARKS)


@pytest.mark.parametrize("share", [0.5, 0.0])
def test_the_model_of_many_studies_is_that_of_each(simulation, monkeypatch, share):
    monkeypatch.setattr(simulation, "SHARE", share)
    values = simulation.Design().draw(simulation.MEANS, 8, np.random.default_rng(3))
    at_once, one_by_one = simulation.at_once(values), simulation.one_by_one(values)
    for field in ("differences", "ses", "dfs", "p"):
        assert getattr(at_once, field) == pytest.approx(getattr(one_by_one, field), rel=1e-4), field
    # Without differences between participants some of the variances are 0, which changes the degrees of freedom.
    assert (set(at_once.dfs.ravel()) == {68.0}) is (share > 0)


def test_planted_means_have_the_planned_effects(simulation):
    assert simulation.MEANS.std() == pytest.approx(0.25)
    assert simulation.apart(simulation.MEANS)[0] == pytest.approx(0.5)
    assert simulation.expected() == (pytest.approx(0.91, abs=0.005), pytest.approx(0.83, abs=0.005))


def test_power_errors_and_bias_are_those_of_the_documentation(simulation):
    n, design = 2000, simulation.DESIGNS["as planned"]
    effect, null = (
        simulation.at_once(design.draw(means, n, np.random.default_rng(1))) for means in (simulation.MEANS, np.zeros(3))
    )
    assert np.mean(effect.p < 0.05) == pytest.approx(0.907, abs=0.02)
    assert np.mean(null.p < 0.05) == pytest.approx(0.05, abs=0.015)
    assert effect.covers(simulation.MEANS).mean() == pytest.approx(0.95, abs=0.015)
    assert effect.cover_together(simulation.MEANS).mean() == pytest.approx(0.95, abs=0.015)
    values = replace(design, carried=0.2).draw(simulation.MEANS, n, np.random.default_rng(1))
    # A is never preceded by A: each of the others has its carry-over in a third of the occasions.
    assert simulation.at_once(values).differences[:, 0].mean() == pytest.approx(0.5 - 0.2 / 3, abs=0.02)
    assert simulation.first_occasions(values).differences[:, 0].mean() == pytest.approx(0.5, abs=0.035)


def test_people_leave_from_the_occasion_that_makes_them(simulation):
    design = simulation.DESIGNS["20% leave, most dissatisfied by A"]
    for is_unseen in (False, True):
        values = replace(design, is_unseen=is_unseen).draw(simulation.MEANS, 200, np.random.default_rng(2))
        in_turn = np.take_along_axis(values, np.broadcast_to(simulation.ORDER, values.shape), axis=2)
        missing = np.isnan(in_turn)
        assert (np.diff(missing.astype(int), axis=2) >= 0).all()
        assert missing[:, :, 0].any() == is_unseen
    assert 0.1 < missing.any(axis=2).mean() < 0.3


def test_a_row_has_every_column(simulation):
    model, beside = simulation.rows_of("20% leave, most after A", 50)
    assert (len(model), len(beside)) == (len(simulation.MODEL), len(simulation.BESIDE))
    assert len(simulation.carried_row("as planned", 2)) == len(simulation.CARRIED)


@pytest.mark.parametrize(
    ("name", "of_completers"), [("20% leave, most after A", 0.0), ("20% leave, most dissatisfied by A", 0.073)]
)
def test_all_occasions_together_are_unbiased_where_people_leave_after_what_they_answered(
    simulation, name, of_completers
):
    values = simulation.DESIGNS[name].draw(simulation.MEANS, 100, np.random.default_rng(4))
    has_left = np.isnan(values).any(axis=2, keepdims=True)
    assert 0.1 < has_left.mean() < 0.3

    def a_minus_b(values):
        """Of all studies as one, with 3,600 participants."""
        of_each = [simulation.occasions_of(study) for study in values]
        columns = [
            itertools.chain(*columns)
            for columns in zip(*((of.values, of.conditions, of.positions, of.previous) for of in of_each), strict=True)
        ]
        participants = [(number, each) for number, of in enumerate(of_each) for each in of.participants]
        fit = fit_within(Occasions(*map(tuple, columns), participants, simulation.NAMES))
        return fit.pairs(0.05).pairs[0]

    everyone, completed = a_minus_b(values), a_minus_b(np.where(has_left, np.nan, values))
    assert everyone.se < 0.02
    assert everyone.difference == pytest.approx(0.5, abs=2 * everyone.se)
    assert completed.difference == pytest.approx(0.5 + of_completers, abs=2 * completed.se)
