"""The examples in the docstrings run."""

from __future__ import annotations

import doctest

import pytest

from studies.recruitment.panels import exits, sites, submissions

MODULES = [exits, sites, submissions]


@pytest.mark.unit
@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0
