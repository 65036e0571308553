"""A personal link, an id and a panel's list, each used by many at the same instant, on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.studies.programs import DATABASES, told_by

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(scope="module", params=DATABASES)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return told_by("links_at_once", request, tmp_path_factory.mktemp(request.param))


def test_a_personal_link_pressed_by_forty_at_once_enrols_one(found: dict[str, Any]) -> None:
    refused = {"study.link_used": 39}
    assert found["one_link"] == {"faults": [], "refused": refused, "people": 1, "tokens": 1, "participants": 42}


def test_forty_devices_with_one_id_are_one_participant(found: dict[str, Any]) -> None:
    assert found["one_id"] == {"faults": [], "refused": {"study.known_id": 39}, "participants": 1, "ids": 1}


def test_a_list_loaded_by_eight_at_once_is_taken_in_once(found: dict[str, Any]) -> None:
    assert found["one_list"] == {"faults": [], "returned": 10, "new": 10, "released": 10}


def test_a_form_declined_by_forty_presses_at_once_is_counted_once(found: dict[str, Any]) -> None:
    assert found["one_form"] == {"faults": [], "declined": 41}
