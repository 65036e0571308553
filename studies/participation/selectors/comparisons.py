"""Lists that completers saw side by side, and what they answered about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studies.enums import ParticipantStatus
from studies.instrument.flow import questionnaire_of, whole_flow
from studies.instrument.questionnaires.conditions import plain_answer
from studies.instrument.questionnaires.kinds import Preference
from studies.models import RecommendationList, RecommendedItem, Response, Study


@dataclass(frozen=True)
class Compared:
    """Two lists side by side: their conditions, items in the order of the page, and the preferences by question.

    A preference is from -2, clearly the left list, to 2; None without an answer.
    """

    occasion: int
    left: str
    right: str
    items: tuple[tuple[int, ...], tuple[int, ...]]
    answers: Mapping[str, int | None]


def comparisons_of(study: Study, mode: str) -> dict[int, list[Compared]]:
    """The comparisons of all completers of one mode in order of occasion, by the participant's key; empty in studies
    that compare none.
    """
    if not (block := whole_flow(study.design).compared):
        return {}
    questions = [each.key for each in questionnaire_of(study).block(block) if isinstance(each, Preference)]
    completers = {
        "participant__study": study, "participant__mode": mode, "participant__status": ParticipantStatus.COMPLETED,
    }  # fmt: skip
    answers: dict[tuple[int, int], dict[str, Any]] = defaultdict(dict)
    rows = Response.objects.filter(**completers, question__in=questions, rank=0).order_by()
    for key, occasion, question, value in rows.values_list("participant_id", "occasion", "question", "value"):
        answers[key, occasion][question] = plain_answer(value)
    lists = RecommendationList.objects.filter(**completers)
    slots: dict[int, list[int]] = defaultdict(list)
    of_lists = RecommendedItem.objects.filter(recommendation_list__in=lists).order_by("recommendation_list", "rank")
    for owner, item in of_lists.values_list("recommendation_list_id", "item_id"):
        slots[owner].append(item)
    shown: dict[tuple[int, int], list[tuple[str, tuple[int, ...]]]] = defaultdict(list)
    in_order = lists.order_by("participant_id", "occasion", "side")
    for pk, key, occasion, label in in_order.values_list("pk", "participant_id", "occasion", "condition__label"):
        shown[key, occasion].append((label, tuple(slots[pk])))
    compared: dict[int, list[Compared]] = defaultdict(list)
    for (key, occasion), ((left, first), (right, second)) in shown.items():
        own = answers[key, occasion]
        compared[key].append(
            Compared(occasion, left, right, (first, second), {name: own.get(name) for name in questions})
        )
    return dict(compared)
