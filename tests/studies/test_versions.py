"""Versions of a launched design: targets that grow, words that are mended, and nothing that answers mean."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.test import Client
from django.urls import reverse
from lxml import html

from core.errors import NotAllowedInState, ParallaxError
from core.models import LogEntry
from studies.allocation.selectors.allocations import replayed_log
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.design.selectors.versions import design_lines
from studies.design.services.amending import extend_targets, reword_questionnaire
from studies.design.services.duplicating import duplicate_study
from studies.design.services.launch import close_study, design_snapshot, pause_study
from studies.enums import Mode, ParticipantStatus, Role, StudyStatus
from studies.instrument.questionnaires.document import write_document
from studies.instrument.questionnaires.schema import BLOCKS, questionnaire_from
from studies.instrument.questionnaires.wording import reworded, with_wordings, wordings_of
from studies.models import Recruiting, Study, StudyVersion
from studies.plans import TESTS
from tests.factories.studies import assigned, enter, make_study
from tests.factories.walking import Person

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def _document(study: Study, **texts: str) -> str:
    """The study's questionnaire with other words for some questions."""
    data: dict[str, Any] = yaml.safe_load(write_document(study.questionnaire))
    for block in data.values():
        for question in block if isinstance(block, list) else ():
            if question["key"] in texts:
                question["text"]["en"] = texts[question["key"]]
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False)


def _refused(code: str, act: Any, **given: Any) -> ParallaxError:
    with pytest.raises(ParallaxError) as caught:
        act(**given)
    assert caught.value.code == code
    return caught.value


def test_a_full_study_lets_more_in_once_its_targets_grow() -> None:
    study = make_study(per_condition=1)
    n = study.conditions.count()
    first = [assigned(study) for _ in range(n)]
    assert {one.status for one in first} == {ParticipantStatus.ACTIVE}
    labels = list(study.conditions.order_by("position").values_list("label", flat=True))
    before = study.design_hash
    assert extend_targets(study=study, targets={labels[0]: 2}, why="Dropped devices.") == 2
    study.refresh_from_db()
    assert study.design_hash != before
    later = assigned(study)
    assert (later.status, later.condition.label, later.version.number) == (ParticipantStatus.ACTIVE, labels[0], 2)
    replayed = replayed_log(study, Mode.LIVE)
    assert (replayed.problem, replayed.n_holding) == ("", n + 1)
    entry = LogEntry.objects.filter(kind="studies.study", object_id=study.pk).latest("pk")
    assert f"({labels[0]} 1 to 2): Dropped devices." in entry.reason
    assert entry.facts == {"design_version": 2, "design_hash": study.design_hash}
    assert [(line.version.number, line.n) for line in design_lines(study)] == [(2, 1), (1, n)]
    assert study.versions.get(number=1).snapshot["conditions"][0]["target"] == 1


def test_targets_neither_shrink_nor_stay_nor_change_without_a_reason() -> None:
    study = make_study(per_condition=3)
    label = study.conditions.order_by("position").first().label  # type: ignore[union-attr]
    given = {"study": study, "why": "More power."}
    _refused("amend.lower_target", extend_targets, targets={label: 2}, **given)
    _refused("amend.same", extend_targets, targets={label: 3}, **given)
    assert "Nobody" in _refused("amend.unknown_condition", extend_targets, targets={"Nobody": 9}, **given).message
    _refused("amend.no_reason", extend_targets, study=study, targets={label: 9}, why="  ")
    assert study.versions.count() == 1
    close_study(study=study)
    with pytest.raises(NotAllowedInState, match="closed study"):
        extend_targets(targets={label: 9}, **given)


def test_words_are_mended_and_everybody_reads_them_from_then_on() -> None:
    study = make_study()
    person = Person(study)
    person.consent()
    assert reword_questionnaire(study=study, text=_document(study, age="How old are you?"), why="A typing error.") == 2
    assert "How old are you?" in person.get("about/").content.decode()
    study.refresh_from_db()
    assert study.versions.get(number=2).snapshot["questionnaire"] == study.questionnaire
    assert enter(study).participant.version.number == 2  # type: ignore[union-attr]
    text = _document(study, age="How old are you?")
    _refused("amend.same", reword_questionnaire, study=study, text=text, why="Again.")
    pause_study(study=study)
    assert reword_questionnaire(study=study, text=_document(study, age="Age"), why="Shorter.") == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data["about"].pop(), "is gone"),
        (lambda data: data["about"].insert(0, data["about"].pop(1)), "order in the block 'about' is another"),
        (
            lambda data: data["about"].append(
                {"key": "newer", "kind": "yes_no", "text": {"en": "New?", "it": "Nuovo?"}}
            ),
            "'newer' is new",
        ),
        (lambda data: data["about"][2].update(maximum=90), "'age' differs in maximum"),
        (lambda data: data["about"][3]["choices"].pop(0), "'gender' differs in choices"),
        (lambda data: data.update(attention={"ends_after": 1}), "setting 'attention' differs"),
    ],
)
def test_what_answers_mean_stays(change: Any, words: str) -> None:
    study = make_study()
    data = yaml.safe_load(write_document(study.questionnaire))
    change(data)
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False)
    refused = _refused("amend.other_questions", reword_questionnaire, study=study, text=text, why="Better.")
    assert words in refused.message
    study.refresh_from_db()
    assert study.versions.count() == 1
    _refused("questionnaire.problems", reword_questionnaire, study=study, text="schema: [", why="Better.")


def test_the_page_shows_versions_and_an_owner_makes_new_ones(client: Client) -> None:
    study = make_study(per_condition=2)
    owner = study.memberships.get(role=Role.OWNER).researcher
    client.force_login(owner)
    url = reverse("studies:versions", args=[study.slug])
    n = study.conditions.count()
    fields = {f"targets-target_{i}": 2 for i in range(n)} | {"act": "targets", "targets-why": "More people came."}
    lower = client.post(url, fields | {"targets-target_0": 1}).content.decode()
    assert "greater than or equal to 2" in lower
    same = client.post(url, fields).content.decode()
    assert "No target is higher than before" in same
    done = client.post(url, fields | {"targets-target_0": 5}, follow=True).content.decode()
    assert "Version 2 of the design applies from now on." in done
    assert "More people came." in done
    words = {"act": "words", "words-document": _document(study, age="How old are you?"), "words-why": "Clearer."}
    done = client.post(url, words, follow=True).content.decode()
    assert "Version 3 of the design" in done
    broken = client.post(url, words | {"words-document": "schema: 1\nabout: 7\n"}).content.decode()
    assert "about" in broken
    assert study.versions.count() == 3


def _fields(page: str) -> dict[str, str]:
    """What the form of the wording posts if nothing is changed, with a reason."""
    form = html.document_fromstring(page).xpath("//form[.//input[@value='words']]")[0]
    posted = {field.get("name"): (field.text or "").removeprefix("\n") for field in form.xpath(".//textarea")}
    hidden = {field.get("name"): field.get("value") for field in form.xpath(".//input[@type='hidden']")}
    # Browsers send a line break as two characters.
    return {name: text.replace("\n", "\r\n") for name, text in (posted | hidden).items()} | {"words-why": "Clearer."}


def _open_questions(page: str) -> list[str]:
    return [part.get("data-key") for part in html.document_fromstring(page).xpath("//details[@open]")]


def _beside(page: str, name: str) -> str:
    """The error beside a field of the form."""
    [error] = html.document_fromstring(page).xpath(f"//ul[@id='id_words-{name}_error']")
    return " ".join(error.text_content().split())


@pytest.fixture
def owned(client: Client) -> tuple[Study, str]:
    """A running study whose owner is signed in, and the address of its versions."""
    study = make_study()
    client.force_login(study.memberships.get(role=Role.OWNER).researcher)
    return study, reverse("studies:versions", args=[study.slug])


def test_every_wording_has_a_labelled_field_in_each_language(client: Client, owned: tuple[Study, str]) -> None:
    study, url = owned
    page = client.get(url).text
    fields = _fields(page)
    languages = study.settings["languages"]
    for wording in wordings_of(study.questionnaire):
        for language in languages:
            assert fields[f"words-{wording.name}.{language}"] == wording.text(language)
    tree = html.document_fromstring(page)
    assert len(languages) == 2
    [label] = tree.xpath("//label[@for='id_words-about.age.text.it']")
    assert label.text_content() == "Question, Italian"
    asked = [question["key"] for block in BLOCKS for question in study.questionnaire.get(block, ())]
    assert [part.get("data-key") for part in tree.xpath("//details[@class='block']")] == asked
    assert tree.xpath("//details[@class='block']//label[not(@for)]") == []
    assert _open_questions(page) == []


def test_one_changed_text_makes_a_version_that_names_its_question_alone(
    client: Client, owned: tuple[Study, str]
) -> None:
    study, url = owned
    before = study.questionnaire
    fields = _fields(client.get(url).text)
    done = client.post(url, fields | {"words-about.age.text.it": "Quanti anni ha?"}, follow=True).text
    assert "Version 2 of the design applies from now on." in done
    study.refresh_from_db()
    assert study.questionnaire == with_wordings(before, {"it": {"about.age.text": "Quanti anni ha?"}})
    assert reworded(before, study.questionnaire) == ["age"]
    entry = LogEntry.objects.filter(kind="studies.study", object_id=study.pk).latest("pk")
    assert entry.reason.endswith("(age): Clearer.")


def test_an_emptied_text_is_named_beside_its_field(client: Client, owned: tuple[Study, str]) -> None:
    study, url = owned
    fields = _fields(client.get(url).text)
    changed = {"words-about.age.text.it": " ", "words-about.gender.text.en": "Gender"}
    refused = client.post(url, fields | changed).text
    assert _beside(refused, "about.age.text.it") == "Question, Italian: Enter a text."
    assert _open_questions(refused) == ["age", "gender"]
    assert _fields(refused)["words-about.gender.text.en"] == "Gender"
    assert study.versions.count() == 1


def test_a_help_text_is_left_out_in_every_language_or_in_none(client: Client) -> None:
    study = make_study()
    [age] = [question for question in study.questionnaire["about"] if question["key"] == "age"]
    age["help"] = {"en": "In years", "it": "In anni", "de": "In Jahren"}
    study.save(update_fields=["questionnaire"])
    client.force_login(study.memberships.get(role=Role.OWNER).researcher)
    url = reverse("studies:versions", args=[study.slug])
    fields = _fields(client.get(url).text) | {"words-about.age.help.it": ""}
    refused = client.post(url, fields).text
    assert "or leave it empty in every language" in _beside(refused, "about.age.help.it")
    assert "Version 2" in client.post(url, fields | {"words-about.age.help.en": ""}, follow=True).text
    study.refresh_from_db()
    assert questionnaire_from(study.questionnaire).about[2].help == {}


def test_an_unchanged_form_makes_no_version(client: Client, owned: tuple[Study, str]) -> None:
    study, url = owned
    fields = _fields(client.get(url).text)
    refused = client.post(url, fields).text
    assert "The questionnaire says the same as before, so there is no new version." in refused
    unexplained = client.post(url, fields | {"words-about.age.text.en": "Age", "words-why": ""}).text
    assert _beside(unexplained, "why") == "Reason for the change: This field is required."
    assert _open_questions(unexplained) == ["age"]
    assert study.versions.count() == 1


def test_the_document_replaces_the_fields_unless_both_are_changed(client: Client, owned: tuple[Study, str]) -> None:
    study, url = owned
    fields = _fields(client.get(url).text)
    document = fields | {"words-document": _document(study, age="How old are you?")}
    both = client.post(url, document | {"words-about.age.text.en": "Age"}).text
    assert "You changed both the fields and this document." in _beside(both, "document")
    broken = client.post(url, fields | {"words-document": "schema: 1\nabout: 7\n"}).text
    assert "line 2" in _beside(broken, "document")
    assert _open_questions(broken) == [None]
    assert "Version 2" in client.post(url, document, follow=True).text
    stale = client.post(url, fields | {"words-about.gender.text.en": "Gender"}).text
    assert "The questionnaire has changed since you opened this page." in stale
    assert "You changed both" not in stale
    assert study.versions.count() == 2


def test_a_long_questionnaire_is_corrected_as_a_whole(client: Client, owned: tuple[Study, str]) -> None:
    study, url = owned
    text = dict.fromkeys(study.settings["languages"], "I agree.")
    labels = {language: [f"Point {point}" for point in range(1, 8)] for language in text}
    study.questionnaire["after"] = [
        {"key": f"q_{n}", "kind": "likert", "text": text, "minimum": 1, "maximum": 7, "labels": labels}
        for n in range(65)
    ]
    study.save(update_fields=["questionnaire"])
    fields = {
        f"words-{wording.name}.{language}": "Other words"
        for wording in wordings_of(study.questionnaire)
        for language in wording.by_language
        if wording.block == "after"
    }
    assert len(fields) > 1000  # the default limit of Django
    assert client.post(url, fields | {"act": "words", "words-why": "Clearer."}).status_code == 302
    study.refresh_from_db()
    assert study.questionnaire["after"][64]["labels"]["it"] == ["Other words"] * 7


def test_a_copy_recruits_by_the_same_panel_and_with_no_code_of_the_other_study() -> None:
    study = make_study()
    exits = {
        "complete": {"code": "static", "static_code": "ABC", "url": "https://x.org/?c={code}", "text": {"en": "Hi"}}
    }
    Recruiting.objects.create(study=study, panel="prolific", exits=exits, longest_gap_minutes=30)
    made = duplicate_study(study=study, slug="second", title="Second")
    assert (made.recruiting.panel, made.recruiting.longest_gap_minutes) == ("prolific", 30)
    assert made.recruiting.exits == {"complete": {"text": {"en": "Hi"}}}


def test_a_launched_plan_keeps_the_words_it_was_frozen_with() -> None:
    study = make_study()
    version = study.versions.get()
    older = {"comparison": "Kendall's tau-b with the exact two-sided p over all orders of the conditions"}
    snapshot = {**version.snapshot, "plan": {**version.snapshot["plan"], "tests": older}}
    StudyVersion.objects.filter(pk=version.pk).update(snapshot=snapshot)
    assert design_snapshot(study)["plan"] == snapshot["plan"]
    assert preregistration_plan(study).tests == tuple(older.values())
    assert f"- {older['comparison']}" in preregistration(preregistration_plan(study))
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.DRAFT)
    study.refresh_from_db()
    assert design_snapshot(study)["plan"]["tests"] == dict(TESTS)
