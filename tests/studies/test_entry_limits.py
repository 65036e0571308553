"""One network cannot take a study's places, and an unusual rate of consents pauses the study."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from core.errors import ParallaxError
from core.models import LogEntry, RateCount
from core.rate_limits import RateLimit, forget_counts, seconds_to_wait
from studies.design.services.launch import resume_study
from studies.enums import Mode, NoticeKind, StudyStatus
from studies.models import Event, Notice, Participant, Study
from studies.participation.services.entry_limits import default_pause_threshold
from studies.participation.services.withdrawal import withdraw
from studies.recruitment.selectors.recruitment import recruiting_of
from studies.recruitment.services.entry_links import entry_link
from studies.recruitment.services.recruitment import set_limits, set_panel
from tests.factories.studies import assigned, enter, make_study, recruit_on_prolific
from tests.factories.walking import ABOUT, HTMX, Person, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study() -> Study:
    study = make_study(per_condition=30)
    set_limits(study=study, most_per_network=3)
    return study


@pytest.fixture(autouse=True)
def in_one_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """The middle of a window: a test that begins at the end of one would count in two."""
    middle = int(time.time()) // 600 * 600 + 300
    monkeypatch.setattr("core.rate_limits.time", SimpleNamespace(time=lambda: middle))


def _from(address: str) -> Client:
    return Client(REMOTE_ADDR=address)


def _next_window() -> None:
    cache.clear()
    RateCount.objects.all().delete()


def _fields(page: Any) -> dict[str, Any]:
    return {f.get("name"): f.get("value") for f in tree(page).xpath("//form//input[@type='hidden']")}


# Counting


def test_a_limit_counts_each_subject_within_its_window_and_keeps_no_address() -> None:
    limit = RateLimit(2, 600)
    waits = [seconds_to_wait(limit, "study", "1", "198.51.100.7", now=6000.0 + n) for n in range(4)]
    assert waits == [0, 0, 598, 597]
    assert seconds_to_wait(limit, "study", "1", "198.51.100.8", now=6004.0) == 0
    assert seconds_to_wait(limit, "study", "1", "198.51.100.7", now=6600.0) == 0
    assert "198.51.100" not in str(cache._cache)  # type: ignore[attr-defined]
    assert "198.51.100" not in str(list(RateCount.objects.values()))
    # The digest of a subject is another one in each window.
    assert RateCount.objects.count() == 3
    assert forget_counts() == 3


def test_a_subject_beyond_its_limit_is_refused_without_a_query(django_assert_num_queries: Any) -> None:
    limit = RateLimit(1, 600)
    assert seconds_to_wait(limit, "flood") == 0
    assert seconds_to_wait(limit, "flood") > 0
    with django_assert_num_queries(0):
        assert seconds_to_wait(limit, "flood") > 0
    assert forget_counts() == 0  # the window is not over


# Consent


def _forgetful(client: Client, study: Study, form: dict[str, Any]) -> Any:
    """Consent by a browser that keeps no cookie, and so is not led back to whom it has consented for."""
    client.cookies.clear()
    return client.post(f"/s/{study.slug}/", {**form, "choice": "yes"})


def test_a_network_that_floods_the_consent_form_takes_no_more_places_and_others_enter(study: Study) -> None:
    flood = _from("198.51.100.7")
    fields = _fields(flood.get(f"/s/{study.slug}/"))
    boxes = ["1", "2", "3", "4"]
    answers = [_forgetful(flood, study, {**fields, "entry_key": f"{n:043d}", "box": boxes}) for n in range(10)]
    assert [answer.status_code for answer in answers] == [302] * 3 + [429] * 7
    assert Participant.objects.count() == 3
    refused = answers[-1]
    assert 0 < int(refused.headers["Retry-After"]) <= 600
    # What was entered is on the page: the same form again, once there is room.
    _next_window()
    again = {f.get("name"): f.get("value") for f in tree(refused).xpath("//form//input[@type='hidden']")}
    assert again["entry_key"] == f"{9:043d}"
    boxes_kept = tree(refused).xpath("//input[@name='box']/@value")
    assert boxes_kept == boxes
    assert _forgetful(flood, study, {**again, "box": boxes_kept}).status_code == 302
    # Who has entered already is let on, and so is somebody of another network.
    first = {**fields, "entry_key": f"{0:043d}", "box": boxes}
    assert [_forgetful(flood, study, first).status_code for _ in range(5)] == [302] * 5
    assert Person(study, _from("198.51.100.8")).consent().status_code == 200
    assert Participant.objects.count() == 5


def test_without_limits_of_its_own_a_study_refuses_a_network_that_floods_it() -> None:
    study = make_study(per_condition=40)
    flood = _from("198.51.100.7")
    form = {**_fields(flood.get(f"/s/{study.slug}/")), "box": ["1", "2", "3", "4"]}
    statuses = [_forgetful(flood, study, {**form, "entry_key": f"{n:043d}"}).status_code for n in range(70)]
    assert statuses == [302] * 60 + [429] * 10
    assert Participant.objects.count() == 60


def test_addresses_of_one_ipv6_network_are_one_network(study: Study) -> None:
    statuses = [Person(study, _from(f"2001:db8::{n:x}")).consent().status_code for n in range(1, 6)]
    assert statuses == [200] * 3 + [429] * 2
    assert Person(study, _from("2001:db8:0:100::1")).consent().status_code == 200


def test_opening_and_declining_are_counted_up_to_the_limit(study: Study) -> None:
    flood = _from("198.51.100.7")
    fields = _fields(flood.get(f"/s/{study.slug}/"))
    for n in range(10):
        answer = flood.post(f"/s/{study.slug}/", {**fields, "entry_key": f"{n:043d}", "choice": "no"}, follow=True)
        assert answer.status_code == 200
    statuses = [flood.get(f"/s/{study.slug}/?lang=it").status_code for _ in range(40)]
    study.refresh_from_db()
    assert (study.n_declined, study.n_opened) == (3, 30)
    assert statuses == [200] * 29 + [429] * 11
    page = flood.get(f"/s/{study.slug}/?lang=it")
    assert tree(page).get("lang") == "it"
    assert tree(page).xpath("//a[@class='go']/@href") == [f"/s/{study.slug}/?lang=it"]


def test_simulated_participants_and_previews_are_not_limited(study: Study) -> None:
    draft = make_study(slug="draft", run=study.run, status="draft")
    set_limits(study=draft, most_per_network=1, pause_at=1)
    for n in range(3):
        link = entry_link(study=draft, mode=Mode.SIMULATED, entry_key=f"{n}" * 40)
        assert Person(draft, _from("198.51.100.7")).consent(link).status_code == 200
    assert not Notice.objects.filter(kind=NoticeKind.ENROLMENT_RATE).exists()


# Their pages


def test_the_form_about_oneself_is_limited_and_loses_nothing(study: Study) -> None:
    set_limits(study=study, most_per_network=1)
    person = Person(study, _from("198.51.100.7"))
    person.consent()
    statuses = [person.post("about/", {"age": str(20 + n)}, headers=HTMX).status_code for n in range(40)]
    assert statuses == [204] * 30 + [429] * 10
    page = person.post("about/", ABOUT)
    assert page.status_code == 429
    kept = {f.get("name"): f.get("value") for f in tree(page).xpath("//form//input[@type='hidden']")}
    assert {key: kept[key] for key in ABOUT} == ABOUT
    _next_window()
    assert person.post("about/", kept).status_code == 302
    assert person.me.condition is not None


def test_batches_of_events_are_limited_and_tried_again_by_the_script(study: Study) -> None:
    set_limits(study=study, most_per_network=1)
    person = Person(study, _from("198.51.100.7"))
    person.consent()
    replies = [
        person.client.post(f"{person.base}events/", {"events": []}, content_type="application/json") for _ in range(105)
    ]
    assert [reply.status_code for reply in replies] == [200] * 100 + [429] * 5
    assert replies[-1].json()["code"] == "study.too_often"
    assert int(replies[-1].headers["Retry-After"]) > 0


def test_loading_a_page_again_and_again_stops_writing_events(study: Study) -> None:
    person = Person(study).to("rate")
    before = Event.objects.count()
    for _ in range(150):
        assert person.get("rate/?q=a").status_code == 200
    written = Event.objects.count() - before
    assert written <= 200
    assert person.get("rate/").status_code == 200


# Unusual rates


def test_an_unusual_rate_is_a_notice_and_then_a_pause_that_can_be_resumed(study: Study) -> None:
    set_limits(study=study, pause_at=6)
    for _ in range(8):  # takes no slot
        enter(study)
        assigned(study, age=99)
    for _ in range(3):
        assigned(study)
    study.refresh_from_db()
    assert study.status == StudyStatus.LIVE
    assert Notice.objects.filter(kind=NoticeKind.ENROLMENT_RATE).count() == 1
    withdraw(participant=assigned(study))  # held one for a moment
    for _ in range(2):
        assigned(study)
    study.refresh_from_db()
    assert study.status == StudyStatus.PAUSED
    with pytest.raises(ParallaxError) as refusal:
        enter(study)
    assert refusal.value.code == "study.not_open"
    entry = LogEntry.objects.filter(object_id=study.pk, to_status=StudyStatus.PAUSED).latest("pk")
    assert entry.actor is None
    assert Notice.objects.filter(kind=NoticeKind.ENROLMENT_RATE).count() == 2
    # Resumed, it counts anew; and people who came before the last ten minutes do not count.
    resume_study(study=study)
    for _ in range(3):
        assigned(study)
    study.refresh_from_db()
    assert study.status == StudyStatus.LIVE
    Participant.objects.update(assigned_at=timezone.now() - timedelta(minutes=11))
    for _ in range(5):
        assigned(study)
    study.refresh_from_db()
    assert study.status == StudyStatus.LIVE


def test_the_default_pause_is_above_what_a_panel_needs_to_fill_the_study(study: Study) -> None:
    assert default_pause_threshold(study, recruiting_of(study)) == 100
    recruit_on_prolific(study)
    assert default_pause_threshold(study, recruiting_of(study)) == 3 * 30 * study.conditions.count()


def test_limits_are_set_by_the_owner_in_the_console_and_logged(study: Study, client: Client) -> None:
    from studies.models import StudyMembership
    from tests.factories.accounts import UserFactory

    owner = UserFactory()
    StudyMembership.objects.create(study=study, researcher=owner, role="owner")
    client.force_login(owner)
    url = f"/studies/{study.slug}/recruiting/"
    limits = {"panel": "none", "progress_minutes": "7"}
    assert client.post(f"{url}entry/", {**limits, "most_per_network": "500"}).status_code == 302
    how = recruiting_of(study)
    assert (how.most_per_network, how.pause_at, how.progress_minutes) == (500, None, 7)
    entry = LogEntry.objects.filter(object_id=study.pk).latest("pk")
    assert re.findall(r"\d+", entry.reason) == ["500", "7"]
    assert "100000" in client.post(f"{url}entry/", {**limits, "most_per_network": "100001"}).text
    with pytest.raises(ParallaxError):
        set_limits(study=study, pause_at=0)
    with pytest.raises(ParallaxError):
        set_limits(study=study, progress_minutes=0)


# Slots and ids


def test_with_the_entrance_by_panel_id_each_id_enters_once(study: Study) -> None:
    with pytest.raises(ParallaxError, match="no panel id"):
        set_panel(study=study, panel="none", entrance="panel_id")
    recruit_on_prolific(study)
    set_panel(study=study, panel="prolific", entrance="panel_id")
    enter(study, parameters={"PROLIFIC_PID": "5f1"})
    with pytest.raises(ParallaxError) as again:
        enter(study, parameters={"PROLIFIC_PID": "5f1"})
    assert again.value.code == "study.known_id"
    with pytest.raises(ParallaxError) as without:
        enter(study)
    assert without.value.code == "study.no_panel_id"
    page = _from("198.51.100.7").get(f"/s/{study.slug}/", headers={"Accept-Language": "it"})
    assert "una sola volta" in page.text
    assert Participant.objects.get().entrance == "panel_id"
