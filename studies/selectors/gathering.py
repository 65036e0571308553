"""What many participants gave and got, read as plain rows a few hundred at a time: every item is made once."""

from __future__ import annotations

import gc
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet, TextField
from django.db.models.functions import Cast

from catalog.models import Item
from studies.enums import Provenance
from studies.flow import RECOMMENDATIONS, STEPS
from studies.models import Condition, Event, Participant, ProfileRating, RecommendedItem, Response, Study
from studies.questionnaires import schema
from studies.questionnaires.schema import Questionnaire

WHOLE = (schema.ABOUT, schema.OVERALL, schema.AFTER)  # the blocks that are not about items
WITH_LIST = STEPS[STEPS.index(RECOMMENDATIONS) :]  # the steps of somebody who has a list
MOST_KEPT = 1000  # different answers that are kept read


class Given(NamedTuple):
    """One answer and where it comes from; `answered_at` only where times are read."""

    value: Any
    provenance: str
    answered_at: datetime | None = None


class Slot(NamedTuple):
    """One place of a list: as `RecommendedItem` has it."""

    rank: int
    item: Item
    score: float | None
    is_filled: bool
    has_trailer: bool | None


class Bundle(NamedTuple):
    """One participant with everything of theirs; answers by rank and question, events of items by the item's id.

    `rated` says how many ratings of known items they gave, and how many of these are modelled; `profile` holds them,
    and `looked_at` the events, unless the reading is lean.
    """

    participant: Participant
    answers: dict[int, dict[str, Given]]
    rated: tuple[int, int]
    profile: tuple[ProfileRating, ...]
    slots: tuple[Slot, ...]
    looked_at: dict[str, set[str]]


@contextmanager
def _young_collections_only() -> Iterator[Callable[[], int]]:
    """Keep the collector from looking through everything again and again while thousands of rows are kept.

    What a batch made and dropped is collected when the batch is done; without this, most of the time would go into
    looking at what stays.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield partial(gc.collect, 1)
    finally:
        if was_enabled:
            gc.enable()


class Gatherer:
    """Reads bundles of one study's participants; conditions and items are shared between them.

    A lean reading is of answers alone: ratings of known items are counted, and events are left where they are.
    """

    def __init__(
        self, study: Study, looked_at: Sequence[str], *, with_times: bool = False, is_lean: bool = False
    ) -> None:
        self.looked_at = looked_at
        self.is_lean = is_lean
        columns = ["participant_id", "rank", "question", "written", "provenance"]
        self.columns = [*columns, "answered_at"] if with_times else columns
        self._read: dict[str, Any] = {}
        self.conditions = {condition.pk: condition for condition in Condition.objects.filter(study=study)}
        self.items: dict[int, Item] = {}

    def bundles(self, rows: QuerySet[Participant], at_once: int) -> Iterator[Bundle]:
        """Every participant of `rows` with what is theirs, in the order of `rows`."""
        with _young_collections_only() as collect:
            waiting: list[Participant] = []
            for participant in rows.iterator(chunk_size=at_once):
                waiting.append(participant)
                if len(waiting) == at_once:
                    yield from self._bundled(waiting)
                    waiting = []
                    collect()
            yield from self._bundled(waiting)

    def _bundled(self, people: list[Participant]) -> list[Bundle]:
        keys = [participant.pk for participant in people]
        answers: dict[int, dict[int, dict[str, Given]]] = defaultdict(dict)
        given = Response.objects.filter(participant__in=keys).annotate(written=Cast("value", TextField()))
        rows = given.order_by("participant_id", "rank", "question").values_list(*self.columns)
        for key, rank, question, written, *rest in rows.iterator(chunk_size=5000):
            answers[key].setdefault(rank, {})[question] = Given(self._value(written), *rest)
        looked = {} if self.is_lean else self._looked_at(keys)
        profiles = {} if self.is_lean else self._profiles(keys)
        rated = _rated(keys) if self.is_lean else {key: _counted(own) for key, own in profiles.items()}
        slots = self._slots(keys)
        for participant in people:
            if participant.condition_id is not None:
                participant.condition = self.conditions[participant.condition_id]
        return [
            Bundle(
                one, answers.get(one.pk, {}), rated.get(one.pk, (0, 0)), tuple(profiles.get(one.pk, ())),
                tuple(slots.get(one.pk, ())), looked.get(one.pk, {}),
            )
            for one in people
        ]  # fmt: skip

    def _value(self, written: str) -> Any:
        """An answer from its JSON: numbers, yes and no are read once for everybody."""
        if written not in self._read:
            value = json.loads(written)
            if isinstance(value, dict | list) or len(self._read) >= MOST_KEPT:
                return value
            self._read[written] = value
        return self._read[written]

    def _looked_at(self, keys: Sequence[int]) -> dict[int, dict[str, set[str]]]:
        """Events of items from the list on: who rates what they know may have met the same items there."""
        looked: dict[int, dict[str, set[str]]] = defaultdict(dict)
        events = Event.objects.filter(participant__in=keys, kind__in=self.looked_at, page__in=WITH_LIST).order_by("pk")
        for key, kind, facts in events.values_list("participant_id", "kind", "facts"):
            looked[key].setdefault(str(facts.get("item", "")), set()).add(kind)
        return looked

    def _profiles(self, keys: Sequence[int]) -> dict[int, list[ProfileRating]]:
        rows = list(ProfileRating.objects.filter(participant__in=keys).order_by("rated_at", "id"))
        self._read_items([row.item_id for row in rows])
        found: dict[int, list[ProfileRating]] = defaultdict(list)
        for row in rows:
            row.item = self.items[row.item_id]
            found[row.participant_id].append(row)
        return found

    def _slots(self, keys: Sequence[int]) -> dict[int, list[Slot]]:
        """Slots by participant."""
        rows = list(
            RecommendedItem.objects.filter(recommendation_list__participant__in=keys)
            .order_by("recommendation_list_id", "rank")
            .values_list("recommendation_list__participant", "rank", "item_id", "score", "is_filled", "has_trailer")
        )
        self._read_items([item for _, _, item, *_ in rows])
        found: dict[int, list[Slot]] = defaultdict(list)
        for owner, rank, item, score, is_filled, has_trailer in rows:
            found[owner].append(Slot(rank, self.items[item], score, is_filled, has_trailer))
        return found

    def _read_items(self, keys: Sequence[int]) -> None:
        missing = sorted(set(keys) - self.items.keys())
        self.items |= {item.pk: item for item in Item.objects.filter(pk__in=missing)} if missing else {}


def _rated(keys: Sequence[int]) -> dict[int, tuple[int, int]]:
    """How many ratings of known items each gave, and how many of these are modelled."""
    counted = (
        ProfileRating.objects.filter(participant__in=keys)
        .order_by("participant")
        .values_list("participant")
        .annotate(n=Count("pk"), modelled=Count("pk", filter=Q(provenance=Provenance.MODELLED)))
    )
    return {key: (n, modelled) for key, n, modelled in counted}


def _counted(ratings: Sequence[ProfileRating]) -> tuple[int, int]:
    return len(ratings), sum(rating.provenance == Provenance.MODELLED for rating in ratings)


class Asker:
    """Which questions of a block are asked, by the answers that conditions look at; each such case is found once."""

    def __init__(self, questionnaire: Questionnaire) -> None:
        self.questionnaire = questionnaire
        self.about = frozenset(question.key for block in WHOLE for question in questionnaire.block(block))
        self.of_items = frozenset(question.key for question in questionnaire.items)
        conditions = [question.shown_if for question in questionnaire.questions if question.shown_if is not None]
        self.mentioned = sorted({test.question for condition in conditions for test in condition.tests()})
        self._found: dict[tuple[str, ...], frozenset[str]] = {}

    def asked(self, block: str, given: dict[str, Any]) -> frozenset[str]:
        """Keys of the block's questions that are asked of somebody who gave these answers."""
        # As text, since answers may be lists, and since True and 1 are not the same answer.
        case = (block, *(repr(given.get(key)) for key in self.mentioned))
        if case not in self._found:
            questions = self.questionnaire.asked(block, given)
            self._found[case] = frozenset(question.key for question in questions)
        return self._found[case]
