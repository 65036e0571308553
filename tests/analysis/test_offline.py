"""Inference on the offline side of a report: effect sizes, and repetitions of the run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from analysis.compute.objective import pooled_repeats
from analysis.files.document import document_of
from analysis.files.formats import report_json
from analysis.models import Report
from analysis.present import offline
from analysis.present.offline import repeats_section
from analysis.read.metrics import RepeatedMeasure, Repetitions
from analysis.results.comparison import DecidedPairs
from analysis.results.objective import OfflineEffect, OfflineMetric, RepeatedMetric
from analysis.results.schema import report_schema
from analysis.services import build_report
from evaluation.selectors.repeats import repeated_values
from evaluation.services.runs import create_repeat
from inference.paired import sign_effect
from inference.rank_sets import RankSets
from inference.results import Interval, Undefined
from studies.models import Study
from tests.analysis.test_narrative import comparison, results
from tests.factories.evaluation import work_off
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.slow


@pytest.fixture
def bare() -> Any:
    """Results of seven algorithms without most fields."""
    return results(comparison(), plan={"alpha": 0.05})


def changed(found: Any, **changes: Any) -> Any:
    for name, value in changes.items():
        object.__setattr__(found, name, value)
    return found


def plain(report: Report) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report_json(report))
    return found


@pytest.mark.integration
@pytest.mark.django_db
def test_repetitions_add_their_section_and_change_nothing_else(planted: Study) -> None:
    before = build_report(study=planted)
    told = before.read_results()
    assert told.repeats is None
    assert told.primary is not None
    assert isinstance(told.primary.decided, DecidedPairs)
    assert told.primary.decided.participants_rank_sets.sets == {
        "TopPop": (1, 1), "CorNgr": (2, 3), "PureSVD4": (2, 3)
    }  # fmt: skip
    assert {(each.kind, each.profile_length) for each in told.offline_effects} == {
        (kind, length.profile_length) for length in told.objective.lengths for kind in ("recall", "fallout")
    }
    for measured in told.offline_effects:
        values = told.objective.at(measured.profile_length).defined_values(measured.kind)
        for pair in measured.effects:
            assert pair.difference == pytest.approx(values[pair.a] - values[pair.b])
            assert pair.interval is not None
            assert pair.interval.low <= pair.difference <= pair.interval.high
    keys = [section.key for section in document_of(before).sections]
    assert "offline-effects" in keys
    assert "repeats" not in keys

    repeat = work_off(create_repeat(run=planted.run, number=2))
    after = build_report(study=planted)
    assert after != before
    old, new = plain(before), plain(after)
    added = new["results"].pop("repeats")
    assert new["results"] == old["results"]
    assert len(new["provenance"].pop("repetitions")) == 2
    assert new["provenance"] == old["provenance"]
    assert added["seeds"] == [planted.run.seed, repeat.seed]
    assert [section.key for section in document_of(after).sections] == [
        key for one in keys for key in ([one, "repeats"] if one == "offline-effects" else [one])
    ]
    assert not list(Draft202012Validator(json.loads(report_schema())).iter_errors(plain(after)))
    assert build_report(study=planted) == after

    values = repeated_values([planted.run, repeat], "recall")
    pooled = values.hits.sum(axis=(0, 1)) / values.cases.sum()
    found = after.read_results().repeats
    assert found is not None
    recall = found.metrics[0]
    assert not isinstance(recall.result, Undefined)
    assert [row.pooled.value for row in recall.result.rows] == pytest.approx(list(pooled))
    assert "2 times" in offline.repeats(after.read_results(), found)[0]


def measure(kind: str = "recall") -> RepeatedMeasure:
    """Three repetitions on 200 users: the first algorithm is far better, the two others are alike."""
    rng = np.random.default_rng(5)
    cases = rng.integers(1, 4, (3, 200))
    hits = rng.binomial(cases[:, :, None], [0.8, 0.3, 0.3])
    return RepeatedMeasure(kind, 0, hits.astype(float), cases.astype(float))


def pooled(found: RepeatedMeasure) -> RepeatedMetric:
    repeats = pooled_repeats(Repetitions((1, 2, 3), ("A", "B", "C"), (found,), ()), 7)
    assert repeats is not None
    assert repeats.n == 3
    return repeats.metrics[0]


@pytest.mark.unit
def test_pooled_repetitions_rank_and_test_by_user() -> None:
    result = pooled(measure()).result
    assert not isinstance(result, Undefined)
    assert isinstance(result.rank_sets, RankSets)
    assert result.rank_sets.sets == {"A": (1, 1), "B": (2, 3), "C": (2, 3)}
    assert not isinstance(result.sign_tests, Undefined)
    assert [pair.is_significant for pair in result.sign_tests.pairs] == [True, True, False]
    assert sum(pair.n_a + pair.n_b + pair.n_ties for pair in result.sign_tests.pairs[:1]) == 200  # each user once
    assert result.rows[0].ranks == (1, 1)
    of_fallout = pooled(measure("fallout")).result
    assert not isinstance(of_fallout, Undefined)
    assert of_fallout.rows[0].ranks == (3, 3)
    assert isinstance(of_fallout.rank_sets, RankSets)
    assert of_fallout.rank_sets.sets["A"] == (3, 3)


@pytest.mark.unit
def test_a_metric_without_cases_says_why_it_is_not_pooled(bare: Any) -> None:
    found = measure()
    without = pooled(replace(found, cases=np.zeros_like(found.cases), hits=np.zeros_like(found.hits)))
    assert isinstance(without.result, Undefined)
    assert offline.repeated_effects_table(without, is_by_user=False) is None
    repeats = pooled_repeats(Repetitions((1, 2, 3), ("A", "B", "C"), (found,), ()), 7)
    assert repeats is not None
    assert offline.repeats_table(repeats, without, is_by_user=False) is None
    said = offline.repeats(bare, replace(repeats, metrics=(without,)))
    assert said[1].startswith("Recall at 5")


@pytest.mark.unit
def test_sentences_and_tables_of_repetitions(bare: Any) -> None:
    repeats = pooled_repeats(Repetitions((1, 2, 3), ("A", "B", "C"), (measure(),), ()), 7)
    section = repeats_section(changed(bare, repeats=repeats))
    words = " ".join(block.text for block in section.blocks)
    assert "recall at 5" in words
    assert "2 of 3 pairs" in words
    keys = [block.table.key for block in section.blocks if block.table is not None]
    assert keys == ["repeats-recall-whole", "repeats-signs-recall-whole", "repeats-seeds"]
    row = next(block.table for block in section.blocks if block.table is not None).rows[0]
    assert [cell.text for cell in (row.cells[0], *row.cells[-2:])] == ["A", "1", "1"]


@pytest.mark.unit
def test_the_largest_effect_is_told_in_the_direction_of_the_better_served() -> None:
    def effect(a: str, b: str, n_a: int, n_b: int, n_ties: int) -> OfflineEffect:
        found = sign_effect(n_a, n_b, n_ties)
        return OfflineEffect(a=a, b=b, effect=found, difference=0.1, interval=Interval(0.0, 0.2))

    effects = (effect("A", "B", 20, 80, 100), effect("A", "C", 0, 0, 200), effect("B", "C", 50, 50, 300))
    measured = OfflineMetric(kind="recall", profile_length=0, effects=effects)
    assert_sentences_approved("sentences/ties", {"half to three quarters": [offline.tied(measured, 5)]})
    assert offline.tied(replace(measured, effects=effects[1:2]), 5) == ""
    table = offline.effects_table(measured, is_by_user=False)
    assert table is not None
    assert [cell.text for cell in table.rows[0].cells[2:]] == ["50%", ".20", "[.13, .29]", ".100", "[.000, .200]"]
    assert [cell.text for cell in table.rows[1].cells[2:5]] == ["100%", "–", "–"]
    assert offline.effects_table(replace(measured, effects=()), is_by_user=False) is None
