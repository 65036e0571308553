"""Interview sessions: an interviewer starts one, notes something, and answers the evaluator's questions."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from core.errors import ParallaxError
from studies.allocation.selectors.allocations import slots_held
from studies.allocation.services.slots import locked_study
from studies.design.selectors.placeholders import asked_questions
from studies.enums import Mode
from studies.models import Interview, PersonalLink, Study, StudyMembership
from studies.participation.services.entry_gate import refuse_unless_room
from studies.recruitment.selectors.recruitment import is_nested, places_of
from studies.recruitment.services.tokens import digest_of_key

LONGEST_LABEL = 200
LONGEST_NOTE = 2000
BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class StartedInterview:
    """A session and the key of its personal link, which is stored nowhere."""

    interview: Interview
    key: str


@transaction.atomic
def start_interview(
    *, study: Study, interviewer: Any, place: str = "", label: str = "", note: str = ""
) -> StartedInterview:
    """Create the personal link of one interviewee, with the interviewer's notes. It enrols when consent is given.

    `place` is a code of the study's places. An interviewer keeps their number in the study. Raises `study.not_open`,
    `study.full`, `interview.unknown_place`, `interview.long_label`, `interview.long_note`, and where interviewers are
    nested `interview.no_condition` and `interview.condition_full`.
    """
    current = locked_study(study.pk)
    refuse_unless_room(study=current, mode=Mode.LIVE)
    label, note = label.strip(), _note(note)
    if len(label) > LONGEST_LABEL:
        raise ParallaxError("interview.long_label", f"A label has at most {LONGEST_LABEL} characters.")
    codes = [known.code for known in places_of(current)]
    if place and place not in codes:
        raise ParallaxError(
            "interview.unknown_place",
            f"A place is one of {', '.join(codes)}; got {place!r}." if codes else "This study has no places to choose.",
        )
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
        study=current, link=link, interviewer=interviewer, number=number, condition=condition, place=place, label=label,
        note_before=note, noted_before_at=timezone.now() if note else None,
    )  # fmt: skip
    return StartedInterview(interview, key)


def _note(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\x00", "").strip()
    if len(text) > LONGEST_NOTE:
        raise ParallaxError("interview.long_note", f"A note has at most {LONGEST_NOTE} characters.")
    return text


def _writable(interview: Interview) -> Interview:
    # Notes cannot come back after the participant's data were erased.
    row = Interview.objects.select_for_update(of=("self",)).select_related("participant").get(pk=interview.pk)
    if row.participant is not None and row.participant.erased_at is not None:
        raise ParallaxError("interview.erased", "The participant's data are erased. Nothing can be noted any more.")
    return row


@transaction.atomic
def save_notes(*, interview: Interview, before: str, after: str) -> Interview:
    """Save the notes before and after a session, with the time of each that changed.

    Raises `interview.long_note`, `interview.erased`.
    """
    row = _writable(interview)
    for moment, text in ((BEFORE, _note(before)), (AFTER, _note(after))):
        if getattr(row, f"note_{moment}") != text:
            setattr(row, f"note_{moment}", text)
            setattr(row, f"noted_{moment}_at", timezone.now())
    row.save()
    return row


@transaction.atomic
def save_evaluation(*, interview: Interview, answers: Mapping[str, Any]) -> Interview:
    """Save the evaluator's answers of a session; those given before are replaced.

    Raises ParameterError for an answer that is missing or does not answer its question, and `interview.erased`.
    """
    row = _writable(interview)
    questions = asked_questions(row.study).evaluator
    checked = {question.key: question.check(answers.get(question.key)) for question in questions}
    row.evaluation = {key: value for key, value in checked.items() if value is not None}
    row.evaluated_at = timezone.now()
    row.save(update_fields=["evaluation", "evaluated_at"])
    return row
