"""The participant's lists: computed once by the pinned models, stored, and never replaced by other algorithms'."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from catalog.item_words import agreed
from catalog.models import Item
from core.errors import ParallaxError
from core.provenance import rng_for
from studies.design.selectors.placeholders import conditions_of, content_of, presentation_of
from studies.enums import ParticipantStatus
from studies.flow_pages import ELICIT
from studies.models import ListRequest, Participant, RecommendationList, RecommendedItem
from studies.participation.services.participant_state import (
    STATE,
    advance,
    flow_of_participant,
    kind_of_page,
    lock_open,
    out_of_order,
    place_of,
    recommendation_list,
    require_active,
)
from studies.participation.services.preparing import prepared_lists
from studies.participation.services.serving import ParticipantList, Profile, profile_of, served_lists


def finish_rating(*, participant: Participant) -> RecommendationList | None:
    """Leave the rating page: compute the lists for as many ratings as are asked for, and store them once.

    Return the first list; None while it is being prepared, in studies with a remote recommender. The models run outside
    the transaction. Of concurrent submissions the lists of one are stored, and all return its first.
    Raises `study.wrong_number_of_ratings`, `study.model_unavailable` (the study is paused then),
    `study.out_of_order`, `study.not_active`.
    """
    while True:
        # Outside a transaction: scoring may take a second, and the participant's lock would hold their other requests.
        participant.refresh_from_db(fields=STATE)
        profile = profile_of(participant)
        flow = flow_of_participant(participant)
        is_beyond = flow.position(participant.step) > flow.position(flow.key_of(ELICIT))
        if participant.status == ParticipantStatus.COMPLETED or (
            participant.status == ParticipantStatus.ACTIVE and is_beyond
        ):
            return recommendation_list(participant)
        _require_profile(participant, len(profile))
        prepares = content_of(participant.study).prepares
        answered = prepared_lists(participant, profile) if prepares else served_lists(participant, profile)
        if answered is None:
            return None
        stored = _store(participant, profile, answered)
        if stored is not None:
            return stored
        # A rating changed in another tab while the models ran: compute the lists again.


def _require_profile(participant: Participant, n_rated: int) -> None:
    require_active(participant)
    if kind_of_page(participant) != ELICIT:
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


def _places(participant: Participant, occasion: int, side: int, n: int) -> list[int] | None:
    """Where each item stands on the pages, by its rank from the model; None where the list is shown as ranked."""
    if not presentation_of(participant, occasion, side).is_shuffled:
        return None
    of_list = () if occasion == side == 1 else (occasion, side)
    order = rng_for(participant.study.seed, "list-order", participant.code, *of_list).permutation(n)
    return [int(place) + 1 for place in order]


@transaction.atomic
def _store(participant: Participant, profile: Profile, lists: Sequence[ParticipantList]) -> RecommendationList | None:
    # None where the ratings are no longer those that the lists were computed for.
    lock_open(participant)
    require_active(participant)
    # Another submission has stored its lists meanwhile; the first one counts.
    if kind_of_page(participant) != ELICIT:
        return recommendation_list(participant)
    # Lists for other ratings than those stored could not be recomputed from the data.
    if profile_of(participant) != profile:
        return None
    items = participant.study.dataset_version.items.filter(index__in={n for served, _ in lists for n in served.items})
    by_index = {item.index: item for item in items.only("index", "trailer_url", "clip", "excerpt")}
    shown = (
        (occasion, side, condition)
        for occasion, conditions in enumerate(conditions_of(participant), start=1)
        for side, condition in enumerate(conditions, start=1)
    )
    stored = [
        _store_list(participant, occasion, side, condition, answered, by_index)
        for (occasion, side, condition), answered in zip(shown, lists, strict=True)
    ]
    ListRequest.objects.filter(participant=participant).update(shown_at=timezone.now())
    advance(participant, place_of(participant))
    return stored[0]


def _store_list(
    participant: Participant,
    occasion: int,
    side: int,
    condition: int,
    answered: ParticipantList,
    by_index: Mapping[int, Item],
) -> RecommendationList:
    served, explanations = answered
    stored = RecommendationList.objects.create(
        participant=participant,
        occasion=occasion,
        side=side,
        condition_id=condition,
        model_digest=served.digest,
        seconds=served.seconds,
    )
    places = _places(participant, occasion, side, len(served.items))
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
    return stored
