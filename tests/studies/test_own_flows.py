"""Studies with a flow of their own: other pages in another order, from consent to the exports."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.design.presets.loader import load_preset
from studies.design.services.design import change_design, create_study
from studies.design.services.launch import launch_study, with_defaults
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, Study
from studies.monitoring.selectors.estimate import estimate_of
from studies.monitoring.selectors.monitor import funnel
from studies.participation.services.previewing import preview_link
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at
from tests.factories.walking import HTMX, Person, leads, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

LISTS = {
    "lists": {
        "pages": [
            {"key": "recommendations", "kind": "list"},
            {"key": "items", "kind": "item_questions", "block": "items"},
            {"key": "overall", "kind": "questions", "block": "overall"},
        ]
    }
}
HELLO = {
    "key": "hello", "kind": "text", "title": {"en": "How it works", "it": "Come funziona"},
    "text": {"en": "You rate {rated_items}.\n\n**Thank you!**", "it": "Voti {rated_items}."},
}  # fmt: skip
TASTE = {"key": "taste", "kind": "questions", "block": "taste", "title": {"en": "Your taste", "it": "I tuoi gusti"}}
ABOUT = {"key": "about", "kind": "questions", "block": "about", "assigns": True}
RATE, THANKS = {"key": "known", "kind": "elicit"}, {"key": "thanks", "kind": "end"}
FAREWELL = {**HELLO, "key": "farewell", "title": {"en": "Almost done", "it": "Quasi fatto"}}


def words(text: str) -> dict[str, str]:
    return {"en": text, "it": text}


QUESTIONS = {
    "taste": [
        {"key": "fan", "kind": "yes_no", "text": words("Do you watch many films?")},
        {"key": "mood", "kind": "likert", "text": words("I am in a good mood"), "minimum": 1, "maximum": 7},
    ],
    "overall": [
        *load_preset("cremonesi-2011").questionnaire["overall"],
        {"key": "why", "kind": "text", "text": words("Why?"), "shown_if": {"question": "fan", "equals": True}},
    ],
}
# A page of text, more questions before the ratings and a text at the end.
FULL = [HELLO, ABOUT, TASTE, RATE, LISTS, FAREWELL, THANKS]
# Nothing is asked about the person: conditions are assigned at consent.
BARE = [HELLO, TASTE, RATE, LISTS, THANKS]


def make(flow: list[Any], *, run: EvaluationRun | None = None, **settings: Any) -> Study:
    run = run or make_run_at("succeeded")
    questions = QUESTIONS if ABOUT in flow else {**QUESTIONS, "about": []}
    design = {"flow": flow, "block_multiples": [1], **({} if ABOUT in flow else {"strata": []}), **settings}
    study = create_study(
        slug="own", version=run.version, run=run, per_condition=4, seed=1, owner=UserFactory(), settings=design,
        questionnaire=questions,
    )  # fmt: skip
    launch_study(study=study)
    study.refresh_from_db()
    return study


@pytest.fixture
def full() -> Study:
    return make(FULL)


@pytest.fixture
def bare() -> Study:
    return make(BARE)


def test_every_page_of_an_own_flow_is_walked_in_its_order(full: Study) -> None:
    person = Person(full)
    pages = [page.step for page in person.pages()]
    assert pages == ["consent", "hello", "about", "taste", "known", "recommendations", *["item"] * 5, "overall",
                     "farewell", "thanks"]  # fmt: skip
    me = person.me
    assert (me.status, me.step) == (ParticipantStatus.COMPLETED, "thanks")
    answers = dict(me.responses.filter(rank=0).values_list("question", "value"))
    assert {"fan", "mood", "satisfaction", "age"} <= set(answers)
    assert ("why" in answers) == answers["fan"]
    assert {"hello", "taste", "known", "farewell"} <= set(me.events.values_list("page", flat=True))


def test_who_is_asked_nothing_is_assigned_at_consent(bare: Study) -> None:
    person = Person(bare).to("hello")
    assert (person.me.status, person.me.step) == (ParticipantStatus.ACTIVE, "hello")
    assert person.me.condition is not None
    assert person.me.allocations.count() == 1
    assert [page.step for page in person.pages()][-1] == "thanks"
    assert person.me.status == ParticipantStatus.COMPLETED


def test_conditions_assigned_at_consent_are_balanced_and_then_full(bare: Study) -> None:
    n = bare.conditions.count()
    for _ in range(4 * n):
        Person(bare).to("hello")
    counts = [Participant.objects.filter(condition=each).count() for each in bare.conditions.all()]
    assert counts == [4] * n
    assert tree(Person(bare).consent()).find("body").get("data-step") == "message"
    assert Participant.objects.count() == 4 * n


def test_a_page_of_text_has_its_title_and_filled_text(full: Study) -> None:
    page = tree(Person(full).to("hello").site.response)
    assert page.findtext(".//h1") == "How it works"
    assert "You rate five films." in page.xpath("string(//*[@class='prose'])")
    assert page.xpath("string(//*[@class='prose']//strong)") == "Thank you!"
    assert "Step 2 of 10: How it works" in page.xpath("string(//*[@class='steps']/@aria-label)")


def test_pages_before_the_ratings_cannot_be_opened_again(full: Study) -> None:
    person = Person(full).to("known")
    for page in ("hello", "about", "taste", "overall", "thanks"):
        assert leads(person.get(f"{page}/")) == "known"
    assert leads(person.post("taste/", {"fan": "no", "continue": "1"})) == "known"
    assert person.get("nowhere/").status_code == 404


def test_answers_of_an_own_page_are_saved_as_they_are_entered_and_required(full: Study) -> None:
    person = Person(full).to("taste")
    assert tree(person.get("taste/")).findtext(".//h1") == "Your taste"
    person.post("taste/", {"fan": "yes"}, headers=HTMX)
    assert dict(person.me.responses.values_list("question", "value"))["fan"] is True
    assert tree(person.post("taste/", {"continue": "1"})).xpath("//*[@id='problem-mood']")
    assert leads(person.post("taste/", {"mood": "3", "continue": "1"})) == "known"


def test_the_last_page_before_the_end_leads_back_to_what_is_missing(full: Study) -> None:
    person = Person(full).to("farewell")
    person.me.responses.filter(question="rating", rank=3).delete()
    response = person.post("farewell/")
    assert leads(response).startswith("items/1/3/?incomplete=")
    person.post("items/1/3/", {"rating": "2", "continue": "1"})
    assert leads(person.post("farewell/")) == "thanks"


def test_addresses_of_before_lead_to_the_same_pages(full: Study) -> None:
    person = Person(full).to("item")
    assert person.get("films/1/?incomplete=x")["Location"] == f"{person.base}items/1/1/?incomplete=x"
    assert leads(person.get("films/2/", follow=False)) == "items/1/2"
    assert person.post("films/1/", {"watched": "yes"}, headers=HTMX).status_code == 204
    assert leads(person.post("films/1/", {"watched": "yes", "rating": "4", "continue": "1"})) == "items/1/2"
    assert dict(person.me.responses.filter(rank=1).values_list("question", "value")) == {"watched": True, "rating": 4}
    assert leads(person.get("items/2/2/")) == "items/1/2"  # there is one list


def test_exports_have_the_blocks_and_pages_of_an_own_flow(full: Study, tmp_path: Path) -> None:
    list(Person(full).pages())
    Person(full).to("taste")
    for kind in ("wide", "pages", "json", "psych-ds"):
        write_export(full, kind, tmp_path / kind, Options())
    with (tmp_path / "wide" / "study-own_wide_data.csv").open(encoding="utf-8") as table:
        done, begun = csv.DictReader(table)
    assert done["taste.mood"] in set("1234567")
    assert (done["participant.is_complete"], begun["participant.is_complete"]) == ("1", "0")
    assert (begun["participant.step"], begun["taste.mood"]) == ("taste", "")
    with (tmp_path / "pages" / "study-own_pages_data.csv").open(encoding="utf-8") as table:
        names = [row["page_name"] for row in csv.DictReader(table) if row["participant_id_in_session"] == "1"]
    assert names == ["consent", "about", "taste", "known", *["items"] * 5, "overall"]


def test_monitor_and_estimate_name_the_pages(full: Study) -> None:
    list(Person(full).pages())
    assert [name for name, _n in funnel(full, Mode.LIVE)][2:] == [
        f"Reached the page {key}" for key in ("recommendations", "items", "overall", "farewell", "thanks")
    ]
    assert {n for _name, n in funnel(full, Mode.LIVE)} == {1}
    assert [step.name for step in estimate_of(full).steps] == [
        "Consent", "The page hello", "About you", "The page taste", "Rating known items", "The recommendations",
        "Questions about each item", "The list as a whole", "The page farewell",
    ]  # fmt: skip


def test_console_pages_of_an_own_flow_open(full: Study) -> None:
    list(Person(full).pages())
    client = Client()
    client.force_login(full.memberships.get().researcher)
    for page in (
        "",
        "flow/",
        "questionnaire/",
        "questionnaire/preview/taste/",
        "quality/",
        "estimate/",
        "launch/",
    ):
        assert client.get(f"/studies/own/{page}").status_code == 200, page


def test_a_flow_is_never_added(full: Study) -> None:
    run = full.run
    other = create_study(slug="other", version=run.version, run=run, owner=UserFactory())
    assert "flow" not in with_defaults(other)
    assert with_defaults(full)["flow"] == FULL


def test_previews_of_another_flow_are_removed(full: Study) -> None:
    run = full.run
    draft = create_study(slug="draft", version=run.version, run=run, owner=UserFactory())
    Person(draft).to("rate", preview_link(study=draft))
    change_design(study=draft, settings={"hypothesis": "Another."})
    assert draft.participants.count() == 1
    change_design(study=draft, settings={"flow": [HELLO, ABOUT, RATE, LISTS, THANKS]})
    assert draft.participants.count() == 0
    assert [page.step for page in Person(draft).pages(preview_link(study=draft))][-1] == "thanks"


@pytest.mark.parametrize(
    ("flow", "settings", "said"),
    [
        ([ABOUT, RATE, LISTS, THANKS], {}, ["flow: No page asks the block 'taste'"]),
        ([HELLO, ABOUT, TASTE, RATE, LISTS], {}, ["flow: A flow has one page of the kind end. Add it at the end."]),
        (BARE, {"strata": [{"question": "age", "bands": [[18, 99]]}]}, ["by 'age', which the study does not ask"]),
    ],
)
def test_flows_that_a_study_could_not_run_with_are_refused(flow: Any, settings: Any, said: list[str]) -> None:
    with pytest.raises(ParallaxError) as refused:
        make(flow, **settings)
    for sentence in said:
        assert sentence in str(refused.value)
    assert not Study.objects.exists()


DESIGN = """\
settings:
  strata: []
  flow:
    - {key: taste, kind: questions, block: taste}
    - {key: rate, kind: elicit}
    - lists:
        pages:
          - {key: recommendations, kind: list}
          - {key: items, kind: item_questions, block: items}
          - {key: overall, kind: questions, block: overall}
    - {key: thanks, kind: end}
questionnaire:
  about: []
  taste:
    - {key: fan, kind: yes_no, text: {en: "Many films?", it: "Molti film?"}}
"""


def test_a_design_is_created_from_its_file(tmp_path: Path) -> None:
    make_run_at("succeeded")
    UserFactory()
    file = tmp_path / "design.yaml"
    file.write_text(DESIGN, encoding="utf-8")
    call_command("create_study", "own", dataset="small", design=file, stdout=StringIO())
    study = Study.objects.get()
    assert [page.key for page in study.design.flow.pages][:2] == ["taste", "rate"]
    assert [question["key"] for question in study.questionnaire["taste"]] == ["fan"]


@pytest.mark.parametrize(
    ("was", "instead", "said"),
    [
        ("kind: elicit", "kind: rate", "line 5, flow[1].kind: Expected one of 'questions', 'text'"),
        ("key: rate", "key: taste", "line 5, flow[1].key: The key 'taste' is used twice."),
        ("about: []\n", "", "flow: No page asks the block 'about'"),
        ("kind: yes_no", "kind: yes", "line 15, taste[0]"),
        ("settings:", "options:", "A design has settings and questionnaire"),
        ("strata: []", "strata: [", "This is not valid YAML"),
    ],
)
def test_a_design_is_refused_with_the_line_of_every_problem(tmp_path: Path, was: str, instead: str, said: str) -> None:
    make_run_at("succeeded")
    UserFactory()
    file = tmp_path / "design.yaml"
    file.write_text(DESIGN.replace(was, instead, 1), encoding="utf-8")
    with pytest.raises(CommandError) as refused:
        call_command("create_study", "own", dataset="small", design=file, stdout=StringIO())
    assert said in str(refused.value)
