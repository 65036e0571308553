"""Operations that change webhooks."""

from __future__ import annotations

from tests.parallax.api_writes.write import Write

WRITES: list[Write] = []
