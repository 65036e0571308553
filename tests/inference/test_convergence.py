"""Diagnostics of chains: values of ArviZ, theory for autoregressive chains, chains that disagree."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from inference.convergence import Convergence, convergence
from tests.factories.chains import autoregressive

REFERENCE = Path(__file__).parents[1] / "data" / "bayesian" / "convergence.json"


@pytest.mark.reference
@pytest.mark.parametrize("case", json.loads(REFERENCE.read_text())["cases"], ids=lambda case: str(case["phi"]))
def test_values_of_arviz(case: dict[str, float]) -> None:
    shape = (int(case["chains"]), int(case["draws"]))
    result = convergence(autoregressive(case["phi"], shape, int(case["seed"]), case["apart"]))
    assert result.r_hat == pytest.approx(case["r_hat"], abs=1e-9)
    assert result.ess_bulk == pytest.approx(case["ess_bulk"], rel=1e-9)
    assert result.ess_tail == pytest.approx(case["ess_tail"], rel=1e-9)


@pytest.mark.unit
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_effective_size_of_an_autoregressive_chain(phi: float) -> None:
    result = convergence(autoregressive(phi, (4, 8000), 3))
    assert result.ess_bulk == pytest.approx(32_000 * (1 - phi) / (1 + phi), rel=0.1)
    assert result.has_converged


@pytest.mark.unit
def test_antithetic_chains_are_worth_more_than_their_length() -> None:
    assert convergence(autoregressive(-0.5, (4, 2000), 3)).ess_bulk > 8000


@pytest.mark.unit
def test_chains_that_disagree_have_not_converged() -> None:
    far = convergence(autoregressive(0.1, (4, 1000), 3, apart=3.0))
    assert far.r_hat > 1.1
    assert not far.has_converged
    spread = autoregressive(0.1, (4, 1000), 3)
    spread[0] *= 5  # the same means: only the folded values show it
    assert not convergence(spread).has_converged


@pytest.mark.unit
def test_limits_of_the_verdict() -> None:
    assert Convergence(1.01, 400, 400).has_converged
    assert not Convergence(1.011, 400, 400).has_converged
    assert not Convergence(1.0, 399, 400).has_converged
    assert not Convergence(1.0, 400, 399).has_converged


@pytest.mark.unit
def test_a_chain_that_never_moves_within_its_halves() -> None:
    stuck = np.repeat([[0.0, 1.0], [1.0, 0.0]], 10, axis=1)
    assert convergence(stuck).r_hat == np.inf
    mixed = np.zeros((2, 20))
    mixed[0, 0] = 1.0  # above every tail quantile but in one draw
    assert convergence(mixed).ess_tail > 0
