"""The researcher's texts: boxes, endings, contact and languages set in a draft, and mended while a study runs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from core.errors import NotAllowedInState, ParallaxError
from core.models import LogEntry
from core.provenance import digest_of
from studies.design.services.amending import amend_texts, change_consent
from studies.design.services.archiving import archive_study
from studies.design.services.design import change_design
from studies.design.services.launch import close_study, design_snapshot, launch_study, pause_study
from studies.enums import Role
from studies.models import Participant, Study, StudyVersion
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.studies import enter, make_study
from tests.factories.walking import Person, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

WORDS = {
    "declined": {"en": "Good bye, **then**.", "it": "Allora **ciao**."},
    "closed": {"en": "It is **over** now.", "it": "È **finito** davvero."},
    "contact": {"en": "Ask **Ada**, room 1.", "it": "Chiedi ad **Ada**, stanza 1."},
}


def _by_language(words: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    return {language: {name: said[language] for name, said in words.items()} for language in ("en", "it")}


def _client(user: Any) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _owner(study: Study) -> Client:
    return _client(study.memberships.get(role=Role.OWNER).researcher)


def _analyst(study: Study) -> Client:
    user = UserFactory()
    add_member(study=study, email=user.email, role=Role.ANALYST)
    return _client(user)


def _url(name: str, study: Study) -> str:
    return reverse(f"studies:{name}", args=[study.slug])


def _said(study: Study, client: Client) -> dict[str, Any]:
    """What the stage's form sends where nothing is changed."""
    return dict(client.get(_url("texts", study)).context["form"].initial)


def _refused(code: str, act: Any, **given: Any) -> None:
    with pytest.raises(ParallaxError) as caught:
        act(**given)
    assert caught.value.code == code


def _page(study: Study, language: str, path: str = "", **data: Any) -> str:
    client = Client()
    address, headers = f"/s/{study.slug}/{path}", {"Accept-Language": language}
    page = client.post(address, data, headers=headers, follow=True) if data else client.get(address, headers=headers)
    return " ".join(tree(page).xpath("string(//main)").split())


def test_boxes_changed_in_a_draft_are_those_that_participants_see_and_have_to_tick() -> None:
    study = make_study(status="draft")
    client = _owner(study)
    said = _said(study, client)
    assert said["consent_boxes_en"].splitlines()[0] == "I am {your_age}."
    boxes = {
        "consent_boxes_en": "I am at least 16.\r\n\r\n  My parents <agree>. \r\nTake part.",
        "consent_boxes_it": "Ho almeno 16 anni.\nI miei genitori sono d'accordo.\nPartecipo.",
    }
    assert client.post(_url("texts", study), {**said, **boxes}).url == _url("texts", study)
    study.refresh_from_db()
    assert study.texts["en"]["consent_boxes"] == ["I am at least 16.", "My parents <agree>.", "Take part."]
    launch_study(study=study)
    page = tree(Client().get(f"/s/{study.slug}/"))
    labels = [" ".join(box.getparent().text_content().split()) for box in page.xpath("//input[@name='box']")]
    assert labels == ["I am at least 16.", "My parents <agree>.", "Take part."]
    assert "I miei genitori" in _page(study, "it")
    assert "tick every box" in _page(study, "en", box=["1", "2"], choice="yes", entry_key="k" * 43)
    assert not Participant.objects.exists()
    Person(study).consent()
    kept = Participant.objects.get().consent_version
    assert kept is not None
    assert kept.texts["en"]["consent_boxes"] == study.texts["en"]["consent_boxes"]


def test_a_design_saved_as_it_stands_keeps_its_hash() -> None:
    study = make_study(status="draft")
    client = _owner(study)
    client.post(_url("texts", study), _said(study, client))  # what it lacked of defaults is written once
    study.refresh_from_db()
    texts = make_study(slug="untouched", run=study.run, status="draft").texts
    assert study.texts == texts, "neither blanks at the ends nor an empty contact are a change"


@pytest.mark.parametrize("language", ["en", "it"])
def test_endings_and_contact_of_the_design_are_on_the_participants_pages(language: str) -> None:
    study = make_study(status="draft")
    client = _owner(study)
    said = _said(study, client) | {f"{name}_{code}": own[code] for name, own in WORDS.items() for code in own}
    assert client.post(_url("texts", study), said).url == _url("texts", study)
    study.refresh_from_db()
    launch_study(study=study)
    plain = {name: own[language].replace("*", "") for name, own in WORDS.items()}
    declined = _page(study, language, choice="no", entry_key="k" * 43)
    wrong = _page(study, language, "link/nobody-has-this/")
    assert plain["declined"] in declined
    close_study(study=study)
    closed = _page(study, language)
    assert plain["closed"] in closed
    owner = study.memberships.get().researcher.email
    for page in (declined, wrong, closed):
        assert plain["contact"] in page
        assert owner not in page


def test_texts_left_empty_fall_back_and_are_no_part_of_the_design() -> None:
    study = make_study(status="draft")
    changed = change_design(study=study, texts=_by_language(WORDS))
    before = digest_of(design_snapshot(changed))
    empty = {language: {"declined": "", "contact": ""} for language in ("en", "it")}
    changed = change_design(study=study, texts=empty)
    assert not {"declined", "contact"} & set(changed.texts["en"])
    assert digest_of(design_snapshot(changed)) != before
    launch_study(study=study)
    page = _page(study, "en", choice="no", entry_key="k" * 43)
    assert study.memberships.get().researcher.email in page


@pytest.mark.parametrize(
    "change",
    [
        {"texts": {language: {"consent_boxes": ["Yes."]} for language in ("en", "it")}},
        *({"texts": {"it": {name: "Altro."}}} for name in WORDS),
        {"settings": {"languages": ["it"]}},
        {"settings": {"languages": ["it", "en"]}},
    ],
)
def test_texts_and_languages_are_under_the_hash(change: dict[str, Any]) -> None:
    study = make_study(status="draft")
    before = digest_of(design_snapshot(study))
    assert digest_of(design_snapshot(change_design(study=study, **change))) != before


def test_a_study_offered_in_one_language_speaks_it_to_everybody_and_has_no_switch() -> None:
    study = make_study(status="draft")
    client = _owner(study)
    said = _said(study, client)
    assert said["languages"] == ["en", "it"]
    # Another number of boxes in a language that is not offered is nobody's business.
    only = {"languages": ["it"], "consent_boxes_it": "Partecipo davvero.", "consent_en": ""}
    assert client.post(_url("texts", study), {**said, **only}).url == _url("texts", study)
    study.refresh_from_db()
    assert study.settings["languages"] == ["it"]
    assert "consent" not in study.texts["en"]
    launch_study(study=study)
    for address in (f"/s/{study.slug}/", f"/s/{study.slug}/?lang=en"):
        page = tree(Client().get(address, headers={"Accept-Language": "en"}))
        assert page.get("lang") == "it"
        assert "Partecipo davvero." in page.text_content()
        assert not page.xpath("//nav[@class='languages']")
    assert enter(study, language="it").participant.consent_version.texts.keys() == {"it"}  # type: ignore[union-attr]
    texts = {"it": {"consent": "Un altro testo.", "consent_boxes": ["Partecipo davvero."]}}
    assert change_consent(study=study, texts=texts, why="w").number == 2


def test_a_language_taken_back_into_a_draft_still_has_its_texts() -> None:
    study = make_study(status="draft")
    client = _owner(study)
    said = _said(study, client)
    client.post(_url("texts", study), {**said, "languages": ["it"]})
    again = _said(study, client)
    assert (again["languages"], again["consent_en"]) == (["it"], said["consent_en"])
    client.post(_url("texts", study), {**again, "languages": ["it", "en"]})
    study.refresh_from_db()
    assert study.settings["languages"] == ["it", "en"]
    page = tree(Client().get(f"/s/{study.slug}/", headers={"Accept-Language": "en"}))
    assert (page.get("lang"), page.xpath("//nav[@class='languages']/a/@lang")) == ("en", ["it"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"languages": []}, "This field is required."),
        ({"languages": ["es"]}, "Select a valid choice."),
        ({"consent_boxes_it": "Una sola."}, "Every language needs the same number of boxes to tick."),
        ({"consent_boxes_en": " \r\n ", "consent_boxes_it": ""}, "Required in every language the study is offered in."),
        ({"closed_it": "  "}, "Required in every language the study is offered in."),
        ({"contact_en": "x" * 20_001}, "at most 20000 characters"),
    ],
)
def test_a_bad_text_is_said_on_the_form_and_nothing_is_stored(change: dict[str, Any], words: str) -> None:
    study = make_study(status="draft")
    client = _owner(study)
    said = _said(study, client) | {"declined_en": "x" * 20_001}
    page = client.post(_url("texts", study), {**said, **change})
    assert page.status_code == 200
    assert words in tree(page).text_content()
    kept = Study.objects.get(pk=study.pk)
    assert (kept.texts, kept.settings) == (study.texts, study.settings)


def test_a_wrong_text_opens_the_texts_of_its_language() -> None:
    study = make_study(status="draft")
    client = _owner(study)
    page = tree(client.post(_url("texts", study), {**_said(study, client), "closed_it": ""}))
    folds = page.xpath("//details[starts-with(normalize-space(summary), 'Texts in ')]")
    opened = {fold.xpath("normalize-space(summary)"): "open" in fold.attrib for fold in folds}
    assert opened == {"Texts in Italian": True, "Texts in German, not offered": False}


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"languages": []}},
        {"settings": {"languages": "en"}},
        {"settings": {"languages": ["fr"]}},
        {"texts": {"en": {"consent_boxes": []}}},
        {"texts": {"en": {"consent_boxes": "Yes"}}},
        {"texts": {"en": {"consent_boxes": ["Yes.", " "]}}},
        {"texts": {"en": {"consent_boxes": ["Only one."]}}},
        {"texts": {"en": {"closed": ""}}},
        {"texts": {"en": {"contact": ["a"]}}},
    ],
)
def test_texts_that_a_study_could_not_run_with_are_refused_whole(change: dict[str, Any]) -> None:
    study = make_study(status="draft")
    _refused("study.bad_settings", change_design, study=study, title="Half", **change)
    kept = Study.objects.get(pk=study.pk)
    assert (kept.title, kept.texts, kept.settings) == (study.title, study.texts, study.settings)


def test_contact_and_endings_are_mended_while_a_study_runs() -> None:
    study = make_study()
    person = Person(study).to("about")
    before, consents = study.design_hash, study.consent_versions.count()
    actor = study.memberships.get().researcher
    assert amend_texts(study=study, texts=_by_language(WORDS), why="Ada took over.", actor=actor) == 2
    assert study.design_hash != before
    version = StudyVersion.objects.get(study=study, number=2)
    assert (version.why, version.made_by, version.design_hash) == ("Ada took over.", actor, study.design_hash)
    assert version.snapshot["texts"]["it"]["contact"] == WORDS["contact"]["it"]
    entry = LogEntry.objects.filter(kind="studies.study", object_id=study.pk).latest("pk")
    assert set(re.findall(r"(\w+) in (\w+)", entry.reason)) == {(text, key) for key in ("en", "it") for text in WORDS}
    assert entry.reason.endswith(": Ada took over.")
    assert study.consent_versions.count() == consents, "nobody is asked again for it"
    assert "Ask <strong>Ada</strong>, room 1." in person.get("about/").text
    assert "Allora ciao." in _page(study, "it", choice="no", entry_key="k" * 43)
    assert amend_texts(study=study, texts={"en": {"contact": ""}}, why="Room closed.") == 3
    assert actor.email in person.get("about/").text
    assert "<strong>Ada</strong>, stanza 1" in Client().get(f"/s/{study.slug}/?lang=it").text


def test_amending_texts_is_refused_without_a_reason_a_difference_or_a_running_study() -> None:
    draft = make_study(status="draft")
    study = make_study(slug="second", run=draft.run)
    texts = _by_language(WORDS)
    _refused("amend.no_reason", amend_texts, study=study, texts=texts, why=" ")
    _refused("amend.same", amend_texts, study=study, texts={"en": {"contact": ""}}, why="w")
    _refused("amend.same", amend_texts, study=study, texts={"en": {"consent": "Other."}}, why="w")
    _refused("study.bad_settings", amend_texts, study=study, texts={"en": {"closed": "", "contact": "x"}}, why="w")
    _refused("amend.not_running", amend_texts, study=draft, texts=texts, why="w")
    pause_study(study=study)
    archive_study(study=study)
    with pytest.raises(NotAllowedInState, match="archived"):
        amend_texts(study=study, texts=texts, why="w")
    assert Study.objects.get(pk=study.pk).texts == study.texts
    assert StudyVersion.objects.count() == 1


def test_an_owner_amends_texts_on_the_page_of_versions() -> None:
    study = make_study()
    client, address = _owner(study), _url("versions", study)
    form = client.get(address).context["notes"]
    said = {f"notes-{name}": field.initial or "" for name, field in form.fields.items()}
    same = client.post(address, {**said, "act": "notes", "notes-why": "w"}).content.decode()
    assert "The texts say the same as before" in same
    bare = client.post(address, {**said, "act": "notes", "notes-why": "w", "notes-closed_it": ""}).content.decode()
    assert "This field is required." in bare
    said |= {"notes-contact_en": "Ask\r\nAda.", "notes-why": "Ada took over."}
    done = client.post(address, {**said, "act": "notes"}, follow=True).content.decode()
    assert "Version 2 of the design applies from now on." in done
    assert "Ada took over." in done
    study.refresh_from_db()
    assert study.texts["en"]["contact"] == "Ask\nAda."
    assert "contact" not in study.texts["it"]


def test_an_analyst_changes_no_text() -> None:
    draft = make_study(status="draft")
    client = _owner(draft)
    said = _said(draft, client)
    refused = _analyst(draft).post(_url("texts", draft), {**said, "contact_en": "Mine."}, follow=True)
    assert "Not saved" in refused.text
    study = make_study(slug="second", run=draft.run)
    page = _analyst(study).get(_url("versions", study)).content.decode()
    assert "notes-contact_en" not in page
    words = {"contact_en": "Mine.", "closed_en": "C", "closed_it": "C", "why": "w"}
    act = {"act": "notes", **{f"notes-{name}": said for name, said in words.items()}}
    _analyst(study).post(_url("versions", study), act)
    for one in (draft, study):
        assert Study.objects.get(pk=one.pk).texts == one.texts
    assert StudyVersion.objects.filter(study=study).count() == 1


def test_the_page_of_the_consent_text_says_where_a_draft_changes_it() -> None:
    study = make_study(status="draft")
    text = " ".join(_owner(study).get(_url("consent", study)).text.split())
    assert '<a href="/studies/good-films/texts/">Texts and consent</a>' in text
