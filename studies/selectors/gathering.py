"""What many participants gave and got, read as plain rows a few hundred at a time: every item is made once."""

from __future__ import annotations

import gc
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from catalog.models import Item
from studies.models import Condition, Event, Participant, ProfileRating, RecommendedItem, Response, Study
from studies.questionnaires.schema import Questionnaire

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


class Bundle(NamedTuple):
    """One participant with everything of theirs; answers by rank and question, events of items by the item's id."""

    participant: Participant
    answers: dict[int, dict[str, Given]]
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
    """Reads bundles of one study's participants; conditions and items are shared between them."""

    def __init__(self, study: Study, looked_at: Sequence[str], *, with_times: bool = False) -> None:
        self.looked_at = looked_at
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
        looked: dict[int, dict[str, set[str]]] = defaultdict(dict)
        events = Event.objects.filter(participant__in=keys, kind__in=self.looked_at).order_by("pk")
        for key, kind, facts in events.values_list("participant_id", "kind", "facts"):
            looked[key].setdefault(str(facts.get("item", "")), set()).add(kind)
        lists = [getattr(participant, "recommendation_list", None) for participant in people]
        profiles = self._profiles(keys)
        slots = self._slots({one.pk: one.participant_id for one in lists if one is not None})
        for participant in people:
            if participant.condition_id is not None:
                participant.condition = self.conditions[participant.condition_id]
        return [
            Bundle(
                one, answers.get(one.pk, {}), tuple(profiles.get(one.pk, ())), tuple(slots.get(one.pk, ())),
                looked.get(one.pk, {}),
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

    def _profiles(self, keys: Sequence[int]) -> dict[int, list[ProfileRating]]:
        rows = list(ProfileRating.objects.filter(participant__in=keys).order_by("rated_at", "id"))
        self._read_items([row.item_id for row in rows])
        found: dict[int, list[ProfileRating]] = defaultdict(list)
        for row in rows:
            row.item = self.items[row.item_id]
            found[row.participant_id].append(row)
        return found

    def _slots(self, owners: Mapping[int, int]) -> dict[int, list[Slot]]:
        """Slots by participant, of lists with their participants."""
        rows = list(
            RecommendedItem.objects.filter(recommendation_list__in=owners)
            .order_by("recommendation_list_id", "rank")
            .values_list("recommendation_list_id", "rank", "item_id", "score", "is_filled")
        )
        self._read_items([item for _, _, item, _, _ in rows])
        found: dict[int, list[Slot]] = defaultdict(list)
        for made, rank, item, score, is_filled in rows:
            found[owners[made]].append(Slot(rank, self.items[item], score, is_filled))
        return found

    def _read_items(self, keys: Sequence[int]) -> None:
        missing = sorted(set(keys) - self.items.keys())
        self.items |= {item.pk: item for item in Item.objects.filter(pk__in=missing)} if missing else {}


class Asker:
    """Which questions of a block are asked, by the answers that conditions look at; each such case is found once."""

    def __init__(self, questionnaire: Questionnaire) -> None:
        self.questionnaire = questionnaire
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
