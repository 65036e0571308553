"""At the door: a study that is full, a no that counts once, languages that are kept, and doors that close again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from core.errors import ParallaxError
from studies.enums import ParticipantStatus
from studies.models import ExternalId, Participant, Study
from studies.participation.services import resuming
from studies.participation.services.consenting import DECLINED_KEPT_DAYS, forget_declined
from studies.participation.views.message_pages import HEADINGS
from studies.recruitment.panels.exits import Exit
from studies.recruitment.selectors.recruitment import recruiting_of
from studies.recruitment.services.recruitment import create_links, set_exits, set_panel
from studies.recruitment.services.submissions import load_submissions
from tests.factories.studies import assigned, make_study, recruit_on_prolific
from tests.factories.walking import ABOUT, HTMX, Person, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

PROLIFIC = "PROLIFIC_PID=Ab1&STUDY_ID=st&SESSION_ID=se"


@pytest.fixture
def study() -> Study:
    return make_study(per_condition=6)


def _full(panel: str, exit_: Exit, **given: Any) -> Study:
    study = make_study(per_condition=1)
    set_exits(study=study, exits={"complete": Exit("static", "C1A2"), "quota_full": exit_})
    set_panel(study=study, panel=panel, entrance="open", **given)
    for _ in range(2):
        assigned(study)
    return study


def _sent(page: HttpResponse, choice: str, *boxes: str) -> dict[str, Any]:
    fields = {f.get("name"): f.get("value") for f in tree(page).xpath("//form//input[@type='hidden']")}
    return {**fields, "choice": choice, "box": list(boxes)}


def _counts(study: Study) -> tuple[int, int]:
    study.refresh_from_db()
    return study.n_declined, study.participants.count()


# A full study


@pytest.mark.parametrize("language", ["en", "it"])
def test_who_finds_the_study_full_gets_its_words_code_and_way_back(language: str) -> None:
    study = _full("prolific", Exit("static", "FULL1", text={"en": "Full *now*", "it": "Ormai *piena*"}))
    study.refresh_from_db()
    page = tree(Client().get(f"/s/{study.slug}/?{PROLIFIC}&lang={language}"))
    assert page.xpath("string(//em)") == {"en": "now", "it": "piena"}[language]
    assert page.xpath("string(//*[@id='completion-code'])") == "FULL1"
    out = page.xpath("//a[@id='exit']")[0]
    assert out.get("href") == "https://app.prolific.com/submissions/complete?cc=FULL1"
    assert out.get("rel") == "noreferrer"
    assert (_counts(study), study.n_opened) == ((0, 2), 0)
    assert not ExternalId.objects.exists()


def test_the_way_back_from_a_full_study_is_filled_from_the_link_and_leads_to_its_own_host() -> None:
    study = _full("sona", Exit(url="https://x.example/full?survey_code={id}&from={utm}"))
    path = f"/s/{study.slug}/?id=47%2611&utm=%40evil.example%2F%23"
    link = "https://x.example/full?survey_code=47%2611&from=%40evil.example%2F%23"
    page = tree(Client().get(path))
    assert page.xpath("string(//a[@id='exit']/@href)") == link
    assert study.texts["en"]["quota_full"] in page.text_content()  # the study's own text for this ending
    pressed = Client().post(f"/s/{study.slug}/", {"choice": "yes", "param:id": "47&11", "param:utm": "@evil.example/#"})
    assert tree(pressed).xpath("string(//a[@id='exit']/@href)") == link
    assert not tree(Client().get(f"/s/{study.slug}/?id=47")).xpath("//a[@id='exit']")  # half an address leads nowhere
    with pytest.raises(ParallaxError) as refusal:
        set_exits(study=study, exits={"quota_full": Exit(url="https://{utm}/full")})
    assert refusal.value.code == "recruiting.bad_exit"


def test_a_code_of_ones_own_is_for_who_has_a_row_and_words_and_address_for_everybody() -> None:
    study = _full("mturk", Exit("unique", url="https://x.example/full?w={workerId}", text={"en": "Full *now*"}))
    page = tree(Client().get(f"/s/{study.slug}/?workerId=W1&assignmentId=A1&hitId=H1"))
    assert page.xpath("string(//em)") == "now"
    assert not page.xpath("//*[@id='completion-code']")
    assert page.xpath("string(//a[@id='exit']/@href)") == "https://x.example/full?w=W1"
    set_exits(study=study, exits={"quota_full": Exit("unique", url="https://x.example/full?c={code}")})
    page = tree(Client().get(f"/s/{study.slug}/?workerId=W1"))
    assert not page.xpath("//a[@id='exit'] | //*[@id='completion-code']")
    assert page.xpath("string(//h1)") == HEADINGS[ParticipantStatus.QUOTA_FULL]


# A no


def test_a_no_is_counted_once_for_each_form_and_its_page_can_be_loaded_again(study: Study) -> None:
    client, path = Client(), f"/s/{study.slug}/"
    no = _sent(client.get(f"{path}?{PROLIFIC}&lang=it"), "no")
    first = client.post(path, no)
    assert first.status_code == 302
    assert "Ab1" not in first.headers["Location"]
    assert client.post(path, no).headers["Location"] == first.headers["Location"]
    assert Client().post(path, no).status_code == 302  # whichever browser or process it reaches
    for _ in range(2):
        page = client.get(first.headers["Location"])
        assert tree(page).get("lang") == "it"
        assert not tree(page).xpath("//main//form")
    assert _counts(study) == (1, 0)
    client.post(path, _sent(client.get(path), "no"))
    assert _counts(study) == (2, 0)


def test_a_no_that_no_form_of_ours_sends_is_answered_and_not_counted(study: Study) -> None:
    page = Client().post(f"/s/{study.slug}/", {"choice": "no"}, follow=True)
    assert tree(page).find("body").get("data-step") == "message"
    assert _counts(study) == (0, 0)


def test_a_no_to_a_personal_link_is_counted_once_and_is_not_told_of_the_link(study: Study) -> None:
    ((link, key),) = create_links(study=study, text="anna")
    path = f"/s/{study.slug}/link/{key}/"
    for _ in range(2):
        client = Client()
        client.post(path, _sent(client.get(path), "no"))
    assert _counts(study) == (1, 0)
    assert link.digest not in str(list(study.declined_forms.values()))


def test_whoever_takes_part_already_is_led_to_their_step_and_did_not_decline(study: Study) -> None:
    person = Person(study)
    path = f"/s/{study.slug}/"
    here, other_tab = person.client.get(path), person.client.get(path)
    agreed = person.client.post(path, _sent(here, "yes", "1", "2"))
    for tab in (here, other_tab):
        assert person.client.post(path, _sent(tab, "no")).headers["Location"] == agreed.headers["Location"]
    assert _counts(study) == (0, 1)
    assert "About you" in person.client.get(agreed.headers["Location"], follow=True).text


def test_the_sweep_forgets_the_forms_and_keeps_the_count(study: Study) -> None:
    path = f"/s/{study.slug}/"
    for _ in range(2):
        Client().post(path, _sent(Client().get(path), "no"))
    old = study.declined_forms.first()
    then = timezone.now().date() - timedelta(days=DECLINED_KEPT_DAYS + 1)
    study.declined_forms.filter(pk=old.pk).update(declined_on=then)
    assert (forget_declined(), forget_declined()) == (1, 0)
    assert _counts(study) == (2, 0)
    assert study.declined_forms.count() == 1


# Languages


def test_the_language_chosen_at_the_hand_over_is_that_of_the_consent_page(study: Study) -> None:
    ((_link, key),) = create_links(study=study, n=1)
    path = f"/s/{study.slug}/link/{key}/"
    page = tree(Client().get(f"{path}hand-over/?lang=it"))
    onward = page.xpath("string(//a[@class='go']/@href)")
    assert tree(Client().get(onward)).get("lang") == "it"
    assert tree(Client().get(f"{path}hand-over/")).xpath("string(//a[@class='go']/@href)") == path


def test_a_used_personal_link_keeps_the_language_that_it_asks_for(study: Study) -> None:
    ((_link, key),) = create_links(study=study, n=1)
    path = f"/s/{study.slug}/link/{key}/"
    person = Person(study)
    person.consent(path)
    assert person.me.language == "en"
    assert person.client.get(path).headers["Location"] == person.base
    page = person.client.get(f"{path}?lang=it", follow=True)
    assert (tree(page).get("lang"), person.me.language) == ("it", "it")


# Doors that close behind somebody


def _by_id(study: Study, **panel: Any) -> Person:
    """Somebody who came, and came again by their id in another browser."""
    recruit_on_prolific(study, **panel)
    first = Person(study)
    first.consent(f"/s/{study.slug}/?{PROLIFIC}")
    token = resuming.resume_known(study=study, recruiting=recruiting_of(study), parameters={"PROLIFIC_PID": "Ab1"})
    again = Person(study)
    again.base = f"/s/p/{token}/"
    return again


@pytest.mark.parametrize(("language", "words"), [("en", "away for longer"), ("it", "più tempo di quanto")])
def test_a_tab_opened_by_an_id_is_held_to_the_longest_gap_too(study: Study, language: str, words: str) -> None:
    again = _by_id(study, longest_gap_minutes=30)
    Participant.objects.update(language=language)
    assert again.get("about/").status_code == 200
    gone = timezone.now() - timedelta(minutes=31)
    Participant.objects.update(last_seen_at=gone)
    page = again.get("about/")
    assert words in page.text
    assert tree(page).get("lang") == language
    assert page.headers["Content-Language"] == language
    assert again.me.code not in page.text
    saved = again.post("about/", ABOUT, headers=HTMX)
    assert (saved.status_code, words in saved.text, "<" in saved.text) == (409, True, False)
    assert (again.me.last_seen_at, again.me.status) == (gone, "consented")  # nobody is brought back by it
    Participant.objects.update(status="completed", step="thanks")
    assert words not in again.get("thanks/").text  # whose part is over is not away


@pytest.mark.parametrize(
    ("language", "words"), [("en", "open the study again from the site"), ("it", "apri di nuovo lo studio dal sito")]
)
def test_a_tab_opened_by_an_id_says_after_half_a_day_what_to_do(
    study: Study, language: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = _by_id(study)
    Participant.objects.update(language=language)
    monkeypatch.setattr(resuming, "VALID_SECONDS", -1)
    page = again.get("about/")
    assert words in " ".join(tree(page).xpath("string(//main)").split())
    other = {"en": "it", "it": "en"}[language]
    assert tree(again.get(f"about/?lang={other}")).get("lang") == other
    events = again.client.post(f"{again.base}events/", "[]", content_type="application/json")
    assert (events.status_code, events.json()["code"]) == (410, "study.visit_expired")
    ExternalId.objects.all().delete()
    assert again.get("about/").status_code == 404  # of somebody whose id is erased nothing is told


# A submission that timed out


@pytest.mark.parametrize("language", ["en", "it"])
def test_who_timed_out_is_not_told_that_they_gave_their_place_back(study: Study, language: str) -> None:
    recruit_on_prolific(study)
    people = {}
    for name in ("late", "gone"):
        people[name] = Person(study)
        people[name].consent(f"/s/{study.slug}/?PROLIFIC_PID={name}&lang={language}")
    rows = b"Submission id,Participant id,Status\ns1,late,RETURNED\ns2,late,TIMED-OUT\ns3,gone,RETURNED\n"
    assert load_submissions(study=study, data=rows).n_returned == 2
    told = {name: person.get("").text for name, person in people.items()}
    gave, ran_out = {"en": ("returned your place", "has passed"), "it": ("rinunciato", "scaduto")}[language]
    assert [gave in told["gone"], ran_out in told["gone"]] == [True, False]
    assert [gave in told["late"], ran_out in told["late"]] == [False, True]
