"""What completers picked of their list."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from studies.enums import ParticipantStatus
from studies.flow_pages import CHOSEN, NONE
from studies.instrument.flow import whole_flow
from studies.models import RecommendedItem, Response, Study


@dataclass(frozen=True)
class Chosen:
    """What one participant picked: its rank, None where they picked none, and the numbers of ratings in the dataset of
    the items they could pick, in the list's order.
    """

    rank: int | None = None
    ratings: tuple[int, ...] = ()

    @property
    def popularity(self) -> int | None:
        """The number of ratings of what they picked."""
        return None if self.rank is None else self.ratings[self.rank - 1]


def choices_of(study: Study, mode: str) -> dict[int, Chosen]:
    """The choices of all completers of one mode, by their key; empty in studies without the page."""
    if whole_flow(study.design).choice is None:
        return {}
    answers = Response.objects.filter(
        participant__study=study, participant__mode=mode, participant__status=ParticipantStatus.COMPLETED,
        question=CHOSEN, rank=0,
    )  # fmt: skip
    ranks = dict(answers.order_by("participant_id").values_list("participant_id", "value"))
    slots = RecommendedItem.objects.filter(recommendation_list__participant__in=ranks).order_by("rank")
    ratings: dict[int, list[int]] = defaultdict(list)
    for key, n in slots.values_list("recommendation_list__participant", "item__n_ratings"):
        ratings[key].append(n)
    return {key: Chosen() if value == NONE else Chosen(int(value), tuple(ratings[key])) for key, value in ranks.items()}
