"""How numbers are written and drawn."""

from __future__ import annotations

import doctest
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from evaluation import charts, tables
from evaluation.run_pages import telling_columns

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


def rows_of(**columns: list[float]) -> list[Any]:
    """Rows of a table, one per value of its columns."""
    values = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    cell = partial(SimpleNamespace, reason="")
    return [SimpleNamespace(cells={name: cell(value=value) for name, value in row.items()}) for row in values]


def test_columns_that_repeat_another_or_are_the_same_for_all_are_not_shown() -> None:
    rows = rows_of(recall=[0.1, 0.2], exact=[0.1004, 0.2], fallout=[0.1, 0.3], slots=[1.0, 1.0])
    heads = {name: name for name in rows[0].cells}
    shown, not_shown = telling_columns(rows, heads, "")
    assert list(shown) == ["recall", "fallout"]
    assert not_shown == ["exact (equals recall)", "slots (1.000 for all)"]
    assert list(telling_columns(rows, heads, "-slots")[0]) == ["recall", "fallout", "slots"]


def test_a_single_row_shows_every_column_that_does_not_repeat_another() -> None:
    rows = rows_of(recall=[0.1], fallout=[0.2], exact=[0.1])
    assert list(telling_columns(rows, {name: name for name in rows[0].cells}, "")[0]) == ["recall", "fallout"]


def test_the_main_chart_names_the_best_algorithm_in_its_title() -> None:
    values = {"TopPop": 0.2, "PureSVD": 0.4, "LSA": None}
    highest = charts.by_algorithm(values, "recall at 5", is_lower_better=False)
    assert highest is not None
    assert "PureSVD has the highest recall at 5, .400" in str(highest["light"]["title"])
    lowest = charts.by_algorithm({"A": 1.2, "B": 0.9}, "rmse", is_lower_better=True)
    assert lowest is not None
    assert "B has the lowest rmse, 0.900" in str(lowest["light"]["title"])
    assert charts.by_algorithm({"LSA": None}, "recall", is_lower_better=False) is None
