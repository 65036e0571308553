"""Results as dataclasses and as JSON: what is read is written again as it was, older and unknown keys included."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.present import verdict
from analysis.present.verdict import facts
from analysis.results.codec import decode, encode, stored
from analysis.results.plan import Deviation, HandExclusions, OtherAlpha, OtherSize, ReportPlan
from analysis.results.report import Provenance, Results
from analysis.services import build_report
from core.errors import DataError
from inference.results import Interval, Undefined
from studies.models import Study
from studies.monitoring.services.exclusions import exclude
from tests.factories.analysis import plant, planted_person

SAMPLE = Path(__file__).parents[1] / "data" / "sample_verdict.json"


@dataclass(frozen=True, kw_only=True)
class Inner:
    """Two keys that join those of their owner."""

    low: float
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Outer:
    """One field of every kind."""

    renamed: int = field(metadata=stored("other_key"))
    words: str = field(default="", metadata=stored(is_omitted=True))
    inner: Inner = field(metadata=stored(is_flat=True))
    interval: Interval | Undefined
    by_name: dict[str, tuple[Interval, ...]]


PLAIN: dict[str, Any] = {
    "other_key": 3,
    "low": 1,
    "ends": [0.5, 1.5],
    "interval": {"is_defined": True, "low": 0.0, "high": 1.0},
    "by_name": {"A": [{"low": 0.0, "high": 2.0}], "B": []},
}


@pytest.mark.unit
def test_fields_are_stored_under_their_keys() -> None:
    value = decode(Outer, PLAIN)
    assert (value.renamed, value.words, value.inner.ends) == (3, "", (0.5, 1.5))
    assert value.by_name == {"A": (Interval(0.0, 2.0),), "B": ()}
    assert encode(Outer, value) == PLAIN
    assert encode(Outer, decode(Outer, {**PLAIN, "words": "some"}))["words"] == "some"


@pytest.mark.unit
def test_a_result_that_does_not_exist_keeps_its_reason() -> None:
    result: Any = Interval | Undefined
    plain = {"is_defined": False, "reason": "Nobody varies."}
    assert encode(result, decode(result, plain)) == plain
    # Reports of earlier versions also name the procedure.
    assert decode(result, {**plain, "procedure": "t"}) == Undefined("Nobody varies.")


@pytest.mark.unit
def test_members_of_a_union_are_named_by_their_kind() -> None:
    deviations: tuple[Deviation, ...] = (
        OtherAlpha(planned=0.05, actual=0.01),
        HandExclusions(n=2, words=""),
        OtherSize(target=6, analysed=5, under_way=1, conditions=()),
    )
    plain = encode(tuple[Deviation, ...], deviations)
    assert plain[0] == {"of": "alpha", "planned": 0.05, "done": 0.01}
    assert "extensions" not in plain[2]
    assert decode(tuple[Deviation, ...], plain) == deviations


@pytest.mark.unit
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"other_key": None}, "at other_key: Input should be a valid integer"),
        ({"by_name": {"A": [{"low": 0.0}]}}, "at by_name.A.0.high: Field required"),
        ({"interval": {"is_defined": False}}, "at interval.undefined.reason: Field required"),
        ({"interval": {"low": 0.0, "high": 1.0}}, "at interval: 'is_defined' is neither true nor false"),
        ({"interval": None}, "at interval: 'is_defined' is neither true nor false"),
        ({"low": "much"}, "at inner.low: Input should be a number"),
        ({"ends": [0.5]}, "at inner.ends.1: Field required"),
    ],
)
def test_an_error_names_the_field(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=f"cannot be read {message}"):
        decode(Outer, PLAIN | change)


@pytest.mark.unit
def test_a_missing_key_is_named() -> None:
    with pytest.raises(DataError, match="at other_key:"):
        decode(Outer, {key: value for key, value in PLAIN.items() if key != "other_key"})


@pytest.mark.unit
def test_whole_numbers_stay_whole_and_numbers_of_numpy_become_plain() -> None:
    assert json.dumps(encode(Interval, decode(Interval, {"low": 1, "high": 1.0}))) == '{"low": 1, "high": 1.0}'
    assert type(encode(Interval, Interval(np.float64(0.5), 1.0))["low"]) is float


@pytest.mark.unit
def test_a_report_of_format_4_is_read_and_keeps_the_headline_of_its_plan() -> None:
    older: dict[str, Any] = json.loads(SAMPLE.read_text(encoding="utf-8"))
    older |= {"format": 4, "crossed": {"is_defined": False, "reason": "Old."}, "perceived_ranks": {}, "offline": []}
    for key in ("advantage", "exploratory", "offline_effects"):
        del older[key]
    for comparison in older["comparisons"]:
        del comparison["decided"]
        comparison |= {"p_holm": None, "tau_bootstrap": {"ci_low": 0, "ci_high": 1}, "orders": {"counts": {}}}
    for length in older["objective"]["lengths"]:
        for kind in ("recall", "fallout"):
            del length[kind]["pairs"]
            length[kind]["bootstrap"] = {"draws": []}
    for cell in older["matrix"]["cells"]:
        cell |= {"p_holm": 1.0, "interval": {"low": 0, "high": 1}}
    older["plan"]["tests"] = {"comparison": "Kendall's tau-b with the exact two-sided p over all orders"}
    results = decode(Results, older)
    assert (results.format, results.advantage, results.exploratory, results.offline_effects) == (4, None, None, ())
    assert results.primary is not None
    assert results.primary.decided is None
    assert results.objective.lengths[0].recall.pairs is None
    assert verdict.headline(results)[0].text.startswith("Simulated")
    assert [".43" in said and "p = .239" in said for said in verdict.evidence(results)] == [True]
    assert facts(results) == []


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(
    "answers", [{"TopPop": [4]}, {"TopPop": [4, 5, 4, 5], "CorNgr": [2, 1, 2, 3], "PureSVD4": [2, 1, 1, 2]}]
)
def test_a_report_is_written_as_it_was_read(study: Study, answers: dict[str, list[int]]) -> None:
    plant(study, answers)
    exclude(participant=planted_person(study, "TopPop", [1] * 5, 1), reason="Under age")
    report = build_report(study=study)
    assert encode(Results, report.read_results()) == report.results
    assert encode(ReportPlan, report.read_plan()) == report.plan
    assert encode(Provenance, report.read_provenance()) == report.provenance
    older = copy.deepcopy(report.results) | {"a_later_key": 1}
    for key in ("planned", "exclusions", "power", "effects", "nested", "correlations"):
        older.pop(key, None)
    results = decode(Results, older)
    assert (results.planned, results.exclusions, results.power, results.nested) == (None,) * 4
