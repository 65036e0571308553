"""Studies and participants as the participants' pages read them: the study is kept by the process until it changes."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from threading import Lock
from typing import Any, NamedTuple

from django.db.models import F

from studies.models import Condition, Participant, ProfileRating, Response, Study
from studies.questionnaires.schema import Kept
from studies.selectors.compiled import Columns, Compiled
from studies.selectors.placeholders import as_read

STUDIES_KEPT = 64

_kept: OrderedDict[tuple[int, Any], Study] = OrderedDict()
_lock = Lock()
_with_study = Participant.objects.annotate(study_changed=F("study__updated_at")).order_by()
_by_token = Compiled(lambda digest: _with_study.filter(token_digest=digest))
_locked = Compiled(lambda pk: _with_study.select_for_update(of=("self",)).filter(pk=pk))
_now = Compiled(lambda pk: _with_study.filter(pk=pk))
_by_entry = Compiled(lambda digest, study: _with_study.filter(entry_key=digest, study=study))
_changed = Study.objects.order_by().values_list("pk", "updated_at")
_changed_of_slug = Columns(lambda slug: _changed.filter(slug=slug))
_changed_of_pk = Columns(lambda pk: _changed.filter(pk=pk))
# Only rows that would change the study wait: people giving consent refer to it and need not.
_changed_locked = Columns(lambda pk: _changed.filter(pk=pk).select_for_update(no_key=True))
_conditions = Compiled(lambda study: Condition.objects.filter(study=study).order_by("position"))
_ratings = Compiled(lambda pk: ProfileRating.objects.filter(participant=pk).order_by())
_every_answer = Columns(
    lambda pk: (
        Response.objects.filter(participant=pk).order_by().values_list("question", "rank", "value", "answered_at")
    )
)
_answers = Response.objects.order_by().values_list("question", "rank", "value")
_of_one_rank = Columns(lambda pk, rank: _answers.filter(participant=pk, rank=rank))
_of_two_ranks = Columns(lambda pk, one, other: _answers.filter(participant=pk, rank__in=(one, other)))


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
        study.texts, questionnaire = as_read(study)
        study.questionnaire = Kept(questionnaire)
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
    raise _no_study(pk)


def _no_study(pk: int) -> Study.DoesNotExist:
    return Study.DoesNotExist(f"There is no study {pk}.")


def locked_study_now(pk: int) -> Study:
    """Return the study as it is under its lock, not to be changed; raises Study.DoesNotExist."""
    for _pk, changed in _changed_locked.columns(pk):
        return study_as_of(pk, changed)
    raise _no_study(pk)


def conditions_of(study: Study) -> list[Condition]:
    """Return the study's conditions by their position."""
    return _conditions.rows(study.pk)


def _given(participant: Any) -> Participant | None:
    if participant is not None:
        participant.study = study_as_of(participant.study_id, participant.study_changed)
    found: Participant | None = participant
    return found


def participant_by_token(digest: str) -> Participant | None:
    """Return the participant whose link's token has this digest, with their study; None where nobody has."""
    return _given(_by_token.row(digest))


def participant_by_entry(study: Study, digest: str) -> Participant | None:
    """Return the participant who entered the study by the key with this digest; None where nobody has."""
    return _given(_by_entry.row(digest, study.pk))


def participant_now(pk: int) -> Participant:
    """Return the participant's row as it is now, with their study; raises Participant.DoesNotExist."""
    found = _given(_now.row(pk))
    if found is None:
        raise _no_participant(pk)
    return found


def _no_participant(pk: int) -> Participant.DoesNotExist:
    return Participant.DoesNotExist(f"There is no participant {pk}.")


def locked_participant(pk: int) -> Participant:
    """Return the participant's row under its lock, with their study; raises Participant.DoesNotExist."""
    found = _given(_locked.row(pk))
    if found is None:
        raise _no_participant(pk)
    return found


class Given(NamedTuple):
    """An answer as it stands; `rank` is 0 for questions about the person or the list."""

    question: str
    rank: int
    value: Any
    answered_at: datetime


def answers_of(participant: Participant) -> list[Given]:
    """Return everything the participant has answered, in no order."""
    return [Given(*columns) for columns in _every_answer.columns(participant.pk)]


def answers_about(participant: Participant, rank: int) -> dict[str, Any]:
    """Return the answers about the person and the list, with those about the item at `rank`, by question."""
    if rank:
        found = _of_two_ranks.columns(participant.pk, 0, rank)
    else:
        found = _of_one_rank.columns(participant.pk, 0)
    # Those about the item come last, so that one of a question that is asked of both stands.
    return {question: value for question, _rank, value in sorted(found, key=lambda row: int(row[1]))}


def ratings_given(participant: Participant) -> dict[int, ProfileRating]:
    """Return the participant's ratings by the key of the item."""
    return {row.item_id: row for row in _ratings.rows(participant.pk)}
