"""Queries whose SQL is written once give what Django's own give."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db.models import Count, F
from django.utils import timezone

from studies.enums import HOLDS_SLOT, Mode, ParticipantStatus
from studies.models import Event, Participant
from studies.selectors.compiled import Columns, Compiled, Inserted, Updated
from studies.selectors.kept import conditions_of, locked_study_now, participant_by_entry, participant_now, study_now
from tests.factories.studies import assigned, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_rows_are_those_of_the_queryset_with_annotations_and_moments() -> None:
    person = assigned(make_study())
    people = Participant.objects.annotate(study_changed=F("study__updated_at")).order_by()
    own = Compiled(lambda pk: people.filter(pk=pk)).row(person.pk)
    known = people.get(pk=person.pk)
    assert own is not None
    assert own == known
    assert all(getattr(own, field.attname) == getattr(known, field.attname) for field in Participant._meta.fields)
    assert own.study_changed == known.study_changed
    assert own.completed_at is None
    assert isinstance(own.consented_at, datetime)
    assert own.consented_at.tzinfo is UTC
    assert Compiled(lambda pk: people.filter(pk=pk)).row(0) is None


def _held(mode: str, *rest: Any) -> Any:
    return (
        Participant.objects.filter(mode=mode, status__in=rest[:-1], study=rest[-1])
        .order_by("condition_id")
        .values_list("stratum", "condition_id")
        .annotate(n=Count("pk"))
    )


def test_columns_are_those_of_values_list_in_their_order_with_counts() -> None:
    study = make_study()
    people = [assigned(study), assigned(study)]
    values = (Mode.LIVE, *HOLDS_SLOT, study.pk)  # choices reach every database by their value
    known = [list(row) for row in _held(*values)]
    assert Columns(_held).columns(*values) == known
    assert sum(row[2] for row in known) == len(people)
    moments = Columns(lambda pk: Participant.objects.filter(pk=pk).values_list("last_seen_at", "completed_at"))
    assert moments.columns(people[0].pk) == [[people[0].last_seen_at, None]]


def test_a_query_that_takes_its_values_in_another_order_is_refused() -> None:
    crossed = Columns(lambda study, mode: Participant.objects.filter(study=study, mode=mode).values_list("pk"))
    with pytest.raises(ValueError, match="other parameters than its values"):
        crossed.columns(7, "live")


def test_rows_are_inserted_and_changed_as_by_django() -> None:
    person = assigned(make_study())
    now = timezone.now()
    made = Inserted(Event).insert(Event(participant=person, kind="page_view", facts={"a": ["è", None]}, client_at=now))
    stored = Event.objects.get(pk=made.pk)
    assert (stored.kind, stored.facts, stored.client_at, stored.participant_id) == (
        "page_view", {"a": ["è", None]}, now, person.pk,
    )  # fmt: skip
    people = Updated(Participant)
    people.update(person.pk, step="items", item_rank=3, last_seen_at=now, parameters={"x": "1"})
    person.refresh_from_db()
    assert (person.step, person.item_rank, person.last_seen_at, person.parameters) == ("items", 3, now, {"x": "1"})
    people.update(person.pk, status=ParticipantStatus.COMPLETED)
    person.refresh_from_db()
    assert (person.status, person.step) == ("completed", "items")
    people.update(0, step="rate")
    assert Participant.objects.filter(step="rate").count() == 0


def test_what_is_kept_of_a_study_follows_its_changes() -> None:
    study = make_study()
    assert locked_study_now(study.pk).title == study_now(study.pk).title == study.title
    study.title = "Another title"
    study.save()
    assert locked_study_now(study.pk).title == "Another title"
    assert [each.pk for each in conditions_of(study)] == list(
        study.conditions.order_by("position").values_list("pk", flat=True)
    )
    person = assigned(study)
    assert participant_by_entry(study, person.entry_key) == participant_now(person.pk) == person
    assert participant_by_entry(study, "nobody's") is None
    for missing in (lambda: participant_now(0), lambda: locked_study_now(0)):
        with pytest.raises((Participant.DoesNotExist, type(study).DoesNotExist), match="There is no"):
            missing()
