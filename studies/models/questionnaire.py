"""The questionnaire of a draft as it was before the last deletion."""

from __future__ import annotations

from django.db import models

from core.models import TimeStampedModel
from studies.models.study import Study


class QuestionnaireUndo(TimeStampedModel):
    """What undoing the last deletion or import restores; one row for a study at most."""

    LONGEST_TITLE = 300

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="questionnaire_undo")
    title = models.CharField(max_length=LONGEST_TITLE)  # of the change, a sentence
    questionnaire = models.JSONField()  # as it was before
    digest_after = models.CharField(max_length=64)  # of the questionnaire since; another digest ends the undo

    def __str__(self) -> str:
        return self.title
