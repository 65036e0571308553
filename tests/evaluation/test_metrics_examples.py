"""The examples in the docstrings of splits, protocols and metrics run and print what they say."""

from __future__ import annotations

import doctest
import importlib

import numpy as np
import pytest

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "name",
    [
        "metrics.hits",
        "metrics.ranking",
        "metrics.registry",
        "protocols.blocks",
        "protocols.case_files",
        "protocols.cases",
        "protocols.exact",
        "protocols.full_ranking",
        "protocols.hits",
        "protocols.observations",
        "protocols.one_plus_random",
        "protocols.outcomes",
        "protocols.registry",
        "protocols.unconstrained",
        "splitting.draws",
        "splitting.probe",
        "splitting.profile",
        "splitting.reserve",
    ],
)
def test_examples_print_what_they_say(name):
    failed, tried = doctest.testmod(importlib.import_module(f"evaluation.{name}"), extraglobs={"np": np})
    assert failed == 0
    assert tried > 0
