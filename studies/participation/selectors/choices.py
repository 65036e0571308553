"""What completers picked of their list."""

from __future__ import annotations

from dataclasses import dataclass

from studies.enums import ParticipantStatus
from studies.flow_pages import CHOSEN, NONE
from studies.instrument.flow import whole_flow
from studies.models import RecommendedItem, Response, Study


@dataclass(frozen=True)
class Chosen:
    """What one participant picked: its rank and its ratings in the dataset; None where they picked none."""

    rank: int | None = None
    popularity: int | None = None


def choices_of(study: Study, mode: str) -> dict[int, Chosen]:
    """The choices of all completers of one mode, by their key; empty in studies without the page."""
    if whole_flow(study.design).choice is None:
        return {}
    answers = Response.objects.filter(
        participant__study=study, participant__mode=mode, participant__status=ParticipantStatus.COMPLETED,
        question=CHOSEN, rank=0,
    )  # fmt: skip
    ranks = dict(answers.order_by("participant_id").values_list("participant_id", "value"))
    slots = RecommendedItem.objects.filter(recommendation_list__participant__in=ranks).order_by()
    popularity = {
        (key, rank): n
        for key, rank, n in slots.values_list("recommendation_list__participant", "rank", "item__n_ratings")
    }
    return {
        key: Chosen() if value == NONE else Chosen(int(value), popularity[key, int(value)])
        for key, value in ranks.items()
    }
