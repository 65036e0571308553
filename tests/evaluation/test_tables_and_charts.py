"""How numbers are written and drawn."""

from __future__ import annotations

import doctest

import pytest

from evaluation import charts, tables

pytestmark = pytest.mark.unit


def test_examples_of_the_tables_hold() -> None:
    found = doctest.testmod(tables)
    assert (found.failed, found.attempted) == (0, 8)


def test_chart_of_recall_names_the_best_at_n_and_of_fallout_the_worst() -> None:
    values = {"TopPop": [0.1, 0.2, 0.9], "PureSVD50": [0.2, 0.31, 0.32]}
    for draw, word in ((charts.recall_by_n, "finds the most"), (charts.fallout_by_n, "lets the most")):
        spec = draw(values, n=2)
        assert spec is not None
        said = spec["light"]["usermeta"]["title"]
        assert said.startswith(f"PureSVD50 {word}")
        assert ".310 in a list of 2" in said
        assert "objective" not in said


def test_algorithm_without_values_is_not_drawn_and_nothing_is_drawn_of_none() -> None:
    spec = charts.recall_by_n({"TopPop": [0.1, 0.2], "Empty": [None, None]}, n=1)
    assert spec is not None
    assert "Empty" not in str(spec["light"])
    assert charts.fallout_by_n({"TopPop": [None, None]}, n=1) is None
    assert charts.recall_by_n({}, n=1) is None
