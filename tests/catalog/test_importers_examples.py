"""The examples in the importers' docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib

import pytest

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "name", ["download", "ids", "items", "layout", "number_reader", "row_checks", "rows", "titles", "typed_rows"]
)
def test_examples_print_what_they_say(name):
    failed, tried = doctest.testmod(importlib.import_module(f"catalog.importers.{name}"))
    assert failed == 0
    assert tried > 0
