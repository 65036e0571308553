"""The examples in the docstrings run as printed."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import inference

WITHOUT = {"__init__", "results"}
MODULES = sorted(path.stem for path in Path(inference.__path__[0]).glob("*.py") if path.stem not in WITHOUT)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run_as_printed(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(f"inference.{name}"))
    assert failed == 0
    assert tried > 0
