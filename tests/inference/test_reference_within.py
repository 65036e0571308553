"""Conditions that every participant meets in turn, against R, on 72 random studies."""

from __future__ import annotations

import csv
import importlib.util
import math
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from inference.ancova import FTest
from inference.paired import friedman
from inference.results import PairwiseResult, Undefined
from inference.sequences import Occasions, carry_over, fit_within, repeated_measures

DATA = Path(__file__).parents[1] / "data" / "statistics"
N_STUDIES = 72
pytestmark = pytest.mark.reference


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


STUDIES = {study.name: study for study in _loaded(DATA / "within_designs.py").studies()}


@cache
def references() -> dict[str, dict[str, np.ndarray]]:
    with (DATA / "within.csv").open() as stream:
        return parsed(csv.DictReader(stream))


def parsed(rows: Any) -> dict[str, dict[str, np.ndarray]]:
    found: dict[str, dict[str, np.ndarray]] = {}
    for row in rows:
        found.setdefault(row["design"], {})[row["statistic"]] = np.array(row["values"].split(";"), dtype=float)
    return found


def occasions_of(name: str) -> Occasions:
    _name, participants, positions, conditions, previous, values = zip(*STUDIES[name].rows, strict=True)
    before = [condition or None for condition in previous]
    return Occasions(values, conditions, positions, before, participants, sorted(set(conditions)))


def test_every_study_has_reference_values() -> None:
    assert set(references()) == set(STUDIES)
    assert len(STUDIES) == N_STUDIES


def check_test(found: FTest | None, stored: np.ndarray) -> None:
    assert found is not None
    f, df, df_within, p = stored
    assert found.df == df
    assert [found.f, found.df_within] == pytest.approx([f, df_within], rel=1e-3)
    assert found.p == pytest.approx(p, abs=1e-4)


def check_pairs(found: PairwiseResult, stored: dict[str, np.ndarray], prefix: str) -> None:
    def values(field: str) -> list[Any]:
        return [getattr(pair, field) for pair in found.pairs]

    for field, key in (("difference", "difference"), ("se", "se"), ("p", "p"), ("ci_low", "low"), ("ci_high", "high")):
        assert values(field) == pytest.approx(stored[f"{prefix}.{key}"], abs=2e-4), (prefix, key)
    assert values("df") == pytest.approx(stored[f"{prefix}.df"], rel=1e-3)


@pytest.mark.parametrize("name", STUDIES)
def test_the_mixed_model_is_that_of_lmertest_and_emmeans(name: str) -> None:
    fit, stored = fit_within(occasions_of(name)), references()[name]
    assert not isinstance(fit, Undefined)
    result = fit.result()
    # R has an intercept and sum-coded conditions; the determinant of the means in these is k.
    assert result.log_likelihood == pytest.approx(stored["log_likelihood"][0] + math.log(len(result.means)), abs=1e-5)
    assert [result.sd_participants, result.sd_residual] == pytest.approx(stored["sd"], abs=2e-4)
    check_test(result.test, stored["condition"])
    check_test(result.positions, stored["position"])
    for field, key in (("adjusted", "means"), ("se", "means_se")):
        assert [getattr(mean, field) for mean in result.means] == pytest.approx(stored[key], abs=1e-4)
    assert [mean.interval.low for mean in result.means] == pytest.approx(stored["means_low"], abs=1e-3)
    check_pairs(result.pairs, stored, "pairs")


@pytest.mark.parametrize("name", [name for name in STUDIES if "-2-" not in name])
def test_carry_over_is_that_of_lmertest_and_emmeans(name: str) -> None:
    found, stored = carry_over(occasions_of(name)), references()[name]
    assert not isinstance(found, Undefined)
    check_test(found.test, stored["previous"])
    check_pairs(found.adjusted, stored, "adjusted")


@pytest.mark.parametrize("name", STUDIES)
def test_analysis_of_variance_and_ranks_of_complete_participants_are_those_of_r(name: str) -> None:
    occasions, stored = occasions_of(name), references()[name]
    found, ranks = repeated_measures(occasions.table), friedman(occasions.table)
    assert not isinstance(found, Undefined)
    assert not isinstance(ranks, Undefined)
    assert [found.f, found.df, found.df_within, found.p] == pytest.approx(stored["anova"], rel=1e-6)
    if "greenhouse_geisser" in stored:
        assert [found.epsilon, found.p_corrected] == pytest.approx(stored["greenhouse_geisser"], rel=1e-6)
    if found.df == 1:
        assert [found.epsilon, found.p_corrected] == pytest.approx([1, found.p])
    assert [ranks.chi_squared, ranks.p] == pytest.approx(stored["friedman"], rel=1e-6)


@pytest.mark.slow
def test_r_computes_the_stored_values(rscript: str) -> None:
    installed = subprocess.run([rscript, "-e", "library(lmerTest); library(emmeans); library(afex)"], check=False)
    if installed.returncode:
        pytest.skip("the R packages lmerTest, emmeans and afex are not installed")
    drawn = subprocess.run(
        [sys.executable, str(DATA / "within_designs.py")], check=True, capture_output=True, text=True
    )
    some = [
        row for row in drawn.stdout.splitlines(True) if row.split(",")[0] in ("design", "missing-3-1", "ratings-4-2")
    ]
    command = [rscript, "--vanilla", str(DATA / "within.R")]
    printed = subprocess.run(command, input="".join(some), check=True, capture_output=True, text=True).stdout
    again = parsed(csv.DictReader(printed.splitlines()))
    assert set(again) == {"missing-3-1", "ratings-4-2"}
    for name, statistics in again.items():
        for statistic, values in statistics.items():
            assert values == pytest.approx(references()[name][statistic], rel=1e-3, abs=1e-4), (name, statistic)
