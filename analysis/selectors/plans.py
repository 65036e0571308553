"""The plan that a study was launched with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.models import LogEntry
from studies.enums import StudyStatus
from studies.models import Study
from studies.plans import TESTS, plan_from


@dataclass(frozen=True)
class FrozenPlan:
    """A plan as the launch froze it.

    `is_frozen` is False for a study that was launched before plans were: `plan` is then what stands where
    nothing is said. `run` is the hash of the inputs of the pinned run, `versions` the software of the launch.
    """

    plan: dict[str, Any]
    is_frozen: bool
    run: str
    versions: dict[str, str]


def frozen_plan(study: Study) -> FrozenPlan:
    """Read it from the first frozen version: later ones, of another consent text, change nothing of it."""
    first = study.versions.order_by("number").first()
    snapshot = first.snapshot if first else {}
    launch = (
        LogEntry.objects.filter(kind="studies.study", object_id=study.pk, from_status=StudyStatus.DRAFT)
        .filter(to_status=StudyStatus.LIVE)
        .order_by("id")
        .first()
    )
    facts = launch.facts if launch else {}
    code = facts.get("code")
    return FrozenPlan(
        plan=snapshot.get("plan") or _where_nothing_is_said(study),
        is_frozen="plan" in snapshot,
        run=snapshot.get("run", study.run.inputs_hash),
        versions=facts.get("versions") or ({"parallax": code} if code else {}),
    )


def _where_nothing_is_said(study: Study) -> dict[str, Any]:
    return {
        **plan_from({}).as_plain(),
        "tests": dict(TESTS),
        "primary": study.settings.get("primary") or {"perceived": "accuracy", "objective": "recall"},
        "list_length": study.settings["list_length"],
        "n": study.run.n,
        "profile_lengths": list(study.run.profile_lengths),
    }
