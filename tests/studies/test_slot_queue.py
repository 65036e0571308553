"""Slots are held by progress, given in the order of a queue, and to one network only up to a share."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from lxml.html import HtmlElement

from studies.allocation.selectors.allocations import replayed_log
from studies.design.services.launch import close_study, pause_study
from studies.enums import AllocationKind, Entrance, Mode, ParticipantStatus
from studies.instrument.flow import Place
from studies.models import Allocation, Guest, Participant, Study
from studies.participation.services.enrolment import accept_about
from studies.participation.services.finishing import leave_page
from studies.participation.services.ratings import rate_item
from studies.participation.services.resuming import record_presence
from studies.participation.services.slot_queue import release_idle, stalled_slots
from studies.participation.services.withdrawal import withdraw
from studies.recruitment.panels.exits import Exit
from studies.recruitment.services.recruitment import create_links, set_exits, set_limits, set_panel
from tests.factories.studies import ABOUT as FACTS
from tests.factories.studies import assigned, enter, items_of, make_study, rated, recruit_on_prolific
from tests.factories.walking import ABOUT, HTMX, Person, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

WOMEN = {"name": "Women", "most": 1, "where": [{"question": "gender", "values": ["woman"]}]}
PROLIFIC = "PROLIFIC_PID=Ab1&STUDY_ID=st&SESSION_ID=se"


class Clock:
    """The time that the application reads, moved by a test."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 12, tzinfo=timezone.get_current_timezone())

    def pass_by(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("django.utils.timezone.now", lambda: clock.now)
    monkeypatch.setattr("core.rate_limits.time", SimpleNamespace(time=lambda: clock.now.timestamp()))
    return clock


def _full(**settings: object) -> tuple[Study, list[Participant]]:
    study = make_study(per_condition=1, settings=settings)
    return study, [assigned(study) for _ in range(study.conditions.count())]


def _fresh(participant: Participant) -> Participant:
    return Participant.objects.select_related("study").get(pk=participant.pk)


def _back(participant: Participant) -> Participant:
    """They load a page."""
    return record_presence(_fresh(participant))


def _statuses(*participants: Participant) -> list[str]:
    return [_fresh(each).status for each in participants]


# Progress


def test_slots_without_progress_yield_at_any_step_to_those_who_wait(clock: Clock) -> None:
    study = make_study(per_condition=1)
    far = rated(study)
    leave_page(participant=far, at=Place("recommendations"))
    near = assigned(study)
    waiting = [assigned(study) for _ in range(2)]
    assert [each.waiting_since for each in waiting] == [clock.now] * 2
    clock.pass_by(5)
    rate_item(participant=near, item=items_of(study, 1)[0], rating=3)
    clock.pass_by(5)
    assert _back(waiting[0]).status == ParticipantStatus.ACTIVE  # far, who was in the middle of the items
    assert _back(waiting[1]).status == ParticipantStatus.CONSENTED
    assert _statuses(far, near) == ["abandoned", "active"]
    clock.pass_by(5)
    assert _back(waiting[1]).condition_id == near.condition_id
    assert far.profile.count() == 5
    assert replayed_log(study, Mode.LIVE).problem == ""
    assert Allocation.objects.filter(kind=AllocationKind.RELEASED).count() == 2


def test_slots_do_not_yield_while_there_is_room(clock: Clock) -> None:
    study = make_study(per_condition=5)
    first = assigned(study)
    clock.pass_by(50)
    assigned(study)
    assert _statuses(first) == ["active"]


def test_answers_new_pages_searches_and_details_are_progress_and_loading_a_page_is_not(clock: Clock) -> None:
    study = make_study(per_condition=3)
    person = Person(study).to("rate")

    def is_stalled_after(act: Any, minutes: float = 6) -> bool:
        clock.pass_by(minutes)
        act()
        clock.pass_by(minutes)
        return stalled_slots(study, clock.now).exists()

    items = items_of(study, 6)
    assert is_stalled_after(lambda: person.get("rate/"))
    assert not is_stalled_after(lambda: person.post(f"rate/{items[0].pk}/", {"rating": "3"}, headers=HTMX))
    assert is_stalled_after(lambda: person.post(f"rate/{items[0].pk}/", {"rating": "3"}, headers=HTMX))
    for item in items[1:5]:
        person.post(f"rate/{item.pk}/", {"rating": "3"}, headers=HTMX)
    assert not is_stalled_after(lambda: person.post("rate/"))
    assert not is_stalled_after(lambda: person.get(f"details/{items[0].pk}/"))
    assert not is_stalled_after(lambda: person.post("recommendations/"))
    assert not is_stalled_after(lambda: person.post("items/1/1/", {"watched": "yes"}, headers=HTMX))


def test_no_page_is_held_for_more_than_three_times_as_long(clock: Clock) -> None:
    study = make_study(per_condition=1)
    set_limits(study=study, progress_minutes=4)
    holder = assigned(study)
    for n in range(6):  # rates and clears the same film again and again
        assert not stalled_slots(study, clock.now).exists()
        clock.pass_by(2)
        rate_item(participant=holder, item=items_of(study, 1)[0], rating=None if n % 2 else 3)
    assert list(stalled_slots(study, clock.now)) == [holder]


def test_interviews_and_simulated_participants_keep_their_slots(clock: Clock) -> None:
    study, holders = _full()
    Participant.objects.filter(pk=holders[0].pk).update(entrance=Entrance.INTERVIEW)
    clock.pass_by(60)
    assert list(stalled_slots(study, clock.now)) == holders[1:]
    draft = make_study(slug="draft", per_condition=1, status="draft", run=study.run)
    holders = [assigned(draft, Mode.SIMULATED) for _ in range(draft.conditions.count())]
    clock.pass_by(60)
    assert assigned(draft, Mode.SIMULATED).status == ParticipantStatus.QUOTA_FULL
    assert set(_statuses(*holders)) == {"active"}


def test_a_full_quota_makes_room_too(clock: Clock) -> None:
    study = make_study(per_condition=5, settings={"quotas": [WOMEN]})
    first = assigned(study, gender="woman")
    late = assigned(study, gender="woman")
    man = assigned(study, gender="man")  # the queue of women holds up no man
    clock.pass_by(10)
    assert man.status == _back(late).status == ParticipantStatus.ACTIVE
    assert _statuses(first) == ["abandoned"]


def test_who_lost_a_slot_has_one_of_their_condition_again_or_reads_that_the_study_is_full(clock: Clock) -> None:
    study, holders = _full()
    newcomers = [assigned(study) for _ in holders]
    clock.pass_by(10)
    newcomers = [_back(each) for each in newcomers]
    assert {each.status for each in newcomers} == {"active"}
    withdraw(participant=newcomers[0])
    mine = next(each for each in holders if each.condition_id == newcomers[0].condition_id)
    other = next(each for each in holders if each is not mine)
    assert _back(mine).condition_id == mine.condition_id
    assert _statuses(mine) == ["active"]
    assert _back(other).status == ParticipantStatus.QUOTA_FULL
    assert replayed_log(study, Mode.LIVE).problem == ""


# The queue


def test_the_queue_is_served_in_order_and_skips_who_is_away_until_they_are_back(clock: Clock) -> None:
    study, holders = _full()
    waiting = []
    for _ in range(2):
        clock.pass_by(0.1)
        waiting.append(assigned(study))
    clock.pass_by(2)
    withdraw(participant=holders[0])
    assert _back(waiting[1]).status == ParticipantStatus.ACTIVE  # the first has closed the page
    clock.pass_by(9)
    newcomer = assigned(study)  # would take the slot that stalls, were it not for the first
    assert newcomer.status == ParticipantStatus.ACTIVE
    clock.pass_by(1)
    assert _back(waiting[0]).status == ParticipantStatus.ACTIVE  # that of the second, who stalled too
    clock.pass_by(1)
    one, two = assigned(study), assigned(study)
    clock.pass_by(0.1)
    withdraw(participant=newcomer)
    _back(two)
    assert [_fresh(one).status, _fresh(two).status] == ["active", "consented"]


def test_more_wait_than_can_have_a_slot_only_where_their_network_is_the_reason(clock: Clock) -> None:
    _study, holders = _full()
    study = holders[0].study
    people = [assigned(study) for _ in range(4)]
    assert [each.status for each in people] == ["consented", "consented", "quota_full", "quota_full"]


def test_visitors_are_let_in_while_a_slot_is_about_to_yield(clock: Clock) -> None:
    study, _holders = _full()
    set_panel(study=study, panel="none", entrance="open")
    page = f"/s/{study.slug}/"
    assert "reached the number" in Client().get(page).text
    clock.pass_by(5)
    people = [Person(study) for _ in range(3)]
    for person in people[:2]:
        person.to("about").post("about/", ABOUT)
        assert person.me.waiting_since == clock.now
    assert "reached the number" in people[2].consent().text


def test_the_waiting_page_needs_no_script_and_has_the_place_the_way_back_and_the_exit(clock: Clock) -> None:
    study, holders = _full()
    set_exits(study=study, exits={"complete": Exit("static", "C1A2"), "quota_full": Exit("static", "FULL1")})
    recruit_on_prolific(study)
    clock.pass_by(5)
    people = [Person(study) for _ in range(2)]
    for number, person in enumerate(people, 1):
        person.consent(f"/s/{study.slug}/?{PROLIFIC.replace('Ab1', f'Ab{number}')}")
        led = person.post("about/", ABOUT)
        assert led.status_code == 302
        page = person.client.get(led.headers["Location"])
        shown = " ".join(tree(page).xpath("//main")[0].text_content().split())
        assert f"number {number} " in shown
        assert tree(page).xpath("//a[@id='exit']/@href") == ["https://app.prolific.com/submissions/complete?cc=FULL1"]
        assert tree(page).xpath("//main//a[normalize-space()='Check again']/@href") == [person.base + "about/"]
    first, second = people
    polled = second.get("about/", headers=HTMX)
    assert "number 2 " in _queue_text(polled)
    clock.pass_by(5)
    assert first.get("about/", headers=HTMX).headers["HX-Redirect"] == f"{first.base}rate/"
    assert second.get("about/").headers["Location"] == f"{second.base}rate/"
    assert set(_statuses(*holders)) == {"abandoned"}


def _queue_text(response: Any) -> str:
    (place,) = tree(response).xpath("//*[@id='place']")
    assert isinstance(place, HtmlElement)
    return " ".join(place.text_content().split())


# Panels


@pytest.mark.parametrize("stop", [pause_study, close_study])
def test_arrivals_of_a_panel_have_their_exit_while_the_study_is_paused_or_closed(stop: Any) -> None:
    study = make_study()
    recruit_on_prolific(study)
    set_exits(study=study, exits={"quota_full": Exit("static", "FULL1")})
    person = Person(study)
    person.consent(f"/s/{study.slug}/?{PROLIFIC}")
    stop(study=study)
    exit_ = ["https://app.prolific.com/submissions/complete?cc=FULL1"]
    newcomer = Client().get(f"/s/{study.slug}/?{PROLIFIC.replace('Ab1', 'Ab2')}")
    assert tree(newcomer).xpath("//a[@id='exit']/@href") == exit_
    if stop is pause_study:
        assert tree(person.get("about/")).xpath("//a[@id='exit']/@href") == exit_


# Networks


def _from(study: Study, address: str, **about: Any) -> Participant:
    return accept_about(participant=enter(study, network=address).participant, answers={**FACTS, **about})


def test_a_network_holds_its_share_and_its_queue_holds_up_nobody_else(clock: Clock) -> None:
    study = make_study(per_condition=42)
    crowd = [_from(study, "198.51.100.7") for _ in range(10)]
    assert [each.status for each in crowd] == ["active"] * 4 + ["consented"] * 6
    assert _from(study, "198.51.100.8").status == ParticipantStatus.ACTIVE
    # Coming back gets round it no more than entering does.
    clock.pass_by(10)
    for each in crowd[4:]:
        _back(each)
    assert _statuses(*crowd) == ["abandoned"] * 4 + ["active"] * 4 + ["consented"] * 2
    for each in crowd[:4]:
        record_presence(_fresh(each), "198.51.100.7")
    assert _statuses(*crowd) == ["abandoned"] * 4 + ["active"] * 4 + ["consented"] * 2
    clock.pass_by(10)
    assert record_presence(_fresh(crowd[0]), "198.51.100.7").condition_id == crowd[0].condition_id


def test_a_small_study_lets_two_of_a_network_in_and_the_researchers_own_limit_counts(clock: Clock) -> None:
    study = make_study(per_condition=5)
    people = [_from(study, "198.51.100.7") for _ in range(3)]
    assert [each.status for each in people] == ["active", "active", "consented"]
    set_limits(study=study, most_per_network=3)
    assert _back(people[2]).status == ParticipantStatus.ACTIVE


def test_a_network_is_kept_as_a_digest_while_a_slot_is_unfinished_only(clock: Clock) -> None:
    study = make_study(per_condition=5)
    first, second, waiting = (_from(study, "198.51.100.7") for _ in range(3))
    out = _from(study, "198.51.100.7", age=99)
    assert first.network == second.network == waiting.network != ""
    assert "198.51.100" not in str(list(Participant.objects.values()))
    withdraw(participant=second)
    clock.pass_by(90)
    release_idle()
    assert [_fresh(each).network for each in (first, second, waiting, out)] == [""] * 4


def test_a_class_behind_one_address_enters_with_a_guest_list_or_with_links(clock: Clock) -> None:
    study = make_study(per_condition=30)
    set_panel(study=study, panel="generic", entrance="guest", names={"person": ["id"]})
    Guest.objects.bulk_create(Guest(study=study, value=f"g{n}") for n in range(30))
    links = create_links(study=study, n=10)
    urls = [f"/s/{study.slug}/?id=g{n}" for n in range(30)]
    urls += [reverse("participant:personal", args=[study.slug, key]) for _link, key in links]
    for url in urls:
        person = Person(study, Client(REMOTE_ADDR="198.51.100.7"))
        person.to("rate", url)
    assert Participant.objects.filter(status="active", network="").count() == len(urls)
