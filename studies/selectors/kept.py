"""Studies and participants as the participants' pages read them: the study is kept by the process until it changes."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from threading import Lock
from typing import Any, NamedTuple

from django.db.models import F

from studies.models import Participant, ProfileRating, Response, Study
from studies.questionnaires.schema import Kept
from studies.selectors.compiled import Compiled

STUDIES_KEPT = 64

_kept: OrderedDict[tuple[int, Any], Study] = OrderedDict()
_lock = Lock()
_with_study = Participant.objects.annotate(study_changed=F("study__updated_at")).order_by()
_by_token = Compiled(lambda digest: _with_study.filter(token_digest=digest))
_locked = Compiled(lambda pk: _with_study.select_for_update(of=("self",)).filter(pk=pk))
_changed_of_slug = Compiled(lambda slug: Study.objects.filter(slug=slug).only("updated_at").order_by())
_changed_of_pk = Compiled(lambda pk: Study.objects.filter(pk=pk).only("updated_at").order_by())
_ratings = Compiled(lambda pk: ProfileRating.objects.filter(participant=pk).order_by())
_read = ("question", "rank", "value", "answered_at")
_every_answer = Compiled(lambda pk: Response.objects.filter(participant=pk).only(*_read).order_by())
_of_one_rank = Compiled(lambda pk, rank: Response.objects.filter(participant=pk, rank=rank).only(*_read).order_by())
_of_two_ranks = Compiled(
    lambda pk, one, other: Response.objects.filter(participant=pk, rank__in=(one, other)).only(*_read).order_by()
)


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


def study_by_slug(slug: str) -> Study | None:
    """Return the study that a link names, as it is now; None where it names none."""
    return next((study_as_of(pk, changed) for pk, changed in _changed_of_slug.columns(slug)), None)


def study_now(pk: int) -> Study:
    """Return the study as it is now; raises Study.DoesNotExist."""
    for _pk, changed in _changed_of_pk.columns(pk):
        return study_as_of(pk, changed)
    raise Study.DoesNotExist(f"There is no study {pk}.")


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


class Given(NamedTuple):
    """An answer as it stands; `rank` is 0 for questions about the person or the list."""

    question: str
    rank: int
    value: Any
    answered_at: datetime


def answers_of(participant: Participant) -> list[Given]:
    """Return everything the participant has answered, in no order."""
    return [Given(*columns[1:]) for columns in _every_answer.columns(participant.pk)]


def answers_about(participant: Participant, rank: int) -> dict[str, Any]:
    """Return the answers about the person and the list, with those about the item at `rank`, by question."""
    if rank:
        found = _of_two_ranks.columns(participant.pk, 0, rank)
    else:
        found = _of_one_rank.columns(participant.pk, 0)
    # Those about the item come last, so that one of a question that is asked of both stands.
    return {question: value for _pk, question, _rank, value, _at in sorted(found, key=lambda row: int(row[2]))}


def ratings_given(participant: Participant) -> dict[int, ProfileRating]:
    """Return the participant's ratings by the key of the item."""
    return {row.item_id: row for row in _ratings.rows(participant.pk)}
