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

pytestmark = pytest.mark.unit


def test_a_duration_below_a_minute_is_told_in_seconds() -> None:
    def told(median: float, low: float, high: float) -> str:
        seconds = NumberSummary(mean=median, sd=None, median=median, minimum=low, maximum=high)
        counts = {"details_opened": 0, "opened_details": 0, "trailers_opened": 0, "opened_trailers": 0}
        return duration(Conduct(n=3, seconds=seconds, commented=0, **counts))

    assert told(2.1, 1.4, 3.2).endswith("a median of 2 s (range 1 to 3).")
    assert told(45, 30, 59.6).endswith("a median of 0:45 min (range 0:30 to 1:00).")


def test_a_difference_that_rounds_to_nothing_has_no_direction() -> None:
    def told(estimate: float) -> str:
        return _points(LevelSlope(estimate, 0.1, 80, 0.5, Interval(estimate - 0.2, estimate + 0.2)))

    assert told(0.151).startswith("0.15 points higher than others (b = 0.15")
    assert told(0.004).startswith("the same as others (b = 0.00, 95% CI [")


def test_seeds_say_what_they_resample() -> None:
    told = [_resampled(name) for name in ("fon", "scale.trust", "users-0", "users-5", "lists-shown")]
    assert told == [
        "first-order novelty", "scale trust", "users, whole profiles", "users, profiles of 5 ratings",
        "metrics of the lists shown",
    ]  # fmt: skip


def test_the_flow_has_wide_boxes_where_nobody_left() -> None:
    def words(left: int) -> list[str]:
        spec = consort([Stage("Assigned to a condition", 9, {"Withdrew": left}), Stage("Analysed", 9 - left, {})],
                       title="Flow")  # fmt: skip
        return [row["text"] for rows in spec["datasets"].values() for row in rows if "text" in row]

    assert "Assigned to a condition" in words(0)
    assert "Assigned to a condition" not in words(1)


def test_long_heads_are_marked() -> None:
    columns = (Column("Algorithm"), Column("Second-order novelty", True), Column("SD", True))
    html = table_html(Table("x", "X", columns, (Row((text("A"), text("1"), text("2"))),)))
    assert '<th scope="col" class="n long">Second-order novelty</th>' in html
    assert html.count("long") == 1
