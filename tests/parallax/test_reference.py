"""Lists of the reference pages, generated from the code: an entry that lacks a part is refused."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import isfunction
from pathlib import Path

import pytest
from reference import commands, entries_of, errors, metrics, python, settings, statistics
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
    monkeypatch.setattr(metrics, "metric", lambda name: METRICS["recall"])
    with pytest.raises(ValueError, match="is not read as"):
        metrics.entries()
    (tmp_path / "settings.py").write_text('NEW = env_float("NEW")\n')
    monkeypatch.setattr(settings, "SETTINGS", tmp_path / "settings.py")
    with pytest.raises(KeyError, match="env_float"):
        settings.entries()


@pytest.mark.parametrize("name", re.findall(r"automodule:: (\S+)", python.entries() + statistics.entries()))
def test_the_python_api_has_a_docstring_for_all_that_is_public(name: str) -> None:
    """Sphinx leaves out what has none."""
    module = import_module(name)
    own = {key: each for key, each in vars(module).items() if isfunction(each) and each.__module__ == name}
    assert [key for key, each in own.items() if not key.startswith("_") and not each.__doc__] == []
    assert module.__doc__


def test_every_error_code_is_listed_with_its_message() -> None:
    listed = errors.entries()
    assert "| `up.bad_port` | The port … does not exist; ports are 1 to 65535. |" in listed
    codes = set(re.findall(r"^\| `([^`]+)` \|", listed, re.MULTILINE))
    assert len(codes) > 250
    named = re.findall(r"^### (.*)", (SITE.parent / "troubleshooting.md").read_text(), re.MULTILINE)
    passed_on = {"up.no_answer", "up.no_worker"}  # to the one function that raises them
    assert set(re.findall(r"`([^`]+)`", "".join(named))) <= codes | passed_on


def test_cells_of_tables_are_one_line_each() -> None:
    assert table(("a",), [("1|\n2",)]).splitlines()[-1] == r"| 1\| 2 |"
