"""Answers as tidy rows: one a participant, one a participant and item; exports and reports read these."""

from __future__ import annotations

import base64
import functools
import hmac
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from studies import flow
from studies.enums import ParticipantStatus, Provenance
from studies.flow import missing_of_item
from studies.measures import ItemMeasures, ParticipantMeasures, item_measures, participant_measures
from studies.models import Participant, ProfileRating, RecommendationList, Study
from studies.questionnaires import schema
from studies.questionnaires.schema import questionnaire_from
from studies.selectors.gathering import WHOLE, Asker, Bundle, Gatherer, Slot

ROWS_AT_ONCE = 400
PUBLIC_ID_LENGTH = 6  # as long as it takes to tell a study's participants apart; longer where two would be equal
RATING = "rating"
MEASURED = ("watched", "heard", "trailer_seen", RATING)
OF_LEAN = ("study", "condition", "mode", "status", "step", "item_rank", "shown_orders")  # columns of a participant
LOOKED_AT = ("details_opened", "trailer_opened")


@dataclass(frozen=True)
class Recommended:
    """One recommended item with what the participant answered about it; `measures` is None until complete.

    `answers` hold what was asked; `not_asked` the keys of the questions that were not, `orders` the random orders in
    which its questions were shown.
    """

    slot: Slot
    answers: dict[str, Any]
    provenance: dict[str, str]
    measures: ItemMeasures | None
    looked_at: frozenset[str]
    not_asked: frozenset[str] = frozenset()
    orders: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """Everything one participant gave and got; `measures` is None until every question is answered.

    Of a lean reading `profile`, `recommendations` and what was looked at are empty, and so is `public_id`.

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
    answered: tuple[tuple[int, str, datetime], ...] = ()  # rank, question and time of each answer, where asked for


def _salted(salt: str, code: str) -> str:
    digest = hmac.digest(salt.encode(), code.encode(), "sha256")
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


@functools.lru_cache(maxsize=1000, typed=True)
def _measured(watched: Any, heard: Any, trailer_seen: Any, rating: Any) -> ItemMeasures | None:
    """What answers about one item measure, None where one is missing; people give the same few again and again."""
    given = {"watched": watched, "heard": heard, "trailer_seen": trailer_seen, "rating": rating}
    if missing_of_item(given):
        return None
    return item_measures(watched=watched, heard=heard, trailer_seen=trailer_seen, rating=rating)


def _asked(asker: Asker, block: str, given: dict[str, Any], participant: Participant) -> frozenset[str]:
    """Keys of the block's questions that were asked of the participant."""
    step = participant.step if participant.status != ParticipantStatus.COMPLETED else flow.THANKS
    if flow.STEPS.index(step) < flow.STEPS.index(block):
        return frozenset()
    return asker.asked(block, given)


def _record(bundle: Bundle, public_id: str, asker: Asker, *, is_lean: bool) -> Record:
    participant = bundle.participant
    about, of_items = asker.about, asker.of_items
    whole = bundle.answers.get(0, {})
    own = {key: row.value for key, row in whole.items()}
    asked = frozenset[str]().union(*(_asked(asker, block, own, participant) for block in WHOLE))
    items = []
    for slot in bundle.slots:
        given = bundle.answers.get(slot.rank, {})
        of_item = {key: row.value for key, row in given.items()}
        is_ahead = participant.step == flow.ITEMS and slot.rank > participant.item_rank
        shown = frozenset() if is_ahead else _asked(asker, schema.ITEMS, {**own, **of_item}, participant)
        answers = {key: value for key, value in of_item.items() if key in shown or key not in of_items}
        provenance = {key: row.provenance for key, row in given.items()}
        opened = frozenset(bundle.looked_at.get(slot.item.external_id, ()))
        orders = participant.shown_orders.get(schema.ITEMS, {})
        measured = _measured(*(answers.get(key) for key in MEASURED))
        items.append(Recommended(slot, answers, provenance, measured, opened, of_items - shown, orders))
    satisfaction = own.get("satisfaction")
    scored = [item.measures for item in items if item.measures is not None]
    measures = None
    if items and len(scored) == len(items) and satisfaction is not None:
        measures = participant_measures(scored, satisfaction)
    origins = [row.provenance for given in bundle.answers.values() for row in given.values()]
    n_rated, n_rated_by_model = bundle.rated
    return Record(
        participant=participant,
        public_id=public_id,
        answers={key: value for key, value in own.items() if key in asked or key not in about},
        provenance={key: row.provenance for key, row in whole.items()},
        profile=bundle.profile,
        recommendations=None if is_lean else getattr(participant, "recommendation_list", None),
        items=tuple(items),
        measures=measures,
        n_answers=len(origins) + n_rated,
        n_modelled=origins.count(Provenance.MODELLED) + n_rated_by_model,
        not_asked=frozenset(about - asked),
        answered=tuple(
            (rank, key, row.answered_at)
            for rank, given in bundle.answers.items()
            for key, row in given.items()
            if row.answered_at is not None
        ),
    )


def records(
    study: Study, modes: Sequence[str], *, completed_only: bool = False, with_times: bool = False
) -> Iterator[Record]:
    """Every participant of these modes with what they gave and got, by order of entry, a few at a time.

    Whoever enters while they are read is passed over.
    """
    rows = (
        Participant.objects.filter(study=study, mode__in=modes)
        .select_related("version", "recommendation_list", "interview")
        .order_by("pk")
    )
    if completed_only:
        rows = rows.filter(status=ParticipantStatus.COMPLETED)
    ids, asker = public_ids(study), Asker(questionnaire_from(study.questionnaire))
    for bundle in Gatherer(study, LOOKED_AT, with_times=with_times).bundles(rows, ROWS_AT_ONCE):
        if bundle.participant.pk in ids:
            yield _record(bundle, ids[bundle.participant.pk], asker, is_lean=False)


def completed_answers(study: Study, mode: str) -> Iterator[Record]:
    """Every completed participant of one mode with their answers and measures alone, by order of entry.

    What reports are made of, for tens of thousands: profiles, events, public ids and the list itself are left out.
    """
    rows = Participant.objects.filter(study=study, mode=mode, status=ParticipantStatus.COMPLETED).order_by("pk")
    asker = Asker(questionnaire_from(study.questionnaire))
    for bundle in Gatherer(study, (), is_lean=True).bundles(rows.only(*OF_LEAN), ROWS_AT_ONCE):
        yield _record(bundle, "", asker, is_lean=True)


def records_of(study: Study, people: Collection[int], modes: Sequence[str]) -> Iterator[Record]:
    """Those of these participants, by their keys, who are of these modes; as `records` has them, but no public id."""
    asker, gatherer = Asker(questionnaire_from(study.questionnaire)), Gatherer(study, LOOKED_AT)
    keys = sorted(people)
    for start in range(0, len(keys), ROWS_AT_ONCE):
        rows = Participant.objects.filter(study=study, mode__in=modes, pk__in=keys[start : start + ROWS_AT_ONCE])
        for bundle in gatherer.bundles(rows.select_related("recommendation_list").order_by("pk"), ROWS_AT_ONCE):
            yield _record(bundle, "", asker, is_lean=False)
