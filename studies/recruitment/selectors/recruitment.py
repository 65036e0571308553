"""A study's recruiting settings, links, entrances and interviewers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from studies.enums import Entrance, Mode, Role
from studies.models import Interview, Participant, PersonalLink, Recruiting, Study, StudyMembership, Submission
from studies.recruitment.panels.exits import Exit, exits_from
from studies.recruitment.panels.panel import TIMED_OUT, Panel
from studies.recruitment.panels.sites import panel_of

NESTED = "nested"


@dataclass(frozen=True)
class RecruitmentSettings:
    """A study's current recruiting settings; the default is an open link without a panel."""

    panel: Panel
    entrance: str
    exits: dict[str, Exit]
    longest_gap: timedelta | None
    excluded_studies: tuple[int, ...] = ()  # keys of studies whose participants are not admitted
    most_per_network: int | None = None
    pause_at: int | None = None
    progress_minutes: int = 10
    signing_key: str = ""


def recruiting_of(study: Study | int) -> RecruitmentSettings:
    """Return the recruiting settings of a study, or of the study with this key."""
    row = Recruiting.objects.filter(study=study).first() or Recruiting()
    panel = panel_of(row.panel, row.names)
    gap = None if row.longest_gap_minutes is None else timedelta(minutes=row.longest_gap_minutes)
    plain = ("entrance", "most_per_network", "pause_at", "progress_minutes", "signing_key")
    return RecruitmentSettings(
        panel=panel,
        exits=exits_from(row.exits, panel),
        longest_gap=gap,
        excluded_studies=tuple(row.excluded_studies),
        **{name: getattr(row, name) for name in plain},
    )


@dataclass(frozen=True)
class InterviewPlace:
    """A place where interviews are held: the code that is stored, and its label."""

    code: str
    label: str


def places_of(study: Study | int) -> list[InterviewPlace]:
    """Return the places of a study's interviews, in their order."""
    rows = Recruiting.objects.filter(study=study).values_list("places", flat=True).first() or []
    return [InterviewPlace(row["code"], row["label"]) for row in rows]


def unused_links(study: Study) -> QuerySet[PersonalLink]:
    """Return the personal links that can still be used."""
    used = Participant.objects.filter(study=study, entry_key=OuterRef("digest"))
    return PersonalLink.objects.filter(~Exists(used), study=study, interview__isnull=True, closed_at__isnull=True)


def link_counts(study: Study) -> dict[str, int]:
    """Count the personal links, without those of interviews, that were created, are used, unused and closed."""
    links = PersonalLink.objects.filter(study=study, interview__isnull=True)
    used = Participant.objects.filter(study=study, entry_key__in=links.values("digest")).count()
    created, unused = links.count(), unused_links(study).count()
    return {"created": created, "used": used, "unused": unused, "closed": created - used - unused}


def entrance_counts(study: Study) -> list[tuple[str, int]]:
    """Count the participants by entrance, including entrances without any."""
    people = Participant.objects.filter(study=study, mode=Mode.LIVE).order_by()
    counts = dict(people.values_list("entrance").annotate(n=Count("pk")))
    return [(str(label), counts.get(value, 0)) for value, label in Entrance.choices]


def has_timed_out(participant: Participant) -> bool:
    """Whether the panel's latest list reports the submission as timed out, not as returned."""
    states = Submission.objects.filter(participant=participant).order_by("-pk").values_list("state", flat=True)
    return states.first() == TIMED_OUT


def is_nested(study: Study) -> bool:
    """Whether interviewers are nested in conditions."""
    return study.design.interviewers == NESTED


@dataclass(frozen=True)
class InterviewerLine:
    """An interviewer: account, number after the first session, condition if nested, and number of sessions."""

    researcher: Any
    number: int | None
    condition: str
    n_sessions: int


def interviewers_of(study: Study) -> list[InterviewerLine]:
    """Return the interviewers of the study, and other members who started sessions, by number."""
    numbers: dict[int | None, tuple[int, int]] = {}
    rows = Interview.objects.filter(study=study).order_by().values_list("interviewer_id", "number")
    for researcher, number, n in rows.annotate(n=Count("pk")):
        numbers[researcher] = (number, n)
    lines = []
    members = StudyMembership.objects.filter(study=study).select_related("researcher", "condition").order_by("pk")
    for member in members:
        number, n = numbers.pop(member.researcher_id, (None, 0))
        if member.role == Role.INTERVIEWER or n:
            lines.append(InterviewerLine(member.researcher, number, getattr(member.condition, "label", ""), n))
    lines += [InterviewerLine(None, number, "", n) for number, n in numbers.values()]
    return sorted(lines, key=lambda line: (line.number is None, line.number or 0))


def conditions_without_interviewer(study: Study) -> list[str]:
    """Return the conditions without an interviewer, for nested interviewers."""
    staffed = StudyMembership.objects.filter(study=study, condition__isnull=False).values("condition_id")
    return list(study.conditions.exclude(pk__in=staffed).order_by("position").values_list("label", flat=True))


def sessions_of(study: Study, researcher: Any, n: int = 10) -> QuerySet[Interview]:
    """Return the newest sessions that a researcher started."""
    return (
        Interview.objects.filter(study=study, interviewer=researcher).select_related("participant").order_by("-pk")[:n]
    )
