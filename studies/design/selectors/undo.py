"""The last deletion from a questionnaire, as long as it can be undone."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from core.provenance import digest_of
from studies.enums import StudyStatus
from studies.models import QuestionnaireUndo, Study

KEPT = timedelta(days=1)


def undoable(study: Study) -> QuestionnaireUndo | None:
    """Return the last deletion; None after another change of the questionnaire, after a day, or after the launch."""
    undo = QuestionnaireUndo.objects.filter(study=study, created_at__gte=timezone.now() - KEPT).first()
    if undo is None or study.status != StudyStatus.DRAFT or digest_of(study.questionnaire) != undo.digest_after:
        return None
    return undo
