"""Models of constructs against lavaan, on random designs of every kind."""

from __future__ import annotations

import csv
import importlib.util
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from inference.covariance_fit import FitIndices
from inference.factor_analysis import FactorModel, OmegaResult, confirmatory_factors, mcdonald_omega
from inference.indicators import indicators
from inference.invariance import InvarianceResult, measurement_invariance
from inference.polychoric import Polychorics, polychorics
from inference.structural import Outcome, StructuralModel, structural_model

pytestmark = pytest.mark.reference
N_DESIGNS = 56
QUICK = ("continuous-2", "continuous-6", "ordinal-3", "ordinal-8", "invariance-2", "invariance-4", "structural-3")
Fits = dict[tuple[str, str], dict[str, np.ndarray]]


@pytest.fixture(scope="module")
def designs(statistics_dir: Path) -> dict[str, Any]:
    """Every random design by name."""
    spec = importlib.util.spec_from_file_location("construct_designs", statistics_dir / "construct_designs.py")
    assert spec
    assert spec.loader
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return {design.name: design for design in module.designs()}


@pytest.fixture(scope="module")
def lavaan(statistics_dir: Path) -> Fits:
    """The fits of lavaan by design and model."""
    fits: Fits = defaultdict(dict)
    with (statistics_dir / "lavaan_constructs.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            values = [np.nan if value == "NA" else float(value) for value in row["values"].split(";") if value]
            fits[row["design"], row["model"]][row["quantity"]] = np.array(values)
    return fits


def check_values(values: Any, stored: np.ndarray, what: str, tolerance: float = 1e-4) -> None:
    assert list(values) == pytest.approx(list(stored), abs=tolerance), what


def check_fit(fit: FitIndices, likelihood: float | None, stored: dict[str, np.ndarray], what: str) -> None:
    chi_square, df, p, *others = stored["fit"]
    assert (fit.df, fit.p is None) == (df, bool(np.isnan(p))), what
    check_values([fit.chi_square, fit.p or 0], [chi_square, np.nan_to_num(p)], what)
    check_values([fit.cfi, fit.tli, fit.rmsea, fit.rmsea_low, fit.rmsea_high, fit.srmr], others, what, 1e-6)
    assert (likelihood is None) == ("log_likelihood" not in stored)
    if likelihood is not None:
        check_values([likelihood], stored["log_likelihood"], what)


def check_factors(design: Any, fits: Fits) -> None:
    data, _complete = indicators(design.scales, design.rows)
    model, stored = confirmatory_factors(data, is_ordinal=design.kind == "ordinal"), fits[design.name, "factors"]
    assert isinstance(model, FactorModel)
    check_values([loading.estimate for loading in model.loadings], stored["loadings"], design.name)
    check_values([loading.se for loading in model.loadings], stored["loading_ses"], design.name)
    check_values([factor.ave for factor in model.factors], stored["ave"], design.name)
    check_values([pair.correlation for pair in model.pairs], stored["correlations"], design.name)
    check_values([pair.se for pair in model.pairs], stored["correlation_ses"], design.name)
    check_values([pair.htmt for pair in model.pairs], stored["htmt"], design.name, 1e-6)
    check_fit(model.fit, model.log_likelihood, stored, design.name)
    if design.kind == "ordinal":
        observed = polychorics(data.answers, data.items)
        assert isinstance(observed, Polychorics)
        upper = observed.correlations[np.triu_indices(len(data.items), 1)]
        check_values(upper, stored["polychorics"], design.name, 1e-6)
        return
    for scale, items in design.scales.items():
        own, _complete = indicators({scale: items}, data.answers[:, data.of(scale)].tolist())
        omega = mcdonald_omega(own)
        assert isinstance(omega, OmegaResult)
        check_values([omega.omega, omega.se], fits[design.name, f"omega-{scale}"]["omega"], design.name, 1e-6)


def check_invariance(design: Any, fits: Fits) -> None:
    data, _complete = indicators(design.scales, design.rows)
    result = measurement_invariance(data, design.groups)
    assert isinstance(result, InvarianceResult)
    for model in result.models:
        check_fit(model.fit, model.log_likelihood, fits[design.name, model.level], design.name)
    changes = [model.change for model in result.models if model.change]
    check_values([change.chi_square for change in changes], fits[design.name, "changes"]["chi_square"], design.name)
    check_values([change.p for change in changes], fits[design.name, "changes"]["p"], design.name)


def check_structural(design: Any, fits: Fits) -> None:
    data, _complete = indicators(design.scales, [row[:-1] for row in design.rows])
    outcome = Outcome("outcome", np.array([row[-1] for row in design.rows]), tuple(design.groups))
    model, stored = structural_model(data, outcome, np.random.default_rng(1)), fits[design.name, "structural"]
    assert isinstance(model, StructuralModel)
    for part in ("on_qualities", "on_outcome", "direct", "indirect"):
        check_values([path.estimate for path in getattr(model, part)], stored[part], design.name)
        check_values([path.se for path in getattr(model, part)], stored[f"{part}_ses"], design.name)
    check_values([model.r_squared], stored["r_squared"], design.name)
    check_fit(model.fit, model.log_likelihood, stored, design.name)


def check(design: Any, fits: Fits) -> None:
    kinds = {"invariance": check_invariance, "structural": check_structural}
    kinds.get(design.kind, check_factors)(design, fits)


@pytest.mark.parametrize("name", QUICK)
def test_some_designs_are_fitted_as_by_lavaan(name: str, designs: dict[str, Any], lavaan: Fits) -> None:
    check(designs[name], lavaan)


@pytest.mark.slow
def test_all_designs_are_fitted_as_by_lavaan(designs: dict[str, Any], lavaan: Fits) -> None:
    assert len(designs) == N_DESIGNS
    assert {design for design, _model in lavaan} == set(designs)
    for design in designs.values():
        check(design, lavaan)
