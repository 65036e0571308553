"""The answers of completed participants, read lean: what `studies.selectors.responses` tells, without its rows.

Reports are made of tens of thousands of participants, of whom they need no more than their answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from catalog.models import Item
from studies.enums import ParticipantStatus, Provenance
from studies.flow import missing_of_item
from studies.measures import ItemMeasures, ParticipantMeasures, item_measures, participant_measures
from studies.models import Participant, ProfileRating, RecommendedItem, Response, Study
from studies.questionnaires import schema
from studies.questionnaires.schema import questionnaire_from

WHOLE = (schema.ABOUT, schema.OVERALL, schema.AFTER)  # the blocks that are not about items
AT_ONCE = 500  # keys in one query
Slot = tuple[int, int, bool]  # rank, key of the item, whether popularity filled it
CORE = ("watched", "heard", "trailer_seen", "rating")


@dataclass(frozen=True)
class GivenItem:
    """What somebody answered about one recommended item, of the questions they were asked."""

    item: str
    title: str
    is_filled: bool
    answers: dict[str, Any]
    measures: ItemMeasures | None


@dataclass(frozen=True)
class Given:
    """What one completed participant answered; `measures` is None where an answer is missing."""

    participant: int
    condition: str | None
    answers: dict[str, Any]
    items: tuple[GivenItem, ...]
    measures: ParticipantMeasures | None
    n_answers: int
    n_modelled: int


class _Reader:
    """What is the same for many participants, worked out once."""

    def __init__(self, study: Study) -> None:
        self._questionnaire = questionnaire_from(study.questionnaire)
        self._about = {question.key for block in WHOLE for question in self._questionnaire.block(block)}
        self._of_items = {question.key for question in self._questionnaire.items}
        conditions = [q.shown_if for q in self._questionnaire.questions if q.shown_if is not None]
        self._hangs_on = sorted({test.question for condition in conditions for test in condition.tests()})
        self._asked_of: dict[tuple[str, str], frozenset[str]] = {}
        self._measured_of: dict[tuple[Any, ...], ItemMeasures | None] = {}

    def _asked(self, block: str, given: Mapping[str, Any]) -> frozenset[str]:
        """Keys of the questions that were asked of somebody who gave these answers."""
        case = (block, repr([given.get(key) for key in self._hangs_on]))
        if case not in self._asked_of:
            self._asked_of[case] = frozenset(question.key for question in self._questionnaire.asked(block, given))
        return self._asked_of[case]

    def _measured(self, answers: Mapping[str, Any]) -> ItemMeasures | None:
        case = tuple(answers.get(key) for key in CORE)
        if case not in self._measured_of:
            self._measured_of[case] = (
                None
                if missing_of_item(answers)
                else item_measures(
                    watched=answers["watched"],
                    heard=answers.get("heard"),
                    trailer_seen=answers.get("trailer_seen"),
                    rating=answers["rating"],
                )
            )
        return self._measured_of[case]

    def given(self, participant: int, condition: str | None, rows: _Rows) -> Given:
        """One participant, of the rows of several."""
        by_rank = rows.responses[participant]
        own = {key: value for key, (value, _whose) in by_rank.get(0, {}).items()}
        of_whole = frozenset[str]().union(*(self._asked(block, own) for block in WHOLE))
        items = []
        for rank, item, is_filled in rows.slots[participant]:
            of_item = {key: value for key, (value, _whose) in by_rank.get(rank, {}).items()}
            shown = self._asked(schema.ITEMS, {**own, **of_item})
            answers = {key: value for key, value in of_item.items() if key in shown or key not in self._of_items}
            items.append(GivenItem(*rows.titles[item], is_filled, answers, self._measured(answers)))
        satisfaction = own.get("satisfaction")
        scored = [item.measures for item in items if item.measures is not None]
        measures = None
        if items and len(scored) == len(items) and satisfaction is not None:
            measures = participant_measures(scored, satisfaction)
        origins = [whose for of_rank in by_rank.values() for _value, whose in of_rank.values()]
        n_rated, n_modelled = rows.rated.get(participant, (0, 0))
        return Given(
            participant=participant,
            condition=condition,
            answers={key: value for key, value in own.items() if key in of_whole or key not in self._about},
            items=tuple(items),
            measures=measures,
            n_answers=len(origins) + n_rated,
            n_modelled=origins.count(Provenance.MODELLED) + n_modelled,
        )


@dataclass(frozen=True)
class _Rows:
    """Rows of several participants, by their keys."""

    slots: Mapping[int, list[Slot]]
    responses: Mapping[int, Mapping[int, Mapping[str, tuple[Any, str]]]]
    rated: Mapping[int, tuple[int, int]]
    titles: Mapping[int, tuple[str, str]]


def completed_answers(study: Study, mode: str) -> Iterator[Given]:
    """Every completed participant of one mode, in order of entry."""
    reader = _Reader(study)
    people = Participant.objects.filter(study=study, mode=mode, status=ParticipantStatus.COMPLETED)
    everybody = list(people.order_by("pk").values_list("pk", "condition__label"))
    titles: dict[int, tuple[str, str]] = {}
    for start in range(0, len(everybody), AT_ONCE):
        chunk = everybody[start : start + AT_ONCE]
        keys = [pk for pk, _label in chunk]
        slots = _slots(keys)
        _take_in(titles, {item for own in slots.values() for _rank, item, _is_filled in own})
        rows = _Rows(slots, _responses(keys), _rated(keys), titles)
        for pk, label in chunk:
            yield reader.given(pk, label, rows)


def _slots(people: list[int]) -> dict[int, list[Slot]]:
    found: dict[int, list[Slot]] = defaultdict(list)
    slots = RecommendedItem.objects.filter(recommendation_list__participant__in=people).order_by("rank", "pk")
    for pk, rank, item, is_filled in slots.values_list("recommendation_list__participant", "rank", "item", "is_filled"):
        found[pk].append((rank, item, is_filled))
    return found


def _responses(people: list[int]) -> dict[int, dict[int, dict[str, tuple[Any, str]]]]:
    """Answers with whose they are, by participant, rank and question."""
    found: dict[int, dict[int, dict[str, tuple[Any, str]]]] = defaultdict(lambda: defaultdict(dict))
    answers = Response.objects.filter(participant__in=people).order_by("pk")
    for pk, rank, question, value, provenance in answers.values_list(
        "participant", "rank", "question", "value", "provenance"
    ):
        found[pk][rank][question] = (value, provenance)
    return found


def _rated(people: list[int]) -> dict[int, tuple[int, int]]:
    """How many ratings of known items each gave, and how many of these are modelled."""
    counted = (
        ProfileRating.objects.filter(participant__in=people)
        .order_by("participant")
        .values("participant")
        .annotate(n=Count("pk"), modelled=Count("pk", filter=Q(provenance=Provenance.MODELLED)))
    )
    return {one["participant"]: (one["n"], one["modelled"]) for one in counted}


def _take_in(titles: dict[int, tuple[str, str]], items: set[int]) -> None:
    wanted = sorted(items - titles.keys())
    for start in range(0, len(wanted), AT_ONCE):
        for item in Item.objects.filter(pk__in=wanted[start : start + AT_ONCE]).order_by("pk"):
            titles[item.pk] = (item.external_id, str(item))
