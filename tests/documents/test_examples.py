"""The examples in the docstrings run and print what they say."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

from documents import html, latex, markdown, numbers, tables, typeset

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("module", [html, latex, markdown, numbers, tables, typeset])
def test_examples_of_a_module(module: Any) -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0
