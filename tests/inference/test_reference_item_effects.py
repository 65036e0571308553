"""The models of participants and items against lme4, on random designs of every kind."""

from __future__ import annotations

import csv
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from inference.item_effects import ItemAnswers, ItemEffectsResult, fit_items
from inference.variance_components import Design, Estimates, RestrictedLikelihood, model_estimates
from tests.inference.mixed_models import crossed_items

pytestmark = pytest.mark.reference
N_DESIGNS = 144


@pytest.fixture(scope="module")
def generator(statistics_dir: Path) -> ModuleType:
    """The module that draws the designs."""
    spec = importlib.util.spec_from_file_location("mixed_designs", statistics_dir / "mixed_designs.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def lme4(statistics_dir: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The fits of lme4 by design and model."""
    with (statistics_dir / "lme4_mixed.csv").open(encoding="utf-8", newline="") as file:
        return {(row["design"], row["model"]): row for row in csv.DictReader(file)}


def numbers(fit: dict[str, str], key: str) -> np.ndarray:
    return np.array(fit[key].split(";"), dtype=float)


def check(design: Any, fits: dict[tuple[str, str], dict[str, str]]) -> None:
    answers = ItemAnswers(design.values, design.conditions, design.persons, design.items)
    check_crossed(crossed_items(answers), fits[design.name, "crossed"], answers)
    nested, stored = fit_items(answers).result(), fits[design.name, "nested"]
    check_variances(nested, stored)
    check_contrasts(nested, stored, answers, "observed_means", "observed_ses", "observed_df")
    likelihood = RestrictedLikelihood(nested_design(answers))
    check_means_of_the_model(model_estimates(likelihood, likelihood.maximum()), stored)


def check_variances(result: Any, stored: dict[str, str]) -> None:
    assert isinstance(result, ItemEffectsResult)
    assert result.log_likelihood == pytest.approx(numbers(stored, "log_likelihood")[0], abs=1e-5), stored["design"]
    for key, value in (("person", result.sd_persons), ("item", result.sd_items), ("residual", result.sd_residual)):
        assert value == pytest.approx(numbers(stored, f"sd_{key}")[0], abs=1e-4), (stored["design"], key)


def check_contrasts(result: ItemEffectsResult, stored: dict[str, str], answers: ItemAnswers, *keys: str) -> None:
    means, ses, df = keys
    with_first = [pair for pair in result.pairs.pairs if pair.a == answers.conditions[0]]
    assert [condition.mean for condition in result.conditions] == pytest.approx(numbers(stored, means), abs=1e-4)
    assert [condition.se for condition in result.conditions] == pytest.approx(numbers(stored, ses), abs=1e-4)
    assert [pair.df for pair in with_first] == pytest.approx(numbers(stored, df), rel=1e-3), stored["design"]


def check_crossed(result: Any, stored: dict[str, str], answers: ItemAnswers) -> None:
    check_variances(result, stored)
    check_contrasts(result, stored, answers, "means", "ses", "contrast_df")
    with_first = [pair for pair in result.pairs.pairs if pair.a == answers.conditions[0]]
    assert [pair.se for pair in with_first] == pytest.approx(numbers(stored, "contrast_ses"), abs=1e-4)
    assert [result.f, result.df_denominator] == pytest.approx([float(stored["f"]), float(stored["f_df"])], rel=1e-3)


def nested_design(answers: ItemAnswers) -> Design:
    condition, person = (np.unique(labels, return_inverse=True)[1] for labels in (answers.conditions, answers.persons))
    apart = [f"{name} {item}" for name, item in zip(answers.conditions, answers.items, strict=True)]
    return Design(np.array(answers.values), condition, person, np.unique(apart, return_inverse=True)[1], condition)


def check_means_of_the_model(estimates: Estimates, stored: dict[str, str]) -> None:
    assert estimates.means == pytest.approx(numbers(stored, "means"), abs=1e-4)
    assert np.sqrt(np.diag(estimates.covariance)) == pytest.approx(numbers(stored, "ses"), abs=1e-4)
    k = len(estimates.means)
    contrasts = np.eye(k)[1:] - np.eye(k)[:1]
    assert [estimates.df(row) for row in contrasts] == pytest.approx(numbers(stored, "contrast_df"), rel=1e-3)
    assert estimates.joint(contrasts) == pytest.approx((float(stored["f"]), float(stored["f_df"])), rel=1e-3)


@pytest.mark.slow
def test_all_designs_are_fitted_as_by_lme4(generator: ModuleType, lme4: dict[tuple[str, str], dict[str, str]]) -> None:
    designs = list(generator.designs())
    assert len(designs) == N_DESIGNS
    assert len(lme4) == 2 * N_DESIGNS
    for design in designs:
        check(design, lme4)


@pytest.mark.slow
def test_lme4_computes_the_stored_fits(
    rscript: str, statistics_dir: Path, lme4: dict[tuple[str, str], dict[str, str]]
) -> None:
    installed = subprocess.run([rscript, "-e", "library(lmerTest)"], capture_output=True, check=False)
    if installed.returncode:
        pytest.skip("the R packages lme4 and lmerTest are not installed")
    drawn = subprocess.run(
        [sys.executable, str(statistics_dir / "mixed_designs.py")], check=True, capture_output=True, text=True
    ).stdout.splitlines(keepends=True)
    some = [line for line in drawn if line.split(",")[0] in ("design", "twelve-1", "study-weak-1")]
    command = [rscript, "--vanilla", str(statistics_dir / "lme4_mixed.R")]
    printed = subprocess.run(command, input="".join(some), check=True, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(printed.splitlines()))
    assert len(rows) == 4
    for row in rows:
        stored = lme4[row["design"], row["model"]]
        for key in ("log_likelihood", "means", "ses", "contrast_ses", "f"):
            again, values = ([float(value) for value in fit[key].split(";")] for fit in (row, stored))
            assert again == pytest.approx(values, abs=1e-4)
