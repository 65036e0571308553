"""Answers that name people: those to the questions that a questionnaire declares as identifying."""

from __future__ import annotations

from django.db.models import QuerySet

from studies.instrument.questionnaires.schema import DECLINED, ERASED, questionnaire_from
from studies.models import Response, Study


def identifying_answers(study: Study) -> QuerySet[Response]:
    """The answers that name people and are still there: neither declined nor erased."""
    keys = questionnaire_from(study.questionnaire).identifying
    rows = Response.objects.filter(participant__study=study, question__in=keys)
    return rows.exclude(value=dict(DECLINED)).exclude(value=dict(ERASED))
