"""Floods of entries hold few places for a short time, and an honest rush is let in, on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.studies.programs import DATABASES, told_by

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(scope="module", params=DATABASES)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    told = told_by("entries_under_attack", request, tmp_path_factory.mktemp(request.param), with_redis=True)
    assert told["redis"] == (told["vendor"] == "postgresql")
    return told


def test_two_addresses_hold_at_most_a_tenth_of_the_places(found: dict[str, Any]) -> None:
    assert found["two_addresses"] == {"most": 8, "status": "live", "replayed": ""}


def test_after_an_attack_every_place_is_open_within_the_minutes_without_progress(found: dict[str, Any]) -> None:
    attack = found["after_an_attack"]
    assert attack["taken"] == 84
    assert not attack["door"]
    assert attack["seconds"] <= 605
    assert attack["honest"] == {"active": 84}
    assert attack["returned"] == {"quota_full": 84}
    assert attack["counts"] == [42, 42]
    assert (attack["shared"], attack["status"], attack["replayed"]) == (0, "live", "")


def test_an_honest_rush_never_pauses_the_study_and_waits_at_most_two_minutes(found: dict[str, Any]) -> None:
    rush = found["a_rush"]
    assert rush["statuses"] == ["live"]
    assert rush["found"] == {"active": 120, "screened_out": 180}
    assert rush["placed"] == 120
    assert rush["longest"] <= 120
    assert rush["spread"] <= 1
    assert rush["replayed"] == ""
