"""Operations that change studies and their designs."""

from __future__ import annotations

from tests.parallax.api_writes.write import Write

WRITES: list[Write] = []
