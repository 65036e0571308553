"""Lists of the reference pages, generated from the code: an entry that lacks a part is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from reference import commands, entries_of, metrics, settings, statistics
from reference.markdown import table

from evaluation.metrics.registry import METRICS

SITE = Path(__file__).resolve().parents[2] / "docs" / "_site"
LISTS = sorted(file.stem for file in (SITE / "reference").glob("*.py") if "\ndef entries()" in file.read_text())
pytestmark = pytest.mark.integration


@pytest.mark.django_db
@pytest.mark.parametrize("name", LISTS)
def test_list_can_be_generated(name: str) -> None:
    assert entries_of(name).count("\n") > 5


def test_an_entry_that_lacks_a_part_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(commands, "documented_lines", tuple)
    with pytest.raises(ValueError, match="No page of the documentation runs"):
        commands.entries()
    (tmp_path / "bare.py").write_text("def mean(): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(statistics, "MODULES", ["bare"])
    with pytest.raises(ValueError, match="No docstring: bare, mean"):
        statistics.entries()
    monkeypatch.setattr(metrics, "metric", lambda name: METRICS["recall"])
    with pytest.raises(ValueError, match="is not read as"):
        metrics.entries()
    (tmp_path / "settings.py").write_text('NEW = env_float("NEW")\n')
    monkeypatch.setattr(settings, "SETTINGS", tmp_path / "settings.py")
    with pytest.raises(KeyError, match="env_float"):
        settings.entries()


def test_cells_of_tables_are_one_line_each() -> None:
    assert table(("a",), [("1|\n2",)]).splitlines()[-1] == r"| 1\| 2 |"
