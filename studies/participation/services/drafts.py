"""The form about the person before it is sent: its usable answers are stored at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from studies.enums import Provenance
from studies.instrument.questionnaires.schema import ABOUT
from studies.models import Participant
from studies.participation.services.answers import AnswerSource, PageAnswers, checked_values
from studies.participation.services.participant_state import lock_open


@transaction.atomic
def keep_about(
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
    questions = page.questionnaire.asked(ABOUT, page.values)
    return tuple(question.key for question in questions if checked.get(question.key) is not None)
