"""Sentences and heads of a report that name durations, differences, seeds and flows in words."""

from __future__ import annotations

import pytest

from analysis.present.covariates import _points
from analysis.present.method import _resampled
from analysis.present.sample import duration
from analysis.results.sample import Conduct, NumberSummary
from charting.consort import Stage, consort
from documents.html import table_html
from documents.tables import Column, Row, Table, text
from inference.aggregation import LevelSlope
from inference.results import Interval
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.unit
STAGE = "Assigned to a condition"


def test_durations_differences_and_seeds() -> None:
    def told(median: float, low: float, high: float) -> str:
        seconds = NumberSummary(mean=median, sd=None, median=median, minimum=low, maximum=high)
        counts = {"details_opened": 0, "opened_details": 0, "trailers_opened": 0, "opened_trailers": 0}
        return duration(Conduct(n=3, seconds=seconds, commented=0, **counts))

    def points(estimate: float) -> str:
        return _points(LevelSlope(estimate, 0.1, 80, 0.5, Interval(estimate - 0.2, estimate + 0.2)))

    sentences = {
        "seconds": [told(2.1, 1.4, 3.2)],
        "minutes": [told(45, 30, 59.6)],
        "a difference": [points(0.151)],
        "a difference that rounds to nothing": [points(0.004)],
        "seeds": [_resampled(name) for name in ("fon", "scale.trust", "users-0", "users-5", "lists-shown")],
    }
    assert_sentences_approved("sentences/conduct", sentences)


def test_the_flow_has_wide_boxes_where_nobody_left() -> None:
    def words(left: int) -> list[str]:
        spec = consort([Stage(STAGE, 9, {"Withdrew": left}), Stage("Analysed", 9 - left, {})],
                       title="Flow")  # fmt: skip
        return [row["text"] for rows in spec["datasets"].values() for row in rows if "text" in row]

    assert STAGE in words(0)
    assert STAGE not in words(1)


def test_long_heads_are_marked() -> None:
    columns = (Column("Algorithm"), Column("Second-order novelty", True), Column("SD", True))
    html = table_html(Table("x", "X", columns, (Row((text("A"), text("1"), text("2"))),)))
    assert 'class="n long">Second-order novelty<' in html
    assert html.count("long") == 1
