"""Operations that change jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.parallax.api_writes.write import Scene, Write, by_role


def _simulation(scene: Scene) -> Mapping[str, Any]:
    return {"pk": scene.study.jobs.create(kind="simulation", owner=scene.owner).pk}


WRITES = [
    Write("job_cancel", "delete", "jobs-detail", by_role(204, forbidden=""), _simulation),
]
