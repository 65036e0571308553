"""The examples in the docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import charting

pytestmark = pytest.mark.unit
MODULES = [f"charting.{module.name}" for module in pkgutil.iter_modules(charting.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name), verbose=False)
    assert outcome.failed == 0


def test_examples_are_many() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = sum(len(finder.find(importlib.import_module(name))) for name in MODULES)
    assert found >= 20
