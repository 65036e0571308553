"""How numbers are written and drawn."""

from __future__ import annotations

import doctest
from functools import partial

import pytest

from evaluation import charts, tables

pytestmark = pytest.mark.unit


def test_examples_of_the_tables_and_bars_hold() -> None:
    assert doctest.testmod(tables) == (0, 17)
    assert doctest.testmod(charts) == (0, 2)


def test_bars_share_one_axis() -> None:
    assert charts.bars([]) == []
    assert charts.bars([0.0]) == [charts.Bar(x=0.0, width=0.0, zero=0.0, is_against=False)]
    against, more = charts.bars([-1.0, -4.0])
    assert (against.x, against.width, against.zero, against.is_against) == (75.0, 25.0, 100.0, True)
    assert (more.x, more.width) == (0.0, 100.0)


def test_chart_of_recall_names_the_best_at_n_and_of_fallout_the_worst() -> None:
    values = {"TopPop": [0.1, 0.2, 0.9], "PureSVD50": [0.2, 0.31, 0.32]}
    for draw, word in (
        (partial(charts.highest_by_n, metric="Recall"), "recall"),
        (partial(charts.highest_by_n, metric="Fallout"), "fallout"),
    ):
        spec = draw(values, n=2)
        assert spec is not None
        said = spec["light"]["usermeta"]["title"]
        assert "PureSVD50" in said
        assert word in said
        assert ".310" in said
        assert "objective" not in said


def test_algorithm_without_values_is_not_drawn_and_nothing_is_drawn_of_none() -> None:
    spec = charts.highest_by_n({"TopPop": [0.1, 0.2], "Empty": [None, None]}, "Recall", n=1)
    assert spec is not None
    assert "Empty" not in str(spec["light"])
    assert charts.highest_by_n({"TopPop": [None, None]}, "Fallout", n=1) is None
    assert charts.highest_by_n({}, "Recall", n=1) is None
