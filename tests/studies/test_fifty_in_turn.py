"""Fifty people at the same instant in six sequences of three conditions: exact balance within blocks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.studies.programs import DATABASES, told_by

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.core]


@pytest.fixture(scope="module", params=DATABASES)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return told_by("fifty_in_turn", request, tmp_path_factory.mktemp(request.param))


def test_eight_blocks_are_whole_and_the_ninth_has_two_of_the_sequences(found: dict[str, Any]) -> None:
    blocks = _sound(found["one_stratum"])
    assert blocks[:8] == [[0, 1, 2, 3, 4, 5]] * 8
    assert [len(block) for block in blocks] == [6] * 8 + [2]


def test_so_it_is_in_every_stratum(found: dict[str, Any]) -> None:
    blocks = _sound(found["strata"])
    assert len(blocks) > 9
    assert all(len(set(block)) == len(block) for block in blocks)


def _sound(crowd: dict[str, Any]) -> list[list[int]]:
    assert crowd["faults"] == []
    assert crowd["statuses"] == ["active"]
    assert crowd["replayed"] == ""
    blocks: list[list[int]] = crowd["blocks"]
    assert sum(map(len, blocks)) == 50
    return blocks
