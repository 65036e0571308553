"""Events: what a browser tells is checked, stored once and bounded; what the server notes needs no browser."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from studies.enums import ParticipantStatus
from studies.instrument.flow import Place
from studies.models import Event, Participant, Study
from studies.participation.services import events, finishing
from studies.participation.services.withdrawal import withdraw
from tests.factories import answering
from tests.factories.studies import ABOUT, enter, items_of, make_study, rated

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

NOON = 1_790_000_000_000  # milliseconds


@pytest.fixture
def study() -> Study:
    return make_study(per_condition=20)


def told(number: int, **facts: Any) -> dict[str, Any]:
    return {"id": f"event-{number:04d}", "kind": "page_left", "page": "rate", "at": NOON, "seconds": 4.5, **facts}


def post(token: str, body: Any, **extra: Any) -> Any:
    given = {"content_type": "application/json", **extra}
    return Client(enforce_csrf_checks=True).post(f"/s/p/{token}/events/", body, **given)


def test_a_batch_is_stored_once_however_often_it_comes(study: Study) -> None:
    entry = enter(study)
    batch = {
        "events": [told(1, rank=2, hidden_seconds=1.5, view="view-0001"), told(2, kind="page_shown", seconds=None)]
    }
    first, again = post(entry.token, batch), post(entry.token, {"events": [*batch["events"], told(3)]})
    assert (first.status_code, first.json()) == (200, {"new": 2, "refused": {}})
    assert again.json() == {"new": 1, "refused": {}}
    left = Event.objects.get(key="event-0001")
    assert (left.kind, left.page, left.rank, left.seconds, left.hidden_seconds) == ("page_left", "rate", 2, 4.5, 1.5)
    assert left.facts == {"view": "view-0001"}
    assert left.client_at == datetime.fromtimestamp(NOON / 1000, UTC)
    assert timezone.now() - left.at < timedelta(minutes=5)
    assert Event.objects.filter(participant=entry.participant).exclude(key="").count() == 3


def test_two_participants_may_have_events_of_the_same_id(study: Study) -> None:
    for entry in (enter(study), enter(study)):
        assert post(entry.token, {"events": [told(1)]}).json()["new"] == 1
    assert Event.objects.filter(key="event-0001").count() == 2


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"id": "short"}, "8 to 36"),
        ({"id": 12345678}, "8 to 36"),
        ({"kind": "rating_changed"}, "page_left and page_shown"),
        ({"page": "consent"}, "is one of about"),
        ({"rank": -1}, "whole number from 0"),
        ({"rank": True}, "whole number from 0"),
        ({"at": "yesterday"}, "milliseconds"),
        ({"at": 1e30}, "milliseconds"),
        ({"seconds": -1}, "from 0"),
        ({"seconds": 1e9}, "from 0"),
        ({"hidden_seconds": "long"}, "from 0"),
        ({"view": "<script>"}, "8 to 36"),
        ({"ip": "127.0.0.1"}, "has no ip"),
    ],
)
def test_an_event_that_is_none_is_refused_alone(study: Study, facts: dict[str, Any], words: str) -> None:
    entry = enter(study)
    reply = post(entry.token, {"events": [told(1, **facts), told(2)]})
    (why,) = reply.json()["refused"].values()
    assert words in why
    assert list(Event.objects.exclude(key="").values_list("key", flat=True)) == ["event-0002"]


def test_what_is_no_batch_is_refused_with_its_reason(study: Study) -> None:
    token = enter(study).token
    for body, status in (
        ("[1", 400), ("{}", 400), ('{"events": 3}', 400), ("[" * 20_000, 400),
        (json.dumps({"events": [told(n) for n in range(61)]}), 413),
        (json.dumps({"events": [{"id": "x" * 70_000}]}), 413),
    ):  # fmt: skip
        reply = post(token, body)
        assert reply.status_code == status, body[:40]
        assert reply.json()["message"]
    assert post(token, "events=1", content_type="application/x-www-form-urlencoded").status_code == 415
    assert post("unknown", {"events": [told(1)]}).status_code == 404
    assert Client().get(f"/s/p/{token}/events/").status_code == 405
    assert not Event.objects.exclude(key="").exists()


def test_a_participant_s_events_are_bounded(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_EVENTS", 3)
    token = enter(study).token
    assert post(token, {"events": [told(1), told(2)]}).json()["new"] == 2
    reply = post(token, {"events": [told(3), told(4)]}).json()
    assert reply["new"] == 0
    assert set(reply["refused"]) == {"event-0003", "event-0004"}


def test_a_page_left_open_brings_nobody_back_and_is_no_presence(study: Study) -> None:
    entry = enter(study)
    seen = timezone.now() - timedelta(hours=2)
    Participant.objects.filter(pk=entry.participant.pk).update(last_seen_at=seen, status=ParticipantStatus.ABANDONED)
    assert post(entry.token, {"events": [told(1)]}).json()["new"] == 1
    found = Participant.objects.get(pk=entry.participant.pk)
    assert (found.status, found.last_seen_at) == (ParticipantStatus.ABANDONED, seen)


def test_after_a_withdrawal_nothing_more_is_kept(study: Study) -> None:
    entry = enter(study)
    withdraw(participant=entry.participant)
    assert post(entry.token, {"events": [told(1)]}).status_code == 410
    assert not Event.objects.exists()


def test_the_server_notes_views_searches_and_details_without_any_script(study: Study) -> None:
    entry = enter(study)
    client = Client()
    base = f"/s/p/{entry.token}"
    body = client.get(f"{base}/about/").content.decode()
    assert f'data-events="{base}/events/" data-page="about" data-rank="0"' in body
    sent = {key: {True: "yes", False: "no"}.get(value, value) for key, value in ABOUT.items()}
    client.post(f"{base}/about/", sent)
    item = items_of(study, 1)[0]
    client.get(f"{base}/rate/", {"q": item.title}, headers={"X-Client-Time": str(NOON)})
    client.get(f"{base}/details/{item.pk}/")
    found = list(Event.objects.order_by("pk").values_list("kind", "page"))
    assert found == [("page_view", "about"), ("search", "rate"), ("page_view", "rate"), ("details_opened", "rate")]
    assert Event.objects.get(kind="search").client_at == datetime.fromtimestamp(NOON / 1000, UTC)
    assert "data-events" not in client.get(f"{base}/details/{item.pk}/").content.decode()


def test_changed_ratings_are_events_and_first_ones_are_not(study: Study) -> None:
    person = rated(study)
    finishing.leave_page(participant=person, at=Place("recommendations"))
    for value in (4, 4, 2):
        answering.answer(participant=person, question="watched", value=True, rank=1)
        answering.answer(participant=person, question="rating", value=value, rank=1)
    answering.answer(participant=person, question="watched", value=False, rank=1)
    changed = Event.objects.filter(kind__in=("rating_changed", "answer_changed")).order_by("pk")
    assert [(e.kind, e.rank, e.facts["from"], e.facts["to"]) for e in changed] == [
        ("rating_changed", 1, 4, 2),
        ("answer_changed", 1, True, False),
    ]
