"""Operations that change webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parallax.webhooks.services import create_webhook
from tests.parallax.api_writes.write import Scene, Write, by_role

ADDRESS = "https://93.184.215.14/events"  # is looked up without a network


def _webhook(scene: Scene) -> Mapping[str, Any]:
    return {"pk": create_webhook(owner=scene.owner, address=ADDRESS, events=["study.full"], study=scene.study).pk}


def _new(scene: Scene) -> dict[str, Any]:
    return {"address": ADDRESS, "events": ["participant.completed"], "study": scene.study.slug}


OWN = {"forbidden": ""}  # to everyone but its owner, a webhook does not exist
WRITES = [
    Write(
        "webhook_create", "post", "webhooks-list", by_role(201, "owner analyst", forbidden="interviewer"),
        lambda _scene: {}, _new,
    ),
    Write("webhook_change", "patch", "webhooks-detail", by_role(200, **OWN), _webhook, lambda _scene: {"is_on": False}),
    Write("webhook_delete", "delete", "webhooks-detail", by_role(204, **OWN), _webhook),
    Write("webhook_test", "post", "webhooks-test", by_role(202, **OWN), _webhook),
]  # fmt: skip
