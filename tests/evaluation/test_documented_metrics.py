"""Every metric of the documentation can be measured, and every metric that can be measured is documented."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import metrics as metric_entries
from sklearn.metrics import average_precision_score

from evaluation.exports import curves_of, figure, run_document
from evaluation.metrics.registry import METRICS, metric
from evaluation.protocols import outcomes
from evaluation.protocols.facts import ModelFacts
from evaluation.protocols.registry import PROTOCOLS
from evaluation.protocols.unconstrained import pool_of, pooled_precision_recall
from evaluation.selectors.results import model_rows
from tests.factories.evaluation import make_run, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
DOCUMENTED = re.findall(r"^### `([^`]+)`", metric_entries.entries(), flags=re.MULTILINE)
LIMITS = {"relevant": 4.0, "irrelevant": 2.0}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_run_measures_every_documented_metric_of_its_protocol(protocol: str) -> None:
    names = [name for name in DOCUMENTED if metric(name).key in PROTOCOLS[protocol].metrics]
    assert names
    run = work_off(make_run(protocol={"name": protocol, **LIMITS}, metrics=names))
    assert run.error == ""
    for row in model_rows(run):
        assert {str(metric(name)) for name in names} <= set(row.cells)


def test_documented_metrics_are_those_that_can_be_measured() -> None:
    measured = {key for one in PROTOCOLS.values() for key in one.metrics}
    of_pairs = {key for key, one in METRICS.items() if one.is_of_pairs}
    assert {metric(name).key for name in DOCUMENTED} == measured | of_pairs
    assert not measured & of_pairs


def test_metric_of_two_algorithms_is_measured_of_every_pair() -> None:
    run = work_off(make_run(protocol={"name": "full-ranking", **LIMITS}, algorithms="toppop,random,itemitem"))
    assert {metric(f"overlap@{run.n}").key} == {key for key, one in METRICS.items() if one.is_of_pairs}
    pairs = run_document(run)["overlap"]
    assert len(pairs) == 3
    assert all(0.0 <= one["share"] <= 1.0 for one in pairs)


def test_average_precision_of_all_pairs_has_its_curve() -> None:
    run = work_off(
        make_run(
            protocol={"name": "unconstrained", **LIMITS},
            algorithms="aspect:classes=2,toppop",
            metrics=["groc-area", "average-precision"],
        )
    )
    curves = {one.name: one for one in curves_of(run)}
    assert list(curves) == ["groc", "precision-recall"]
    for row in model_rows(run):
        recall, precision = curves["precision-recall"].lines[row.label]
        assert np.all(np.diff(recall) >= 0)
        assert np.trapezoid(precision, recall) == pytest.approx(row.cells["average-precision"].value, abs=1e-12)
    drawn = figure(run, "precision-recall")
    assert drawn is not None
    assert "average precision" in drawn


def test_pooled_precision_recall_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    scores, is_good = rng.integers(0, 40, 900).astype(float), rng.random(900) < 0.1
    area = average_precision_score(is_good, scores)
    fast = pooled_precision_recall(pool_of(scores, is_good))
    assert fast is not None
    assert fast.area == pytest.approx(area, abs=1e-12)
    recall, precision = fast.line(7)
    assert len(recall) == 14
    assert np.trapezoid(precision, recall) == pytest.approx(area, abs=1e-12)
    assert pooled_precision_recall(pool_of(scores, np.zeros(900, dtype=bool))) is None


@pytest.mark.parametrize(("n_relevant", "defined"), [([0, 0], []), ([1, 1], ["average-precision"])])
def test_pairs_of_one_kind_have_no_groc_and_without_relevant_pairs_nothing(
    n_relevant: list[int], defined: list[str]
) -> None:
    n_others = [1, 2] if sum(n_relevant) == 0 else [0, 0]
    arrays = {"scores": np.array([2.0, 1.0]), "n_relevant": np.array(n_relevant), "n_others": np.array(n_others)}
    facts = ModelFacts("order", True, 1.0, 5.0, popularity=np.array([1, 1]), n_users=2)
    found = outcomes._pooled(arrays, ["groc-area", "average-precision"], facts)
    assert [one.metric for one in found.values if one.value is not None] == defined
