"""Operations that change members, participants and what is recorded of them."""

from __future__ import annotations

from tests.parallax.api_writes.write import Write

WRITES: list[Write] = []
