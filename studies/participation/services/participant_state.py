"""A participant's current step and the orders shown to them: the row under its lock, what it allows, and moving on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from core.provenance import derived_seed
from studies.design.selectors.placeholders import conditions_of, content_of, presentation_of
from studies.design.selectors.texts import languages_of
from studies.enums import ParticipantStatus, StudyStatus
from studies.instrument.flow import Flow, Place
from studies.instrument.questionnaires.orders import order_of_questions, order_within
from studies.models import Participant, RecommendationList

SEEN_EVERY = timedelta(seconds=15)
# The fields that change during participation.
STATE = (
    "status", "step", "item_rank", "occasion", "condition_id", "sequence_id", "stratum", "place", "language",
    "shown_orders", "source_user", "completion_code", "assigned_at", "completed_at", "last_seen_at", "erased_at",
    "progressed_at", "reached_at", "waiting_since", "network",
)  # fmt: skip
_locked_state = Participant.objects.order_by().values(*STATE, "study__status")


def place_of(participant: Participant) -> Place:
    """The participant's current place."""
    return Place(participant.step, participant.item_rank, participant.occasion)


def flow_of_participant(participant: Participant) -> Flow:
    """The pages of the participant's study."""
    return content_of(participant.study).flow


def kind_of_page(participant: Participant) -> str:
    """The kind of the page that the participant is at."""
    return flow_of_participant(participant).page(participant.step).kind


def list_lengths(participant: Participant) -> tuple[int, ...]:
    """How many items the participant's list of each occasion has: the longest of those beside one another."""
    design = participant.study.design
    return tuple(
        max(design.listed_in(presentation_of(participant, occasion, side)) for side in range(1, len(shown) + 1))
        for occasion, shown in enumerate(conditions_of(participant) or ((0,),), start=1)
    )


def lock(participant: Participant) -> None:
    """Lock the participant's row for the transaction at hand, and read its state and the study's status again."""
    # The participant's row alone: locking the study's too would serialise all participants of a study.
    row = _locked_state.select_for_update(of=("self",)).get(pk=participant.pk)
    participant.study.status = row.pop("study__status")
    for name, value in row.items():
        # The instance was read before the lock; what another tab has changed meanwhile decides.
        setattr(participant, name, value)


def lock_open(participant: Participant) -> None:
    """Lock the participant's row, as `lock`; raise `study.closed` once the study is closed."""
    lock(participant)
    if participant.study.status == StudyStatus.CLOSED and participant.status != ParticipantStatus.COMPLETED:
        raise ParallaxError("study.closed", _("This study has ended and no longer accepts answers."))


def touch(participant: Participant, **changes: Any) -> None:
    """Record that the participant has made progress, and `changes` in the same update.

    Without changes, a recent record is not updated, since the limits are in minutes.
    """
    now = timezone.now()
    # Saves one write in most of the requests of a participant who answers quickly.
    if not changes and now - (participant.progressed_at or participant.last_seen_at) < SEEN_EVERY:
        return
    changes |= {"last_seen_at": now, "progressed_at": now}
    Participant.objects.filter(pk=participant.pk).update(updated_at=now, **changes)
    for name, value in changes.items():
        setattr(participant, name, value)


def change_language(*, participant: Participant, language: str) -> None:
    """Store the language a participant reads; one that the study is not written in changes nothing."""
    if language != participant.language and language in languages_of(participant.study):
        Participant.objects.filter(pk=participant.pk).update(language=language)
        participant.language = language


def not_active_error(participant: Participant) -> ParallaxError:
    """The error for a participant whose status does not allow answers."""
    return ParallaxError(
        "study.not_active",
        _("You cannot answer in this study at the moment, so this answer was not saved."),
        {"status": participant.status, "code": participant.code},
    )


def require_active(participant: Participant) -> None:
    """Raise `study.not_active` unless the participant holds a slot and is under way."""
    if participant.status != ParticipantStatus.ACTIVE:
        raise not_active_error(participant)


def out_of_order(participant: Participant) -> ParallaxError:
    """The error for a page that is not open to the participant now; it contains their current place."""
    here = place_of(participant)
    return ParallaxError(
        "study.out_of_order",
        _("This page is not available at this point in the study."),
        {"step": here.page, "rank": here.rank},
    )


def require_open(participant: Participant, at: Place) -> None:
    """Raise `study.not_active` or `study.out_of_order` unless answers on this page may be given now."""
    flow, status = flow_of_participant(participant), participant.status
    has_no_slot_yet = status == ParticipantStatus.CONSENTED and flow.is_before_assignment(at)
    if status != ParticipantStatus.ACTIVE and not has_no_slot_yet:
        raise not_active_error(participant)
    if not flow.may_change(place_of(participant), at) or at not in flow.places(list_lengths(participant)):
        raise out_of_order(participant)


def advance(participant: Participant, left: Place) -> None:
    """Move on from `left`, unless the participant has done so already."""
    flow = flow_of_participant(participant)
    # A page posted twice, or from an older tab, must not bring someone back.
    if flow.order(place_of(participant)) > flow.order(left):
        return
    then = flow.neighbour(left, 1, list_lengths(participant))
    touch(participant, step=then.page, item_rank=then.rank, occasion=then.occasion, reached_at=timezone.now())


def recommendation_list(participant: Participant) -> RecommendationList:
    """The participant's list with its items, the first of several; raises `study.no_list` before there is one."""
    lists = RecommendationList.objects.filter(participant=participant.pk).order_by("occasion", "side")
    stored = lists.prefetch_related("slots__item").first()
    if stored is None:
        raise ParallaxError(
            "study.no_list", _("There are no recommendations yet. Please finish the previous step first.")
        )
    return stored


def shown_orders(*, participant: Participant, block: str) -> dict[str, Any]:
    """The orders of a block: ``questions`` as keys, and ``within`` the choices or rows of each question.

    Empty if nothing in the block is randomised. Drawn from the study's seed and the participant's code
    when the block is first shown, and never again: questions of several lists have one order, in which they are easier
    to answer again.
    """
    questions = content_of(participant.study).questionnaire.block(block)
    if not any(question.random_group or question.random_order for question in questions):
        return {}
    stored = participant.shown_orders.get(block)
    if stored is not None:
        return dict(stored)
    seed = derived_seed(participant.study.seed, "questions", participant.code)
    orders: dict[str, Any] = {"within": {q.key: list(order_within(q, seed)) for q in questions if q.random_order}}
    if any(question.random_group for question in questions):
        orders["questions"] = list(order_of_questions(questions, seed))
    with transaction.atomic():
        current = Participant.objects.select_for_update(of=("self",)).get(pk=participant.pk)
        # Two tabs may open the page at once: the order that was stored first is the one both show.
        if block not in current.shown_orders:
            current.shown_orders = {**current.shown_orders, block: orders}
            Participant.objects.filter(pk=current.pk).update(shown_orders=current.shown_orders)
    participant.shown_orders = current.shown_orders
    return dict(current.shown_orders[block])
