"""The participant's list: computed once by the pinned model, stored, and never replaced by another algorithm's."""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from catalog.item_words import agreed
from core.errors import NotAllowedInState, ParallaxError, StorageUnavailable
from core.provenance import rng_for
from evaluation.services.serving import Served
from recommenders import registry
from recommenders.base import Algorithm
from studies.design.selectors.placeholders import content_of, presentation_of
from studies.design.services.condition_serving import recommend_in
from studies.design.services.explaining import ShownExplanation, explanations_in
from studies.design.services.launch import pause_study
from studies.enums import NoticeKind, ParticipantStatus, StudyStatus
from studies.instrument import flow
from studies.instrument.flow import Place
from studies.models import Condition, Participant, ProfileRating, RecommendationList, RecommendedItem
from studies.participation.selectors.responses import public_ids
from studies.participation.services.participant_state import (
    STATE,
    advance,
    list_length,
    lock_open,
    out_of_order,
    place_of,
    recommendation_list,
    require_active,
)
from studies.team.services.notices import notify_owners

logger = logging.getLogger(__name__)


# Points of the scale and times of rating, by item index.
Profile = dict[int, tuple[int, datetime]]


def _profile(participant: Participant) -> Profile:
    ratings = ProfileRating.objects.filter(participant=participant).order_by("item__index")
    return {index: (rating, at) for index, rating, at in ratings.values_list("item__index", "rating", "rated_at")}


def _served(participant: Participant, profile: Profile) -> tuple[Served, list[ShownExplanation]]:
    condition = Condition.objects.select_related("model").get(participants=participant)
    kind = registry.algorithm(condition.model.algorithm)
    try:
        rated: Any = {
            "study": participant.study,
            "condition": condition,
            "ratings": {index: rating for index, (rating, _at) in profile.items()},
            "rated_at": {index: at.timestamp() for index, (_rating, at) in profile.items()},
            "context": {"language": participant.language, **_identified(participant, kind)},
        }
        served = recommend_in(**rated, n=list_length(participant))
        explanations = explanations_in(**rated, items=served.items)
    except StorageUnavailable:  # for a moment: the page asks to wait, and the study goes on
        raise
    except Exception as problem:  # an algorithm may be third-party code, and any failure pauses the study
        raise _unavailable(participant, condition, str(problem)) from problem
    # What participants of a condition see must come from one model; another of the same recipe is not the same.
    if served.digest != condition.model_digest:
        raise _unavailable(participant, condition, "The model is no longer the one that the study pinned.")
    if kind.is_partial and any(served.is_filled):
        n_listed = len(served.items) - sum(served.is_filled)
        raise _unavailable(participant, condition, f"The uploaded lists have {n_listed} of {len(served.items)} items.")
    return served, explanations


def _identified(participant: Participant, kind: type[Algorithm]) -> dict[str, str]:
    """The participant's id in exports, for models that ask for it."""
    if "participant" not in kind.context_fields:
        return {}
    return {"participant": public_ids(participant.study)[participant.pk]}


def _unavailable(participant: Participant, condition: Condition, why: str) -> ParallaxError:
    logger.error(
        "model unavailable study=%s condition=%s digest=%s why=%s",
        participant.study.slug,
        condition.label,
        condition.model_digest,
        why,
    )
    if participant.study.status == StudyStatus.LIVE:
        # A concurrent request with the same fault may have paused the study already.
        with contextlib.suppress(NotAllowedInState), transaction.atomic():
            pause_study(study=participant.study, reason=f"{condition.label}: model unusable. {why}")
            text = f"No recommendations could be made in {condition.label}, so the study was paused. {why}"
            key = f"model:{condition.pk}:{participant.study.updated_at.isoformat()}"  # of this pause
            notify_owners(study=participant.study, kind=NoticeKind.FAULT, key=key, text=text)
    text = _("We cannot compute your recommendations just now. Your ratings are stored; please come back later.")
    if participant.study.design.is_choice:
        text = _("We cannot compute your recommendations just now. Your choices are stored; please come back later.")
    return ParallaxError("study.model_unavailable", text, {"code": participant.code})


def finish_rating(*, participant: Participant) -> RecommendationList:
    """Leave the rating page: compute the list for as many ratings as are asked for, and store it once.

    The model runs outside the transaction. Of concurrent submissions one list is stored, and all return it.
    Raises `study.wrong_number_of_ratings`, `study.model_unavailable` (the study is paused then),
    `study.out_of_order`, `study.not_active`.
    """
    while True:
        # Outside a transaction: scoring may take a second, and the participant's lock would hold their other requests.
        participant.refresh_from_db(fields=STATE)
        profile = _profile(participant)
        is_beyond = place_of(participant).order > Place(flow.RATE).order
        if participant.status == ParticipantStatus.COMPLETED or (
            participant.status == ParticipantStatus.ACTIVE and is_beyond
        ):
            return recommendation_list(participant)
        _require_profile(participant, len(profile))
        stored = _store(participant, profile, *_served(participant, profile))
        if stored is not None:
            return stored
        # A rating changed in another tab while the model ran: compute the list again.


def _require_profile(participant: Participant, n_rated: int) -> None:
    require_active(participant)
    if participant.step != flow.RATE:
        raise out_of_order(participant)
    limits, chooses = participant.study.design.items_asked, participant.study.design.is_choice
    if n_rated in limits:
        return
    if limits.is_range and chooses:
        text = _("%(given)s are chosen. Please choose at least %(wanted)s and at most %(most)s.")
    elif limits.is_range:
        text = _("%(given)s are rated. Please rate at least %(wanted)s and at most %(most)s.")
    elif chooses:
        text = _("You have chosen %(given)s of %(wanted)s. Please choose %(wanted)s.")
    else:
        text = _("You have rated %(given)s of %(wanted)s. Please rate %(wanted)s.")
    counts = {"given": n_rated, "wanted": limits.fewest, **({"most": limits.most} if limits.is_range else {})}
    gender = content_of(participant.study).words[get_language() or "en"].gender
    raise ParallaxError("study.wrong_number_of_ratings", agreed(text % counts, gender), counts)


def _places(participant: Participant, n: int) -> list[int] | None:
    """Where each item stands on the pages, by its rank from the model; None where the list is shown as ranked."""
    if not presentation_of(participant).is_shuffled:
        return None
    order = rng_for(participant.study.seed, "list-order", participant.code).permutation(n)
    return [int(place) + 1 for place in order]


@transaction.atomic
def _store(
    participant: Participant, profile: Profile, served: Served, explanations: Sequence[ShownExplanation]
) -> RecommendationList | None:
    # None where the ratings are no longer those that the list was computed for.
    lock_open(participant)
    require_active(participant)
    # Another submission has stored its list meanwhile; the first one counts.
    if participant.step != flow.RATE:
        return recommendation_list(participant)
    # A list for other ratings than those stored could not be recomputed from the data.
    if _profile(participant) != profile:
        return None
    items = participant.study.dataset_version.items.filter(index__in=served.items)
    by_index = {item.index: item for item in items.only("index", "trailer_url", "clip", "excerpt")}
    stored = RecommendationList.objects.create(
        participant=participant, model_digest=served.digest, seconds=served.seconds
    )
    places = _places(participant, len(served.items))
    RecommendedItem.objects.bulk_create(
        RecommendedItem(
            recommendation_list=stored,
            rank=rank if places is None else places[rank - 1],
            model_rank=None if places is None else rank,
            item_id=by_index[int(index)].pk,
            # Items without a score have -inf, which JSON cannot carry.
            score=score if score is not None and math.isfinite(score) else None,
            is_filled=is_filled,
            has_trailer=by_index[int(index)].has_sample,
            explanation=dict(explanation.texts),
            explanation_kind=explanation.kind,
        )
        for rank, (index, score, is_filled, explanation) in enumerate(
            zip(served.items, served.scores, served.is_filled, explanations, strict=True), start=1
        )
    )
    advance(participant, Place(flow.RATE))
    return stored
