"""The documentation's table says what the definitions say."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from evaluation.metrics import metric_table
from evaluation.metrics.registry import METRICS, metric

pytestmark = pytest.mark.unit
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "metrics.md"


def test_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == metric_table.table(), (
        "Write it again: python -m evaluation.metrics.metric_table docs/reference/metrics.md"
    )


def test_every_metric_stands_in_the_page_by_a_name_that_reads_back():
    text = metric_table.table()
    for key, definition in METRICS.items():
        name = metric_table.name_of(definition)
        assert metric(name).key == key
        assert f"### `{name}`\n" in text


def test_page_is_written_or_printed(tmp_path, capsys, monkeypatch):
    metric_table.main([str(tmp_path / "page.md")])
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == metric_table.table()
    monkeypatch.setattr(sys, "argv", ["reference"])
    runpy.run_path(metric_table.__file__, run_name="__main__")
    assert capsys.readouterr().out == metric_table.table()
