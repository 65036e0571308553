"""Slots for newcomers and returning participants: assigned in the order of a queue, and held by progress only.

A slot stalls when its holder makes no progress for the study's `progress_minutes`, or stays on one page for
LONGEST_PAGE times as long. It yields as soon as someone waits for it. Of one network, only a share of the open slots
can be unfinished at the same time; those beyond it wait, and delay no one from other networks.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from core.transitions import move
from studies.allocation.selectors.allocations import assigned_to, n_slots
from studies.allocation.services.slots import claim_slot, end_participation, full_quota, locked_study, retake_slot
from studies.design.selectors.placeholders import content_of
from studies.enums import PARTICIPANT_MOVES, Entrance, Mode, ParticipantStatus, StudyStatus
from studies.models import ListRequest, Participant, Study
from studies.participation.services.entry_limits import watch_enrolment
from studies.participation.services.participant_state import place_of
from studies.recruitment.selectors.recruitment import RecruitmentSettings, recruiting_of

logger = logging.getLogger(__name__)

HERE = timedelta(minutes=1)  # who waits is given a slot if they were seen this recently; their page asks every 10 s
LONGEST_PAGE = 3  # times `progress_minutes`
NETWORK_SHARE, LEAST_PER_NETWORK = 0.05, 2  # of the slots without a completed participant
FULL, FULL_CONDITION, CROWDED = "Every condition is full.", "Their condition is full.", "Their network holds its share."


def stalled_slots(study: Study, moment: datetime, minutes: float | None = None) -> QuerySet[Participant]:
    """Holders without progress for that time, by default the study's `progress_minutes`; interviews never stall."""
    limit = timedelta(minutes=recruiting_of(study).progress_minutes)
    allowed = limit if minutes is None else timedelta(minutes=minutes)
    return Participant.objects.filter(
        Q(progressed_at__lte=moment - allowed) | Q(reached_at__lte=moment - LONGEST_PAGE * limit),
        study=study,
        mode=Mode.LIVE,
        status=ParticipantStatus.ACTIVE,
        place__isnull=False,
    ).exclude(entrance=Entrance.INTERVIEW)


def has_excess_queue(study: Study, moment: datetime) -> bool:
    """Whether those who wait outnumber the slots of a full study that stall, or soon will."""
    soon = recruiting_of(study).progress_minutes / 2
    return queue_length(study, moment) >= stalled_slots(study, moment, soon).count()


def _queue(study: Study, moment: datetime) -> QuerySet[Participant]:
    """Those who wait and were here recently; those who are away keep their position in the queue."""
    statuses = (ParticipantStatus.CONSENTED, ParticipantStatus.ABANDONED)
    return Participant.objects.filter(
        study=study, mode=Mode.LIVE, status__in=statuses, waiting_since__isnull=False, last_seen_at__gt=moment - HERE
    ).order_by("waiting_since", "pk")


def queue_length(study: Study, moment: datetime, before: Participant | None = None) -> int:
    """How many wait, or wait before that participant, without those whose own network holds its share."""
    rows, own = _queue(study, moment), ""
    if before is not None:
        is_earlier = Q(waiting_since__lt=before.waiting_since) | Q(waiting_since=before.waiting_since, pk__lt=before.pk)
        rows, own = rows.filter(is_earlier), before.network
    most = _most_of_network(study, recruiting_of(study))
    crowded = [network for network, n in _unfinished(study).items() if n >= most and network != own]
    return rows.exclude(network__in=crowded).count()


def _n_open(study: Study) -> int:
    slots = Participant.objects.filter(study=study, mode=Mode.LIVE, place__isnull=False)
    return max(0, n_slots(study) - slots.filter(status=ParticipantStatus.COMPLETED).count())


def _most_of_network(study: Study, recruiting: RecruitmentSettings) -> int:
    return recruiting.most_per_network or max(LEAST_PER_NETWORK, int(NETWORK_SHARE * _n_open(study)))


def _unfinished(study: Study) -> Counter[str]:
    slots = Participant.objects.filter(
        study=study, mode=Mode.LIVE, status=ParticipantStatus.ACTIVE, place__isnull=False
    ).exclude(network="")
    return Counter(dict(slots.order_by().values_list("network").annotate(n=Count("pk"))))


def request_slot(*, study: Study, participant: Participant, now: datetime) -> None:
    """Give a participant a slot, after those who wait already; otherwise they wait too, or find the study full.

    The caller holds the study's lock, then the participant's, and stores nothing of the participant.
    """
    queued: Sequence[Participant] = ()
    if participant.mode == Mode.LIVE and study.status == StudyStatus.LIVE:
        waiting = _queue(study, now).exclude(pk=participant.pk)
        # In the queue's order for every request, so that two of them cannot wait for each other's rows.
        queued = list(waiting.select_for_update(of=("self",)))
    # By time, then key: the order must be one that does not change between two requests.
    people = sorted([*queued, participant], key=lambda each: (each.waiting_since or now, each.pk))
    refused = _serve(study, people, now)
    reason = refused.get(participant.pk)
    if reason is None:
        return
    state: dict[str, Any] = {"stratum": participant.stratum, "last_seen_at": now}
    if _may_wait(study, participant, refused):
        state |= {"waiting_since": participant.waiting_since or now, "network": participant.network}
        Participant.objects.filter(pk=participant.pk).update(**state)
        participant.waiting_since, participant.last_seen_at = state["waiting_since"], now
    else:
        state |= {"waiting_since": None, "network": ""}
        move(participant, to=ParticipantStatus.QUOTA_FULL, allowed=PARTICIPANT_MOVES, reason=reason, **state)


def _may_wait(study: Study, participant: Participant, refused: dict[int, str]) -> bool:
    """Whether a slot can still open for someone who was refused one, after those before them.

    Who comes back to a full condition does not wait; nor does an interview.
    """
    if participant.mode != Mode.LIVE or participant.entrance == Entrance.INTERVIEW:
        return False
    if refused[participant.pk] == CROWDED:
        return True
    answers = _answers(study, participant)
    of_completed = frozenset({ParticipantStatus.COMPLETED})
    if participant.assigned_at or full_quota(study, participant.mode, answers, of_completed):
        return False
    before = list(refused.values())[: list(refused).index(participant.pk)]
    return len(before) - before.count(CROWDED) < _n_open(study)


def _answers(study: Study, participant: Participant) -> dict[str, Any]:
    if not study.design.quotas:
        return {}
    return dict(participant.responses.filter(rank=0).values_list("question", "value"))


def _serve(study: Study, people: Sequence[Participant], now: datetime) -> dict[int, str]:
    """Give slots to people in their order, and return what was full for each of the others, by their key."""
    recruiting = recruiting_of(study)
    is_live = people[-1].mode == Mode.LIVE
    has_networks = is_live and any(person.network for person in people)
    unfinished = _unfinished(study) if has_networks else Counter[str]()
    most = _most_of_network(study, recruiting) if has_networks else 0
    refused: dict[int, str] = {}
    released: set[str] = set()  # networks whose stalled slots were released; "" for all

    def attempt(person: Participant) -> str:
        if person.network and unfinished[person.network] >= most:
            return CROWDED
        # The participants before them found every condition full, so the search need not be repeated for each.
        if person.assigned_at is None and FULL in refused.values() and person.entrance != Entrance.INTERVIEW:
            return FULL
        return _take(study, person, now)

    for person in people:
        reason = attempt(person)
        network = person.network if reason == CROWDED else ""
        # Stalled slots are released only once somebody needs one: holders who come back late lose nothing otherwise.
        if reason and is_live and not {network, ""} & released:
            released.add(network)
            if _release_stalled(study, now, network):
                unfinished = _unfinished(study) if has_networks else unfinished
                reason = attempt(person)
        if reason:
            refused[person.pk] = reason
        else:
            unfinished[person.network] += 1
    if is_live and len(refused) < len(people) and study.status == StudyStatus.LIVE:
        watch_enrolment(study=study, recruiting=recruiting, now=now)
    return refused


def _release_stalled(study: Study, now: datetime, network: str) -> int:
    holders = stalled_slots(study, now).order_by("pk").select_for_update(of=("self",)).select_related("condition")
    if network:
        holders = holders.filter(network=network)
    reason = "No progress, and the slot was needed."
    for holder in holders:
        end_participation(participant=holder, to=ParticipantStatus.ABANDONED, reason=reason)
    return len(holders)


def _take(study: Study, participant: Participant, now: datetime) -> str:
    quota = full_quota(study, participant.mode, _answers(study, participant))
    if quota is not None:
        return f"The quota {quota.name} is full."
    changes: dict[str, Any] = {"progressed_at": now, "reached_at": now, "last_seen_at": now, "waiting_since": None}
    reason = "Came back to their own condition."
    is_chosen = participant.mode == Mode.PREVIEW and participant.arm_id is not None
    if is_chosen or participant.assigned_at is not None:
        slot = retake_slot(study=study, participant=participant)
        if slot is None:
            return FULL_CONDITION
    else:
        assigned = claim_slot(study=study, participant=participant, stratum=participant.stratum)
        if assigned is None:
            return FULL
        arm, slot = assigned
        changes |= assigned_to(arm)
    if participant.assigned_at is None:
        reason = "Took a slot."
        flow, here = content_of(study).flow, place_of(participant)
        then = flow.neighbour(here, 1) if flow.page(here.page).assigns else here
        changes |= {"stratum": participant.stratum, "step": then.page, "assigned_at": now}
    changes |= {"place": slot, "network": participant.network}
    move(participant, to=ParticipantStatus.ACTIVE, allowed=PARTICIPANT_MOVES, reason=reason, **changes)
    logger.info("slot study=%s participant=%s stratum=%s", study.slug, participant.code, participant.stratum)
    return ""


def release_idle(*, now: datetime | None = None) -> int:
    """Mark participants idle past their study's limit as abandoned, release their slots, and return their number.

    Safe to run at any time and concurrently: each participant is checked again
    under the study's lock.
    """
    moment = now or timezone.now()
    released = 0
    open_statuses = (ParticipantStatus.CONSENTED, ParticipantStatus.ACTIVE)
    is_open = Q(participants__status__in=open_statuses) | Q(participants__waiting_since__isnull=False)
    # One transaction for each participant: a lock on a study for hundreds of them would stop its pages.
    for study in Study.objects.filter(is_open).distinct().order_by("pk"):
        limit = moment - timedelta(minutes=study.design.idle_minutes)
        gone = Participant.objects.filter(study=study, status=ParticipantStatus.ABANDONED, last_seen_at__lt=limit)
        gone.filter(waiting_since__isnull=False).update(waiting_since=None, network="")
        idle = Participant.objects.filter(study=study, status__in=open_statuses, last_seen_at__lt=limit)
        for participant_id in list(idle.order_by("pk").values_list("pk", flat=True)):
            with transaction.atomic():
                locked_study(study.pk)
                rows = Participant.objects.select_for_update(of=("self",)).select_related("condition")
                participant = rows.get(pk=participant_id)
                # They may have come back since the list was read.
                if participant.status in open_statuses and participant.last_seen_at < limit:
                    reason = "Idle longer than the study's limit."
                    if ListRequest.objects.filter(participant=participant, shown_at=None).exists():
                        reason = "Left while the service prepared their list."
                    end_participation(participant=participant, to=ParticipantStatus.ABANDONED, reason=reason)
                    released += 1
    return released
