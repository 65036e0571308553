"""The examples in the docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import recommenders
from recommenders import implicit_models, registry

pytestmark = pytest.mark.unit

MODULES = sorted(found.name for found in pkgutil.walk_packages(recommenders.__path__, "recommenders."))


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_hold(name):
    if name == implicit_models.__name__ and not implicit_models.is_installed():
        pytest.skip("implicit is not installed")
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0


def test_every_algorithm_has_an_example():
    for module in sorted({registry.algorithm(key).__module__ for key in registry.keys()}):  # noqa: SIM118
        assert doctest.testmod(importlib.import_module(module)).attempted > 0
