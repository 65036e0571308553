"""Studies and participants as the participants' pages read them: the study is kept by the process until it changes."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any

from django.db.models import F

from studies.models import Participant, Response, Study
from studies.questionnaires.schema import Kept
from studies.selectors.compiled import Compiled

STUDIES_KEPT = 64

_kept: OrderedDict[tuple[int, Any], Study] = OrderedDict()
_lock = Lock()
_with_study = Participant.objects.annotate(study_changed=F("study__updated_at")).order_by()
_by_token = Compiled(lambda digest: _with_study.filter(token_digest=digest))
_locked = Compiled(lambda pk: _with_study.select_for_update(of=("self",)).filter(pk=pk))
_responses = Compiled(lambda pk: Response.objects.filter(participant=pk).order_by())


def study_as_of(study_id: int, changed: Any) -> Study:
    """Return the study as it is since it `changed`, which is what the database says of `updated_at`.

    The row is the caller's own to put attributes on; what its JSON fields hold is shared and not to be changed.
    """
    with _lock:
        study = _kept.get((study_id, changed))
        if study is not None:
            _kept.move_to_end((study_id, changed))
    if study is None:
        # Read after `changed` was: what is kept by it is never older.
        study = Study.objects.select_related("dataset_version").get(pk=study_id)
        study.questionnaire = Kept(study.questionnaire)
        with _lock:
            _kept[study_id, changed] = study
            while len(_kept) > STUDIES_KEPT:
                _kept.popitem(last=False)
    given = Study.__new__(Study)
    given.__dict__.update(study.__dict__)
    return given


def _given(participant: Any) -> Participant | None:
    if participant is not None:
        participant.study = study_as_of(participant.study_id, participant.study_changed)
    found: Participant | None = participant
    return found


def participant_by_token(digest: str) -> Participant | None:
    """Return the participant whose link's token has this digest, with their study; None where nobody has."""
    return _given(_by_token.row(digest))


def locked_participant(pk: int) -> Participant:
    """Return the participant's row under its lock, with their study; raises Participant.DoesNotExist."""
    found = _given(_locked.row(pk))
    if found is None:
        raise Participant.DoesNotExist(f"There is no participant {pk}.")
    return found


def responses_of(participant: Participant) -> list[Response]:
    """Return everything the participant has answered, in no order."""
    return _responses.rows(participant.pk)
