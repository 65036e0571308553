"""The examples in the docstrings of splits, protocols and metrics run and print what they say."""

from __future__ import annotations

import doctest
import importlib

import pytest

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "name",
    [
        "metrics.hits",
        "metrics.ranking",
        "metrics.registry",
        "protocols.one_plus_random",
        "splitting.draws",
        "splitting.probe",
        "splitting.profile",
        "splitting.reserve",
    ],
)
def test_examples_print_what_they_say(name):
    failed, tried = doctest.testmod(importlib.import_module(f"evaluation.{name}"))
    assert failed == 0
    assert tried > 0
