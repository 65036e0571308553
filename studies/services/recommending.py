"""The participant's list: computed once by the pinned model, stored, and never by another algorithm."""

from __future__ import annotations

import contextlib
import logging
import math

from django.db import transaction
from django.utils.translation import gettext as _

from core.errors import NotAllowedInState, ParallaxError
from evaluation.services.serving import Served
from studies import flow
from studies.enums import NoticeKind, ParticipantStatus, StudyStatus
from studies.flow import Place
from studies.models import Condition, Participant, ProfileRating, RecommendationList, RecommendedItem
from studies.selectors.compiled import Columns
from studies.selectors.kept import participant_now
from studies.services.condition_serving import recommend_in
from studies.services.launch import pause_study
from studies.services.notices import note
from studies.services.standing import (
    advance,
    list_length,
    locked,
    mirror,
    out_of_order,
    place_of,
    recommendation_list,
    require_active,
)

logger = logging.getLogger(__name__)

_profiles = Columns(
    lambda participant: (
        ProfileRating.objects.filter(participant=participant)
        .order_by("item__index")
        .values_list("item__index", "rating")
    )
)


def _profile(participant: Participant) -> dict[int, int]:
    """Ratings in stars by item index."""
    return dict(_profiles.columns(participant.pk))


def _served(participant: Participant, profile: dict[int, int]) -> Served:
    """Ask the pinned model; where it is missing, damaged, another one or fails, pause the study and say so."""
    condition = Condition.objects.select_related("model").get(participants=participant)
    try:
        served = recommend_in(study=participant.study, condition=condition, ratings=profile, n=list_length(participant))
    except Exception as problem:  # an algorithm may be anybody's; nobody may be stuck with what it ends in
        raise _unavailable(participant, condition, str(problem)) from problem
    if served.digest != condition.model_digest:
        raise _unavailable(participant, condition, "The model is no longer the one that the study pinned.")
    return served


def _unavailable(participant: Participant, condition: Condition, why: str) -> ParallaxError:
    logger.error(
        "model unavailable study=%s condition=%s digest=%s why=%s",
        participant.study.slug,
        condition.label,
        condition.model_digest,
        why,
    )
    if participant.study.status == StudyStatus.LIVE:
        # Where another participant met the same fault at the same instant, theirs has paused it.
        with contextlib.suppress(NotAllowedInState), transaction.atomic():
            pause_study(study=participant.study, reason=f"{condition.label}: model unusable. {why}")
            text = f"No recommendations could be made in {condition.label}, so the study was paused. {why}"
            key = f"model:{condition.pk}:{participant.study.updated_at.isoformat()}"  # of this pause
            note(study=participant.study, kind=NoticeKind.FAULT, key=key, text=text)
    return ParallaxError(
        "study.model_unavailable",
        _("We cannot compute your recommendations just now. Your ratings are stored; please come back later."),
        {"code": participant.code},
    )


def finish_rating(*, participant: Participant) -> RecommendationList:
    """Leave the rating page: compute the list for exactly the ratings asked for, and store it once.

    The model works outside the transaction. Sent twice, also at the same instant, one list is stored and both
    get it. Raises `study.wrong_number_of_ratings`, `study.model_unavailable` (the study is paused then),
    `study.out_of_order`, `study.not_active`.
    """
    while True:
        current = participant_now(participant.pk)
        profile = _profile(current)
        stored = _stored_already(participant, current, len(profile))
        if stored is not None:
            return stored
        served = _served(current, profile)
        kept = _kept(participant, profile, served)
        if kept is not None:
            return kept
        # A rating was changed in another tab while the model worked: the list is for the newer ones.


def _stored_already(participant: Participant, current: Participant, n_rated: int) -> RecommendationList | None:
    if current.status == ParticipantStatus.COMPLETED or (
        current.status == ParticipantStatus.ACTIVE and place_of(current).order > Place(flow.RATE).order
    ):
        mirror(participant, current)
        return recommendation_list(current)
    require_active(current)
    if current.step != flow.RATE:
        raise out_of_order(current)
    wanted = int(current.study.settings["ratings_asked"])
    if n_rated != wanted:
        raise ParallaxError(
            "study.wrong_number_of_ratings",
            _("%(given)s of %(wanted)s are rated. Please rate exactly %(wanted)s.")
            % {"given": n_rated, "wanted": wanted},
            {"given": n_rated, "wanted": wanted},
        )
    return None


@transaction.atomic
def _kept(participant: Participant, profile: dict[int, int], served: Served) -> RecommendationList | None:
    """Store the list and move on; None where the ratings are no longer those it was computed for."""
    current = locked(participant)
    require_active(current)
    if current.step != flow.RATE:
        mirror(participant, current)
        return recommendation_list(current)
    if _profile(current) != profile:
        return None
    found = current.study.dataset_version.items.filter(index__in=served.items)
    by_index = {index: (pk, url) for index, pk, url in found.values_list("index", "pk", "trailer_url")}
    made = RecommendationList.objects.create(participant=current, model_digest=served.digest, seconds=served.seconds)
    RecommendedItem.objects.bulk_create(
        RecommendedItem(
            recommendation_list=made,
            rank=rank,
            item_id=by_index[int(index)][0],
            score=score if score is not None and math.isfinite(score) else None,
            is_filled=is_filled,
            has_trailer=bool(by_index[int(index)][1]),
        )
        for rank, (index, score, is_filled) in enumerate(
            zip(served.items, served.scores, served.is_filled, strict=True), start=1
        )
    )
    advance(current, Place(flow.RATE))
    mirror(participant, current)
    return made
