"""Queues are there before several processes use them, also where a full disk left an empty file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from celery import current_app

from core.errors import ParallaxError
from jobs.broker_queues import declare_queue, delete_queue

NAME = "parallax-declared"


@pytest.fixture
def exchange(settings: Any) -> Path:
    return Path(settings.CELERY_BROKER_TRANSPORT_OPTIONS["control_folder"], f"{NAME}.exchange")


@pytest.mark.parametrize("is_left_empty", [False, True])
def test_a_queue_is_declared_once_and_deleted_with_its_file(exchange: Path, is_left_empty: bool) -> None:
    if is_left_empty:
        exchange.touch()
    for _again in range(2):
        declare_queue(NAME)
    assert [row[-1] for row in json.loads(exchange.read_text())] == [NAME]
    delete_queue(NAME)
    assert not exchange.exists()
    assert NAME not in current_app.amqp.queues


def test_a_damaged_file_is_named(exchange: Path) -> None:
    exchange.write_text("[[")
    with pytest.raises(ParallaxError, match=rf"{NAME}\.exchange"):
        declare_queue(NAME)
    exchange.unlink()


def test_other_brokers_are_not_asked(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 600}
    monkeypatch.setattr(current_app, "connection_for_write", lambda: pytest.fail("a connection was made"))
    declare_queue(NAME)
