"""Answers as tidy rows: one a participant, one a participant and item; exports and reports read these."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from django.db.models import Prefetch

from studies import flow
from studies.enums import Mode, ParticipantStatus, Provenance
from studies.flow import missing_of_item
from studies.measures import ItemMeasures, ParticipantMeasures, item_measures, participant_measures
from studies.models import (
    Event,
    Participant,
    ProfileRating,
    RecommendationList,
    RecommendedItem,
    Response,
    Study,
)
from studies.questionnaires import schema
from studies.questionnaires.schema import Questionnaire, questionnaire_from

WHOLE = (schema.ABOUT, schema.OVERALL, schema.AFTER)  # the blocks that are not about items
ROWS_AT_ONCE = 200
PUBLIC_ID_LENGTH = 6  # as long as it takes to tell a study's participants apart; longer where two would be equal
LOOKED_AT = ("details_opened", "trailer_opened")

PARTICIPANT_COLUMNS = (
    "code", "public_id", "mode", "status", "condition", "stratum", "n_items", "accuracy_sum", "fon_sum",
    "son_sum", "satisfaction", "accuracy", "fon", "son", "n_liking", "liking_sum", "n_interest", "interest_sum",
    "n_answers", "n_modelled", "share_modelled", "source_user", "language", "consented_at", "completed_at",
)  # fmt: skip
ITEM_COLUMNS = (
    "code", "public_id", "mode", "status", "condition", "rank", "item", "title", "watched", "heard",
    "trailer_seen", "rating", "fon", "son", "branch", "score", "is_filled", "rating_provenance",
)  # fmt: skip


@dataclass(frozen=True)
class Recommended:
    """One recommended item with what the participant answered about it; `measures` is None until complete.

    `answers` hold what was asked; `not_asked` the keys of the questions that were not, `orders` the random orders in
    which its questions were shown.
    """

    slot: RecommendedItem
    answers: dict[str, Any]
    provenance: dict[str, str]
    measures: ItemMeasures | None
    looked_at: frozenset[str]
    not_asked: frozenset[str] = frozenset()
    orders: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """Everything one participant gave and got; `measures` is None until every question is answered.

    `answers` hold what was asked; `not_asked` the keys of the questions that were not, because earlier answers hid
    them or because their page was not reached.
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


def _salted(salt: str, code: str) -> str:
    digest = hmac.new(salt.encode(), code.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode().rstrip("=")


def public_ids(study: Study) -> dict[int, str]:
    """Ids for publication by the participant's key: they name nobody outside this study, and lead back to nobody
    without its salt.

    Six characters. Where a later participant's six are taken already theirs are longer, so that nobody's id
    changes when others enter.
    """
    found: dict[int, str] = {}
    taken: set[str] = set()
    rows = Participant.objects.filter(study=study).order_by("pk").values_list("pk", "code")
    for pk, code in rows.iterator(chunk_size=5000):
        whole = _salted(study.export_salt, code)
        length = next(n for n in range(PUBLIC_ID_LENGTH, len(whole) + 1) if whole[:n] not in taken)
        found[pk] = whole[:length]
        taken.add(found[pk])
    return found


def _measured(answers: dict[str, Any]) -> ItemMeasures | None:
    if missing_of_item(answers):
        return None
    return item_measures(
        watched=answers["watched"],
        heard=answers.get("heard"),
        trailer_seen=answers.get("trailer_seen"),
        rating=answers["rating"],
    )


def _asked(
    questionnaire: Questionnaire, block: str, given: Mapping[str, Any], participant: Participant
) -> frozenset[str]:
    """Keys of the block's questions that were asked of the participant."""
    step = participant.step if participant.status != ParticipantStatus.COMPLETED else flow.THANKS
    if flow.STEPS.index(step) < flow.STEPS.index(block):
        return frozenset()
    return frozenset(question.key for question in questionnaire.asked(block, given))


def _record(participant: Participant, public_id: str, questionnaire: Questionnaire) -> Record:
    by_rank: dict[int, dict[str, Response]] = {}
    for response in participant.responses.all():
        by_rank.setdefault(response.rank, {})[response.question] = response
    looked: dict[str, set[str]] = {}
    for event in participant.events.all():
        looked.setdefault(str(event.facts.get("item", "")), set()).add(event.kind)
    recommendations = getattr(participant, "recommendation_list", None)
    about = {question.key for block in WHOLE for question in questionnaire.block(block)}
    of_items = {question.key for question in questionnaire.items}
    whole = by_rank.get(0, {})
    own = {key: row.value for key, row in whole.items()}
    asked = frozenset[str]().union(*(_asked(questionnaire, block, own, participant) for block in WHOLE))
    items = []
    for slot in recommendations.slots.all() if recommendations else ():
        given = by_rank.get(slot.rank, {})
        of_item = {key: row.value for key, row in given.items()}
        is_ahead = participant.step == flow.ITEMS and slot.rank > participant.item_rank
        shown = frozenset() if is_ahead else _asked(questionnaire, schema.ITEMS, {**own, **of_item}, participant)
        answers = {key: value for key, value in of_item.items() if key in shown or key not in of_items}
        provenance = {key: row.provenance for key, row in given.items()}
        opened = frozenset(looked.get(slot.item.external_id, ()))
        orders = participant.shown_orders.get(schema.ITEMS, {})
        items.append(
            Recommended(slot, answers, provenance, _measured(answers), opened, frozenset(of_items - shown), orders)
        )
    satisfaction = whole["satisfaction"].value if "satisfaction" in whole else None
    scored = [item.measures for item in items if item.measures is not None]
    measures = None
    if items and len(scored) == len(items) and satisfaction is not None:
        measures = participant_measures(scored, satisfaction)
    origins = [row.provenance for given in by_rank.values() for row in given.values()]
    origins += [rating.provenance for rating in participant.profile.all()]
    return Record(
        participant=participant,
        public_id=public_id,
        answers={key: value for key, value in own.items() if key in asked or key not in about},
        provenance={key: row.provenance for key, row in whole.items()},
        profile=tuple(participant.profile.all()),
        recommendations=recommendations,
        items=tuple(items),
        measures=measures,
        n_answers=len(origins),
        n_modelled=origins.count(Provenance.MODELLED),
        not_asked=frozenset(about - asked),
    )


def records(study: Study, modes: Sequence[str], *, completed_only: bool = False) -> Iterator[Record]:
    """Every participant of these modes with what they gave and got, by order of entry, a few at a time."""
    rows = (
        Participant.objects.filter(study=study, mode__in=modes)
        .select_related("condition", "version", "recommendation_list", "interview")
        .prefetch_related(
            "responses",
            Prefetch("profile", queryset=ProfileRating.objects.select_related("item").order_by("rated_at", "id")),
            Prefetch(
                "recommendation_list__slots", queryset=RecommendedItem.objects.select_related("item").order_by("rank")
            ),
            Prefetch("events", queryset=Event.objects.filter(kind__in=LOOKED_AT)),
        )
        .order_by("pk")
    )
    if completed_only:
        rows = rows.filter(status=ParticipantStatus.COMPLETED)
    ids, questionnaire = public_ids(study), questionnaire_from(study.questionnaire)
    for participant in rows.iterator(chunk_size=ROWS_AT_ONCE):
        yield _record(participant, ids[participant.pk], questionnaire)


def _label(record: Record) -> str | None:
    return record.participant.condition.label if record.participant.condition else None


def _of_participant(record: Record) -> dict[str, Any]:
    participant, found = record.participant, record.measures
    return {
        "code": participant.code,
        "public_id": record.public_id,
        "mode": participant.mode,
        "status": participant.status,
        "condition": _label(record),
        "stratum": participant.stratum,
        "n_items": found.n_items if found else None,
        "accuracy_sum": found.accuracy_sum if found else None,
        "fon_sum": found.fon_sum if found else None,
        "son_sum": found.son_sum if found else None,
        "satisfaction": found.satisfaction if found else None,
        "accuracy": found.accuracy if found else None,
        "fon": found.fon if found else None,
        "son": found.son if found else None,
        "n_liking": found.n_liking if found else None,
        "liking_sum": found.liking_sum if found else None,
        "n_interest": found.n_interest if found else None,
        "interest_sum": found.interest_sum if found else None,
        "n_answers": record.n_answers,
        "n_modelled": record.n_modelled,
        "share_modelled": record.n_modelled / record.n_answers if record.n_answers else None,
        "source_user": participant.source_user,
        "language": participant.language,
        "consented_at": participant.consented_at,
        "completed_at": participant.completed_at,
    }


def _of_item(record: Record, item: Recommended) -> dict[str, Any]:
    found = item.measures
    return {
        "code": record.participant.code,
        "public_id": record.public_id,
        "mode": record.participant.mode,
        "status": record.participant.status,
        "condition": _label(record),
        "rank": item.slot.rank,
        "item": item.slot.item.external_id,
        "title": str(item.slot.item),
        "watched": item.answers.get("watched"),
        "heard": item.answers.get("heard"),
        "trailer_seen": item.answers.get("trailer_seen"),
        "rating": item.answers.get("rating"),
        "fon": found.fon if found else None,
        "son": found.son if found else None,
        "branch": found.branch if found else None,
        "score": item.slot.score,
        "is_filled": item.slot.is_filled,
        "rating_provenance": item.provenance.get("rating"),
    }


def participants_frame(study: Study, mode: str = Mode.LIVE, *, completed_only: bool = True) -> pd.DataFrame:
    """One row a participant of that mode, in order of entry, with the sums of whole numbers behind each mean."""
    rows = [_of_participant(record) for record in records(study, [mode], completed_only=completed_only)]
    return pd.DataFrame(rows, columns=list(PARTICIPANT_COLUMNS))


def items_frame(study: Study, mode: str = Mode.LIVE, *, completed_only: bool = True) -> pd.DataFrame:
    """One row a participant and recommended item, in order of entry and rank."""
    rows = [
        _of_item(record, item)
        for record in records(study, [mode], completed_only=completed_only)
        for item in record.items
    ]
    return pd.DataFrame(rows, columns=list(ITEM_COLUMNS))
