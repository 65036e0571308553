"""A slot whose holder has rated nothing yields to the next participant once the study is full."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from studies.allocation.selectors.allocations import replayed_log
from studies.enums import AllocationKind, Mode, ParticipantStatus
from studies.models import Allocation, Participant, ProfileRating, Study
from studies.participation.services.resuming import record_presence
from tests.factories.studies import assigned, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

WOMEN = {"name": "Women", "most": 1, "where": [{"question": "gender", "values": ["woman"]}]}


def _full(**settings: object) -> tuple[Study, list[Participant]]:
    study = make_study(per_condition=1, settings=settings)
    return study, [assigned(study) for _ in range(study.conditions.count())]


def _away(*participants: Participant, minutes: float) -> None:
    then = timezone.now() - timedelta(minutes=minutes)
    Participant.objects.filter(pk__in=[each.pk for each in participants]).update(last_seen_at=then)


def _rate(participant: Participant) -> None:
    item = participant.study.dataset_version.items.all()[0]
    ProfileRating.objects.create(participant=participant, item=item, rating=3)


def _status(participant: Participant) -> str:
    return Participant.objects.get(pk=participant.pk).status


def _opening(study: Study) -> int:
    return Client().get(f"/s/{study.slug}/").status_code


def test_unused_slots_yield_when_the_study_is_full_and_used_ones_do_not() -> None:
    study, holders = _full()
    _rate(holders[0])
    _away(*holders, minutes=6)
    newcomer = assigned(study)
    assert newcomer.status == ParticipantStatus.ACTIVE
    assert [_status(each) for each in holders] == ["active", *["abandoned"] * (len(holders) - 1)]
    assert replayed_log(study, Mode.LIVE).problem == ""
    assert Allocation.objects.filter(kind=AllocationKind.RELEASED).count() == len(holders) - 1


def test_a_slot_without_a_rating_is_kept_for_five_minutes_after_the_last_page() -> None:
    study, holders = _full()
    _away(*holders, minutes=4)
    assert "reached the number of participants" in Client().get(f"/s/{study.slug}/").text
    assert assigned(study).status == ParticipantStatus.QUOTA_FULL
    _away(holders[-1], minutes=6)
    assert _opening(study) == 200
    assert assigned(study).condition == holders[-1].condition


def test_opening_pages_keeps_a_slot_without_a_rating_for_twenty_minutes_at_most() -> None:
    study, holders = _full()
    then = timezone.now() - timedelta(minutes=21)
    Participant.objects.filter(pk=holders[0].pk).update(assigned_at=then, last_seen_at=timezone.now())
    assert assigned(study).status == ParticipantStatus.ACTIVE
    assert _status(holders[0]) == "abandoned"


def test_slots_do_not_yield_while_there_is_room() -> None:
    study = make_study(per_condition=5)
    first = assigned(study)
    _away(first, minutes=30)
    assigned(study)
    assert _status(first) == "active"


def test_a_full_quota_makes_room_too() -> None:
    study = make_study(per_condition=5, settings={"quotas": [WOMEN]})
    first = assigned(study, gender="woman")
    _away(first, minutes=6)
    assert assigned(study, gender="woman").status == ParticipantStatus.ACTIVE
    assert _status(first) == "abandoned"
    assert assigned(study, gender="woman").status == ParticipantStatus.QUOTA_FULL


def test_holders_continue_where_there_is_room_and_take_over_unused_slots_themselves() -> None:
    study, holders = _full()
    _away(*holders, minutes=6)
    newcomer = assigned(study)
    mine = next(each for each in holders if each.condition == newcomer.condition)
    other = next(each for each in holders if each.condition != newcomer.condition)
    assert record_presence(Participant.objects.get(pk=other.pk)).status == ParticipantStatus.ACTIVE
    _away(newcomer, minutes=6)
    assert record_presence(Participant.objects.get(pk=mine.pk)).status == ParticipantStatus.ACTIVE
    assert _status(newcomer) == "abandoned"
    _rate(mine)
    assert record_presence(Participant.objects.get(pk=newcomer.pk)).status == ParticipantStatus.QUOTA_FULL


def test_simulated_participants_keep_their_slots() -> None:
    study = make_study(per_condition=1, status="draft")
    holders = [assigned(study, Mode.SIMULATED) for _ in range(study.conditions.count())]
    _away(*holders, minutes=30)
    assert {_status(each) for each in holders} == {"active"}
    assert assigned(study, Mode.SIMULATED).status == ParticipantStatus.QUOTA_FULL
    assert {_status(each) for each in holders} == {"active"}
