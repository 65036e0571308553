"""How a study recruits, and who has come by which door."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from studies.enums import Entrance, Mode, Role
from studies.models import Interview, Participant, PersonalLink, Recruiting, Study, StudyMembership, Submission
from studies.recruiting.exits import Exit, exits_from
from studies.recruiting.panel import TIMED_OUT, Panel
from studies.recruiting.registry import panel_of
from studies.selectors.compiled import Compiled

NESTED = "nested"
_recruiting = Compiled(lambda study: Recruiting.objects.filter(study=study).order_by())


@dataclass(frozen=True)
class HowRecruited:
    """A study's recruiting as it stands; a study of which nothing was said has an open link and no panel."""

    panel: Panel
    entrance: str
    exits: dict[str, Exit]
    longest_gap: timedelta | None
    excluded_studies: tuple[int, ...] = ()  # keys of studies whose participants are not admitted
    most_per_network: int | None = None
    pause_at: int | None = None


def recruiting_of(study: Study) -> HowRecruited:
    """How a study recruits."""
    return recruiting_of_id(study.pk)


def recruiting_of_id(study_id: int) -> HowRecruited:
    """How the study with this key recruits."""
    row = _recruiting.row(study_id)
    if row is None:
        panel = panel_of("none")
        return HowRecruited(panel, Entrance.OPEN, exits_from({}, panel), None)
    panel = panel_of(row.panel, row.names)
    gap = None if row.longest_gap_minutes is None else timedelta(minutes=row.longest_gap_minutes)
    exits = exits_from(row.exits, panel)
    return HowRecruited(
        panel, row.entrance, exits, gap, tuple(row.excluded_studies), row.most_per_network, row.pause_at
    )


@dataclass(frozen=True)
class LinkCounts:
    """Personal links made, used and closed; interviews have links of their own, which are not among them."""

    made: int
    used: int
    closed: int

    @property
    def unused(self) -> int:
        """Links that still let somebody in."""
        return self.made - self.used - self.closed


def unused_links(study: Study) -> QuerySet[PersonalLink]:
    """Personal links that nobody has used."""
    used = Participant.objects.filter(study=study, entry_key=OuterRef("digest"))
    return PersonalLink.objects.filter(~Exists(used), study=study, interview__isnull=True, closed_at__isnull=True)


def link_counts(study: Study) -> LinkCounts:
    """How many personal links there are."""
    links = PersonalLink.objects.filter(study=study, interview__isnull=True)
    used = Participant.objects.filter(study=study, entry_key__in=links.values("digest")).count()
    made, unused = links.count(), unused_links(study).count()
    return LinkCounts(made, used, made - used - unused)


def entrance_counts(study: Study) -> list[tuple[str, int]]:
    """How many people have come by each door, doors nobody took among them."""
    people = Participant.objects.filter(study=study, mode=Mode.LIVE).order_by()
    found = dict(people.values_list("entrance").annotate(n=Count("pk")))
    return [(str(label), found.get(value, 0)) for value, label in Entrance.choices]


def has_timed_out(participant: Participant) -> bool:
    """Whether the panel told last that the participant's submission timed out, rather than that they returned it."""
    states = Submission.objects.filter(participant=participant).order_by("-pk").values_list("state", flat=True)
    return states.first() == TIMED_OUT


def is_nested(study: Study) -> bool:
    """Whether each interviewer starts participants in one condition alone."""
    return bool(study.settings.get("interviewers") == NESTED)


@dataclass(frozen=True)
class InterviewerLine:
    """One interviewer: who, their number once they began, their condition where they are nested, their sessions."""

    researcher: Any
    number: int | None
    condition: str
    n_sessions: int


def interviewers_of(study: Study) -> list[InterviewerLine]:
    """Interviewers on the study, and whoever else started sessions, in order of their numbers."""
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
    """Where interviewers are nested: conditions that no interviewer has."""
    held = StudyMembership.objects.filter(study=study, condition__isnull=False).values("condition_id")
    return list(study.conditions.exclude(pk__in=held).order_by("position").values_list("label", flat=True))


def sessions_of(study: Study, researcher: Any, n: int = 10) -> QuerySet[Interview]:
    """The newest sessions that a researcher started, as they noted them."""
    return Interview.objects.filter(study=study, interviewer=researcher).order_by("-pk")[:n]
