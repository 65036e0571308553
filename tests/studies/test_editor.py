"""The questionnaire's editor in the console: what it lists, makes, moves, copies, deletes and refuses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from lxml import html

from core.models import LogEntry
from studies.console.views.autosave import HEADER
from studies.design.selectors.text_warnings import literal_number_warnings
from studies.design.services.launch import launch_problems, launch_study
from studies.design.services.questionnaires import undoable
from studies.enums import Role
from studies.instrument.questionnaires.document import read_document, write_document
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.instrument.scales import scales_of
from studies.models import QuestionnaireUndo, Study
from tests.factories.questionnaires import AFTER, every_kind, make_study_asking
from tests.factories.studies import make_study
from tests.factories.walking import tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study() -> Study:
    return make_study_asking(every_kind(), status="draft")


class Owner:
    """The study's owner in a browser without the script."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.client: Any = Client()
        owner = study.memberships.get(role=Role.OWNER).researcher
        self.client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")

    def url(self, name: str = "questionnaire", **kwargs: str) -> str:
        return reverse(f"studies:{name}", kwargs={"slug": self.study.slug, **kwargs})

    def fields(self, url: str) -> dict[str, Any]:
        """What the question's form holds, as a browser would send it."""
        page = html.document_fromstring(self.client.get(url).text)
        found: dict[str, Any] = {}
        for control in page.xpath("//main//form[@id='stage']//*[@name]"):
            name, kind = control.get("name"), control.get("type")
            if control.tag == "button" or name == "csrfmiddlewaretoken" or "__n__" in name:
                continue
            if control.tag == "textarea":
                found[name] = (control.text or "").removeprefix("\n")
            elif control.tag == "select":
                found[name] = control.xpath("string((option[@selected] | option[1])[last()]/@value)")
            elif kind != "checkbox":
                found[name] = control.get("value", "")
            elif control.get("checked") is not None:
                found[name] = "on"
        return found

    def opened(self, key: str, **facts: str) -> str:
        return f"{self.url()}?{urlencode({'question': key, **facts})}"

    def edit(self, asked: str, **changes: Any) -> Any:
        url = self.opened(asked)
        data = {**self.fields(url), **changes}
        response = self.client.post(
            url, {name: value for name, value in data.items() if value is not None}, follow=True
        )
        self.study.refresh_from_db()
        return response

    def act(self, key: str, act: str, **data: str) -> Any:
        response = self.client.post(self.url("question-act", key=key), {"act": act, **data}, follow=True)
        self.study.refresh_from_db()
        return response

    def order_of(self, block: str = "after") -> list[str]:
        return [question["key"] for question in self.study.questionnaire[block]]

    def question(self, key: str) -> dict[str, Any]:
        found = self.study.questionnaire
        return next(
            q for block in ("about", "items", "overall", "after") for q in found.get(block, ()) if q["key"] == key
        )


KEYS = [q["key"] for block in ("about", "items", "overall", "after") for q in every_kind()[block]]


@pytest.mark.parametrize("key", KEYS)
def test_saving_a_question_as_it_stands_changes_nothing(study: Study, key: str) -> None:
    owner = Owner(study)
    before = study.questionnaire
    page = owner.edit(key)
    assert "Saved." in page.text
    assert owner.study.questionnaire == before


def test_the_list_says_kind_condition_and_scale_and_shows_a_preview(study: Study) -> None:
    owner = Owner(study)
    page = owner.client.get(owner.url())
    assert "shown if satisfaction is at least 3 and (mood is above 50 or (not devices includes nowhere))" in page.text
    found = html.document_fromstring(page.text)
    assert found.xpath("string(//iframe/@src)") == owner.url("questionnaire-preview", block="after")
    assert found.xpath("string(//iframe/@sandbox)") == "allow-scripts"
    preview = owner.client.get(owner.url("questionnaire-preview", block="after") + "?lang=it")
    assert preview.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in preview.headers["Content-Security-Policy"]
    shown = html.document_fromstring(preview.text)
    assert shown.xpath("string(/html/@lang)") == "it"
    assert len(shown.xpath("//*[starts-with(@id, 'question-')]")) == len(AFTER)
    assert "Preferisco non rispondere" in preview.text
    assert not shown.xpath("//form[@method='post']")
    one = owner.client.get(owner.url("questionnaire-preview", block="after") + "?only=service")
    assert html.document_fromstring(one.text).xpath("//*[starts-with(@id, 'question-')][not(@hidden)]/@id") == [
        "question-service"
    ]


def test_a_question_is_added_worded_and_made_conditional(study: Study) -> None:
    owner = Owner(study)
    url = owner.client.post(owner.url("question-add"), {"block": "after", "kind": "choice"}).url
    assert url == owner.opened("q_1", block="after", kind="choice") + "#id_text_en"
    assert "Not saved yet" in owner.client.get(url).text
    data = owner.fields(url)
    condition = {"if0-group": "1", "if0-question": "satisfaction", "if0-relation": "at_least", "if0-value": "4",
                 "if1-group": "2", "if1-question": "views.again", "if1-relation": "one_of", "if1-value": "4, 5",
                 "if1-negated": "on"}  # fmt: skip
    lines = {"line0-key": "yes_please", "line0-text_en": "Please", "line0-text_it": "Volentieri",
             "line1-key": "no", "line1-text_en": "No", "line1-text_it": "No"}  # fmt: skip
    data |= {"text_en": "More?", "text_it": "Ancora?", **lines, **condition}
    page = owner.client.post(url, data, follow=True)
    assert "Saved." in page.text
    owner.study.refresh_from_db()
    assert owner.question("q_1") == {
        "key": "q_1",
        "kind": "choice",
        "text": {"en": "More?", "it": "Ancora?"},
        "choices": [
            {"value": "yes_please", "label": {"en": "Please", "it": "Volentieri"}},
            {"value": "no", "label": {"en": "No", "it": "No"}},
        ],
        "shown_if": {
            "any": [
                {"question": "satisfaction", "at_least": 4},
                {"not": {"question": "views", "row": "again", "one_of": [4, 5]}},
            ]
        },
    }
    assert LogEntry.objects.filter(object_id=study.pk, reason="Questionnaire changed: question q_1 saved.").exists()


def test_what_makes_no_sense_is_said_on_the_form_and_not_stored(study: Study) -> None:
    owner = Owner(study)
    before = study.questionnaire
    page = owner.edit("trust_a", maximum="40")
    assert "needs 2 to 11 points" in page.text
    assert "This field is required" in owner.edit("service", text_en=" ").text
    assert "not an answer to" in owner.edit("service", **{"if0-value": "perhaps"}).text
    assert owner.study.questionnaire == before


def test_a_condition_nested_too_deep_for_the_form_stays_unless_lines_replace_it(study: Study) -> None:
    owner = Owner(study)
    before = owner.question("why")["shown_if"]
    page = owner.client.get(owner.opened("why"))
    assert "nested deeper" in page.text
    owner.edit("why", text_en="Tell us why?")
    assert (owner.question("why")["shown_if"], owner.question("why")["text"]["en"]) == (before, "Tell us why?")
    owner.edit("why", **{"if0-question": "streams", "if0-relation": "equals", "if0-value": "yes"})
    assert owner.question("why")["shown_if"] == {"question": "streams", "equals": True}


def test_questions_move_are_copied_and_deleted(study: Study) -> None:
    owner = Owner(study)
    owner.act("hours", "up")
    assert owner.order_of()[:4] == ["streams", "service", "hours", "devices"]
    owner.act("hours", "down")
    assert owner.order_of()[:4] == ["streams", "service", "devices", "hours"]
    refused = owner.act("streams", "down")
    assert "does not come before it" in refused.text
    assert owner.order_of()[:2] == ["streams", "service"]
    owner.act("trust_a", "duplicate")
    assert owner.order_of()[5:7] == ["trust_a", "trust_a_1"]
    assert owner.question("trust_a_1")["text"] == owner.question("trust_a")["text"]
    owner.act("trust_a_1", "delete")
    assert "trust_a_1" not in owner.order_of()
    assert "does not come before it" in owner.act("streams", "delete").text
    assert "and it cannot be deleted" in owner.act("rating", "delete").text
    assert "rating" in owner.order_of("items")
    assert "Unknown action." in owner.act("streams", "burn").text


def test_a_measured_question_can_be_reworded_and_no_more(study: Study) -> None:
    owner = Owner(study)
    owner.edit("satisfaction", text_en="How content are you?")
    assert owner.question("satisfaction")["text"]["en"] == "How content are you?"
    assert "its key cannot" in owner.act("satisfaction", "rename", new_key="content").text
    assert "must have a scale from 1 to 5" in owner.edit("satisfaction", maximum="7").text
    assert "must be required" in owner.edit("satisfaction", may_decline="on").text
    assert owner.question("satisfaction")["maximum"] == 5


def test_conditions_follow_a_question_to_its_new_key(study: Study) -> None:
    owner = Owner(study)
    response = owner.client.post(owner.url("question-act", key="streams"), {"act": "rename", "new_key": "subscribes"})
    assert response.url == owner.opened("subscribes") + "#id_more"
    study.refresh_from_db()
    assert owner.question("service")["shown_if"] == {"question": "subscribes", "equals": True}
    assert "is not a valid key" in owner.act("subscribes", "rename", new_key="My Key").text
    assert "already used" in owner.act("subscribes", "rename", new_key="age").text


def test_scales_attention_and_blocks(study: Study) -> None:
    owner = Owner(study)
    new = {"key": "fun", "least_answered": "75", "name_en": "Fun", "name_it": "Divertimento"}
    owner.client.post(owner.url("scale-act"), new)
    owner.client.post(owner.url("scale-act"), {"delete": "fit"})
    owner.client.post(owner.url(), {**owner.fields(owner.url()), "ends_after": "2"})
    added = owner.client.post(owner.url("block-add"), {"name": "resque-short"}, follow=True)
    assert "The block is added." in added.text
    again = owner.client.post(owner.url("block-add"), {"name": "resque-short"}, follow=True)
    assert "is used twice in the block" in again.text
    study.refresh_from_db()
    asked = study.questionnaire
    assert [scale["key"] for scale in asked["scales"]][:2] == ["trust", "fun"]
    assert asked["scales"][1]["least_answered"] == 0.75
    assert asked["attention"] == {"ends_after": 2}
    assert all("scale" not in question for question in asked["items"])
    assert len(asked["after"]) == len(AFTER) + 4


def test_the_document_goes_out_and_comes_back(study: Study) -> None:
    owner = Owner(study)
    text = owner.client.get(owner.url("questionnaire-file")).content.decode()
    assert read_document(text) == study.questionnaire
    changed = read_document(text)
    del changed["after"]
    changed["scales"] = [
        {"key": "trust", "name": {"en": "T", "it": "T"}},
        {"key": "fit", "name": {"en": "F", "it": "F"}},
    ]
    before = study.questionnaire
    for given, said in (
        (b"\xff", "not in UTF-8"),
        (b"schema: 1\nafter: 3", "line 2, after"),
        (b"[" * 500, "line 1: Lists and mappings are nested at most 40 levels deep"),
        (b"x" * 600_000, "more than 500,000 characters"),
        (b"x" * 2_100_000, "at most 500,000 characters"),
        (b"schema: 1\nafter: []", "1 problem"),
        (text.encode(), "No changes"),
        (write_document(changed).encode(), f"{len(AFTER) + 2} changes"),
    ):
        page = owner.client.post(owner.url("questionnaire-import"), {"file": SimpleUploadedFile("a.yaml", given)})
        assert said in page.text
        study.refresh_from_db()
        assert study.questionnaire == before
    assert "paste a document" in owner.client.post(owner.url("questionnaire-import"), {"document": " "}).text
    checked = html.document_fromstring(page.text)
    base = checked.xpath("string(//input[@name='base']/@value)")
    confirmed = {"document": checked.xpath("string(//textarea[@name='document'])"), "base": base, "replace": "1"}
    owner.act("hours", "up")
    outdated = owner.client.post(owner.url("questionnaire-import"), confirmed)
    assert "has changed since the document was checked" in outdated.text
    owner.act("hours", "down")
    done = owner.client.post(owner.url("questionnaire-import"), confirmed, follow=True)
    assert "Replaced the questionnaire by a document." in done.text
    study.refresh_from_db()
    assert study.questionnaire == changed
    owner.client.post(owner.url("questionnaire-undo"))
    study.refresh_from_db()
    assert study.questionnaire == before


def test_a_launched_questionnaire_is_read_and_not_changed() -> None:
    owner = Owner(make_study(status="draft"))
    launch_study(study=owner.study)
    before = owner.study.questionnaire
    page = owner.client.get(owner.url())
    assert "Read-only since" in page.text
    found = html.document_fromstring(page.text)
    opened = html.document_fromstring(owner.client.get(owner.opened("comment")).text)
    assert opened.xpath("string(//a[starts-with(text(), 'Amend')]/@href)") == owner.url("versions") + "#words"
    for one in (found, opened):
        assert one.xpath("//form[@id='stage']//*[@name][not(@disabled)][not(self::button)]") == []
        assert not one.xpath("//main//form[not(@id='stage')] | //*[@data-autosave or @data-draft]")
    for response in (
        owner.act("comment", "delete"),
        owner.client.post(owner.url("block-add"), {"name": "resque-long"}, follow=True),
        owner.client.get(owner.url("questionnaire-import"), follow=True),
    ):
        assert "frozen at the launch" in response.text
    assert "Not saved" in owner.edit("comment", text_en="Else?").text
    new = owner.client.post(owner.url("question-add"), {"block": "after", "kind": "attention"}, follow=True)
    assert new.redirect_chain == [(owner.url(), 302)]
    assert owner.study.questionnaire == before


def test_a_deletion_can_be_undone_until_the_next_change(study: Study) -> None:
    owner = Owner(study)
    before = study.questionnaire
    page = owner.act("why", "delete")
    assert "Deleted “Why did it please you?”." in page.text
    assert "why" not in owner.order_of()
    undone = owner.client.post(owner.url("questionnaire-undo"), follow=True)
    assert "The questionnaire is as it was before." in undone.text
    owner.study.refresh_from_db()
    assert owner.study.questionnaire == before
    assert "Undo" not in undone.text
    owner.client.post(owner.url("scale-act"), {"delete": "trust"})
    owner.study.refresh_from_db()
    assert "scale" not in owner.question("trust_a")
    owner.client.post(owner.url("questionnaire-undo"))
    owner.study.refresh_from_db()
    assert owner.study.questionnaire == before
    owner.act("why", "delete")
    owner.act("hours", "up")
    assert "There is nothing to undo" in owner.client.post(owner.url("questionnaire-undo"), follow=True).text
    assert not QuestionnaireUndo.objects.exists()


def test_a_deletion_cannot_be_undone_after_a_day_or_a_change_from_elsewhere(study: Study) -> None:
    owner = Owner(study)
    owner.act("why", "delete")
    assert undoable(owner.study) is not None
    QuestionnaireUndo.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert undoable(owner.study) is None
    QuestionnaireUndo.objects.update(created_at=timezone.now())
    changed = {**owner.study.questionnaire, "attention": {"ends_after": 9}}
    Study.objects.filter(pk=study.pk).update(questionnaire=changed)
    owner.study.refresh_from_db()
    assert undoable(owner.study) is None


def test_rows_are_added_moved_and_removed_without_saving_or_losing_anything(study: Study) -> None:
    owner = Owner(study)
    url = owner.opened("devices")
    before = study.questionnaire
    data = {**owner.fields(url), "text_en": "Where, then?", "text_it": ""}

    def press(data: dict[str, Any], button: str) -> dict[str, Any]:
        page = html.document_fromstring(owner.client.post(url, {**data, "step": button}).text)
        assert not page.xpath("//main//form[@id='stage']//ul[contains(@class, 'errorlist')]")
        found: dict[str, Any] = {}
        for control in page.xpath("//form[@id='stage']//*[@name]"):
            name, kind = control.get("name"), control.get("type")
            if control.tag == "button" or "__n__" in name or (kind == "checkbox" and control.get("checked") is None):
                continue
            text = (control.text or "").removeprefix("\n")
            found[name] = (
                text if control.tag == "textarea" else control.get("value", "on" if kind == "checkbox" else "")
            )
        return found

    added = press(data, "add:line")
    assert (added["text_en"], added["text_it"]) == ("Where, then?", "")
    assert [added[f"line{place}-key"] for place in range(5)] == ["phone", "cinema", "tv", "nowhere", ""]
    assert "line3-mark" in added
    filled_in = {**added, "line4-key": "train", "line4-text_en": "On a train"}
    moved = press(filled_in, "up:line:4")
    assert [moved[f"line{place}-key"] for place in range(5)] == ["phone", "cinema", "tv", "train", "nowhere"]
    assert ("line3-mark" in moved, "line4-mark" in moved) == (False, True)
    removed = press(moved, "remove:line:0")
    assert [removed[f"line{place}-key"] for place in range(4)] == ["cinema", "tv", "train", "nowhere"]
    assert "line4-key" not in removed
    for odd in ("up:line:0", "down:line:99", "burn:line:1", "add", "remove:line:x", "add:l.*"):
        assert press(removed, odd)["line0-key"] == "cinema"
    study.refresh_from_db()
    assert study.questionnaire == before
    compared = press({**owner.fields(url)}, "add:if")
    assert compared["if0-group"] == "1"


def test_the_preview_shows_the_form_as_it_is_now(study: Study) -> None:
    owner = Owner(study)
    fields = owner.fields(owner.opened("trust_a"))
    url = owner.url("question-draft", block="after", kind="likert") + "?key=trust_a&lang=it"
    now = {**fields, "text_en": "I rely on them.", "text_it": "Mi fido.", "maximum": "7"}
    page = owner.client.post(url, now)
    assert page.headers["X-Frame-Options"] == "SAMEORIGIN"
    shown = html.document_fromstring(page.text)
    assert shown.xpath("string(/html/@lang)") == "it"
    assert "Mi fido." in page.text
    assert len(shown.xpath("//input[@name='trust_a']")) == 7
    assert "This field is required" in owner.client.post(url, {**now, "text_en": ""}).text
    assert "needs 2 to 11 points" in owner.client.post(url, {**now, "maximum": "70"}).text
    assert owner.client.post(owner.url("question-draft", block="after", kind="song"), now).status_code == 404
    study.refresh_from_db()
    assert owner.question("trust_a")["maximum"] == 5


def test_translations_are_edited_beside_the_source(study: Study) -> None:
    owner = Owner(study)
    url = owner.url("questionnaire-translations") + "?to=it"
    page = html.document_fromstring(owner.client.get(url).text)
    fields = {field.get("name"): (field.text or "").removeprefix("\n") for field in page.xpath("//main//textarea")}
    assert fields["after.streams.text"] == "Do you use a streaming service? (it)"
    assert "Every text is worded in Italian" in page.text_content()
    before = study.questionnaire
    owner.client.post(url, fields)
    study.refresh_from_db()
    assert study.questionnaire == before
    saved = owner.client.post(url, {**fields, "after.streams.text": "Usi lo streaming?"}, follow=True)
    assert "The translation into Italian is saved." in saved.text
    study.refresh_from_db()
    assert owner.question("streams")["text"] == {"en": "Do you use a streaming service?", "it": "Usi lo streaming?"}
    emptied = owner.client.post(url, {**fields, "after.streams.text": ""}, follow=True)
    assert "1 text missing in Italian." in emptied.text


def test_the_library_adds_a_scale_that_the_study_scores(study: Study) -> None:
    owner = Owner(study)
    page = owner.client.get(owner.url("scale-library"))
    assert "Brooke, J. (1996)" in page.text
    assert "10 items" in page.text
    for key in ("sus", "ueq-s", "nasa-tlx-raw"):
        assert "The block is added." in owner.client.post(owner.url("block-add"), {"name": key}, follow=True).text
    assert owner.client.get(owner.url("scale-library")).text.count("In the questionnaire.") == 3
    study.refresh_from_db()
    sus = next(scale for scale in scales_of(questionnaire_from(study.questionnaire)) if scale.key == "sus")
    assert (sus.minimum, sus.maximum, len(sus.members)) == (0, 100, 10)
    assert "0 to 100" in owner.client.get(owner.url()).text


class TestAutosave:
    """The open question by the contract of the stages."""

    def post(self, owner: Owner, key: str, data: dict[str, Any], **changes: Any) -> dict[str, Any]:
        answer: dict[str, Any] = owner.client.post(
            owner.opened(key), {name: value for name, value in {**data, **changes}.items() if value is not None},
            headers={HEADER: "1"},
        ).json()  # fmt: skip
        owner.study.refresh_from_db()
        return answer

    def test_a_question_is_saved_without_its_translation_and_the_list_asks_for_it(self, study: Study) -> None:
        owner = Owner(study)
        data = owner.fields(owner.opened("trust_a"))
        answer = self.post(owner, "trust_a", data, text_it="", text_en="I rely on them.")
        assert answer["status"] == "saved"
        assert owner.question("trust_a")["text"] == {"en": "I rely on them."}
        page = tree(owner.client.get(owner.url()))
        assert page.xpath("//b[@class='flag']/ancestor::a/@id") == ["id_row_trust_a"]
        assert "(1 missing)" in page.xpath("string(//*[@id='id_translations'])")
        listed = tree(owner.client.get(owner.url("questionnaire-translations") + "?to=it"))
        assert "I rely on them." in listed.xpath("string(//label[contains(., 'missing')])")
        assert page.xpath("//ul[@id='open-points']//a/@href") == ["#id_translations"]
        assert any("trust_a" in problem for problem in launch_problems(study))

    def test_what_is_invalid_is_not_saved_and_the_rest_is(self, study: Study) -> None:
        owner = Owner(study)
        data = owner.fields(owner.opened("trust_a"))
        answer = self.post(owner, "trust_a", data, text_en="", text_it="Mi fido.")
        assert (answer["status"], answer["errors"]) == ("invalid", {"text_en": ["This field is required."]})
        assert owner.question("trust_a")["text"] == {"en": "I trust these suggestions.", "it": "Mi fido."}
        refused = self.post(owner, "trust_a", owner.fields(owner.opened("trust_a")), maximum="70")
        assert "needs 2 to 11 points" in refused["errors"][""][0]

    def test_an_unchanged_form_changes_nothing(self, study: Study) -> None:
        owner, n = Owner(study), LogEntry.objects.count()
        for key in ("devices", "views", "why", "mood"):
            assert self.post(owner, key, owner.fields(owner.opened(key)))["status"] == "saved"
        assert LogEntry.objects.count() == n

    def test_rows_that_another_researcher_changed_are_shown_before_anything_is_stored(self, study: Study) -> None:
        owner = Owner(study)
        data = owner.fields(owner.opened("devices"))
        self.post(owner, "devices", data, **{"line0-text_en": "On my phone"})
        words = "phone · On my phone · On a phone (it)"
        answer = self.post(owner, "devices", data, text_en="Where, then?")
        assert answer["status"] == "conflict"
        (field,) = answer["fields"]
        assert (field["name"], field["label"], field["values"][0], field["is_clash"]) == (
            "line",
            "Choices",
            words,
            False,
        )
        clash = self.post(owner, "devices", data, **{"line0-key": None, "line0-text_en": None, "line0-text_it": None})
        assert clash["fields"][0]["is_clash"]
        assert owner.question("devices")["choices"][0]["label"]["en"] == "On my phone"
        merged = tree(owner.client.post(owner.opened("devices"), {**data, "text_en": "Where, then?"}))
        assert merged.xpath("string(//input[@name='line0-text_en']/@value)") == "On my phone"

    def test_a_question_that_is_gone_is_not_stored_again(self, study: Study) -> None:
        owner = Owner(study)
        data = owner.fields(owner.opened("why"))
        owner.act("why", "delete")
        answer = self.post(owner, "why", data, text_en="Why, then?")
        assert answer == {"status": "refused", "reason": "Not saved: the question was deleted or renamed."}
        assert "why" not in owner.order_of()


def test_the_ready_made_attention_check_is_complete_and_passed_by_its_option(study: Study) -> None:
    owner = Owner(study)
    page = owner.client.post(owner.url("question-add"), {"block": "after", "kind": "attention"}, follow=True)
    assert page.status_code == 200
    study.refresh_from_db()
    check = owner.question("q_1")
    assert set(check["text"]) == set(check["labels"]) == {"en", "it"}
    (question,) = [q for q in questionnaire_from(study.questionnaire).block("after") if q.key == "q_1"]
    for language, words in check["labels"].items():
        tapped = words[question.expects - question.minimum]
        assert tapped.lower() in check["text"][language].lower()
    shown = tree(owner.client.get(owner.url("questionnaire-preview", block="after") + "?only=q_1"))
    assert shown.xpath("string(//label[.//input[@value='4']])").strip() == "Agree"
    owner.edit("q_1", text_en="Please choose 2.", text_it="Scegli 2.")
    assert literal_number_warnings(study) == []
    owner.edit("streams", text_en="Please choose 2.")
    assert [place for place, _text in literal_number_warnings(study)] == ["row_streams"]
    listed = tree(owner.client.get(owner.url()))
    assert listed.xpath("//ul[@id='open-points']//a/@href") == ["#id_row_streams"]
    assert listed.xpath("//a[@id='id_row_streams']")


def test_an_address_of_a_question_that_is_gone_leads_to_the_list(study: Study) -> None:
    owner = Owner(study)
    gone = owner.client.get(owner.opened("nothing"), follow=True)
    assert "The question was deleted or renamed." in gone.text
