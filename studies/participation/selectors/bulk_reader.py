"""Bulk reading of participants' answers, ratings and lists, a few hundred participants at a time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet, TextField
from django.db.models.functions import Cast

from catalog.models import Item
from studies.enums import Provenance
from studies.instrument.flow import RECOMMENDATIONS, STEPS
from studies.instrument.questionnaires import schema
from studies.instrument.questionnaires.schema import Questionnaire, questionnaire_from
from studies.instrument.samples import for_items_without
from studies.models import Condition, Event, Participant, ProfileRating, RecommendedItem, Response, Study

WHOLE = (schema.ABOUT, schema.OVERALL, schema.AFTER)  # the blocks that are not about items
WITH_LIST = STEPS[STEPS.index(RECOMMENDATIONS) :]  # the steps of participants who have a list
MOST_CACHED = 1000  # distinct parsed answers


class AnswerRow(NamedTuple):
    """One answer and its provenance; `answered_at` only if times are read."""

    value: Any
    provenance: str
    answered_at: datetime | None = None


class Slot(NamedTuple):
    """One position of a recommendation list, with the fields of `RecommendedItem`."""

    rank: int
    item: Item
    score: float | None
    is_filled: bool
    has_trailer: bool | None


class Bundle(NamedTuple):
    """One participant with all their data: answers by rank and question, item events by the item's id.

    `rated` is the number of ratings of known items, and how many of these are modelled. `profile` holds the ratings
    and `looked_at` the events; both are empty in a lean read.
    """

    participant: Participant
    answers: dict[int, dict[str, AnswerRow]]
    rated: tuple[int, int]
    profile: tuple[ProfileRating, ...]
    slots: tuple[Slot, ...]
    looked_at: dict[str, set[str]]


class BundleReader:
    """Reads bundles of one study's participants, who share condition and item objects.

    A lean read fetches answers only: ratings of known items are counted, and events are not read.
    """

    def __init__(
        self, study: Study, looked_at: Sequence[str], *, with_times: bool = False, is_lean: bool = False
    ) -> None:
        self.looked_at = looked_at
        self.is_lean = is_lean
        columns = ["participant_id", "rank", "question", "written", "provenance"]
        self.columns = [*columns, "answered_at"] if with_times else columns
        self._parsed: dict[str, Any] = {}
        self.conditions = {condition.pk: condition for condition in Condition.objects.filter(study=study)}
        self.items: dict[int, Item] = {}

    def bundles(self, rows: QuerySet[Participant], at_once: int) -> Iterator[Bundle]:
        """Every participant of `rows` with their data, in the order of `rows`."""
        waiting: list[Participant] = []
        for participant in rows.iterator(chunk_size=at_once):
            waiting.append(participant)
            if len(waiting) == at_once:
                yield from self._bundled(waiting)
                waiting = []
        yield from self._bundled(waiting)

    def _bundled(self, participants: list[Participant]) -> list[Bundle]:
        keys = [participant.pk for participant in participants]
        answers: dict[int, dict[int, dict[str, AnswerRow]]] = defaultdict(dict)
        responses = Response.objects.filter(participant__in=keys).annotate(written=Cast("value", TextField()))
        rows = responses.order_by("participant_id", "rank", "question").values_list(*self.columns)
        for key, rank, question, written, *rest in rows.iterator(chunk_size=5000):
            answers[key].setdefault(rank, {})[question] = AnswerRow(self._value(written), *rest)
        looked = {} if self.is_lean else self._looked_at(keys)
        profiles = {} if self.is_lean else self._profiles(keys)
        if self.is_lean:
            rated = _rated(keys)
        else:
            rated = {
                key: (len(own), sum(rating.provenance == Provenance.MODELLED for rating in own))
                for key, own in profiles.items()
            }
        slots = self._slots(keys)
        for participant in participants:
            if participant.condition_id is not None:
                participant.condition = self.conditions[participant.condition_id]
        return [
            Bundle(
                participant,
                answers.get(participant.pk, {}),
                rated.get(participant.pk, (0, 0)),
                tuple(profiles.get(participant.pk, ())),
                tuple(slots.get(participant.pk, ())),
                looked.get(participant.pk, {}),
            )
            for participant in participants
        ]

    def _value(self, written: str) -> Any:
        """Parse an answer; numbers and booleans are parsed once for all participants."""
        if written not in self._parsed:
            value = json.loads(written)
            if isinstance(value, dict | list) or len(self._parsed) >= MOST_CACHED:
                return value
            self._parsed[written] = value
        return self._parsed[written]

    def _looked_at(self, keys: Sequence[int]) -> dict[int, dict[str, set[str]]]:
        """Item events from the recommendation list onwards; the rating page may show the same items earlier."""
        looked: dict[int, dict[str, set[str]]] = defaultdict(dict)
        events = Event.objects.filter(participant__in=keys, kind__in=self.looked_at, page__in=WITH_LIST).order_by("pk")
        for key, kind, facts in events.values_list("participant_id", "kind", "facts"):
            looked[key].setdefault(str(facts.get("item", "")), set()).add(kind)
        return looked

    def _profiles(self, keys: Sequence[int]) -> dict[int, list[ProfileRating]]:
        rows = list(ProfileRating.objects.filter(participant__in=keys).order_by("rated_at", "id"))
        self._read_items([row.item_id for row in rows])
        profiles: dict[int, list[ProfileRating]] = defaultdict(list)
        for row in rows:
            row.item = self.items[row.item_id]
            profiles[row.participant_id].append(row)
        return profiles

    def _slots(self, keys: Sequence[int]) -> dict[int, list[Slot]]:
        """Slots by participant."""
        rows = list(
            RecommendedItem.objects.filter(recommendation_list__participant__in=keys)
            .order_by("recommendation_list_id", "rank")
            .values_list("recommendation_list__participant", "rank", "item_id", "score", "is_filled", "has_trailer")
        )
        self._read_items([item for _, _, item, *_ in rows])
        slots: dict[int, list[Slot]] = defaultdict(list)
        for owner, rank, item, score, is_filled, has_trailer in rows:
            slots[owner].append(Slot(rank, self.items[item], score, is_filled, has_trailer))
        return slots

    def _read_items(self, keys: Sequence[int]) -> None:
        missing = sorted(set(keys) - self.items.keys())
        self.items |= {item.pk: item for item in Item.objects.filter(pk__in=missing)} if missing else {}


def _rated(keys: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Ratings of known items per participant, and how many of them are modelled."""
    counted = (
        ProfileRating.objects.filter(participant__in=keys)
        .order_by("participant")
        .values_list("participant")
        .annotate(n=Count("pk"), modelled=Count("pk", filter=Q(provenance=Provenance.MODELLED)))
    )
    return {key: (n, modelled) for key, n, modelled in counted}


class QuestionFilter:
    """Determines which questions of a block are asked; cached by the answers that conditions depend on.

    `without_sample` is the filter for items without a sample, if they are asked other questions.
    """

    def __init__(self, questionnaire: Questionnaire, without_sample: QuestionFilter | None = None) -> None:
        self.questionnaire = questionnaire
        self.without_sample = without_sample
        self.about = frozenset(question.key for block in WHOLE for question in questionnaire.block(block))
        self.of_items = frozenset(question.key for question in questionnaire.items)
        conditions = [question.shown_if for question in questionnaire.questions if question.shown_if is not None]
        self.mentioned = sorted({test.question for condition in conditions for test in condition.tests()})
        self._by_case: dict[tuple[str, ...], frozenset[str]] = {}

    @classmethod
    def of(cls, study: Study) -> QuestionFilter:
        """The filter of a study's questionnaire."""
        questionnaire = questionnaire_from(study.questionnaire)
        shorter = for_items_without(questionnaire, study.settings)
        return cls(questionnaire, None if shorter is questionnaire else cls(shorter))

    def of_slot(self, slot: Slot) -> QuestionFilter:
        """The filter of the questions about one recommended item."""
        return self.without_sample if self.without_sample is not None and slot.has_trailer is False else self

    def keys(self, block: str, answers: dict[str, Any]) -> frozenset[str]:
        """Keys of the block's questions that are asked given these answers."""
        # As text, since answers may be lists, and since True and 1 are not the same answer.
        case = (block, *(repr(answers.get(key)) for key in self.mentioned))
        if case not in self._by_case:
            questions = self.questionnaire.shown(block, answers)
            self._by_case[case] = frozenset(question.key for question in questions)
        return self._by_case[case]
