"""Studies and participants as the participants' pages read them: the study is kept by the process until it changes."""

from __future__ import annotations

import copy
from collections import OrderedDict
from datetime import datetime
from threading import Lock
from typing import Any

from django.db.models import F, QuerySet

from studies.models import Participant, Study
from studies.questionnaires.schema import Kept

STUDIES_KEPT = 64

_kept: OrderedDict[tuple[int, datetime], Study] = OrderedDict()
_lock = Lock()


def study_as_of(study_id: int, updated_at: datetime) -> Study:
    """Return the study as it was last changed at `updated_at`, or as it is where it has changed since.

    The row is the caller's own to put attributes on; what its JSON fields hold is shared and not to be changed.
    """
    with _lock:
        study = _kept.get((study_id, updated_at))
        if study is not None:
            _kept.move_to_end((study_id, updated_at))
    if study is None:
        study = Study.objects.select_related("dataset_version").get(pk=study_id)
        study.questionnaire = Kept(study.questionnaire)
        with _lock:
            _kept[study_id, study.updated_at] = study
            while len(_kept) > STUDIES_KEPT:
                _kept.popitem(last=False)
    return copy.copy(study)


def with_study(participants: QuerySet[Participant]) -> QuerySet[Participant]:
    """Let the rows tell when their study last changed, for `study_given`."""
    return participants.annotate(study_updated_at=F("study__updated_at"))


def study_given(participant: Any) -> Participant:
    """Put its study on a row of `with_study`."""
    participant.study = study_as_of(participant.study_id, participant.study_updated_at)
    found: Participant = participant
    return found
