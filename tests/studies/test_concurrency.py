"""A hundred people at the same instant, in real threads, on SQLite in a file and on PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest

from tests.studies.programs import DATABASES, told_by

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.core]


@pytest.fixture(scope="module", params=DATABASES)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return told_by("hundred_at_once", request, tmp_path_factory.mktemp(request.param))


def test_it_ran_on_the_database_it_was_meant_for(found: dict[str, Any], request: pytest.FixtureRequest) -> None:
    assert found["vendor"] in request.node.name
    assert "memory" not in found["database"]


def test_a_hundred_at_once_leave_every_stratum_balanced(found: dict[str, Any]) -> None:
    halfway = found["fill"]["halfway"]
    assert found["fill"]["faults"] == []
    assert sum(halfway["counts"]) == 100
    assert halfway["spreads"]
    assert max(halfway["spreads"]) <= 1
    assert halfway["shared"] == 0


def test_a_full_study_has_every_condition_exactly_at_its_target(found: dict[str, Any]) -> None:
    assert_full(found["fill"], target=20)


def assert_full(full: dict[str, Any], target: int) -> None:
    assert full["faults"] == []
    assert full["counts"] == [target] * 7
    assert full["statuses"] == {"active": 7 * target, "consented": 3 * target}  # who wait
    assert full["shared"] == 0
    assert full["logged"]["assigned"] == 7 * target
    assert full["replayed"] == ""


def test_sweep_return_and_arrival_at_the_same_instant_keep_the_counts_right(found: dict[str, Any]) -> None:
    assert_counts_right(found["come_and_go"], target=6)


def assert_counts_right(moved: dict[str, Any], target: int) -> None:
    assert moved["faults"] == []
    assert max(moved["after"]["counts"]) <= target
    assert moved["after"]["shared"] == moved["shared"] == 0
    assert moved["counts"] == [target] * 7
    assert moved["held_by_log"] == 7 * target
    assert moved["quota_full"] >= 1
    assert moved["replayed"] == ""


def test_a_hundred_at_once_overrun_no_quota(found: dict[str, Any]) -> None:
    quotas = found["quotas"]
    assert quotas["faults"] == []
    assert quotas["women"] == 12
    assert quotas["others"] == 60
    assert sum(quotas["counts"]) == 72


def test_everything_pressed_twenty_times_at_once_is_done_once(found: dict[str, Any]) -> None:
    pressed = found["pressed_again"]
    assert pressed == {
        "faults": [],
        "participants": 1,
        "tokens": 1,
        "allocations": 1,
        "ratings": 5,
        "lists": 1,
        "same_list": 1,
        "answers": 10,
        "codes": 1,
        "changes": 0,
    }
