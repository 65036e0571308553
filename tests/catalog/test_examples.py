"""The examples in the catalogue's docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import catalog

pytestmark = pytest.mark.unit

FOLDER = Path(catalog.__file__).parent
MODULES = [
    path.relative_to(FOLDER).with_suffix("").as_posix().replace("/", ".")
    for path in sorted(FOLDER.rglob("*.py"))
    if ">>>" in path.read_text()
]


def test_examples_are_found():
    assert {"titles", "importers.ids", "importers.detector.roles", "importers.reading.numbers"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    failed, tried = doctest.testmod(importlib.import_module(f"catalog.{name}"))
    assert failed == 0
    assert tried > 0
