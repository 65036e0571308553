"""The questionnaires that are asked of a participant's recommended items: some items have no sample to ask about."""

from __future__ import annotations

from collections.abc import Callable

from studies.design.selectors.study_content import content_of
from studies.instrument.questionnaires.schema import Questionnaire
from studies.models import Participant, RecommendedItem


def questionnaires_of(participant: Participant) -> Callable[[int], Questionnaire]:
    """Return the questionnaire by the rank of an item; at rank 0 it is the whole one."""
    content = content_of(participant.study)
    if content.for_items_without_sample is content.questionnaire:
        return lambda rank: content.questionnaire
    slots = RecommendedItem.objects.filter(recommendation_list__participant=participant.pk, has_trailer=False)
    without = frozenset(slots.order_by().values_list("rank", flat=True))
    return lambda rank: content.for_items_without_sample if rank in without else content.questionnaire


def questionnaire_at(participant: Participant, rank: int) -> Questionnaire:
    """Return the questionnaire that is asked of the item at a rank; at rank 0 it is the whole one."""
    return questionnaires_of(participant)(rank) if rank else content_of(participant.study).questionnaire
