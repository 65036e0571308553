"""What is filled in of the form about the person before it is sent: kept, so that nothing has to be told twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from core.errors import ParallaxError
from studies.enums import Provenance
from studies.models import Participant
from studies.questionnaires.schema import questionnaire_from
from studies.services.answers import answer, take_back

# Half an answer is no fault yet: the form says so when it is sent.
NOT_YET = ("study.bad_answer", "study.not_asked")


@transaction.atomic
def keep_about(
    *, participant: Participant, answers: Mapping[str, Any], provenance: str = Provenance.PERSON
) -> tuple[str, ...]:
    """Store each answer about the person that can be used, and return the keys of those stored.

    None takes back what was there; what is there already is left as it is.

    Raises `study.not_active`, `study.out_of_order`, `study.closed`.
    """
    stored = []
    before = dict(participant.responses.filter(rank=0).values_list("question", "value"))
    for question in questionnaire_from(participant.study.questionnaire).about:
        if question.key not in answers:
            continue
        value = answers[question.key]
        if value is None:
            if question.key in before:
                take_back(participant=participant, question=question.key)
            continue
        if before.get(question.key) == value and isinstance(before[question.key], bool) == isinstance(value, bool):
            stored.append(question.key)
            continue
        try:
            answer(participant=participant, question=question.key, value=value, provenance=provenance)
        except ParallaxError as refusal:
            if refusal.code not in NOT_YET:
                raise
        else:
            stored.append(question.key)
    return tuple(stored)
