"""Covariates, interviewers, losses, levels of aggregation and mediation against R, on 30 random studies."""

from __future__ import annotations

import csv
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from inference.aggregation import aggregation
from inference.ancova import ParticipantValues, ancova
from inference.attrition import attrition_test
from inference.attrition_bounds import Arm, lee_bounds, worst_case_bounds
from inference.clusters import clustered
from inference.covariates import Covariate
from inference.item_effects import ItemAnswers, adjusted_items
from inference.mediation import mediation
from inference.results import Undefined

DATA = Path(__file__).parents[1] / "data" / "statistics"


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


STUDIES = {study.name: study for study in _loaded(DATA / "covariate_designs.py").studies()}
pytestmark = pytest.mark.reference


@cache
def references() -> dict[str, dict[str, np.ndarray]]:
    found: dict[str, dict[str, np.ndarray]] = {}
    with (DATA / "covariates.csv").open() as stream:
        for row in csv.DictReader(stream):
            values = [float(value) if value != "NA" else np.nan for value in row["values"].split(";")]
            found.setdefault(row["design"], {})[row["statistic"]] = np.array(values)
    return found


class People:
    """One study's rows, and the values of its participants."""

    def __init__(self, name: str) -> None:
        columns = zip(*STUDIES[name].rows, strict=True)
        _name, self.condition, self.person, cluster, self.item, self.value, self.watched, self.heard, *rest = columns
        age, group, popularity, diversity, assigned = rest
        self.first = [self.person.index(person) for person in dict.fromkeys(self.person)]
        self.age = [float(value) if value else None for value in age]
        self.group = group
        self.cluster = [cluster[index] for index in self.first]
        self.lists = {
            "popularity": [popularity[index] for index in self.first],
            "diversity": [diversity[index] for index in self.first],
        }
        means = [
            np.mean([v for v, p in zip(self.value, self.person, strict=True) if p == self.person[index]])
            for index in self.first
        ]
        self.conditions = [self.condition[index] for index in self.first]
        self.data = ParticipantValues(
            means,
            self.conditions,
            [
                Covariate("age", [self.age[index] for index in self.first]),
                Covariate("group", [group[index] for index in self.first]),
            ],
        )
        self.assigned = {self.condition[index]: assigned[index] for index in self.first}
        self.items = ItemAnswers(self.value, self.condition, self.person, self.item)

    def of(self, condition: str) -> list[float]:
        return [v for v, c in zip(self.data.values, self.conditions, strict=True) if c == condition]


# Every sixth study at once, the others among the slow tests.
EACH = [pytest.param(name, marks=[pytest.mark.slow] if n % 6 else []) for n, name in enumerate(STUDIES)]


@pytest.fixture(params=EACH, scope="module")
def study(request: pytest.FixtureRequest) -> tuple[People, dict[str, np.ndarray]]:
    return People(request.param), references()[request.param]


def of_f(test: Any) -> list[float]:
    return [test.f, test.df, test.df_within, test.p]


def test_analysis_of_covariance(study: tuple[People, dict[str, np.ndarray]]) -> None:
    people, expected = study
    found = ancova(people.data)
    assert not isinstance(found, Undefined)
    assert of_f(found.unadjusted) == pytest.approx(expected["ancova.unadjusted"], rel=1e-6)
    assert of_f(found.adjusted) == pytest.approx(expected["ancova.adjusted"], rel=1e-6)
    assert of_f(found.covariates[0].test) == pytest.approx(expected["ancova.age"], rel=1e-6)
    assert of_f(found.covariates[1].test) == pytest.approx(expected["ancova.group"], rel=1e-6)
    assert found.slopes is not None
    assert of_f(found.slopes) == pytest.approx(expected["ancova.slopes"], rel=1e-6)
    assert [mean.adjusted for mean in found.means] == pytest.approx(expected["ancova.means"], rel=1e-8)
    assert [mean.se for mean in found.means] == pytest.approx(expected["ancova.means_se"], rel=1e-8)
    pairs = [pair.adjusted for pair in found.pairs]
    assert [pair.difference for pair in pairs] == pytest.approx(expected["ancova.pairs"], abs=1e-8)
    assert [pair.se for pair in pairs] == pytest.approx(expected["ancova.pairs_se"], rel=1e-8)
    assert [pair.p for pair in pairs] == pytest.approx(expected["ancova.pairs_p"], abs=1e-8)
    assert [pair.interval.low for pair in pairs] == pytest.approx(expected["ancova.pairs_low"], abs=1e-7)


def test_interviewers(study: tuple[People, dict[str, np.ndarray]]) -> None:
    people, expected = study
    found = clustered(people.data, people.cluster)
    assert not isinstance(found, Undefined)
    assert found.log_likelihood == pytest.approx(expected["clusters.log_likelihood"][0], abs=1e-4)
    assert [found.sd_clusters, found.sd_residual] == pytest.approx(expected["clusters.sd"], abs=1e-3)
    assert found.likelihood_ratio == pytest.approx(expected["clusters.ratio"][0], abs=2e-4)
    first = found.pairs[0].estimate
    assert [first.difference, first.se] == pytest.approx(expected["clusters.pair"][:2], rel=1e-3, abs=1e-4)
    if expected["clusters.sd"][0] > 1e-3:  # at zero, degrees of freedom are those of a model without interviewers
        assert first.df == pytest.approx(expected["clusters.pair"][2], rel=2e-2)
        assert found.test.f == pytest.approx(expected["clusters.test"][0], rel=1e-3)


@pytest.mark.parametrize("kind", ["watched", "strata"])
def test_items_with_covariates(study: tuple[People, dict[str, np.ndarray]], kind: str) -> None:
    people, expected = study
    covariates = {
        "watched": [Covariate("watched", people.watched), Covariate("heard", people.heard)],
        "strata": [Covariate("age", people.age), Covariate("group", people.group)],
    }[kind]
    if kind == "strata":  # a missing age has the mean over participants in R's script
        known = [people.age[index] for index in people.first if people.age[index] is not None]
        filled = [float(np.mean(known)) if age is None else age for age in people.age]
        covariates[0] = Covariate("age", filled)
    found = adjusted_items(people.items, covariates)
    assert not isinstance(found, Undefined)
    model, k = found.model, len(found.model.conditions)
    assert model.log_likelihood == pytest.approx(expected[f"{kind}.log_likelihood"][0], abs=1e-4)
    assert [model.sd_persons, model.sd_items, model.sd_residual] == pytest.approx(expected[f"{kind}.sd"], abs=1e-3)
    assert [mean.mean for mean in model.conditions] == pytest.approx(expected[f"{kind}.means"][:k], abs=1e-6)
    assert [mean.se for mean in model.conditions] == pytest.approx(expected[f"{kind}.se"][:k], rel=1e-3)
    slopes = expected[f"{kind}.means"][k : k + len(found.slopes)]
    assert [slope.estimate for slope in found.slopes] == pytest.approx(slopes, abs=1e-6)
    assert [slope.se for slope in found.slopes] == pytest.approx(
        expected[f"{kind}.se"][k : k + len(found.slopes)], rel=1e-3
    )


def test_attrition(study: tuple[People, dict[str, np.ndarray]]) -> None:
    people, expected = study
    found = attrition_test({name: (n, n - len(people.of(name))) for name, n in people.assigned.items()})
    if "attrition.chi_squared" not in expected:
        assert isinstance(found, Undefined)
        return
    assert not isinstance(found, Undefined)
    assert [found.chi_squared, found.smallest_expected] == pytest.approx(expected["attrition.chi_squared"])
    if found.p_method == "chi-square":
        assert found.p == pytest.approx(expected["attrition.chi_squared_p"][0], abs=1e-9)
    elif not np.isnan(expected["attrition.exact_p"][0]):
        tolerance = 1e-7 if found.p_method == "exact" else 4 * (found.p / 99_999) ** 0.5
        assert found.p == pytest.approx(expected["attrition.exact_p"][0], abs=tolerance)


def test_bounds(study: tuple[People, dict[str, np.ndarray]]) -> None:
    people, expected = study
    low, high = np.floor(min(people.data.values)), np.ceil(max(people.data.values))
    for key, values in expected.items():
        kind, *pair = key.split(".")
        if kind not in ("worst_case", "lee"):
            continue
        a, b = (Arm(people.of(f"c{index}"), people.assigned[f"c{index}"]) for index in pair)
        found = worst_case_bounds(a, b, low, high) if kind == "worst_case" else lee_bounds(a, b)
        assert not isinstance(found, Undefined)
        ends = [found.low, found.high, found.se_low, found.se_high, found.interval.low, found.interval.high]
        assert ends == pytest.approx(values, abs=1e-7), key


def test_levels_of_aggregation(study: tuple[People, dict[str, np.ndarray]]) -> None:
    people, expected = study
    found = aggregation(people.value, people.watched, people.condition, people.person)
    assert not isinstance(found, Undefined)
    for level in ("total", "within_conditions", "within_participants"):
        slope = getattr(found, level)
        assert [slope.estimate, slope.se, slope.p] == pytest.approx(expected[f"levels.{level}"], rel=1e-6), level
    assert found.between_slope == pytest.approx(expected["levels.between"][0], rel=1e-7)


def test_mediation(study: tuple[People, dict[str, np.ndarray]]) -> None:
    people, expected = study
    found = mediation(people.data, people.lists, resamples=4000, rng=np.random.default_rng(7))
    assert not isinstance(found, Undefined)
    assert [slope.estimate for slope in found.slopes] == pytest.approx(expected["mediation.slopes"], rel=1e-7)
    assert [slope.se for slope in found.slopes] == pytest.approx(expected["mediation.slopes_se"], rel=1e-7)
    pair = found.pairs[0]
    assert [part.estimate for part in pair.indirect] == pytest.approx(expected["mediation.indirect"], abs=1e-8)
    assert pair.direct == pytest.approx(expected["mediation.direct"][0], abs=1e-8)
    # R has 200 resamples, so its limits vary by about .3 of a standard deviation, and the 180 of all studies by up to
    # four times that.
    intervals = [*(part.interval for part in pair.indirect), pair.direct_interval]
    limits = [limit for interval in intervals for limit in (interval.low, interval.high)]
    errors = np.abs(limits - expected["mediation.intervals"]) / np.repeat(expected["mediation.sd"], 2)
    assert errors.mean() < 0.5
    assert errors.max() < 1.3
