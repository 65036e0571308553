"""The form about the person: usable answers are stored at once, before it is sent and also where it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from core.errors import ParallaxError
from studies.enums import Provenance
from studies.instrument.questionnaires.schema import ABOUT
from studies.models import Participant
from studies.participation.selectors.participant_rows import answers_about
from studies.participation.services.answers import AnswerSource, PageAnswers, checked_values
from studies.participation.services.enrolment import accept_about
from studies.participation.services.participant_state import lock_open


@transaction.atomic
def store_about(
    *, participant: Participant, answers: Mapping[str, Any], provenance: str = Provenance.PERSON
) -> tuple[str, ...]:
    """Store each answer about the person that can be used, and return their keys.

    None clears the stored answer. Half an answer is not an error yet: the form reports it when it is sent.

    Raises `study.not_active`, `study.out_of_order`, `study.closed`.
    """
    lock_open(participant)
    page = PageAnswers(participant, ABOUT, 0)
    checked, _invalid = checked_values(page.questionnaire.about, answers)
    page.save(checked, AnswerSource(provenance=provenance))
    questions = page.questionnaire.shown(ABOUT, page.values)
    return tuple(question.key for question in questions if checked.get(question.key) is not None)


@transaction.atomic
def submit_about(
    *, participant: Participant, posted: Mapping[str, Any], provenance: str = Provenance.PERSON
) -> ParallaxError | None:
    """Accept the form with what is stored of it; where it is refused, store its usable answers and return the refusal.

    Raises what `store_about` raises.
    """
    answers = {**answers_about(participant, 0), **posted}
    answers = {key: value for key, value in answers.items() if value is not None}
    try:
        accept_about(participant=participant, answers=answers, provenance=provenance)
    except ParallaxError as refusal:
        store_about(participant=participant, answers=posted, provenance=provenance)
        return refusal
    return None
