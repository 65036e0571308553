"""Opening live studies in a thread, before the first participant needs them."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from studies.participation.services import warming

pytestmark = pytest.mark.unit


def test_a_database_that_is_away_is_logged_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse() -> int:
        raise OperationalError("no such table: studies_study")

    monkeypatch.setattr(warming, "warm_live_studies", refuse)
    thread = warming.start_warming()
    thread.join(5)
    assert not thread.is_alive()
    assert caplog.messages == ["models not warmed: no such table: studies_study"]
