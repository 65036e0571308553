"""Doors, ids of other sites, exits and codes, as participants meet them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core import signing
from django.db import transaction
from django.test import Client
from django.utils import timezone

from core.errors import ParallaxError
from core.models import LogEntry
from core.transitions import NotAllowedInState
from studies.design.services.launch import launch_study
from studies.enums import AllocationKind, Entrance, Mode, ParticipantStatus
from studies.models import (
    Event,
    ExternalId,
    Guest,
    Participant,
    PersonalLink,
    ProfileRating,
    Response,
    Study,
    Submission,
)
from studies.participation.services import resuming
from studies.participation.services.exit_links import exit_link_of
from studies.participation.services.finishing import fail_attention
from studies.participation.services.interviews import start_interview
from studies.participation.services.slot_queue import release_idle
from studies.participation.services.withdrawal import withdraw
from studies.participation.views.entry import REMEMBER_SALT
from studies.recruitment.panels.exits import Exit
from studies.recruitment.selectors.recruitment import entrance_counts, link_counts, recruiting_of
from studies.recruitment.services import tokens
from studies.recruitment.services.entry_links import entry_link
from studies.recruitment.services.recruitment import close_unused_links, create_links, set_exits, set_guests, set_panel
from studies.recruitment.services.tokens import code_of
from tests.factories.accounts import UserFactory
from tests.factories.studies import assigned, completed, enter, items_of, make_study
from tests.factories.walking import ABOUT, HTMX, Person, leads, tree
from tests.studies.test_older_pages import sent

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

MARKED = "//fieldset[not(@hidden)][.//*[@role='alert']]/@id"
PROLIFIC = "PROLIFIC_PID=Ab1&STUDY_ID=st&SESSION_ID=se&utm=mail"


@pytest.fixture
def study() -> Study:
    return make_study(per_condition=6)


def _on(study: Study, panel: str = "prolific", entrance: str = "open", **given: Any) -> Study:
    if panel == "prolific":
        set_exits(study=study, exits={"complete": Exit("static", "C1A2")})
    set_panel(study=study, panel=panel, entrance=entrance, **given)
    return study


def _refused(**given: Any) -> str:
    with pytest.raises(ParallaxError) as refusal:
        enter(**given)
    return refusal.value.code


def _back(study: Study, query: str = PROLIFIC) -> Person:
    """The same id in another browser: the page before, the press, and what it leads to."""
    person = Person(study)
    path = f"/s/{study.slug}/?{query}"
    page = tree(person.client.get(path))
    assert page.xpath("string(//h1)") == "Welcome back"
    fields = {f.get("name"): f.get("value") for f in page.xpath("//form//input[@type='hidden']")}
    response = person.client.post(path, {**fields, "choice": "resume"})
    person.base = response.headers["Location"]
    return person


# Doors


def test_a_used_link_with_the_id_of_a_panel_leads_to_the_next_open_step_only(study: Study) -> None:
    _on(study, entrance="personal")
    ((_link, key),) = create_links(study=study, n=1)
    path = f"/s/{study.slug}/link/{key}/?{PROLIFIC}"
    person = Person(study)
    person.consent(path)
    other = Client()
    page = tree(other.get(path))
    assert page.xpath("string(//h1)") == "Welcome back"
    fields = {f.get("name"): f.get("value") for f in page.xpath("//form//input[@type='hidden']")}
    base = other.post(path, {**fields, "choice": "resume"}).headers["Location"]
    assert ":" in base  # a signed visit, behind which earlier answers are hidden
    assert "/withdraw/" not in other.get(base, follow=True).text
    assert Client().get(path.replace("Ab1", "other")).status_code == 410


def test_a_link_that_was_used_before_links_handed_over_once_is_a_key_no_longer(study: Study) -> None:
    ((link, key),) = create_links(study=study, n=1)
    person = Person(study)
    person.consent(f"/s/{study.slug}/link/{key}/")
    PersonalLink.objects.filter(pk=link.pk).update(browser_digest="")
    assert person.client.get(f"/s/{study.slug}/link/{key}/").status_code == 410
    assert person.get("about/").status_code == 200  # where they are, they continue


def test_an_interviews_device_remembers_nobody(study: Study) -> None:
    started = start_interview(study=study, interviewer=UserFactory())
    person = Person(study)
    person.consent(f"/s/{study.slug}/link/{started.key}/")
    assert person.me.entrance == Entrance.INTERVIEW
    assert "parallax" not in str(person.client.cookies)
    assert person.client.get(f"/s/{study.slug}/link/{started.key}/").status_code == 410


def test_behind_https_participants_cookies_can_be_set_by_no_other_site_of_the_domain(
    study: Study, settings: Any
) -> None:
    settings.COOKIE_PREFIX = "__Host-"
    ((_link, key),) = create_links(study=study, n=1)
    link, open_link = f"/s/{study.slug}/link/{key}/", f"/s/{study.slug}/"
    for path in (link, open_link):
        person = Person(study)
        person.consent(path)
        ((name, cookie),) = ((n, c) for n, c in person.client.cookies.items() if "parallax" in n)
        assert name.startswith("__Host-parallax_")
        assert (bool(cookie["secure"]), cookie["path"], cookie["domain"]) == (True, "/", "")
        assert person.client.get(path).headers["Location"] == person.base
        # Who began before the upgrade has a cookie of the former name, and comes back by it.
        value = cookie.value if path == link else signing.dumps(person.base.split("/")[3], salt=REMEMBER_SALT)
        before = Client(headers={"Cookie": f"{name.removeprefix('__Host-')}={value}"})
        assert before.get(path).headers["Location"] == person.base
    planted = Client(headers={"Cookie": f"{name.removeprefix('__Host-')}={cookie.value}"})
    assert planted.get(open_link).status_code == 200, "one of today under the former name leads nowhere"
    assert Participant.objects.count() == 2


def test_a_browser_key_of_the_former_name_is_not_taken_over_by_a_new_participant(study: Study, settings: Any) -> None:
    settings.COOKIE_PREFIX = "__Host-"
    ((_link, key),) = create_links(study=study, n=1)
    path = f"/s/{study.slug}/link/{key}/"
    planted = f"parallax_link_{tokens.digest_of_key(key)[:16]}=known-to-others"
    page = tree(Client(headers={"Cookie": planted}).get(path))
    assert page.xpath("//input[@name='browser_key']/@value") not in ([], ["known-to-others"])


@pytest.mark.parametrize("panel", ["none", "prolific", "mturk", "sona", "generic"])
def test_crawlers_that_open_a_link_enrol_nobody_and_the_press_does(study: Study, panel: str) -> None:
    _on(study, panel)
    ((_link, key),) = create_links(study=study, n=1)
    for path in (
        f"/s/{study.slug}/?{PROLIFIC}",
        f"/s/{study.slug}/link/{key}/",
        f"/s/{study.slug}/link/{key}/hand-over/",
    ):
        for _time in range(2):
            assert Client().get(path).status_code == 200
            assert Client().head(path).status_code == 200
    assert not Participant.objects.exists()
    assert link_counts(study)["unused"] == 1
    assert "tick every box" in Client().post(f"/s/{study.slug}/link/{key}/", {"choice": "yes"}).text
    assert not Participant.objects.exists()
    person = Person(study)
    person.consent(f"/s/{study.slug}/link/{key}/?{PROLIFIC}")
    assert (person.me.entrance, link_counts(study)["used"]) == (Entrance.PERSONAL, 1)
    assert person.me.parameters["utm"] == "mail"


def test_a_personal_link_is_one_participant_and_hands_over_once(study: Study) -> None:
    _on(study, entrance="personal")
    assert "by invitation" in Client().get(f"/s/{study.slug}/").text
    assert _refused(study=study) == "study.by_invitation"
    made = create_links(study=study, text="anna\nbea\n", actor=UserFactory())
    assert [link.label for link, _key in made] == ["anna", "bea"]
    key = made[0][1]
    path = f"/s/{study.slug}/link/{key}/"
    assert not PersonalLink.objects.filter(digest__contains=key[:10]).exists()
    person, late = Person(study), Client()
    form = {f.get("name"): f.get("value") for f in tree(late.get(path)).xpath("//form//input[@type='hidden']")}
    person.consent(path)
    # In the browser where it began the link leads on; the study's own link does not, as the device may be shared.
    assert person.client.get(path).headers["Location"] == person.base
    assert "by invitation" in person.client.get(f"/s/{study.slug}/").text
    # Anywhere else it is a key to nothing: neither opened, nor sent with a form that was open before, nor made up.
    boxes = ["1", "2", "3", "4"]
    for response in (
        Client().get(path),
        Client().head(path),
        late.post(path, {**form, "choice": "yes", "box": boxes}),
        late.post(path, {**form, "choice": "no"}),
        Client().post(path, {"choice": "yes", "box": boxes, "browser_key": "x" * 43}),
        Client().post(f"/s/{study.slug}/", {"choice": "yes", "box": boxes, "entry_key": key}),
        Client().post(f"/s/{study.slug}/", {"choice": "no", "entry_key": key}),
    ):
        assert response.status_code == 410
        assert person.base.split("/")[3] not in response.text
    assert tree(Client().get(f"{path}?lang=it")).get("lang") == "it"
    assert Participant.objects.count() == 1
    assert study.n_declined == 0
    page = Client().get(f"/s/{study.slug}/link/{key[:-1]}{'y' if key.endswith('x') else 'x'}/")
    assert page.status_code == 404
    other_study = make_study(slug="other", run=study.run)
    assert Client().get(f"/s/{other_study.slug}/link/{made[1][1]}/").status_code == 404
    assert close_unused_links(study=study) == 1
    assert close_unused_links(study=study) == 0
    assert "no longer open" in Client().get(f"/s/{study.slug}/link/{made[1][1]}/").text
    assert person.client.get(f"/s/{study.slug}/link/{key}/").headers["Location"] == person.base
    counts = link_counts(study)
    assert counts == {"created": 2, "used": 1, "unused": 0, "closed": 1}
    withdraw(participant=person.me)
    assert set(PersonalLink.objects.values_list("label", flat=True)) == {"", "bea"}
    assert "have been erased" in person.client.get(f"/s/{study.slug}/link/{key}/", follow=True).text


def test_only_guests_enter_where_only_guests_may(study: Study) -> None:
    _on(study, "generic", "guest")
    set_guests(study=study, text="Ab1\nCd2\n")
    page = Client().get(f"/s/{study.slug}/?participant_label=ab1")
    assert "for invited people" in page.text
    assert _refused(study=study) == "study.not_a_guest"
    assert _refused(study=study, parameters={"participant_label": "ab1"}) == "study.not_a_guest"
    person = Person(study)
    person.consent(f"/s/{study.slug}/?participant_label=Ab1")
    assert person.me.entrance == Entrance.GUEST
    set_guests(study=study, text="Cd2\nEf3\n")
    assert list(study.guests.values_list("value", flat=True)) == ["Cd2", "Ef3"]
    assert "About you" in person.get("about/").text
    assert entrance_counts(study) == [
        ("Open link", 0),
        ("Personal link", 0),
        ("Guest list", 1),
        ("Signed link", 0),
        ("Interviewer", 0),
        ("Panel id", 0),
    ]
    with pytest.raises(ParallaxError, match="Line 1"):
        set_guests(study=study, text="x" * 501)
    assert study.guests.count() == 2


def test_previews_and_simulated_participants_pass_every_door(study: Study) -> None:
    _on(study, entrance="personal")
    assert Person(study).consent(entry_link(study=study, mode=Mode.PREVIEW)).status_code == 200
    enter(study, Mode.SIMULATED)
    assert set(Participant.objects.values_list("mode", flat=True)) == {"preview", "simulated"}


def test_a_preview_on_mechanical_turk_shows_the_text_with_its_inputs_off(study: Study) -> None:
    _on(study, "mturk")
    path = f"/s/{study.slug}/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H"
    page = tree(Client().get(path))
    assert "previewing this task" in page.xpath("string(//*[@role='status'])")
    assert page.xpath("//fieldset[@disabled]//input[@name='box']")
    assert len(page.xpath("//button[@name='choice'][@disabled]")) == 2
    study.refresh_from_db()
    assert study.n_opened == 0
    sent = {"choice": "yes", "entry_key": "k" * 40, "box": ["1", "2"],
            "param:assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}  # fmt: skip
    assert "previewing this task" in Client().post(path, sent).text
    assert not Participant.objects.exists()
    worker = Person(study)
    worker.consent(f"/s/{study.slug}/?assignmentId=A&hitId=H&workerId=W&turkSubmitTo=https://t.example")
    assert dict(worker.me.external_ids.values_list("name", "value")) == {"workerId": "W", "assignmentId": "A"}
    assert worker.me.parameters == {"hitId": "H", "turkSubmitTo": "https://t.example"}


def test_a_mapping_of_ones_own_keeps_its_ids_apart_from_answers(study: Study) -> None:
    _on(study, "generic", names={"person": ["pid"], "submission": ["sid"]})
    person = Person(study)
    person.consent(f"/s/{study.slug}/?pid=7&sid=8&source=poster")
    assert dict(person.me.external_ids.values_list("name", "value")) == {"pid": "7", "sid": "8"}
    assert person.me.parameters == {"source": "poster"}
    for names, code in (({"person": ["lang"]}, "recruiting.bad_panel"), ({"person": ["a b"]}, "recruiting.bad_panel")):
        with pytest.raises(ParallaxError) as refusal:
            set_panel(study=study, panel="generic", entrance="open", names=names)
        assert refusal.value.code == code
    for given, code in (({"entrance": "interview"}, "bad_entrance"), ({"longest_gap_minutes": 0}, "bad_gap"),
                        ({"panel": "x"}, "bad_panel")):  # fmt: skip
        with pytest.raises(ParallaxError) as refusal:
            set_panel(**{"study": study, "panel": "none", "entrance": "open", **given})
        assert refusal.value.code == f"recruiting.{code}"


def test_changes_of_recruiting_are_logged_and_the_same_again_is_not(study: Study) -> None:
    owner = UserFactory()
    n = LogEntry.objects.count()
    for _time in range(2):
        set_exits(study=study, exits={"complete": Exit("static", "C1")}, actor=owner)
        set_panel(study=study, panel="prolific", entrance="guest", longest_gap_minutes=90, actor=owner)
    assert [entry.actor for entry in LogEntry.objects.order_by("pk")[n:]] == [owner, owner]
    how = recruiting_of(study)
    assert (how.panel.key, how.entrance, how.longest_gap) == ("prolific", "guest", timedelta(minutes=90))


# Codes that a panel does not take

UNIQUE_ON_PROLIFIC = "Prolific takes fixed completion codes only"


def test_prolific_with_a_code_of_each_participants_own_is_refused_when_it_is_saved(study: Study) -> None:
    with pytest.raises(ParallaxError, match=UNIQUE_ON_PROLIFIC) as refusal:  # by default those who complete have one
        set_panel(study=study, panel="prolific", entrance="open")
    assert refusal.value.code == "recruiting.fixed_codes_only"
    assert "Completed" in str(refusal.value)
    assert "“Fixed code”" in str(refusal.value)
    assert recruiting_of(study).panel.key == "none"
    set_exits(study=study, exits={"complete": Exit("static", "C1")})
    set_panel(study=study, panel="prolific", entrance="open")
    with pytest.raises(ParallaxError, match=UNIQUE_ON_PROLIFIC):
        set_exits(study=study, exits={"screened_out": Exit("unique")})
    set_exits(study=study, exits={"screened_out": Exit("static", "S1")})


def test_a_draft_with_unique_codes_for_prolific_is_not_launched_and_its_page_says_what_to_do() -> None:
    owner = UserFactory()
    draft = make_study(status="draft", owner=owner)
    set_panel(study=draft, panel="prolific", entrance="open")  # the code comes next
    with pytest.raises(ParallaxError, match=UNIQUE_ON_PROLIFIC):
        launch_study(study=draft)
    client = Client()
    client.force_login(owner)
    page = " ".join(tree(client.get(f"/studies/{draft.slug}/recruiting/")).text_content().split())
    assert UNIQUE_ON_PROLIFIC in page
    set_exits(study=draft, exits={"complete": Exit("static", "C1")})
    launch_study(study=draft)
    draft.refresh_from_db()
    assert draft.status == "live"


# The same id again


def test_the_same_id_never_takes_part_twice(study: Study) -> None:
    _on(study)
    enter(study, parameters={"PROLIFIC_PID": "Ab1", "SESSION_ID": "s1"})
    for parameters in ({"PROLIFIC_PID": "Ab1"}, {"PROLIFIC_PID": "Ab1", "SESSION_ID": "s2"}, {"SESSION_ID": "s1"}):
        assert _refused(study=study, parameters=parameters) == "study.known_id"
    enter(study, parameters={"PROLIFIC_PID": "ab1"})  # case is kept
    enter(study, parameters={"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"})
    enter(study, parameters={"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"})
    enter(study, Mode.PREVIEW, parameters={"PROLIFIC_PID": "Ab1"})
    enter(make_study(slug="other", run=study.run), parameters={"PROLIFIC_PID": "Ab1"})
    enter(study, parameters={"SESSION_ID": "s9"})
    assert _refused(study=study, parameters={"PROLIFIC_PID": "Zz", "SESSION_ID": "s9"}) == "study.known_id"


def test_by_an_id_one_comes_back_to_the_next_open_step_and_it_is_logged(study: Study) -> None:
    _on(study)
    first = Person(study).to("rate", f"/s/{study.slug}/?{PROLIFIC}")
    again = _back(study)
    assert again.base != first.base
    assert leads(again.get("")) == "rate"
    assert Participant.objects.count() == 1
    event = Event.objects.get(kind="resumed")
    assert (event.participant, event.facts) == (first.me, {"by": "PROLIFIC_PID"})
    again.to("thanks")
    assert first.me.status == ParticipantStatus.COMPLETED
    # In the browser that began, the study's link leads back by the personal link.
    assert first.client.get(f"/s/{study.slug}/?{PROLIFIC}").headers["Location"] == first.base
    # The same browser with another id is somebody else.
    assert "Take part" in first.client.get(f"/s/{study.slug}/?PROLIFIC_PID=other").text


def _tries(person: Person) -> list[Any]:
    item = items_of(person.study, 1)[0]
    pages = ["", "about/", "rate/", "recommendations/", "overall/", "thanks/", "withdraw/", "exit/"]
    pages += [f"items/1/{rank}/" for rank in range(7)] + [f"details/{item.pk}/", "rate/?q=film"]
    return [person.client.get(person.base + page, follow=True) for page in pages]


def test_by_an_id_one_reaches_no_answer_already_given(study: Study) -> None:
    _on(study)
    first = Person(study)
    first.consent(f"/s/{study.slug}/?{PROLIFIC}")
    first.post("about/", {"age": "47", "nationality": "Sammarinese"}, headers=HTMX)
    page = tree(_back(study).get("about/"))
    assert page.xpath("string(//input[@name='age']/@value)") == ""
    assert "Sammarinese" not in page.text_content()
    first.post("about/", {**ABOUT, "nationality": "Sammarinese"})
    first.rate_five()
    stranger = _back(study)
    page = tree(stranger.get("rate/"))
    assert not page.xpath("//input[@name='rating'][@checked]")
    assert "5 of 5" in page.xpath("string(//*[@id='tray'])")
    assert not page.xpath("//*[@id='tray']//img")
    details = stranger.get(f"details/{items_of(study, 1)[0].pk}/")
    assert not tree(details).xpath("//input[@checked]")
    first.post("rate/")
    first.post("recommendations/")
    first.post("items/1/1/", {"watched": "yes", "rating": "4", "continue": "1"})
    first.post("items/1/2/", {"watched": "yes", "rating": "2"}, headers=HTMX)
    stranger = _back(study)
    for response in _tries(stranger):
        shown = tree(response)
        assert not shown.xpath("//input[@checked]"), response.request["PATH_INFO"]
        assert "Sammarinese" not in response.text
        assert first.base not in response.text
        assert response.request["PATH_INFO"] in (
            stranger.base + "items/1/2/",
            stranger.base + "withdraw/",
            stranger.base + f"details/{items_of(study, 1)[0].pk}/",
        )
    for rank in (1, 3, 0):
        stranger.post(f"items/1/{rank}/", {"watched": "no", "rating": "1", "continue": "1"})
    assert dict(Response.objects.filter(rank=1).values_list("question", "value")) == {"watched": True, "rating": 4}
    page = stranger.post("withdraw/")
    assert not tree(page).xpath("//main//form")
    assert first.me.status == ParticipantStatus.ACTIVE
    # What they themselves give is theirs to see, and the personal link shows everything.
    stranger.post("items/1/2/", {"watched": "no"}, headers=HTMX)
    assert tree(stranger.get("items/1/2/")).xpath("//input[@name='watched'][@value='no'][@checked]")
    assert tree(first.get("items/1/1/")).xpath("//input[@name='rating'][@value='4'][@checked]")
    for rank in range(2, 6):
        first.post(f"items/1/{rank}/", {"watched": "yes", "rating": "4", "continue": "1"})
    first.post("overall/", {"satisfaction": "5", "comment": "secret words"}, headers=HTMX)
    stranger = _back(study)
    page = stranger.get("overall/")
    assert "secret words" not in page.text
    assert not tree(page).xpath("//input[@checked]")
    # What the page does not show them, it does not take back either.
    stranger.post("overall/", sent(page, satisfaction="3"), headers=HTMX)
    assert dict(Response.objects.filter(rank=0, question__in=["satisfaction", "comment"]).values_list(
        "question", "value")) == {"satisfaction": 3, "comment": "secret words"}  # fmt: skip
    first.post("overall/", {"satisfaction": "5", "comment": "secret words", "continue": "1"})
    end = _back(study).get("", follow=True)
    assert "C1A2" in end.text
    for hidden in (first.base, "secret words", "/withdraw/"):
        assert hidden not in end.text


@pytest.mark.parametrize("has_script", [True, False])
def test_by_an_id_one_completes_the_film_that_keeps_the_study_from_its_end(study: Study, has_script: bool) -> None:
    _on(study)
    first = Person(study).to("overall", f"/s/{study.slug}/?{PROLIFIC}")
    first.post("items/1/2/", {"watched": "no"}, headers=HTMX)
    again, last = _back(study), {"satisfaction": "5", "continue": "1"}
    assert leads(again.get("items/1/2/")) == "overall"
    page = again.post("overall/", last, follow=True)
    assert page.request["PATH_INFO"] == f"{again.base}items/1/2/"
    here = page.request["QUERY_STRING"]
    shown = tree(page)
    assert not shown.xpath("//input[@checked]")  # what was given before stays behind the personal link
    assert shown.xpath(MARKED) == ["question-watched"]
    for rank in (1, 3, 4, 5):
        assert leads(again.get(f"items/1/{rank}/?{here}")) == "overall"
        assert leads(again.post(f"items/1/{rank}/?{here}", {"watched": "no", "continue": "1"})) == "overall"
    action = shown.xpath("string(//form[@id='questions']/@action)")
    assert tree(again.client.post(action, {"continue": "1"})).xpath(MARKED) == ["question-watched"]
    given = {"watched": "no"}
    for key in ("heard", "trailer_seen"):
        if has_script:
            assert again.client.post(action, {**given, key: "no"}, headers=HTMX).status_code == 204
        else:
            page = again.client.post(action, {**given, "continue": "1"})
            assert f"question-{key}" in tree(page).xpath(MARKED)
            assert not tree(page).xpath("//input[@name='rating'][@checked]")
        given[key] = "no"
    assert leads(again.client.post(action, {**given, "continue": "1"})) == "overall"
    assert leads(again.post("overall/", last)) == "thanks"
    of_film = dict(Response.objects.filter(rank=2).values_list("question", "value"))
    assert of_film == {"watched": False, "heard": False, "trailer_seen": False, "rating": 4}


def test_a_rating_hidden_from_who_came_by_an_id_still_counts_and_can_be_given_anew(study: Study) -> None:
    _on(study)
    first = Person(study).to("rate", f"/s/{study.slug}/?{PROLIFIC}")
    one, two, *_ = items_of(study, 5)
    first.post(f"rate/{one.pk}/", {"rating": "2"}, headers=HTMX)
    again = _back(study)
    again.post(f"rate/{two.pk}/", {"rating": "5"}, headers=HTMX)
    page = tree(again.get("rate/"))
    assert "2 of 5" in page.xpath("string(//*[@id='tray'])")
    assert page.xpath("//*[@id='tray']//img/@alt") == [f"{two.title}, 5"]
    again.post(f"rate/{one.pk}/", {"rating": "3"}, headers=HTMX)
    assert dict(ProfileRating.objects.values_list("item_id", "rating")) == {one.pk: 3, two.pk: 5}


def test_a_token_for_going_on_is_signed_and_dies_with_the_id_and_the_day(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    _on(study)
    first = Person(study)
    first.consent(f"/s/{study.slug}/?{PROLIFIC}")
    again = _back(study)
    assert again.get("about/").status_code == 200
    assert Client().get(again.base[:-2] + "x/about/").status_code == 404
    assert Client().get("/s/p/1:2:3/about/").status_code == 404
    monkeypatch.setattr(resuming, "VALID_SECONDS", -1)
    assert "for several hours" in again.get("about/").text
    monkeypatch.undo()
    withdraw(participant=first.me)
    assert again.get("about/").status_code == 404
    assert not ExternalId.objects.exists()


def test_past_the_longest_gap_an_id_lets_nobody_on_and_the_personal_link_does(study: Study) -> None:
    _on(study, longest_gap_minutes=30)
    first = Person(study)
    first.consent(f"/s/{study.slug}/?{PROLIFIC}")
    Participant.objects.update(last_seen_at=timezone.now() - timedelta(minutes=31))
    sent = {"choice": "resume", "param:PROLIFIC_PID": "Ab1"}
    assert "away for longer" in Client().post(f"/s/{study.slug}/", sent).text
    assert not Event.objects.filter(kind="resumed").exists()
    assert "About you" in first.get("about/").text
    assert leads(_back(study).get("")) == "about"
    unknown = Client().post(f"/s/{study.slug}/", {"choice": "resume", "param:PROLIFIC_PID": "Zz"})
    assert "Take part" in unknown.text
    with pytest.raises(ParallaxError, match="not started"):
        resuming.resume_known(study=study, recruiting=recruiting_of(study), parameters={"PROLIFIC_PID": "Zz"})
    done = completed(make_study(slug="done", run=study.run))
    ExternalId.objects.create(study=done.study, participant=done, name="PROLIFIC_PID", value="Ab1")
    _on(done.study, longest_gap_minutes=1)
    Participant.objects.filter(pk=done.pk).update(last_seen_at=timezone.now() - timedelta(days=9))
    assert "C1A2" in _back(done.study).get("", follow=True).text  # whose part is over is not away


def test_someone_abandoned_comes_back_by_their_id_to_their_own_condition(study: Study) -> None:
    _on(study)
    first = Person(study).to("rate", f"/s/{study.slug}/?{PROLIFIC}")
    condition = first.me.condition
    Participant.objects.update(last_seen_at=timezone.now() - timedelta(hours=2))
    assert release_idle() == 1
    again = _back(study)
    assert leads(again.get("")) == "rate"
    assert (first.me.status, first.me.condition) == (ParticipantStatus.ACTIVE, condition)


# The ways out


def _walked(study: Study, query: str) -> Person:
    return Person(study).to("overall", f"/s/{study.slug}/?{query}")


def test_who_completes_goes_back_to_prolific_once_everything_is_stored(study: Study) -> None:
    _on(study)
    set_exits(study=study, exits={"complete": Exit("static", "C1A2", text={"en": "Well **done**"})})
    person = _walked(study, PROLIFIC)
    assert leads(person.get("exit/")) == "overall"  # not before the end
    assert not Event.objects.filter(kind="led_out").exists()
    person.post("overall/", {"satisfaction": "5", "continue": "1"})
    page = tree(person.get("thanks/"))
    assert page.xpath("string(//*[@id='completion-code'])") == "C1A2"
    assert page.xpath("//strong[text()='done']")
    for _time in range(2):
        out = person.client.get(page.xpath("string(//a[@id='exit']/@href)"))
        assert out.headers["Location"] == "https://app.prolific.com/submissions/complete?cc=C1A2"
    assert Event.objects.filter(kind="led_out", facts={"outcome": "complete"}).count() == 2
    assert (person.me.status, person.me.responses.filter(question="satisfaction").exists()) == ("completed", True)


def test_who_completes_on_mechanical_turk_gets_a_code_of_their_own(study: Study) -> None:
    _on(study, "mturk")
    codes = []
    for worker in ("W1", "W2"):
        person = _walked(study, f"workerId={worker}&assignmentId=A{worker}&hitId=H")
        person.post("overall/", {"satisfaction": "5", "continue": "1"})
        shown = {tree(person.get("thanks/")).xpath("string(//*[@id='completion-code'])") for _time in range(2)}
        assert not tree(person.get("thanks/")).xpath("//a[@id='exit']")
        assert leads(person.get("exit/")) == "thanks"
        (code,) = shown
        codes.append(code)
    assert len(set(codes)) == 2
    assert all(len(code) == 8 for code in codes)
    assert set(study.participants.values_list("completion_code", flat=True)) == set(codes)


def test_sona_grants_credit_by_the_code_it_sent(study: Study) -> None:
    _on(study, "sona")
    shown = "https://x.sona-systems.com/webstudy_credit.aspx?experiment_id=9&credit_token=ab&survey_code=XXXX"
    set_exits(study=study, exits={"complete": Exit("none", url=shown)})
    person = _walked(study, "id=4711")
    person.post("overall/", {"satisfaction": "5", "continue": "1"})
    assert not tree(person.get("thanks/")).xpath("//*[@id='completion-code']")
    assert person.get("exit/").headers["Location"] == shown.replace("XXXX", "4711")


@pytest.mark.parametrize("language", ["en", "it"])
def test_each_outcome_has_its_own_words_and_way_on(study: Study, language: str) -> None:
    _on(study)
    words = {"screened_out": "Out *one*", "quota_full": "Full *two*", "attention_failed": "Look *three*"}
    given = {name: Exit("static", f"X{name}", text={language: text}) for name, text in words.items()}
    set_exits(study=study, exits=given)
    people = {}
    for name in words:
        person = Person(study)
        person.consent(f"/s/{study.slug}/?lang={language}&PROLIFIC_PID={name}")
        people[name] = person
    people["screened_out"].post("about/", {**ABOUT, "age": "70", "confirmed.age": "age=70"})
    people["attention_failed"].post("about/", ABOUT)
    attentive = Participant.objects.get(external_ids__value="attention_failed")
    fail_attention(participant=attentive, reason="Two checks failed.")
    full = Participant.objects.filter(external_ids__value="quota_full")
    full.update(status=ParticipantStatus.QUOTA_FULL)
    for name, person in people.items():
        page = tree(person.get("", follow=True))
        assert page.xpath("string(//em)") == words[name].split("*")[1]
        assert page.xpath("string(//*[@id='completion-code'])") == f"X{name}"
        assert person.get("exit/").headers["Location"].endswith(f"?cc=X{name}")
        assert page.get("lang") == language


def test_who_withdraws_is_erased_and_still_led_out_with_the_id_that_came(study: Study) -> None:
    _on(study, "sona")
    set_exits(study=study, exits={"withdrew": Exit("unique", url="https://x.example/left?survey_code={id}&c={code}")})
    person = Person(study)
    person.consent(f"/s/{study.slug}/?id=4711")
    page = tree(person.post("withdraw/"))
    code = page.xpath("string(//*[@id='completion-code'])")
    assert len(code) == 8
    assert page.xpath("string(//a[@id='exit']/@href)") == f"https://x.example/left?survey_code=4711&c={code}"
    assert person.me.completion_code == ""
    assert (person.me.status, ExternalId.objects.count(), person.me.parameters) == ("withdrawn", 0, {})
    later = tree(person.get(""))
    assert not later.xpath("//*[@id='completion-code']")  # shown for the last time, and no other is drawn
    assert not later.xpath("//a[@id='exit']")  # the id is gone, and half an address leads nowhere
    assert person.me.completion_code == ""
    assert not Event.objects.exists()


def test_a_unique_code_for_another_outcome_is_drawn_once(study: Study) -> None:
    set_exits(study=study, exits={"screened_out": Exit("unique", url="https://a.example/{code}")})
    person = Person(study)
    person.consent()
    person.post("about/", {**ABOUT, "age": "70", "confirmed.age": "age=70"})
    shown = {tree(person.get("")).xpath("string(//*[@id='completion-code'])") for _time in range(2)}
    assert shown == {person.me.completion_code}
    assert person.get("exit/").headers["Location"] == f"https://a.example/{person.me.completion_code}"


def test_two_pages_that_look_at_once_show_one_code_and_none_is_drawn_twice(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = enter(study).participant
    stale = Participant.objects.get(pk=person.pk)
    own = code_of(participant=person, exit_=Exit("unique"))
    assert code_of(participant=stale, exit_=Exit("unique")) == own
    monkeypatch.setattr(tokens, "LETTERS", "AB")  # two codes there are, and one is taken
    monkeypatch.setattr(tokens, "COMPLETION_LENGTH", 1)
    drawn = {code_of(participant=enter(study).participant, exit_=Exit("unique")) for _person in range(2)}
    assert drawn == {"A", "B"}


def test_simulated_participants_are_led_nowhere(study: Study) -> None:
    _on(study)
    set_exits(study=study, exits={"complete": Exit("static", "C1")})
    link = exit_link_of(participant=completed(study, Mode.SIMULATED))
    assert link is not None
    assert (link.code, link.url) == ("C1", "")


def test_a_bad_exit_changes_nothing_and_says_which(study: Study) -> None:
    with pytest.raises(ParallaxError) as refusal:
        set_exits(study=study, exits={"complete": Exit("static", "C"), "quota_full": Exit(url="x")})
    assert (refusal.value.code, refusal.value.extra) == ("recruiting.bad_exit", {"outcome": "quota_full"})
    assert recruiting_of(study).exits["complete"].code == "unique"


def test_failed_attention_opens_the_slot_and_is_final(study: Study) -> None:
    person = assigned(study)
    fail_attention(participant=person, reason="Both checks failed.")
    assert (person.status, person.place) == (ParticipantStatus.ATTENTION_FAILED, None)
    last = study.allocations.latest("pk")
    assert (last.kind, last.participant) == (AllocationKind.RELEASED, person)
    n = study.allocations.count()
    with pytest.raises(NotAllowedInState), transaction.atomic():
        fail_attention(participant=person, reason="Again.")
    assert study.allocations.count() == n
    with pytest.raises(NotAllowedInState), transaction.atomic():
        fail_attention(participant=completed(study), reason="Too late.")
    assert study.allocations.filter(kind=AllocationKind.RELEASED).count() == 1


def test_erasing_a_person_erases_what_other_sites_call_them_everywhere(study: Study) -> None:
    _on(study, "generic", "guest")
    set_guests(study=study, text="Ab1\nCd2")
    entry = enter(study, parameters={"participant_label": "Ab1"})
    Submission.objects.create(
        study=study, key="person:Ab1", participant=entry.participant, person="Ab1", state="awaiting",
        loaded_at=timezone.now(),
    )  # fmt: skip
    withdraw(participant=entry.participant)
    assert list(Guest.objects.values_list("value", flat=True)) == ["Cd2"]
    assert not Submission.objects.exists()
    assert not ExternalId.objects.exists()


def test_by_an_id_a_fixed_code_is_shown_for_a_day_and_then_by_the_personal_link_alone(study: Study) -> None:
    done = completed(make_study(slug="done", run=study.run))
    ExternalId.objects.create(study=done.study, participant=done, name="PROLIFIC_PID", value="Ab1")
    _on(done.study)
    for hours, is_shown in ((23, True), (25, False)):
        Participant.objects.filter(pk=done.pk).update(completed_at=timezone.now() - timedelta(hours=hours))
        visitor = _back(done.study)
        page = visitor.get("", follow=True)
        assert ("C1A2" in page.text) == is_shown
        assert ("C1A2" in visitor.get("exit/").headers["Location"]) == is_shown
