"""What completers chose and did, as one number each: outcomes beside the answers to questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from studies.enums import ParticipantStatus
from studies.flow_pages import CHOSEN, NONE
from studies.instrument.flow import whole_flow
from studies.models import RecommendedItem, Response, Study
from studies.participation.selectors.responses import is_opened, is_played, records
from studies.settings import OPENED, PLAYED

SHARES = {
    OPENED: ("Share of recommendations whose details were opened", is_opened),
    PLAYED: ("Share of recommendations whose sample was played", is_played),
}


@dataclass(frozen=True)
class Chosen:
    """What one participant picked: its rank and its ratings in the dataset; None where they picked none."""

    rank: int | None = None
    popularity: int | None = None


@dataclass(frozen=True)
class Outcome:
    """One number for each completer, by their key; those without one are not among them."""

    key: str
    name: str
    values: Mapping[int, float]
    minimum: float = 0.0
    maximum: float = 1.0


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


def outcomes_of(study: Study, mode: str) -> tuple[Outcome, ...]:
    """Return `choice` (1 for something, 0 for none) in studies with a choice, and the shares of items opened and
    played (`behaviour.opened`, `behaviour.played`) in those that record them.
    """
    outcomes = []
    if whole_flow(study.design).choice is not None:
        values = {key: float(chosen.rank is not None) for key, chosen in choices_of(study, mode).items()}
        outcomes.append(Outcome("choice", "Picked a recommendation", values))
    if not study.design.recorded:
        return tuple(outcomes)
    shown = {each.participant.pk: each.items for each in records(study, [mode], completed_only=True) if each.items}
    for kind in study.design.recorded:
        name, is_so = SHARES[kind]
        shares = {key: sum(map(is_so, items)) / len(items) for key, items in shown.items()}
        outcomes.append(Outcome(f"behaviour.{kind}", name, shares))
    return tuple(outcomes)
