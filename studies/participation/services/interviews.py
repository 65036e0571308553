"""Interview sessions: an interviewer creates a personal link for an interviewee."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from core.errors import ParallaxError
from studies.allocation.selectors.allocations import slots_held
from studies.allocation.services.slots import locked_study
from studies.enums import Mode
from studies.models import Interview, PersonalLink, Study, StudyMembership
from studies.participation.services.entrance import refuse_unless_room
from studies.recruitment.selectors.recruitment import is_nested
from studies.recruitment.services.tokens import digest_of_key

LONGEST_NOTE = 200


@dataclass(frozen=True)
class StartedInterview:
    """A session and the key of its personal link, which is stored nowhere."""

    interview: Interview
    key: str


@transaction.atomic
def start_interview(*, study: Study, interviewer: Any, place: str = "", label: str = "") -> StartedInterview:
    """Create the personal link of one interviewee, with the interviewer's notes. It enrols when consent is given.

    An interviewer keeps their number in the study. Raises `study.not_open`, `study.full`, `interview.long_note`,
    and where interviewers are nested `interview.no_condition` and `interview.condition_full`.
    """
    current = locked_study(study.pk)
    refuse_unless_room(study=current, mode=Mode.LIVE)
    place, label = place.strip(), label.strip()
    if max(len(place), len(label)) > LONGEST_NOTE:
        raise ParallaxError("interview.long_note", f"A place or label has at most {LONGEST_NOTE} characters.")
    condition = None
    if is_nested(current):
        member = StudyMembership.objects.filter(study=current, researcher=interviewer).first()
        condition = member.condition if member else None
        if condition is None:
            raise ParallaxError(
                "interview.no_condition",
                "In this study each interviewer has one condition, and you have none yet. Ask the study's owner.",
            )
        if slots_held(current, Mode.LIVE).get(condition.pk, 0) >= condition.target:
            raise ParallaxError(
                "interview.condition_full",
                "Your condition has reached its target. Thank you; no session is due.",
            )
    rows = Interview.objects.filter(study=current)
    number = rows.filter(interviewer=interviewer).values_list("number", flat=True).first()
    if number is None:
        number = (rows.aggregate(last=Max("number"))["last"] or 0) + 1
    key = secrets.token_urlsafe(24)
    link = PersonalLink.objects.create(study=current, digest=digest_of_key(key), made_by=interviewer)
    interview = Interview.objects.create(
        study=current, link=link, interviewer=interviewer, number=number, condition=condition, place=place, label=label
    )
    return StartedInterview(interview, key)
