"""What a condition's model answers to a participant's profile, and the pause of the study where it cannot be used."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from core.errors import NotAllowedInState, ParallaxError, StorageUnavailable
from evaluation.enums import ModelOrigin
from evaluation.selectors.models import algorithm_of
from evaluation.services.remote_lists import UNREACHABLE, Served
from recommenders.base import Algorithm
from studies.design.presets.loader import questions_of_choice
from studies.design.selectors.placeholders import conditions_of, content_of
from studies.design.services.condition_serving import recommend_in
from studies.design.services.explaining import ShownExplanation, explanations_in
from studies.design.services.launch import pause_study
from studies.enums import NoticeKind, StudyStatus
from studies.flow_pages import SHOWN
from studies.instrument.flow import questionnaire_of
from studies.instrument.questionnaires.conditions import as_text
from studies.instrument.questionnaires.questions import OTHER, is_declined, own_words
from studies.models import Condition, Participant, ProfileRating, Study
from studies.participation.selectors.responses import public_ids
from studies.team.services.notices import notify_owners

logger = logging.getLogger(__name__)

# Points of the scale and times of rating, by item index.
Profile = dict[int, tuple[int, datetime]]
ParticipantList = tuple[Served, list[ShownExplanation]]


def profile_of(participant: Participant) -> Profile:
    """The participant's ratings as they are stored."""
    ratings = ProfileRating.objects.filter(participant=participant).order_by("item__index")
    return {index: (rating, at) for index, rating, at in ratings.values_list("item__index", "rating", "rated_at")}


def served_lists(participant: Participant, profile: Profile, *, request: str = "") -> list[ParticipantList]:
    """The lists that the participant's conditions give to a profile, with what is shown beside each item.

    They are in the order of occasions, from left to right. Where the design leaves out what was shown, no list has an
    item of an earlier occasion. `request`: the id under which a remote recommender is asked. Raises StorageUnavailable,
    or ParallaxError with code ``remote.unreachable``, where it may succeed later; whatever else goes wrong pauses the
    study, as ``study.model_unavailable``.
    """
    leaves_out = content_of(participant.study).flow.lists.leave_out == SHOWN
    lists: list[ParticipantList] = []
    shown: set[int] = set()
    for keys in conditions_of(participant):
        beside = [_served_list(participant, profile, key, left_out=sorted(shown), request=request) for key in keys]
        lists += beside
        if leaves_out:
            shown.update(*(served.items for served, _explanations in beside))
    return lists


def _served_list(
    participant: Participant, profile: Profile, key: int, *, left_out: Sequence[int], request: str
) -> ParticipantList:
    condition = Condition.objects.select_related("model").get(pk=key)
    kind = algorithm_of(condition.model)
    n = participant.study.design.listed_in(condition.shown)
    try:
        rated: Any = {
            "study": participant.study,
            "condition": condition,
            "ratings": {index: rating for index, (rating, _at) in profile.items()},
            "rated_at": {index: at.timestamp() for index, (_rating, at) in profile.items()},
            "context": {"language": participant.language, **_asked_for(participant, condition, kind)},
        }
        served = recommend_in(**rated, n=n, left_out=left_out, request=request)
        explanations = explanations_in(**rated, items=served.items, listed_texts=served.explanations)
    except Exception as problem:  # an algorithm may be third-party code, and any failure pauses the study
        # For a moment: the page asks to wait, and the study goes on.
        if isinstance(problem, StorageUnavailable) or getattr(problem, "code", "") == UNREACHABLE:
            raise
        raise _unavailable(participant, condition, str(problem)) from problem
    # What participants of a condition see must come from one model; another of the same recipe is not the same.
    if served.digest != condition.model_digest:
        raise _unavailable(participant, condition, "The model is no longer the one that the study pinned.")
    if kind is not None and kind.is_partial and any(served.is_filled):
        n_listed = len(served.items) - sum(served.is_filled)
        raise _unavailable(participant, condition, f"The uploaded lists have {n_listed} of {len(served.items)} items.")
    return served, explanations


def _asked_for(participant: Participant, condition: Condition, kind: type[Algorithm] | None) -> dict[str, Any]:
    """The participant's id in exports and answers of one choice, for models that ask for them; for remote ones, the
    answers of the design.
    """
    study = participant.study
    rows = participant.responses.filter(rank=0)
    if condition.model.origin == ModelOrigin.REMOTE:
        rows = rows.filter(question__in=study.design.sent_answers)
        return {"answers": {row.question: row.value for row in rows if not is_declined(row.value)}}
    known: dict[str, Any] = {}
    if kind is not None and "participant" in kind.context_fields:
        known["participant"] = public_ids(study)[participant.pk]
    if kind is not None and "answers" in kind.context_fields:
        rows = rows.filter(question__in=questions_of_choice(questionnaire_of(study)))
        known["answers"] = {
            row.question: as_text(row.value) if own_words(row.value) is None else OTHER
            for row in rows
            if not is_declined(row.value)
        }
    return known


def _unavailable(participant: Participant, condition: Condition, why: str) -> ParallaxError:
    pause_for(participant.study, condition, why)
    text = _("We cannot compute your recommendations just now. Your ratings are stored; please come back later.")
    if participant.study.design.is_choice:
        text = _("We cannot compute your recommendations just now. Your choices are stored; please come back later.")
    return ParallaxError("study.model_unavailable", text, {"code": participant.code})


def pause_for(study: Study, condition: Condition, why: str) -> None:
    """Pause a live study whose condition cannot be served as it was launched, and tell its owners why."""
    logger.error(
        "model unavailable study=%s condition=%s digest=%s why=%s",
        study.slug,
        condition.label,
        condition.model_digest,
        why,
    )
    if study.status == StudyStatus.LIVE:
        # A concurrent request with the same fault may have paused the study already.
        with contextlib.suppress(NotAllowedInState), transaction.atomic():
            pause_study(study=study, reason=f"{condition.label}: model unusable. {why}")
            text = f"No recommendations could be made in {condition.label}, so the study was paused. {why}"
            if condition.model.origin == ModelOrigin.REMOTE:
                text += " Once the service answers again, resume the study on its live page."
            key = f"model:{condition.pk}:{study.updated_at.isoformat()}"  # of this pause
            notify_owners(study=study, kind=NoticeKind.FAULT, key=key, text=text)
