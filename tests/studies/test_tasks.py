"""The sweep as the worker's clock runs it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from celery import current_app
from django.utils import timezone

from studies.enums import ParticipantStatus
from studies.models import Participant
from tests.factories.studies import assigned, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_the_sweep_abandons_who_is_idle_and_can_run_again() -> None:
    person = assigned(make_study())
    Participant.objects.filter(pk=person.pk).update(last_seen_at=timezone.now() - timedelta(hours=2))
    sweep = current_app.tasks["studies.sweep"]
    sweep.run()
    sweep.run()
    person.refresh_from_db()
    assert person.status == ParticipantStatus.ABANDONED
    assert person.allocations.filter(kind="released").count() == 1
