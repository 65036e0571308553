"""Ids by which other sites know participants: kept apart from answers, read by the study's owner alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from studies.enums import Mode
from studies.models import ExternalId, Participant, Study
from studies.recruiting.panel import Panel

# Parameters that name a person or their submission, as panels write them. Case is kept: theirs is sensitive to it.
NAMES = frozenset(
    {
        "PROLIFIC_PID", "SESSION_ID", "prolific_pid", "workerId", "assignmentId", "worker_id", "assignment_id",
        "participant_label", "external_id", "id", "survey_code",
    }
)  # fmt: skip


def parted(parameters: Mapping[str, Any], panel: Panel) -> tuple[dict[str, str], dict[str, Any]]:
    """The ids among a link's parameters, by any panel's names and the study's own, and the other parameters."""
    names = NAMES.union(panel.ids)
    external = {
        name: str(value)
        for name, value in parameters.items()
        if name in names and str(value) and not panel.is_unfilled(name, str(value))
    }
    return external, {name: value for name, value in parameters.items() if name not in external}


def keep_external_ids(*, participant: Participant, found: Mapping[str, str]) -> None:
    """Store the ids of a participant whose row was made in the same transaction."""
    ExternalId.objects.bulk_create(
        ExternalId(study_id=participant.study_id, participant=participant, name=name, value=value)
        for name, value in sorted(found.items())
    )


def has_taken_part(*, studies: Collection[int], panel: Panel, parameters: Mapping[str, str]) -> bool:
    """Whether somebody held a slot in one of these studies under the same id of a person, by the same parameter.

    Who has withdrawn from one has no id there any more.
    """
    said = {name: parameters[name] for name in panel.person if parameters.get(name)}
    return any(
        ExternalId.objects.filter(
            study__in=studies,
            name=name,
            value=value,
            participant__mode=Mode.LIVE,
            participant__assigned_at__isnull=False,
        ).exists()
        for name, value in said.items()
        if not panel.is_unfilled(name, value)
    )


def known_id(*, study: Study, panel: Panel, parameters: Mapping[str, str]) -> ExternalId | None:
    """The id by which somebody who takes part already is known, with its participant; None for a newcomer.

    A person's id counts before that of a submission, which some panels give to another person once it is returned:
    it tells two apart only where one of them came without a person's id.
    """
    rows = ExternalId.objects.filter(study=study, participant__mode=Mode.LIVE).select_related("participant")
    said = {name: parameters[name] for name in panel.ids if parameters.get(name)}
    said = {name: value for name, value in said.items() if not panel.is_unfilled(name, value)}
    has_person = False
    for name, value in said.items():
        found = rows.filter(name=name, value=value).order_by("pk")
        if name in panel.person:
            has_person = True
        elif has_person:
            found = found.exclude(participant__external_ids__name__in=panel.person)
        if (known := found.first()) is not None:
            return known
    return None
