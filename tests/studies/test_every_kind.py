"""Every kind of question on the participants' pages and in exports, and what becomes of attention checks."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from core.provenance import digest_of
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.design.presets.loader import load_preset
from studies.enums import AllocationKind, ParticipantStatus
from studies.models import Allocation, Event, Response, Study
from tests.factories.questionnaires import every_kind, make_study_asking
from tests.factories.walking import HTMX, Person, leads, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]

GIVEN = {
    "streams": "no", "devices": ["tv", "phone"], "hours": "1,5", "mood": "35", "trust_a": "4", "trust_b": "1",
    "views.again": "5", "views.never": "2", "often": "2", "reads": "second", "nickname": "", "why": "",
}  # fmt: skip


@pytest.fixture
def study() -> Study:
    return make_study_asking(every_kind(), per_condition=3)


def at_after(study: Study) -> Person:
    person = Person(study)
    for page in person.pages():
        if page.step == "after":
            break
        if rank := re.search(r"/items/1/(\d)/$", page.url):
            person.answers["mood_fit"] = rank[1]
    return person


def shown(page: html.HtmlElement) -> list[str]:
    ids = page.xpath("//*[starts-with(@id, 'question-')][not(@hidden)]/@id")
    return [name.removeprefix("question-") for name in ids]


def test_the_page_after_the_list_asks_every_kind_and_reveals_no_expected_answer(study: Study) -> None:
    person = at_after(study)
    page = person.get("after/")
    found = tree(page)
    assert set(shown(found)) == {question.get("key") for question in every_kind()["after"]} - {"service"}
    assert "expect" not in page.text
    assert found.xpath("string(//button[@id='continue'])") == "Finish"
    assert "Step 7 of 8" in found.xpath("string(//p[@class='steps']/@aria-label)")
    assert not found.xpath("//input[@name='mood'][@value!='']")
    overall = tree(person.get("overall/"))
    assert overall.xpath("string(//button[@id='continue'])") == "Continue"


def test_answers_of_every_kind_are_stored_as_they_are_given(study: Study) -> None:
    person = at_after(study)
    for key, value in GIVEN.items():
        if key not in ("nickname", "why"):
            assert person.post("after/", {key: value}, headers=HTMX).status_code == 200
    assert leads(person.post("after/", {**GIVEN, "continue": "1"})) == "thanks"
    stored = dict(Response.objects.filter(participant=person.me, rank=0).values_list("question", "value"))
    assert {key: stored[key] for key in ("streams", "devices", "hours", "mood", "views", "reads")} == {
        "streams": False, "devices": ["phone", "tv"], "hours": 1.5, "mood": 35, "views": {"again": 5, "never": 2},
        "reads": "second",
    }  # fmt: skip
    assert "nickname" not in stored
    assert person.me.status == ParticipantStatus.COMPLETED


def test_without_the_script_a_question_opens_by_sending_the_form_and_blames_nobody(study: Study) -> None:
    person = at_after(study)
    opened = tree(person.post("after/", {**GIVEN, "streams": "yes", "continue": "1"}))
    assert "service" in shown(opened)
    assert not opened.xpath("//*[@id='question-service']//*[@role='alert']")
    again = tree(person.post("after/", {**GIVEN, "streams": "yes", "continue": "1"}))
    missing = again.xpath("string(//*[@id='problem-service'])")
    assert missing
    own = {**GIVEN, "streams": "yes", "service": "other", "continue": "1"}
    said = tree(person.post("after/", {**own, "service.other": ""}))
    assert said.xpath("string(//*[@id='problem-service'])") not in ("", missing)
    assert leads(person.post("after/", {**own, "service.other": "A friend"})) == "thanks"
    assert Response.objects.get(question="service").value == {"other": "A friend"}


@pytest.mark.parametrize(
    ("given", "key", "said"),
    [
        ({"hours": "99"}, "hours", "Please enter a number from 0 to 24."),
        ({"hours": "x"}, "hours", "Please enter a number from 0 to 24."),
        ({"mood": "33"}, "mood", "Please enter a number from 0 to 100."),
        ({"devices": ["tv", "nowhere"]}, "devices", "cannot be combined with others"),
        ({"devices": ["tv", "phone", "cinema"]}, "devices", "Please choose at most 2."),
        ({"nickname": "x" * 21}, "nickname", "Please use at most 20 characters."),
        ({"trust_a": "9"}, "trust_a", "Please choose one of the answers"),
        ({"reads": "fourth"}, "reads", "Please choose one of the answers"),
    ],
)
def test_what_does_not_fit_is_said_beside_the_question_and_changes_nothing(
    study: Study, given: dict[str, Any], key: str, said: str
) -> None:
    person = at_after(study)
    page = tree(person.post("after/", {**GIVEN, **given, "continue": "1"}))
    assert said in page.xpath(f"string(//*[@id='problem-{key}'])")
    assert len(page.xpath("//*[@role='alert']")) == 1
    assert not Response.objects.filter(question=key).exists()
    part = person.post("after/", given, headers=HTMX)
    assert part.status_code == 409
    assert said in part.text
    assert person.me.step == "after"


def test_a_row_left_out_is_asked_for_and_declining_is_an_answer(study: Study) -> None:
    person = at_after(study)
    without = {key: value for key, value in GIVEN.items() if key not in ("views.never", "hours", "streams")}
    declined = {**without, "hours--declined": "1", "hours": "3", "streams": "--declined"}
    page = tree(person.post("after/", {**declined, "continue": "1"}))
    assert page.xpath("//*[@id='problem-views']")
    assert len(page.xpath("//*[@role='alert']")) == 1
    assert page.xpath("//input[@name='hours--declined'][@checked]")
    assert (
        leads(person.post("after/", {**declined, "views.never": "1", "views.again": "5", "continue": "1"})) == "thanks"
    )
    assert Response.objects.get(question="hours").value == {"declined": True}


def test_an_answer_can_be_taken_back_and_unticked(study: Study) -> None:
    person = at_after(study)
    person.post("after/", GIVEN)
    person.post("after/", {**GIVEN, "devices": "", "mood": ""}, headers=HTMX)
    assert set(Response.objects.filter(participant=person.me, question__in=["devices", "mood"])) == set()
    page = tree(person.post("after/", {**GIVEN, "devices": "", "mood": "", "continue": "1"}))
    assert {e.get("id") for e in page.xpath("//*[@role='alert']")} == {"problem-devices", "problem-mood"}


def test_random_orders_are_stored_once_and_shown_again(study: Study) -> None:
    orders = set()
    for _ in range(6):
        person = at_after(study)
        first = tree(person.get("after/")).xpath("//*[starts-with(@id, 'row-views')]/@id")
        assert tree(person.get("after/")).xpath("//*[starts-with(@id, 'row-views')]/@id") == first
        kept = person.me.shown_orders["after"]
        assert [f"row-views.{key}" for key in kept["within"]["views"]] == first
        orders.add((tuple(kept["questions"]), tuple(kept["within"]["views"]), tuple(kept["within"]["service"])))
    assert len(orders) > 1


def test_a_failed_check_is_noted_and_ends_the_part_where_the_study_says_so() -> None:
    lenient, strict = (make_study_asking(every_kind(ends_after=n), slug=f"s{n}") for n in (0, 1))
    ended = at_after(strict)
    page = ended.post("after/", {**GIVEN, "reads": "third", "continue": "1"})
    assert ended.me.status == ParticipantStatus.ATTENTION_FAILED
    assert tree(page).find("body").get("data-step") == "message"
    assert ended.me.place is None
    assert Allocation.objects.filter(participant=ended.me, kind=AllocationKind.RELEASED).count() == 1
    assert tree(ended.get("after/")).find("body").get("data-step") == "message"
    going = at_after(lenient)
    assert leads(going.post("after/", {**GIVEN, "reads": "third", "continue": "1"})) == "thanks"
    facts = Event.objects.filter(kind="attention_checked", participant=going.me).values_list("facts", flat=True)
    assert list(facts) == [{"question": "reads", "rank": 0, "passed": False}]


def test_a_check_about_the_person_that_is_failed_takes_no_slot() -> None:
    asked = every_kind(ends_after=1)
    asked["about"].append({**asked["after"][9], "key": "early"})
    study = make_study_asking(asked)
    person = Person(study, answers={"early": "first"}).to("message")
    assert (person.me.status, person.me.condition) == (ParticipantStatus.ATTENTION_FAILED, None)
    assert not Allocation.objects.exists()


def read(folder: Path, study: Study, kind: str) -> tuple[list[dict[str, str]], dict[str, dict[str, str]]]:
    write_export(study, kind, folder, Options())
    stem = f"study-{study.slug}_{kind}"
    with (folder / f"{stem}_data.csv").open(encoding="utf-8") as data:
        rows = list(csv.DictReader(data))
    with (folder / f"{stem}_codebook.csv").open(encoding="utf-8") as lines:
        book = {line["name"]: line for line in csv.DictReader(lines)}
    return rows, book


def test_exports_have_a_column_for_each_part_of_an_answer(study: Study, tmp_path: Path) -> None:
    person = at_after(study)
    tree(person.get("after/"))
    person.post("after/", {**GIVEN, "hours--declined": "1", "continue": "1"})
    Person(study).to("item")
    (row, early), book = read(tmp_path, study, "wide")
    assert set(row) == set(book)
    assert {name: row[f"after.{name}"] for name in (
        "streams", "service", "service.other", "service.missing", "devices.phone", "devices.cinema", "hours",
        "hours.missing", "views.again", "views.never", "reads", "reads.passed", "nickname", "nickname.missing",
    )} == {
        "streams": "0", "service": "", "service.other": "", "service.missing": "not_asked", "devices.phone": "1",
        "devices.cinema": "0", "hours": "", "hours.missing": "declined", "views.again": "5", "views.never": "2",
        "reads": "second", "reads.passed": "1", "nickname": "", "nickname.missing": "not_answered",
    }  # fmt: skip
    assert sorted(row["after.views.order"].split()) == ["again", "never"]
    assert "trust_a" in row["after.order"].split()
    # 4, 6 - 1, 5 and 6 - 2 are in the scale's direction.
    assert float(row["scale.trust"]) == pytest.approx((4 + 5 + 5 + 4) / 4)
    assert float(row["scale.fit"]) == pytest.approx(3)
    assert row["item.3.scale.fit"] == "3.0"
    assert row["item.1.day_fit.missing"] == "not_asked"
    assert (early["after.hours.missing"], early["after.reads.passed"], early["scale.trust"]) == ("not_asked", "", "")
    assert early["item.2.mood_fit.missing"] == "not_asked"
    assert book["after.views.never"]["reverse_coded"] == "1"
    assert "reversed" in book["scale.trust"]["derivation"]
    long, _book = read(tmp_path, study, "long")
    assert [line["item.scale.fit"] for line in long][:5] == ["1.0", "2.0", "3.0", "4.0", "5.0"]
    package = write_export(study, "psych-ds", tmp_path / "package", Options())
    assert any(file.name == "materials/questionnaire.json" for file in package)


def test_a_changed_template_gets_a_new_version() -> None:
    preset = load_preset("cremonesi-2011")
    found = (preset.version, digest_of(preset.questionnaire), digest_of(preset.texts))
    assert found == (
        8,
        "ea68a6abe6641ba894d48f1885a1bac6bd17cc7ebc6f8de76d1f01bf761ee7cc",
        "2980861f1fa143024672ee23b0e52cdda54711407fad2607af503dccc837e889",
    )


def test_paragraphs_of_the_template_are_lines_that_fields_wrap() -> None:
    texts = load_preset("cremonesi-2011").texts["en"]
    paragraphs = texts["consent"].split("\n\n")
    assert [paragraph[:20] for paragraph in paragraphs[1:]] == [
        "**What you will do.*", "**What we store.** Y", "**Your choice.** Tak",
    ]  # fmt: skip
    assert not any("\n" in paragraph for paragraph in paragraphs)
    assert isinstance(texts["consent_boxes"], list)
