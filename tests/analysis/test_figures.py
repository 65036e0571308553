"""Which figure stands where in a report, and what it shows; that little data break none, test_degenerate.py shows."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import f, ncf

from analysis.files.document import KEYS, Document, document_of
from analysis.models import Report
from analysis.present import method, objective, perceived
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from analysis.services import build_report
from charting import render
from charting.theme import LIGHT
from studies.enums import ParticipantStatus
from studies.models import Study
from tests.factories.analysis import planted_person
from tests.factories.results import partial

pytestmark = pytest.mark.slow


def keys_by_section(document: Document) -> dict[str, list[str]]:
    return {
        section.key: [figure.key for block in section.blocks for figure in block.figures]
        for section in document.all_sections
    }


@pytest.fixture(scope="module")
def document(stored_report: Report) -> Document:
    planted = stored_report.study
    # Not all alike: the forests have something to show.
    planted_person(planted, "TopPop", [5, 4, 3, 5, 2], 3, n_watched=3)
    planted_person(planted, "CorNgr", [1, 2, 3, 1, 2], 2, n_watched=2)
    planted_person(planted, "PureSVD4", [2, 2, 1, 3, 2], 1, n_watched=0)
    return document_of(build_report(study=planted))


@pytest.mark.integration
@pytest.mark.django_db
def test_every_figure_has_its_place(document: Document) -> None:
    found = {key: figures for key, figures in keys_by_section(document).items() if figures}
    assert [chapter.key for chapter in document.chapters] == list(KEYS)
    assert found == {
        "pairs-of-algorithms": ["pairs", "slope"],
        "summary": ["scatter"],
        "measures": ["forest-accuracy", "box-accuracy"],
        "metrics": ["bars-recall"],
        "other-analyses": ["alternatives"],
        "variable-accuracy": ["hasse-accuracy"],
        "variable-fon": ["box-fon"],
        "variable-son": ["box-son"],
        "variable-satisfaction": ["box-satisfaction", "hasse-satisfaction"],
        "objective": ["bars-fallout", "curves-recall", "curves-fallout", "hasse-recall", "hasse-fallout"],
        "matrix": ["matrix"],
        "conduct": ["flow"],
        "power": ["power"],
    }


@pytest.mark.integration
@pytest.mark.django_db
def test_every_figure_says_its_finding_and_has_its_numbers(document: Document) -> None:
    keys = [figure.key for figure in document.figures()]
    assert len(keys) == len(set(keys))
    tables = {table.key for table in document.tables()}
    for figure in document.figures():
        words = figure.spec["usermeta"]
        assert words["title"], figure.key
        assert words["description"], figure.key
        assert figure.table.rows, figure.key
        assert figure.table.key in tables
        assert render.svg(figure.spec) == render.svg(figure.spec), figure.key
    captions = {figure.key: figure.caption for figure in document.figures()}
    for words in ("Games-Howell", "α = .05", "n = 18", "up is more", "dominates"):
        assert words in captions["hasse-accuracy"]


@pytest.mark.integration
@pytest.mark.django_db
def test_flow_counts_who_left_where_and_sums_up(planted: Study) -> None:
    one, other = planted.participants.order_by("pk")[:2]
    type(one).objects.filter(pk=one.pk).update(status=ParticipantStatus.ABANDONED)
    type(one).objects.filter(pk=other.pk).update(
        status=ParticipantStatus.SCREENED_OUT, condition=None, assigned_at=None
    )
    report = build_report(study=planted)
    flow = report.results["flow"]
    assert flow["left_before"] == [["Screened out", 1]]
    assert flow["left_after"] == [["Abandoned", 1]]
    assert flow["consented"] == flow["assigned"] + 1
    assert flow["assigned"] == flow["completed"] + 1
    spec = method.consort(report.read_results())
    assert spec is not None
    assert "excluded: Screened out 1" in spec["usermeta"]["description"]


@pytest.mark.integration
@pytest.mark.django_db
def test_power_is_of_the_numbers_not_of_what_was_found(planted: Study) -> None:
    before = build_report(study=planted).results["power"]
    assert (before["conditions"], before["n_per_condition"], before["is_smallest"]) == (3, 5, False)
    planted_person(planted, "TopPop", [1] * planted.settings["list_length"], 1)
    after = build_report(study=planted).results["power"]
    assert after == before | {"is_smallest": True}
    # The noncentral F distribution, 5 in each of 3 conditions, f = 0.25.
    expected = ncf.sf(f.ppf(0.95, 2, 12), 2, 12, 15 * 0.25**2)
    assert after["at_stated"]["power"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.integration
@pytest.mark.django_db
def test_lists_as_served_stand_beside_what_the_protocol_counts(document: Document) -> None:
    report = document.report
    served = report.results["objective"]["lengths"][0]["served"]
    assert set(served) == {"recall", "fallout", "filled"}
    (table,) = [table for table in document.tables() if table.key == "as-served"]
    for row in table.rows:
        assert row.cells[2].value == served["recall"][row.cells[0].text]


# What charts refuse to claim


def length(recall: dict[str, float], order: dict[str, Any]) -> ProfileLength:
    plain = {
        "table": [
            {"condition": name, "recall": value, "intervals": {"recall": [value, value]}}
            for name, value in recall.items()
        ],
        "recall": {"order": {"is_empty": False, **order}},
    }
    found: ProfileLength = partial(ProfileLength, plain)
    return found


@pytest.mark.unit
def test_order_by_sign_tests_is_not_drawn_where_the_metric_says_the_opposite() -> None:
    values = {"A": 0.3, "B": 0.2}
    assert objective.hasse(length(values, {"covers": [["A", "B"]]}), "recall", "A leads", 5) is not None
    assert objective.hasse(length(values, {"covers": [["B", "A"]]}), "recall", "B leads", 5) is None
    assert objective.hasse(length(values, {"covers": [["A", "B"]], "cycle": ["A", "B"]}), "recall", "t", 5) is None


@pytest.mark.unit
def test_forest_puts_the_larger_mean_first_and_turns_its_interval() -> None:
    pair = {"a": "A", "b": "B", "difference": -0.5, "ci_low": -0.9, "ci_high": -0.1, "p": 0.01, "is_significant": True}
    tests = {"games_howell": {"is_defined": True, "pairs": [pair]}}
    spec = perceived.forest(partial(PerceivedVariable, {"key": "accuracy", "tests": tests}), "t", "95%")
    assert spec is not None
    (row,) = [row for rows in spec["datasets"].values() for row in rows if "pair" in row]
    assert (row["pair"], row["value"], row["low"], row["high"]) == ("B − A", 0.5, 0.1, 0.9)
    points = [layer["mark"] for layer in spec["layer"] if layer["mark"]["type"] == "point"]
    assert [point["fill"] for point in points] == [LIGHT.perceived]
