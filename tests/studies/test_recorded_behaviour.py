"""Behaviour that a study records beside page times: what its consent text says, its events, and its exports."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path
from typing import Any

import pytest

from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.design.selectors.placeholders import filled
from studies.design.services.amending import change_consent
from studies.design.services.design import change_design
from studies.design.services.launch import launch_problems, launch_study
from studies.models import Event, Study
from studies.settings import StudySettings
from tests.factories.console import console_url, owner_of
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.factories.walking import Person, tree
from tests.studies.test_stages import saved, shown

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

STORES = {"en": "**What we store.** We record {recorded_behaviour}. ", "it": "Registriamo {recorded_behaviour}. "}


def clips() -> EvaluationRun:
    run = make_run_at("succeeded")
    run.version.items.update(clip="clips/ab/abcd.mp3", trailer_url="")
    return run


def draft_of(*kinds: str, run: EvaluationRun | None = None, is_named: bool = True) -> Study:
    study = make_study(status="draft", run=run or clips(), settings={"recorded": list(kinds)} if kinds else {})
    if is_named:
        for language, words in STORES.items():
            study.texts[language]["consent"] += words
        study.save()
    return study


def live(*kinds: str) -> Study:
    study = draft_of(*kinds)
    launch_study(study=study)
    study.refresh_from_db()
    return study


def send(person: Person, **facts: Any) -> dict[str, str]:
    event = {"id": "event-0001", "kind": "sample_played", "page": "recommendations", "at": 1000 * time.time(), **facts}
    body = json.dumps({"events": [event]})
    return person.client.post(f"{person.base}events/", body, content_type="application/json").json()["refused"]


@pytest.mark.parametrize(
    ("recorded", "language", "words"),
    [
        ((), "en", "how long you spend on each page"),
        (("opened",), "en", "how long you spend on each page and which recommendations you open"),
        (
            ("opened", "played"),
            "en",
            "how long you spend on each page, which recommendations you open and which trailers or samples you play "
            "and for how long",
        ),
        (("opened",), "it", "quanto tempo resti su ogni pagina e quali consigli apri"),
        (("opened",), "de", "wie lange Sie auf jeder Seite sind und welche Empfehlungen Sie öffnen"),
    ],
)
def test_the_placeholder_names_what_is_recorded(recorded: Any, language: str, words: str) -> None:
    assert filled("{recorded_behaviour}", StudySettings(recorded=recorded), language) == words


def test_a_launch_needs_a_consent_text_that_names_it() -> None:
    study = draft_of("played", is_named=False)
    problems = launch_problems(study)
    assert len(problems) == 2
    assert "does not say which behaviour is recorded. Write {recorded_behaviour} in it" in problems[0]
    assert "how long you spend on each page and which trailers or samples you play" in problems[0]
    change_design(study=study, settings={"recorded": []})
    study.refresh_from_db()
    assert "recorded" not in study.settings
    assert launch_problems(study) == []


def test_a_consent_text_that_is_changed_later_keeps_naming_it() -> None:
    study = live("opened")
    shorter = {"en": {"consent": study.texts["en"]["consent"].replace("{recorded_behaviour}", "something")}}
    with pytest.raises(ParallaxError) as refused:
        change_consent(study=study, texts=shorter, why="Shorter.")
    assert refused.value.code == "consent.unnamed"


def test_what_is_not_recorded_is_refused_and_not_asked_for() -> None:
    person = Person(live("opened")).to("recommendations")
    item = person.me.recommendation_list.slots.get(rank=1).item.external_id
    assert not tree(person.get("recommendations/")).xpath("//body[@data-times-samples]")
    assert "A browser tells of" in send(person, item=item, seconds=1)["event-0001"]


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, "has an item, and no other"),
        ({"kind": "page_left", "item": "1"}, "has an item, and no other"),
        ({"item": "nowhere"}, "is one of the study's dataset"),
        ({"item": 3}, "is one of the study's dataset"),
        ({"item": "1", "seconds": -1}, "from 0"),
    ],
)
def test_a_sample_that_is_none_is_refused(facts: dict[str, Any], said: str) -> None:
    person = Person(live("played")).to("recommendations")
    assert said in send(person, **facts)["event-0001"]
    assert not Event.objects.filter(kind="sample_played").exists()


def test_exports_count_what_was_opened_and_played(tmp_path: Path) -> None:
    study = live("opened", "played")
    person = Person(study).to("recommendations")
    first, second = (slot.item for slot in person.me.recommendation_list.slots.order_by("rank")[:2])
    before = Event.objects.filter(kind="details_opened").count()
    for _ in range(2):
        person.get(f"details/{first.pk}/")
    assert Event.objects.filter(kind="details_opened").count() == before + 2
    assert tree(person.get(f"details/{second.pk}/")).xpath("//audio/@data-item") == [second.external_id]
    assert tree(person.get("recommendations/")).xpath("//body[@data-times-samples]")
    assert send(person, item=second.external_id, seconds=12.5) == {}
    assert send(person, item=second.external_id, seconds=12.5) == {}  # the same event
    assert send(person, item=second.external_id, seconds=2, id="event-0002") == {}
    for kind in ("wide", "events"):
        write_export(study, kind, tmp_path, Options())
    with (tmp_path / f"study-{study.slug}_wide_data.csv").open(encoding="utf-8") as table:
        (row,) = csv.DictReader(table)
    of_items = [[row[f"item.{rank}.{name}"] for name in ("opened", "played", "played_seconds")] for rank in (1, 2, 3)]
    assert of_items == [["2", "0", "0.0"], ["1", "1", "14.5"], ["0", "0", "0.0"]]
    assert (row["behaviour.opened"], row["behaviour.played"]) == ("2", "1")
    events = (tmp_path / f"study-{study.slug}_events_codebook.csv").read_text(encoding="utf-8")
    assert "sample_played with its seconds" in events


def test_without_the_setting_exports_say_what_they_said(tmp_path: Path) -> None:
    study = live()
    Person(study).to("recommendations")
    for kind in ("wide", "events"):
        write_export(study, kind, tmp_path, Options())
    names = (tmp_path / f"study-{study.slug}_wide_data.csv").read_text(encoding="utf-8").partition("\n")[0]
    assert "item.1.details_opened" in names
    assert not {"behaviour.opened", "item.1.opened", "item.1.played"} & set(names.split(","))
    assert "sample_played" not in (tmp_path / f"study-{study.slug}_events_codebook.csv").read_text(encoding="utf-8")


def test_questions_may_not_have_the_names_of_its_columns() -> None:
    study = draft_of("opened")
    asked = {"key": "opened", "kind": "yes_no", "text": {"en": "Did you open it?", "it": "Aperto?"}}
    items = {"items": [*study.questionnaire["items"], asked]}
    with pytest.raises(ParallaxError, match=r"recorded: Questions are exported as item\.opened"):
        change_design(study=study, questionnaire=items)
    change_design(study=study, questionnaire=items, settings={"recorded": []})


def test_the_flow_stage_records_behaviour_and_the_launch_page_names_it_in_the_consent_text() -> None:
    study = draft_of(is_named=False)
    owner = owner_of(study)
    posted = shown(owner, study, "flow")
    assert "recorded" not in posted  # no box is ticked
    page = tree(owner.get(console_url("flow", study)))
    assert "needs {recorded_behaviour} in the consent text" in page.xpath("string(//*[@id='id_recorded_helptext'])")
    assert saved(owner, study, "flow", posted, recorded=["opened", "played"])["status"] == "saved"
    study.refresh_from_db()
    assert study.design.recorded == ("opened", "played")
    address = console_url("launch", study)
    needed = tree(owner.get(address)).xpath("//section[@aria-labelledby='needed']//li")
    assert [line.xpath("string(.//button)") for line in needed] == ["Add a sentence"] * 2
    (field,) = {line.xpath("string(.//a/@href)").partition("#")[2] for line in needed}
    assert tree(owner.get(console_url("texts", study))).xpath(f"//*[@id='{field}']")
    owner.post(address, {"fix": "behaviour"})
    study.refresh_from_db()
    assert launch_problems(study) == []
    assert study.texts["it"]["consent"].endswith("\n\nRegistriamo {recorded_behaviour}.\n")
    assert study.texts["en"]["consent"].count("We record {recorded_behaviour}.") == 1
    owner.post(address, {"fix": "behaviour"})  # of another tab
    study.refresh_from_db()
    assert study.texts["en"]["consent"].count("We record {recorded_behaviour}.") == 1
    assert saved(owner, study, "flow", shown(owner, study, "flow"), recorded=[])["status"] == "saved"
    study.refresh_from_db()
    assert "recorded" not in study.settings


def test_behaviour_that_the_plan_names_stays_recorded() -> None:
    study = draft_of("opened")
    change_design(study=study, settings={"plan": {**study.settings.get("plan", {}), "outcomes": ["behaviour.opened"]}})
    owner = owner_of(study)
    answer = saved(owner, study, "flow", shown(owner, study, "flow"), recorded=[])
    assert answer["status"] != "saved"
    assert "behaviour.opened" in str(answer)
    study.refresh_from_db()
    assert study.design.recorded == ("opened",)
