"""External ids of participants: stored apart from answers, readable only by the study's owners."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from studies.enums import Mode
from studies.models import ExternalId, Participant, Study
from studies.recruitment.panels.panel import Panel
from studies.recruitment.panels.sites import OPEN, SITES

# Panel parameters with an id of a participant or submission; case-sensitive.
NAMES = frozenset({"assignment_id", "survey_code"}).union(*(panel.ids for panel in (OPEN, *SITES)))


def split_parameters(parameters: Mapping[str, Any], panel: Panel) -> tuple[dict[str, str], dict[str, Any]]:
    """Split a link's parameters into ids, named by any panel or the study, and the rest."""
    names = NAMES.union(panel.ids)
    external = {
        name: str(value)
        for name, value in parameters.items()
        if name in names and str(value) and not panel.is_unfilled(name, str(value))
    }
    return external, {name: value for name, value in parameters.items() if name not in external}


def store_external_ids(*, participant: Participant, ids: Mapping[str, str]) -> None:
    """Store the ids of a participant created in the same transaction."""
    ExternalId.objects.bulk_create(
        ExternalId(study_id=participant.study_id, participant=participant, name=name, value=value)
        for name, value in sorted(ids.items())
    )


def has_taken_part(*, studies: Collection[int], panel: Panel, parameters: Mapping[str, str]) -> bool:
    """Whether a participant with the same personal id in the same parameter held a slot in one of these studies.

    The ids of withdrawn participants are erased, so they do not count.
    """
    return any(
        ExternalId.objects.filter(
            study__in=studies,
            name=name,
            value=value,
            participant__mode=Mode.LIVE,
            participant__assigned_at__isnull=False,
        ).exists()
        for name, value in panel.filled(panel.person, parameters).items()
    )


def known_id(*, study: Study, panel: Panel, parameters: Mapping[str, str]) -> ExternalId | None:
    """Return the id of the existing participant that the parameters identify; None for a newcomer.

    A personal id takes precedence over a submission's id, which some panels reuse for another person after a return:
    a submission's id only matches participants without a personal id.
    """
    rows = ExternalId.objects.filter(study=study, participant__mode=Mode.LIVE).select_related("participant")
    has_person = False
    for name, value in panel.filled(panel.ids, parameters).items():
        matches = rows.filter(name=name, value=value).order_by("pk")
        if name in panel.person:
            has_person = True
        elif has_person:
            matches = matches.exclude(participant__external_ids__name__in=panel.person)
        if (known := matches.first()) is not None:
            return known
    return None
