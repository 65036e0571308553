"""The plan that a study was launched with."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from analysis.results.plan import ExtendedTarget, FrozenAnalysis, Reopened, TargetExtension, frozen_analysis
from core.models import LogEntry
from studies.enums import StudyStatus
from studies.models import Study, StudyVersion
from studies.plans import TESTS
from studies.settings import AnalysisPlan


@dataclass(frozen=True)
class FrozenPlan:
    """A plan as the launch froze it.

    `is_frozen` is False for a study that was launched before plans were: `plan` is then the default. `run` is the hash
    of the inputs of the pinned run, `versions` the software of the launch. `targets` are the participants that each
    condition was planned with, `extensions` what they grew by later.
    """

    plan: dict[str, Any]
    is_frozen: bool
    run: str
    versions: dict[str, str]
    targets: Mapping[str, int] = field(default_factory=dict)
    extensions: tuple[TargetExtension, ...] = ()
    reopenings: tuple[Reopened, ...] = ()

    @property
    def analysis(self) -> FrozenAnalysis:
        """The plan."""
        return frozen_analysis(self.plan)


def frozen_plan(study: Study, draft: Mapping[str, Any] | None = None) -> FrozenPlan:
    """Read it from the first frozen version: later versions of the texts do not change it.

    `draft` is the snapshot of a design that is not frozen yet, whose plan a pilot report follows.
    """
    frozen = list(study.versions.select_related("made_by").order_by("number"))
    snapshot = draft or (frozen[0].snapshot if frozen else {})
    launch = (
        LogEntry.objects.filter(kind="studies.study", object_id=study.pk, from_status=StudyStatus.DRAFT)
        .filter(to_status=StudyStatus.LIVE)
        .order_by("id")
        .first()
    )
    facts = launch.facts if launch else {}
    code = facts.get("code")
    return FrozenPlan(
        plan=snapshot.get("plan")
        or {
            **AnalysisPlan().in_full(),
            "tests": dict(TESTS),
            "primary": study.design.primary.stored(),
            "list_length": study.design.longest_list,
            "n": study.run.n,
            "profile_lengths": list(study.run.profile_lengths),
        },
        is_frozen="plan" in snapshot,
        run=snapshot.get("run", study.run.inputs_hash),
        versions=facts.get("versions") or ({"parallax": code} if code else {}),
        targets=_targets(snapshot),
        extensions=tuple(_extensions(frozen)),
        reopenings=tuple(_reopenings(study)),
    )


def _reopenings(study: Study) -> Iterable[Reopened]:
    moves = LogEntry.objects.filter(
        kind="studies.study", object_id=study.pk, from_status=StudyStatus.CLOSED, to_status=StudyStatus.LIVE
    )
    for move in moves.select_related("actor").order_by("id"):
        yield Reopened(
            closed=move.facts["closed_at"][:10],
            day=move.at.astimezone(UTC).date().isoformat(),
            by=move.actor.name if move.actor else "",
            why=move.facts["why"],
        )


def _targets(snapshot: Mapping[str, Any]) -> dict[str, int]:
    """Of each arm: the sequences of a design that has them, else its conditions."""
    return {arm["label"]: arm["target"] for arm in snapshot.get("sequences") or snapshot.get("conditions", ())}


def _extensions(frozen: list[StudyVersion]) -> Iterable[TargetExtension]:
    for before, after in itertools.pairwise(frozen):
        old, new = _targets(before.snapshot), _targets(after.snapshot)
        grown = tuple(
            ExtendedTarget(condition=label, before=old.get(label, 0), after=target)
            for label, target in new.items()
            if target != old.get(label)
        )
        if grown:
            yield TargetExtension(
                version=after.number,
                day=after.made_at.astimezone(UTC).date().isoformat(),
                by=after.made_by.name if after.made_by else "",
                why=after.why,
                targets=grown,
            )
