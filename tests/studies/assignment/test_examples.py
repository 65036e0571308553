"""The examples in the docstrings run."""

from __future__ import annotations

import doctest

import pytest

from studies.allocation.assignment import (
    draws,
    imbalance,
    ledger,
    methods,
    permuted_blocks,
    quotas,
    strata,
    wording,
)

MODULES = [
    draws,
    imbalance,
    ledger,
    methods,
    permuted_blocks,
    quotas,
    strata,
    wording,
]


@pytest.mark.unit
@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0
