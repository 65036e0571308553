"""Studies whose participants choose items they know: on usage data, each chosen item enters the profile as used."""

from __future__ import annotations

import csv
import secrets
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.files.document import document_of
from analysis.services.report_builder import build_report
from core.errors import ParallaxError
from evaluation.services.serving import recommend
from studies.console.forms.flow import FlowForm
from studies.data.codebook.items import wide_variables
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.launch_overview import launch_overview
from studies.design.selectors.planning import preregistration_plan
from studies.design.selectors.sample_profiles import sample_profile
from studies.design.services.design import change_design
from studies.design.services.launch import _trial_profiles, design_snapshot, launch_problems
from studies.enums import Mode, ParticipantStatus, Provenance
from studies.models import Event, Participant, Study
from studies.monitoring.selectors.quality import flags_by_participant
from studies.participation.selectors.pages import profile_of
from studies.participation.services import ratings
from studies.recruitment.services.entry_links import entry_link
from studies.simulation.answer_model import SimulatedPerson, SourceUser, TrainingSide
from studies.simulation.services.condition_lists import side_by_side
from tests.approval import assert_approved, without_variable
from tests.factories.studies import assigned, completed, items_of, make_study, rated
from tests.factories.walking import HTMX, Person, leads, tree, walker_of
from tests.studies.test_usage_studies import usage_run
from tests.studies.test_walker import Cut

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study() -> Study:
    return make_study(run=usage_run(), per_condition=8)


def chosen(participant: Participant) -> list[tuple[int, int]]:
    return list(participant.profile.order_by("item__index").values_list("item__index", "rating"))


# The design


def test_new_studies_choose_on_usage_data_and_rate_on_ratings(study: Study) -> None:
    assert study.settings["elicitation"] == "choice"
    assert "taken_from" not in design_snapshot(study)["settings"]
    assert "elicitation" not in make_study(slug="rated").settings


def test_choice_is_refused_on_ratings_with_the_reason() -> None:
    study = make_study(status="draft")
    with pytest.raises(ParallaxError) as refusal:
        change_design(study=study, settings={"elicitation": "choice"})
    assert refusal.value.code == "study.bad_settings"
    study.settings["elicitation"] = "choice"  # as an edited backup could have it
    study.save(update_fields=["settings"])
    assert str(refusal.value).partition(": ")[2] in " ".join(launch_problems(study))
    with pytest.raises(ParallaxError, match="'stars' or 'choice'; got 'thumbs'"):
        change_design(study=study, settings={"elicitation": "thumbs"})


def test_the_threshold_comes_and_goes_with_the_stars() -> None:
    study = make_study(run=usage_run(), status="draft")
    with pytest.raises(ParallaxError, match="taken_from: This is a number of stars"):
        change_design(study=study, settings={"taken_from": 3})
    change_design(study=study, settings={"elicitation": "stars", "taken_from": 3})
    study.refresh_from_db()
    assert study.settings["taken_from"] == 3
    change_design(study=study, settings={"elicitation": "choice"})
    study.refresh_from_db()
    assert "taken_from" not in study.settings


def posted(form: FlowForm, **changes: Any) -> dict[str, Any]:
    """What the page sends when it is saved as it is, but for the changes."""
    shown = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in {**shown, **changes}.items() if value is not None}


def test_the_stage_saves_either_way_and_an_unchanged_form_changes_nothing() -> None:
    study, old = make_study(run=usage_run(), status="draft"), make_study(slug="rated", status="draft")
    for draft in (study, old):
        form, before = FlowForm(draft, posted(FlowForm(draft))), draft.settings
        assert form.is_valid(), form.errors
        form.save(None)
        draft.refresh_from_db()
        assert draft.settings == before
    hidden = FlowForm(study, posted(FlowForm(study), taken_from=""))
    assert hidden.is_valid(), hidden.errors
    refused = FlowForm(study, posted(FlowForm(study), elicitation="stars", taken_from=""))
    assert "taken_from" in refused.errors
    form = FlowForm(study, posted(FlowForm(study), elicitation="stars", taken_from="3"))
    assert form.is_valid(), form.errors
    form.save(None)
    study.refresh_from_db()
    assert (study.settings["elicitation"], study.settings["taken_from"]) == ("stars", 3)


def test_the_launch_proves_a_profile_of_chosen_items(study: Study) -> None:
    (profile,) = _trial_profiles(study)
    assert (len(profile), set(profile.values())) == (5, {1})


def test_the_choice_is_said_wherever_the_design_is(study: Study, client: Client) -> None:
    text = preregistration(preregistration_plan(study))
    rated_text = preregistration(preregistration_plan(make_study(slug="rated")))
    for name, said in (("chosen", text), ("rated", rated_text)):
        assert_approved(f"preregistrations/items-{name}", without_variable(said))
    facts = dict(launch_overview(study).facts)
    assert facts["Items chosen"] == "5"
    client.force_login(study.memberships.get().researcher)
    page = client.get(reverse("studies:texts-preview", args=[study.slug])).content.decode()
    assert "choose five films" in page  # the consent text


# The profile


def test_every_chosen_item_enters_the_profile_as_used(study: Study) -> None:
    participant = rated(study)
    while participant.condition is None or participant.condition.model.algorithm == "toppop":
        participant = rated(study)
    assert chosen(participant) == [(item.index, 1) for item in items_of(study, 5)]
    indexes = [item.index for item in items_of(study, 5)]
    best = recommend(model=participant.condition.model, items=indexes, ratings=[1.0] * 5, scale=(1.0, 1.0, 1.0), n=5)
    slots = participant.recommendation_list.slots.order_by("rank")
    assert list(slots.values_list("item__index", "score")) == list(zip(best.items, best.scores, strict=True))


def test_an_item_chosen_before_a_return_by_an_id_is_shown_once_chosen_again(study: Study) -> None:
    participant, item = assigned(study), items_of(study, 1)[0]
    ratings.rate_item(participant=participant, item=item, rating=1)
    since = timezone.now()
    assert profile_of(participant, since) == {}
    ratings.rate_item(participant=participant, item=item, rating=1)
    assert profile_of(participant, since) == {item.index: 1}
    assert participant.profile.get().n_changes == 0


@pytest.mark.parametrize("rating", [0, 2, 5, True])
def test_an_item_is_chosen_or_not(study: Study, rating: int) -> None:
    participant = assigned(study)
    with pytest.raises(ParallaxError) as refusal:
        ratings.rate_item(participant=participant, item=items_of(study, 1)[0], rating=rating)
    assert refusal.value.code == "study.bad_rating"
    assert chosen(participant) == []


def test_chosen_items_are_no_ratings_alike(study: Study) -> None:
    change = {"alike_items": 20, "alike_ratings": 2, "fastest_seconds": 0, "fastest_share": 0}
    study.settings = {**study.settings, "quality": change}
    study.save(update_fields=["settings"])
    participant = completed(study)
    participant.responses.filter(question="rating").update(value=3)
    (flags,) = flags_by_participant(study, [Mode.LIVE]).values()
    assert [(flag.key, flag.numbers["ratings"]) for flag in flags] == [("all_ratings_alike", 5)]


# The pages


def button(page: Any, pk: int, suffix: str = "") -> Any:
    (found,) = page.xpath(f"//form[@id='rating-{pk}{suffix}']//button")
    return found


def test_without_a_script_a_press_chooses_and_another_removes(study: Study) -> None:
    person = Person(study).to("rate")
    item = items_of(study, 1)[0]
    pk, here = item.pk, f"rate/?q={item.title.replace(' ', '+')}"
    page = tree(person.get(here))
    assert page.xpath("//input[@type='radio'][@name='rating']") == []
    assert page.xpath("string(//*[@id='count']/b)").strip() == "0 of 5"
    for pressed, values in (("true", [(0, 1)]), ("false", []), ("true", [(0, 1)])):
        form = button(page, pk).getparent()
        fields = {field.get("name"): field.get("value") for field in form.xpath(".//input")}
        answer = person.client.post(form.get("action"), fields)
        assert answer.headers["Location"].endswith(f"/rate/#film-{pk}")
        page = tree(person.get(here))
        assert button(page, pk).get("aria-pressed") == pressed
        assert chosen(person.me) == values
    assert f"I’ve watched it {item.title}" in button(page, pk).text_content()
    (row,) = page.xpath("//*[@id='tray']//li[@data-item]//img/@alt")
    assert row == item.title
    assert person.me.profile.get().provenance == Provenance.PERSON
    removed = Event.objects.filter(participant=person.me, kind="rating_changed")
    assert [(event.facts["from"], event.facts["to"]) for event in removed] == [(1, None)]


def test_a_press_sent_twice_is_one_choice_and_the_sixth_is_refused(study: Study) -> None:
    person = Person(study).to("rate")
    items = items_of(study, 6)
    for item in [items[0], *items[:5]]:
        person.post(f"rate/{item.pk}/", {"rating": "1"}, headers=HTMX)
    assert [index for index, _rating in chosen(person.me)] == [item.index for item in items[:5]]
    refused = person.post(f"rate/{items[5].pk}/", {"rating": "1"}, headers=HTMX)
    assert "already chosen 5" in refused.text
    assert refused.status_code == 409
    assert leads(person.post("rate/")) == "recommendations"


def test_too_few_are_refused_in_words_of_choosing(study: Study) -> None:
    person = Person(study).to("rate")
    person.post(f"rate/{items_of(study, 1)[0].pk}/", {"rating": "1"})
    page = tree(person.post("rate/"))
    assert "1 of 5" in page.xpath("string(//*[@role='alert'])")
    assert page.find("body").get("data-step") == "rate"


def test_the_page_of_a_study_with_stars_is_as_before() -> None:
    person = Person(make_study(slug="rated")).to("rate")
    page = tree(person.get("rate/"))
    assert len(page.xpath("//fieldset[@class='stars']")) == 24
    assert page.xpath("//button[@aria-pressed]") == []


# Lists side by side


def test_lists_side_by_side_take_chosen_items(study: Study, client: Client) -> None:
    sample = sample_profile(study=study, draw="any", number=0)
    assert set(sample.ratings.values()) == {1}
    assert all(not one.problem for one in side_by_side(study=study, ratings=sample.ratings).lists)
    client.force_login(study.memberships.get().researcher)
    address = reverse("studies:lists", args=[study.slug])
    page = client.get(f"{address}?r0=1&r1=1").content.decode()
    assert page.count("checked") >= 2
    assert "of 5" not in page
    assert "rating of item 0; use 1." in client.get(f"{address}?r0=4").content.decode()


# Simulated participants, exports and reports


HISTORY = frozenset(range(0, 40, 3))


def walk(study: Study, key: str, *, after: int = 10_000) -> Participant:
    n = study.dataset_version.items.count()
    side = TrainingSide(1.0, np.zeros(n), np.arange(n)[::-1], 1.0, 1.0)
    walker_of(
        study,
        httpx.Client(transport=Cut(after), base_url="http://testserver"),
        entry_link(study=study, mode=Mode.SIMULATED, entry_key=key),
        person_for=lambda code: SimulatedPerson(
            SourceUser("u", dict.fromkeys(HISTORY, 1.0)), side, np.random.default_rng(7)
        ),
        rng=np.random.default_rng(3),
    ).run()
    return Participant.objects.latest("pk")


def test_a_simulated_participant_chooses_of_the_history_also_when_cut(study: Study) -> None:
    whole = walk(study, secrets.token_hex(20))
    assert whole.status == ParticipantStatus.COMPLETED
    indexes = [index for index, rating in chosen(whole) if rating == 1]
    assert len(indexes) == 5
    assert set(indexes) <= HISTORY
    assert set(whole.profile.values_list("provenance", flat=True)) == {Provenance.TRUE}
    for after in (7, 9, 11):  # while choosing
        key = secrets.token_hex(20)
        with pytest.raises(httpx.RemoteProtocolError):
            walk(study, key, after=after)
        assert Participant.objects.latest("pk").step == "rate"
        again = walk(study, key)
        assert again.status == ParticipantStatus.COMPLETED
        assert chosen(again) == chosen(whole)


def test_exports_and_the_codebook_say_what_was_chosen(study: Study, tmp_path: Path) -> None:
    completed(study)
    variables = {variable.name: variable for variable in wide_variables(study)}
    assert "chosen" in variables["profile.1.item"].meaning
    assert variables["profile.1.rating"].values == (("1", "chosen"),)
    assert "taken item" in variables["list.n_taken"].derivation
    for kind, column, values in (
        ("ratings", "rating.value", ["1"] * 5),
        ("wide", "profile.5.rating", ["1"]),
        ("wide", "list.n_taken", ["5"]),
    ):
        write_export(study, kind, tmp_path, Options())
        with (tmp_path / f"study-{study.slug}_{kind}_data.csv").open(encoding="utf-8", newline="") as file:
            assert [row[column] for row in csv.DictReader(file)] == values
    old = {variable.name: variable for variable in wide_variables(make_study(slug="rated"))}
    assert "chosen" not in old["profile.1.item"].meaning
    assert (old["profile.1.rating"].maximum, old["profile.1.rating"].direction) == (5, "high is better")


@pytest.mark.slow
def test_a_report_says_that_items_were_chosen() -> None:
    study = make_study(run=usage_run())
    for number in range(4):
        completed(study, number=number)
    report = build_report(study=study)
    assert report.results["study"]["elicitation"] == "choice"
    assert "taken_from" not in report.results["study"]
    said = " ".join(block.text for section in document_of(report).sections for block in section.blocks)
    assert "chose 5 items" in said
    assert "a taken item" in said
