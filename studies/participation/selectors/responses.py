"""Answers as tidy rows, per participant and per item, for exports and reports; hundreds are read at a time."""

from __future__ import annotations

import base64
import copy
import functools
import hmac
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet, TextField
from django.db.models.functions import Cast

from catalog.models import Item
from studies.enums import ParticipantStatus, Provenance
from studies.instrument.flow import Flow, Place, questionnaire_of, whole_flow
from studies.instrument.measures import (
    TRAILER_SEEN,
    ItemMeasures,
    ParticipantMeasures,
    item_measures,
    participant_measures,
)
from studies.instrument.outcomes import DETAILS_OPENED, SAMPLE_PLAYED, TRAILER_OPENED
from studies.instrument.questionnaires import schema
from studies.instrument.questionnaires.core import is_measured, measures_of
from studies.instrument.questionnaires.schema import DECLINED, ERASED, Questionnaire
from studies.instrument.samples import for_items_without
from studies.models import (
    Condition,
    Event,
    Participant,
    ProfileRating,
    RecommendationList,
    RecommendedItem,
    Response,
    Study,
)
from studies.presentation import text_in

ROWS_AT_ONCE = 400
PUBLIC_ID_LENGTH = 6  # longer where two ids of a study would be equal
RATING, SATISFACTION = "rating", "satisfaction"
MEASURED = ("watched", "heard", "trailer_seen", RATING)
# Columns of a participant.
OF_LEAN = (
    "study", "condition", "sequence", "mode", "status", "step", "language", "item_rank", "occasion", "shown_orders",
    "consented_at", "completed_at",
)  # fmt: skip
LOOKED_AT = (DETAILS_OPENED, TRAILER_OPENED)
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
    model_rank: int | None = None
    explanation: Mapping[str, str] = MappingProxyType({})
    explanation_kind: str = ""


OF_SLOT = ("rank", "item_id", "score", "is_filled", "has_trailer", "model_rank", "explanation", "explanation_kind")


def _rated(keys: Sequence[int]) -> dict[int, tuple[int, int]]:
    counted = (
        ProfileRating.objects.filter(participant__in=keys)
        .order_by("participant")
        .values_list("participant")
        .annotate(n=Count("pk"), modelled=Count("pk", filter=Q(provenance=Provenance.MODELLED)))
    )
    return {key: (n, modelled) for key, n, modelled in counted}


def _lists(keys: Sequence[int], occasion: int, side: int) -> dict[int, RecommendationList]:
    lists = RecommendationList.objects.filter(participant__in=keys, occasion=occasion, side=side)
    return {stored.participant_id: stored for stored in lists.order_by()}


class QuestionFilter:
    """Determines which questions of a block are asked; cached by the answers that conditions depend on.

    `without_sample` is the filter for items without a sample, if they are asked other questions.
    """

    def __init__(self, questionnaire: Questionnaire, without_sample: QuestionFilter | None = None) -> None:
        self.questionnaire = questionnaire
        self.without_sample = without_sample
        self.about = frozenset(question.key for block in questionnaire.whole for question in questionnaire.block(block))
        self.of_items = frozenset(question.key for question in questionnaire.items)
        conditions = [question.shown_if for question in questionnaire.questions if question.shown_if is not None]
        self.mentioned = sorted({test.question for condition in conditions for test in condition.tests()})
        self._by_case: dict[tuple[str, ...], frozenset[str]] = {}
        self.measures = measures_of(questionnaire)
        self.behind_measures = frozenset(key for key in MEASURED if is_measured(schema.ITEMS, key, self.measures))

    @classmethod
    def of(cls, study: Study) -> QuestionFilter:
        questionnaire = questionnaire_of(study)
        shorter = for_items_without(questionnaire, study.design)
        return cls(questionnaire, None if shorter is questionnaire else cls(shorter))

    def of_slot(self, slot: Slot) -> QuestionFilter:
        return self.without_sample if self.without_sample is not None and slot.has_trailer is False else self

    def keys(self, block: str, answers: dict[str, Any]) -> frozenset[str]:
        """Keys of the block's questions that are asked given these answers."""
        # As text, since answers may be lists, and since True and 1 are not the same answer.
        case = (block, *(repr(answers.get(key)) for key in self.mentioned))
        if case not in self._by_case:
            questions = self.questionnaire.shown(block, answers)
            self._by_case[case] = frozenset(question.key for question in questions)
        return self._by_case[case]


@dataclass(frozen=True)
class Recommended:
    """One recommended item with what the participant answered about it; `measures` is None until complete.

    `answers` are those to questions that were asked, `not_asked` the keys of the others, `orders` the random orders in
    which the questions were shown.
    """

    slot: Slot
    answers: dict[str, Any]
    provenance: dict[str, str]
    measures: ItemMeasures | None
    looked_at: Mapping[str, float]  # how often each event of `LOOKED_AT` was; of samples, the seconds played
    not_asked: frozenset[str] = frozenset()
    orders: Mapping[str, Any] = field(default_factory=dict)
    explanation: str = ""  # as shown, in the participant's language


@dataclass(frozen=True)
class Record:
    """All data of one participant; `measures` is None until every question is answered.

    In a lean read `profile`, `recommendations`, `looked_at` and `public_id` are empty.

    `answers` are those to questions that were asked; `not_asked` are the keys of the others, hidden by earlier answers
    or on pages that were not reached.

    Where each person has several lists, `answers` are those to questions outside the lists, `items` those of all lists
    in order, `recommendations` the first list, and `measures` None: each of `occasions` has its own.
    """

    participant: Participant
    public_id: str
    answers: dict[str, Any]
    provenance: dict[str, str]
    profile: tuple[ProfileRating, ...]
    recommendations: RecommendationList | None
    items: tuple[Recommended, ...]
    measures: ParticipantMeasures | None
    n_answers: int = field(default=0)
    n_modelled: int = field(default=0)
    not_asked: frozenset[str] = frozenset()
    answered: tuple[tuple[int, str, datetime], ...] = ()  # rank, question and time of each answer, if requested
    occasions: tuple[OccasionRecord, ...] = ()  # only in studies with several lists, from the assignment on
    # Of the one list that the record is about, from 1
    occasion: int = 1
    side: int = 1
    is_over: bool = False  # whether the last page of this list was left

    def by_occasion(self) -> tuple[Record, ...]:
        """Return a record of each list: its items, its condition as that of the participant, and their answers about
        it beside those outside the lists. Lists side by side have one each, the leftmost with the answers about all of
        them. The record of a study with one list is its own.
        """
        return tuple(record for occasion in self.occasions for record in occasion.lists) or (self,)


@dataclass(frozen=True)
class OccasionRecord:
    """One occasion of a participant with several lists, whether or not it was reached.

    `answers` are those to questions inside the lists that were asked, `measures` those of the list, or None where
    answers are missing or several lists are beside one another.
    """

    occasion: int  # from 1
    answers: dict[str, Any]
    measures: ParticipantMeasures | None
    lists: tuple[Record, ...]  # of each list, from left to right

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions from left to right."""
        return tuple(record.participant.condition for record in self.lists if record.participant.condition is not None)

    @property
    def items(self) -> tuple[Recommended, ...]:
        """The items of the list, or of the leftmost of several."""
        return self.lists[0].items


def public_ids(study: Study) -> dict[int, str]:
    """Ids for publication, by the participant's key. They are meaningless outside the study and cannot be traced back
    to a participant without its salt.

    An id has six characters, or more if an earlier participant already has the same six. Ids therefore never change
    when other participants enter.
    """
    ids: dict[int, str] = {}
    prefixes: set[str] = set()
    rows = Participant.objects.filter(study=study).order_by("pk").values_list("pk", "code")
    for pk, code in rows.iterator(chunk_size=5000):
        # Keyed by a salt of the study, as codes are shown to participants and could be hashed by anyone.
        digest = hmac.digest(study.export_salt.encode(), code.encode(), "sha256")
        # Letters and digits that are not taken for one another, as people copy ids from tables by hand.
        whole = base64.b32encode(digest).decode().rstrip("=")
        length = next(n for n in range(PUBLIC_ID_LENGTH, len(whole) + 1) if whole[:n] not in prefixes)
        ids[pk] = whole[:length]
        prefixes.add(ids[pk])
    return ids


def place_reached(flow: Flow, participant: Participant) -> Place:
    """Return the place that a participant has reached."""
    if participant.status == ParticipantStatus.COMPLETED:
        return Place(flow.keys[-1])
    return Place(participant.step, participant.item_rank, participant.occasion)


@functools.lru_cache(maxsize=1000, typed=True)
def _measured(
    measures: frozenset[str], watched: Any, heard: Any, trailer_seen: Any, rating: Any
) -> ItemMeasures | None:
    # Cached, since few combinations occur.
    is_new = "son" in measures and not watched
    needed = [watched] * ("fon" in measures) + [rating] * ("accuracy" in measures) + [heard, trailer_seen] * is_new
    if None in needed:
        return None
    return item_measures(watched=watched, heard=heard, trailer_seen=trailer_seen, rating=rating, measures=measures)


class _Occasion(NamedTuple):
    """What several participants did on one occasion, by their keys; lists and their items by side."""

    answers: Mapping[int, dict[int, dict[str, AnswerRow]]]  # by rank and question
    looked_at: Mapping[int, dict[str, Counter[str]]]
    lists: Sequence[Mapping[int, RecommendationList]]
    slots: Sequence[Mapping[int, Sequence[Slot]]]

    def listed(self, key: int, side: int) -> tuple[RecommendationList | None, Sequence[Slot]]:
        return self.lists[side - 1].get(key), self.slots[side - 1].get(key, ())


class RecordReader:
    """Reads the records of one study's participants, who share condition and item objects.

    A lean read fetches answers only: ratings of known items are counted, and events are not read.
    """

    def __init__(self, study: Study, *, with_times: bool = False, is_lean: bool = False) -> None:
        self.is_lean = is_lean
        columns = ["participant_id", "rank", "question", "written", "provenance"]
        self.columns = [*columns, "answered_at"] if with_times else columns
        self.question_filter = QuestionFilter.of(study)
        self.flow = whole_flow(study.design)
        self._parsed: dict[str, Any] = {}
        self.conditions = {condition.pk: condition for condition in Condition.objects.filter(study=study)}
        self.items: dict[int, Item] = {}
        sequences = study.sequences.all() if self.flow.lists.is_several else ()
        self.sequences = {sequence.pk: sequence for sequence in sequences}
        # How many lists are side by side on each occasion
        self.sides = max((tuple(map(len, sequence.occasions)) for sequence in sequences), key=len, default=(1,))
        questionnaire = self.question_filter.questionnaire
        self.in_lists = {q.key for block in self.flow.repeated_blocks for q in questionnaire.block(block)}
        self.page_of = {page.block: page.key for page in self.flow.pages}

    def records(self, rows: QuerySet[Participant], ids: Mapping[int, str] | None = None) -> Iterator[Record]:
        """Every participant of `rows` with their data, in the order of `rows`; with `ids`, those who have one."""
        participants = rows.iterator(chunk_size=ROWS_AT_ONCE)
        while at_once := list(itertools.islice(participants, ROWS_AT_ONCE)):
            keys = [participant.pk for participant in at_once]
            occasions = [self._occasion(keys, occasion, n) for occasion, n in enumerate(self.sides, start=1)]
            profiles = {} if self.is_lean else self._profiles(keys)
            rated = _rated(keys) if self.is_lean else {}
            for participant in at_once:
                pk = participant.pk
                if ids is not None and pk not in ids:
                    continue
                if participant.condition_id is not None:
                    participant.condition = self.conditions[participant.condition_id]
                profile = tuple(profiles.get(pk, ()))
                n_modelled = sum(rating.provenance == Provenance.MODELLED for rating in profile)
                counts = rated.get(pk, (0, 0)) if self.is_lean else (len(profile), n_modelled)
                public_id = ids[pk] if ids else ""
                if self.sequences:
                    yield self._of_several(participant, public_id, occasions, profile, counts)
                    continue
                (only,) = occasions
                own, looked = only.answers.get(pk, {}), only.looked_at.get(pk, {})
                yield self._record(participant, public_id, own, only.listed(pk, 1), looked, profile, counts)

    def _occasion(self, keys: Sequence[int], occasion: int, n_sides: int) -> _Occasion:
        sides = range(1, n_sides + 1)
        return _Occasion(
            self._answers(keys, occasion),
            {} if self.is_lean else self._opened_items(keys, occasion),
            [{} if self.is_lean else _lists(keys, occasion, side) for side in sides],
            [self._slots(keys, occasion, side) for side in sides],
        )

    def _of_several(
        self,
        participant: Participant,
        public_id: str,
        occasions: Sequence[_Occasion],
        profile: tuple[ProfileRating, ...],
        rated: tuple[int, int],
    ) -> Record:
        """The record of a participant with several lists, and in it that of each occasion."""
        pk = participant.pk
        own = [read.answers.get(pk, {}) for read in occasions]
        outside = {key: row for key, row in own[0].get(0, {}).items() if key not in self.in_lists}
        whole = self._record(participant, public_id, {0: outside}, (None, ()), {}, profile, rated)
        if participant.sequence_id is None:
            return whole
        participant.sequence = self.sequences[participant.sequence_id]
        by_position = {condition.position: condition for condition in self.conditions.values()}
        records = []
        for number, positions in enumerate(participant.sequence.occasions, start=1):
            read, rows = occasions[number - 1], {**own[number - 1]}
            of_lists = {key: row for key, row in rows.get(0, {}).items() if key in self.in_lists}
            looked = read.looked_at.get(pk, {})
            lists = []
            for side, position in enumerate(positions, start=1):
                reader = copy.copy(participant)
                reader.condition = by_position[position]
                rows[0] = {**outside, **(of_lists if side == 1 else {})}  # once for lists beside one another
                record = self._record(reader, public_id, rows, read.listed(pk, side), looked, profile, (0, 0), number)
                lists.append(replace(record, side=side, measures=record.measures if len(positions) == 1 else None))
            answers = {key: value for key, value in lists[0].answers.items() if key in self.in_lists}
            records.append(OccasionRecord(number, answers, lists[0].measures, tuple(lists)))
        origins = [row.provenance for rows in own for answered in rows.values() for row in answered.values()]
        return replace(
            whole,
            occasions=tuple(records),
            items=tuple(item for occasion in records for record in occasion.lists for item in record.items),
            recommendations=records[0].lists[0].recommendations,
            measures=None,
            n_answers=len(origins) + rated[0],
            n_modelled=origins.count(Provenance.MODELLED) + rated[1],
        )

    def _answers(self, keys: Sequence[int], occasion: int) -> dict[int, dict[int, dict[str, AnswerRow]]]:
        answers: dict[int, dict[int, dict[str, AnswerRow]]] = defaultdict(dict)
        # As text, which `_value` parses once for all participants: few values differ.
        responses = Response.objects.filter(participant__in=keys, occasion=occasion)
        responses = responses.annotate(written=Cast("value", TextField()))
        rows = responses.order_by("participant_id", "rank", "question").values_list(*self.columns)
        for key, rank, question, written, *rest in rows.iterator(chunk_size=5000):
            answers[key].setdefault(rank, {})[question] = AnswerRow(self._value(written), *rest)
        return answers

    def _value(self, written: str) -> Any:
        # Numbers and booleans are parsed once for all participants.
        if written not in self._parsed:
            value = json.loads(written)
            if isinstance(value, dict | list) or len(self._parsed) >= MOST_CACHED:
                return value
            self._parsed[written] = value
        return self._parsed[written]

    def _opened_items(self, keys: Sequence[int], occasion: int) -> dict[int, dict[str, Counter[str]]]:
        """Item events from the recommendation list onwards; the rating page may show the same items earlier."""
        looked: dict[int, dict[str, Counter[str]]] = defaultdict(dict)
        pages = self.flow.listed if self.sequences else self.flow.with_list
        events = Event.objects.filter(
            participant__in=keys, kind__in=(*LOOKED_AT, SAMPLE_PLAYED), page__in=pages, occasion=occasion
        ).order_by("pk")
        for key, kind, facts in events.values_list("participant_id", "kind", "facts"):
            amount = facts["seconds"] if kind == SAMPLE_PLAYED else 1
            looked[key].setdefault(str(facts.get("item", "")), Counter())[kind] += amount
        return looked

    def _profiles(self, keys: Sequence[int]) -> dict[int, list[ProfileRating]]:
        rows = list(ProfileRating.objects.filter(participant__in=keys).order_by("rated_at", "id"))
        self._read_items([row.item_id for row in rows])
        profiles: dict[int, list[ProfileRating]] = defaultdict(list)
        for row in rows:
            row.item = self.items[row.item_id]
            profiles[row.participant_id].append(row)
        return profiles

    def _slots(self, keys: Sequence[int], occasion: int, side: int) -> dict[int, list[Slot]]:
        slots_of = RecommendedItem.objects.filter(recommendation_list__participant__in=keys)
        rows = list(
            slots_of.filter(recommendation_list__occasion=occasion, recommendation_list__side=side)
            .order_by("recommendation_list_id", "rank")
            .values_list("recommendation_list__participant", *OF_SLOT)
        )
        self._read_items([item for _, _, item, *_ in rows])
        slots: dict[int, list[Slot]] = defaultdict(list)
        for owner, rank, item, *facts in rows:
            slots[owner].append(Slot(rank, self.items[item], *facts))
        return slots

    def _read_items(self, keys: Sequence[int]) -> None:
        missing = sorted(set(keys) - self.items.keys())
        self.items |= {item.pk: item for item in Item.objects.filter(pk__in=missing)} if missing else {}

    def _has_reached(self, here: tuple[int, ...], block: str, rank: int, occasion: int) -> bool:
        # A page that was not reached has asked nothing, whatever its conditions say.
        page = self.page_of.get(block, "")
        at = occasion if self.flow.is_repeated(page) else 1
        return page != "" and here >= self.flow.order(Place(page, rank, at))

    def _record(
        self,
        participant: Participant,
        public_id: str,
        rows_by_rank: dict[int, dict[str, AnswerRow]],
        listed: tuple[RecommendationList | None, Sequence[Slot]],
        looked_at: dict[str, Counter[str]],
        profile: tuple[ProfileRating, ...],
        rated: tuple[int, int],
        occasion: int = 1,
    ) -> Record:
        question_filter = self.question_filter
        recommendations, slots = listed
        about, of_items = question_filter.about, question_filter.of_items
        whole = rows_by_rank.get(0, {})
        own = {key: row.value for key, row in whole.items()}
        here = self.flow.order(place_reached(self.flow, participant))
        asked_keys = frozenset[str]().union(
            *(
                question_filter.keys(block, own)
                for block in question_filter.questionnaire.whole
                if self._has_reached(here, block, 0, occasion)
            )
        )
        items = []
        for slot in slots:
            rows = rows_by_rank.get(slot.rank, {})
            of_item = {key: row.value for key, row in rows.items()}
            of_slot = question_filter.of_slot(slot)
            is_reached = self._has_reached(here, schema.ITEMS, slot.rank, occasion)
            shown = of_slot.keys(schema.ITEMS, {**own, **of_item}) if is_reached else frozenset()
            answers = {key: value for key, value in of_item.items() if key in shown or key not in of_items}
            provenance = {key: row.provenance for key, row in rows.items()}
            opened = looked_at.get(slot.item.external_id, Counter())
            orders = participant.shown_orders.get(schema.ITEMS, {})
            core_answers = {key: answers.get(key) for key in question_filter.behind_measures}
            if TRAILER_SEEN not in of_slot.of_items:  # an item without a sample is never asked about it
                core_answers[TRAILER_SEEN] = False
            measured = _measured(question_filter.measures, *map(core_answers.get, MEASURED))
            text = text_in(slot.explanation, participant.language)
            items.append(Recommended(slot, answers, provenance, measured, opened, of_items - shown, orders, text))
        is_over = participant.status == ParticipantStatus.COMPLETED
        if self.sequences:  # of several lists, whether the next is reached
            is_over = here >= self.flow.order(Place(self.flow.listed[0], 0, occasion + 1))
        is_whole, satisfaction = is_over, None
        if SATISFACTION in question_filter.measures:
            satisfaction = own.get(SATISFACTION)
            is_whole = satisfaction is not None
        scored = [item.measures for item in items if item.measures is not None]
        measures = None
        if items and len(scored) == len(items) and is_whole:
            measures = participant_measures(scored, satisfaction)
        origins = [row.provenance for rows in rows_by_rank.values() for row in rows.values()]
        n_rated, n_rated_by_model = rated
        return Record(
            participant=participant,
            public_id=public_id,
            answers={key: value for key, value in own.items() if key in asked_keys or key not in about},
            provenance={key: row.provenance for key, row in whole.items()},
            profile=profile,
            recommendations=recommendations,
            items=tuple(items),
            measures=measures,
            n_answers=len(origins) + n_rated,
            n_modelled=origins.count(Provenance.MODELLED) + n_rated_by_model,
            not_asked=frozenset(about - asked_keys),
            answered=tuple(
                (rank, key, row.answered_at)
                for rank, rows in rows_by_rank.items()
                for key, row in rows.items()
                if row.answered_at is not None
            ),
            occasion=occasion,
            is_over=is_over,
        )


def records(
    study: Study, modes: Sequence[str], *, completed_only: bool = False, with_times: bool = False
) -> Iterator[Record]:
    """Every participant of these modes with their answers and recommendations, by order of entry, in batches.

    Participants who enter during the read are skipped.
    """
    rows = (
        Participant.objects.filter(study=study, mode__in=modes)
        .select_related("version", "sequence", "list_request", "interview")
        .defer("version__snapshot")  # the whole design, which would be read anew for every participant
        .order_by("pk")
    )
    if completed_only:
        rows = rows.filter(status=ParticipantStatus.COMPLETED)
    return RecordReader(study, with_times=with_times).records(rows, public_ids(study))


def completed_answers(
    study: Study, mode: str, statuses: Collection[str] = (ParticipantStatus.COMPLETED,)
) -> Iterator[Record]:
    """Every completed participant of one mode, or those with other statuses, with their answers and measures alone, by
    order of entry.

    For reports on tens of thousands of participants: profiles, events, public ids and lists are not read.
    """
    rows = Participant.objects.filter(study=study, mode=mode, status__in=statuses).order_by("pk")
    return RecordReader(study, is_lean=True).records(rows.only(*OF_LEAN))


def identifying_answers(study: Study) -> QuerySet[Response]:
    """The answers that name people and are still there: neither declined nor erased."""
    keys = questionnaire_of(study).identifying
    rows = Response.objects.filter(participant__study=study, question__in=keys)
    return rows.exclude(value=dict(DECLINED)).exclude(value=dict(ERASED))
