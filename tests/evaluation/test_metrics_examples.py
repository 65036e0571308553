"""The examples in the docstrings of experiments, splits, protocols and metrics run and print what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit


PACKAGES = ("experiments", "metrics", "protocols", "splitting")
WITHOUT_EXAMPLES = {
    "experiments.schema",
    "metrics.catalogue",
    "protocols.kernels",
    "splitting.options",
}
MODULES = sorted(
    f"{package}.{path.stem}"
    for package in PACKAGES
    for path in Path(importlib.import_module(f"evaluation.{package}").__path__[0]).glob("*.py")
    if path.stem != "__init__"
)


@pytest.mark.parametrize("name", sorted(set(MODULES) - WITHOUT_EXAMPLES))
def test_examples_print_what_they_say(name):
    failed, tried = doctest.testmod(importlib.import_module(f"evaluation.{name}"))
    assert failed == 0
    assert tried > 0
