"""Every other method of assignment under a smaller crowd: they share the lock of the first (test_concurrency.py)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.studies.programs import DATABASES, told_by
from tests.studies.test_concurrency import assert_counts_right, assert_full

pytestmark = [pytest.mark.integration, pytest.mark.slow]

METHODS = ("minimisation", "least_filled", "simple")


@pytest.fixture(scope="module", params=DATABASES)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return told_by("methods_at_once", request, tmp_path_factory.mktemp(request.param))


@pytest.mark.parametrize("method", METHODS)
def test_a_full_study_has_every_condition_exactly_at_its_target(found: dict[str, Any], method: str) -> None:
    assert_full(found[method]["fill"], target=8)


def test_least_filled_keeps_arrivals_at_once_even_overall(found: dict[str, Any]) -> None:
    halfway = found["least_filled"]["fill"]["halfway"]["counts"]
    assert sum(halfway) == 40
    assert max(halfway) - min(halfway) <= 1


@pytest.mark.parametrize("method", METHODS)
def test_sweep_return_and_arrival_at_the_same_instant_keep_the_counts_right(found: dict[str, Any], method: str) -> None:
    assert_counts_right(found[method]["come_and_go"], target=3)
