"""Studies that elicit known items on other scales, within a range of numbers, or most informative first."""

from __future__ import annotations

import csv
import re
import secrets
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analysis.files.document import document_of
from analysis.services.report_builder import build_report
from catalog.selectors.search import search_items
from core.errors import ParallaxError
from evaluation.services.serving import recommend
from studies.console.forms.flow import FlowForm
from studies.data.codebook.items import wide_variables
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.launch_overview import launch_overview
from studies.design.selectors.placeholders import elicitation_heading
from studies.design.selectors.planning import preregistration_plan
from studies.design.selectors.sample_profiles import sample_profile
from studies.design.services.design import change_design
from studies.design.services.duplicating import duplicate_study
from studies.design.services.launch import _trial_profiles, design_snapshot, launch_problems
from studies.enums import ParticipantStatus
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.known_items import HALF_STARS, ItemsAsked
from studies.models import Event, Study
from studies.monitoring.selectors.exclusions import missing_of
from studies.monitoring.selectors.quality import FlagSources
from studies.participation.selectors.responses import records
from studies.participation.services import ratings, recommending
from tests.factories.catalog import make_half_stars_version
from tests.factories.evaluation import make_run_at
from tests.factories.studies import assigned, items_of, make_study, make_usage_run
from tests.factories.walking import HTMX, Person, tree
from tests.studies.test_choice_studies import posted
from tests.studies.test_walker import walk

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

HALVES = {"elicitation_scale": "half-stars"}
RANGE = {"ratings_asked": 3, "ratings_most": 6}


# The design


def test_a_study_without_the_settings_is_frozen_without_them() -> None:
    study = make_study(status="draft")
    before = design_snapshot(study)
    changed = change_design(study=study, settings={"elicitation_scale": "5-stars", "ratings_most": 5})
    assert design_snapshot(changed) == before
    assert not {"elicitation_scale", "ratings_most"} & set(changed.settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"elicitation_scale": "thumbs"}, "5-stars, 7-points, 10-points, half-stars, likes; got 'thumbs'"),
        ({"ratings_most": 4}, "ratings_most: Expected a whole number from 5 to 50; got 4"),
        ({"ratings_asked": 9, "ratings_most": 51}, "ratings_most: Expected a number of at most 50; got 51"),
    ],
)
def test_settings_that_make_no_page_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ParallaxError, match=words):
        change_design(study=make_study(status="draft"), settings=settings)


def test_where_items_are_chosen_there_is_no_scale_and_the_threshold_is_a_point_of_it() -> None:
    study = make_study(run=make_usage_run(), status="draft")
    with pytest.raises(ParallaxError, match="elicitation_scale"):
        change_design(study=study, settings=HALVES)
    change_design(study=study, settings={"elicitation": "stars", **HALVES, "taken_from": 3.5})
    with pytest.raises(ParallaxError, match=r"taken_from.* 3\.3"):
        change_design(study=study, settings={"taken_from": 3.3})
    with pytest.raises(ParallaxError, match=r"taken_from.* 3\.5"):
        change_design(study=study, settings={"elicitation_scale": "7-points"})
    study.refresh_from_db()
    assert "3.5 stars" in preregistration(preregistration_plan(study))
    chosen = change_design(study=study, settings={"elicitation": "choice"})
    assert not {"elicitation_scale", "taken_from"} & set(chosen.settings)


def test_the_stage_saves_scale_range_and_order_and_a_copy_has_them() -> None:
    study = make_study(status="draft")
    wanted = {"elicitation_scale": "10-points", "ratings_asked": "5", "ratings_most": "15", "item_order": "entropy0"}
    form = FlowForm(study, posted(FlowForm(study), **wanted))
    assert form.is_valid(), form.errors
    form.save(None)
    study.refresh_from_db()
    copied = duplicate_study(study=study, slug="copied", title="Copied")
    for each in (study, copied):
        stored = {name: each.settings[name] for name in wanted}
        assert stored == {**wanted, "ratings_asked": 5, "ratings_most": 15}
    refused = FlowForm(study, posted(FlowForm(study), ratings_most="4"))
    assert "At least 5" in str(refused.errors["ratings_most"])
    exact = make_study(status="draft", slug="exact")
    form = FlowForm(exact, posted(FlowForm(exact), ratings_asked="7"))
    assert form.is_valid(), form.errors
    form.save(None)
    assert Study.objects.get(pk=exact.pk).design.items_asked == ItemsAsked(7, 7)


def test_the_command_creates_such_a_study_and_the_interface_for_programs_tells_of_it(client: Client) -> None:
    run = make_run_at("succeeded")
    owner = make_study().memberships.get().researcher
    call_command(
        "create_study", "by-command", dataset=run.version.dataset.name, run=run.pk, owner=owner.email,
        scale="7-points", min_items=4, max_items=9, item_order="pop-entropy", per_condition=2,
    )  # fmt: skip
    client.force_login(owner)
    study = Study.objects.get(slug="by-command")
    told = client.get(f"/api/v1/studies/{study.slug}/").json()["design"]["known_items"]
    assert told == {"elicitation": "stars", "scale": "7-points", "fewest": 4, "most": 9, "order": "pop-entropy"}


def test_the_scale_and_the_range_are_said_wherever_the_design_is(client: Client) -> None:
    study = make_study(settings={**HALVES, **RANGE})
    rule = "Known items are rated from 0.5 to 5 in steps of 0.5; ratings enter the profile by the linear map"
    text = preregistration(preregistration_plan(study))
    assert "3 to 6" in text
    assert rule in text
    facts = dict(launch_overview(study).facts)
    assert facts["Items rated"] == "3 to 6"
    assert facts["Profile"].startswith(rule)
    client.force_login(study.memberships.get().researcher)
    page = " ".join(client.get(reverse("studies:texts-preview", args=[study.slug])).content.decode().split())
    assert "rate 3 to 6 films" in page  # the consent text
    assert "3 to 6" in elicitation_heading(study, "en")
    columns = {variable.name: variable for variable in wide_variables(study)}
    assert "profile.6.rating" in columns
    assert "profile.7.rating" not in columns
    first = columns["profile.1.rating"]
    assert (first.type, first.minimum, first.maximum) == ("number", 0.5, 5)
    assert first.derivation.startswith(rule)


def test_the_launch_proves_the_fewest_and_the_most_and_counts_the_items() -> None:
    study = make_study(status="draft", settings={"elicitation_scale": "10-points", **RANGE})
    shorter, longer = _trial_profiles(study)
    assert (list(shorter.values()), list(longer.values())) == ([10, 9, 8], [10, 9, 8, 7, 6, 5])
    assert launch_problems(study) == []
    study.settings["ratings_most"] = 38
    assert "38" in launch_problems(study)[-1]
    assert "43" in launch_problems(study)[-1]


def test_usage_data_have_no_order_by_the_entropy_of_ratings() -> None:
    study = make_study(run=make_usage_run(), status="draft")
    with pytest.raises(ParallaxError, match="such as entropy0"):
        change_design(study=study, settings={"item_order": "pop-entropy"})
    change_design(study=study, settings={"item_order": "entropy0"})
    study.settings["item_order"] = "pop-entropy"
    assert any("such as entropy0" in problem for problem in launch_problems(study))


def test_texts_about_ratings_are_named_where_items_are_chosen() -> None:
    study = make_study(run=make_usage_run(), status="draft")

    def named() -> list[str]:
        return [point.text for point in launch_overview(study).advice if "without rating" in point.text]

    assert named() == []
    study.texts["en"]["consent"] = "You rate five films with {items}."
    study.texts["it"]["debriefing"] = "Hai valutato cinque film."
    found = [re.findall("['“](.*?)['”]", text.partition(",")[0]) for text in named()]
    assert found == [["consent", "en", "You rate"], ["debriefing", "it", "valutato"]]
    study.settings["elicitation"] = "stars"
    assert named() == []


# The profile


def test_half_stars_reach_the_model_by_the_linear_map_alone() -> None:
    study = make_study(run=make_run_at("succeeded", version=make_half_stars_version()), settings=HALVES)
    participant = assigned(study)
    while participant.condition is None or participant.condition.model.algorithm == "toppop":
        participant = assigned(study)
    items = items_of(study, 5)
    for item, point in zip(items, (1, 4, 7, 9, 10), strict=True):
        ratings.rate_item(participant=participant, item=item, rating=point)
    recommending.finish_rating(participant=participant)
    best = recommend(
        model=participant.condition.model, items=[item.index for item in items], ratings=[0.5, 2, 3.5, 4.5, 5],
        scale=(0.5, 5, 0.5), n=5,
    )  # fmt: skip
    slots = participant.recommendation_list.slots.order_by("rank")
    assert list(slots.values_list("item__index", "score")) == list(zip(best.items, best.scores, strict=True))
    sample = sample_profile(study=study, draw="any", number=0)
    assert set(sample.ratings.values()) <= set(HALF_STARS.points)


def test_a_changed_half_star_is_recorded_by_its_value_and_points_beyond_are_refused() -> None:
    study = make_study(settings=HALVES)
    participant, item = assigned(study), items_of(study, 1)[0]
    ratings.rate_item(participant=participant, item=item, rating=7)
    ratings.rate_item(participant=participant, item=item, rating=10)
    facts = Event.objects.get(kind="rating_changed").facts
    assert (facts["from"], facts["to"]) == (3.5, 5.0)
    with pytest.raises(ParallaxError, match=r"0\.5 to 5"):
        ratings.rate_item(participant=participant, item=item, rating=11)


def test_participants_go_on_from_the_fewest_to_the_most() -> None:
    study = make_study(settings=RANGE)
    person, items = Person(study).to("rate"), items_of(study, 7)
    page = tree(person.get("rate/"))
    for number, count in enumerate(("1 of at least 3", "2 of at least 3", "3 of at most 6", "4 of at most 6")):
        page = tree(person.post(f"rate/{items[number].pk}/", {"rating": "4"}, headers=HTMX))
        assert page.xpath("normalize-space(//*[@class='count'])").startswith(count)
        assert bool(page.xpath("//button[@id='continue'][@disabled]")) == (number < 2)
    for item in items[4:6]:
        person.post(f"rate/{item.pk}/", {"rating": "4"}, headers=HTMX)
    refused = person.post(f"rate/{items[6].pk}/", {"rating": "4"}, headers=HTMX)
    assert refused.status_code == 409
    assert person.me.profile.count() == 6


def test_too_few_are_refused_in_words() -> None:
    for study, words in (
        (make_study(settings=RANGE), "0 are rated. Please rate at least 3 and at most 6."),
        (make_study(slug="b", run=make_usage_run(), settings=RANGE), "0 are chosen. Please choose at least 3 and"),
    ):
        with pytest.raises(ParallaxError, match=words):
            recommending.finish_rating(participant=assigned(study))


def test_ratings_on_ten_points_are_compared_with_the_others_on_one_scale() -> None:
    study = make_study(settings={"elicitation_scale": "10-points"})
    participant, items = assigned(study), items_of(study, 2)
    for item, point in zip(items, (10, 5), strict=True):
        ratings.rate_item(participant=participant, item=item, rating=point)
    sources = FlagSources(questionnaire_from(study.questionnaire), study.design)
    (record,) = records(study, ["live"])
    assert sources.ratings_of(record) == [5, pytest.approx(1 + 4 * 4 / 9)]
    assert any(missing.startswith("2 of 5") for missing in missing_of(study, record))


# Whole walks, on the participants' pages


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (HALVES, "rated 5 items and judged 5 recommendations. Known items are rated from 0.5 to 5 in steps of 0.5"),
        ({"elicitation_scale": "7-points", **RANGE}, "rated 3 to 6 items (median "),
        ({"elicitation_scale": "likes"}, "Known items are rated from 1 to 2 in steps of 1 (1 dislike, 2 like)"),
        ({"item_order": "entropy0"}, "rated 5 items and judged 5 recommendations. Known items are rated from 1 to 5"),
    ],
)
def test_a_study_is_walked_from_its_creation_to_its_report(settings: dict[str, Any], said: str, tmp_path: Path) -> None:
    study = make_study(settings=settings, per_condition=20)
    for number in range(4):
        participant, _n = walk(study, secrets.token_hex(20), seed=number)
        assert participant.status == ParticipantStatus.COMPLETED
    write_export(study, "wide", tmp_path, Options(include_simulated=True))
    with (tmp_path / f"study-{study.slug}_wide_data.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    asked = (settings.get("ratings_asked", 5), settings.get("ratings_most", 5))
    values: list[float] = []
    for row in rows:
        own = [float(row[f"profile.{n}.rating"]) for n in range(1, asked[1] + 1) if row[f"profile.{n}.item"]]
        assert asked[0] <= len(own) <= asked[1]
        values += own
    # The source user's ratings are whole numbers from 1 to 5.
    expected = {
        "half-stars": {0.5, 1.5, 3.0, 4.0, 5.0},
        "7-points": {1, 3, 4, 6, 7},
        "likes": {1, 2},
    }.get(settings.get("elicitation_scale", ""), {1, 2, 3, 4, 5})
    assert set(values) <= expected
    report = build_report(study=study)
    text = " ".join(block.text for section in document_of(report).sections for block in section.blocks)
    assert said in text
    facts = report.results["study"]
    assert facts.get("elicitation_scale") == settings.get("elicitation_scale")
    assert ("ratings_median" in facts) == ("ratings_most" in settings)


def test_the_first_page_shows_the_most_informative_items() -> None:
    study = make_study(settings={"item_order": "entropy0"})
    shown = [li.get("id") for li in tree(Person(study).to("rate").get("rate/")).xpath("//li[@data-item]")]
    first = search_items(study.dataset_version, order="entropy0", limit=24).items
    assert shown == [f"film-{item.pk}" for item in first]
