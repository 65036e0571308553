"""Studies with stars on usage data: those at or above the design's threshold count as taken; everybody gets a list."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.files.document import document_of
from analysis.services.report_builder import build_report
from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from evaluation.services.serving import recommend
from studies.console.forms.flow import FlowForm
from studies.data.codebook.participants import Person, participant_variables
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.design.services.design import change_design
from studies.design.services.launch import design_snapshot, launch_problems
from studies.models import Participant, Study
from studies.participation.selectors.responses import records
from studies.participation.services import ratings, recommending
from tests.factories.studies import assigned, completed, items_of, make_study, make_usage_run
from tests.factories.walking import Person as Visitor
from tests.factories.walking import tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def usage_run() -> EvaluationRun:
    return make_usage_run(algorithms="toppop,puresvd:factors=4")


def star_study(*, settings: dict[str, Any] | None = None, **given: Any) -> Study:
    return make_study(settings={"elicitation": "stars", **(settings or {})}, **given)


def with_stars(study: Study, stars: list[int]) -> Participant:
    participant = assigned(study)
    for item, rating in zip(items_of(study, len(stars)), stars, strict=True):
        ratings.rate_item(participant=participant, item=item, rating=rating)
    recommending.finish_rating(participant=participant)
    return participant


def slots_of(participant: Participant) -> list[tuple[int, bool]]:
    slots = participant.recommendation_list.slots.order_by("rank")
    return [(slot.item.index, slot.is_filled) for slot in slots.select_related("item")]


def in_condition(study: Study, label: str, stars: list[int]) -> Participant:
    for _ in range(8):
        participant = with_stars(study, stars)
        if participant.condition is not None and participant.condition.label == label:
            return participant
    raise AssertionError(f"Nobody was assigned to {label}.")


def personal(study: Study) -> str:
    return study.conditions.exclude(model__algorithm="toppop").get().label


def test_a_study_on_usage_data_is_completed() -> None:
    study = star_study(run=usage_run())
    participant = completed(study)
    assert participant.status == "completed"
    assert participant.recommendation_list.slots.count() == 5


def test_items_below_the_threshold_are_no_part_of_the_profile_and_are_not_recommended() -> None:
    study = star_study(run=usage_run(), per_condition=8)
    label = personal(study)
    participant = in_condition(study, label, [5, 4, 1, 3, 2])
    rated = [item.index for item in items_of(study, 5)]
    assert participant.condition is not None
    model = participant.condition.model
    scale = (1.0, 1.0, 1.0)
    best = recommend(model=model, items=rated[:2], ratings=[1.0, 1.0], scale=scale, n=8)
    wanted = [(item, score) for item, score in zip(best.items, best.scores, strict=True) if item not in rated[2:]]
    slots = participant.recommendation_list.slots.order_by("rank").select_related("item")
    assert [(slot.item.index, slot.score) for slot in slots] == wanted[:5]
    other = recommend(model=model, items=rated, ratings=[1.0] * 5, scale=scale, n=5)
    assert [slot.score for slot in slots] != list(other.scores)


def test_without_a_taken_item_the_list_is_filled_by_popularity_and_says_so() -> None:
    study = star_study(run=usage_run(), per_condition=8)
    participant = in_condition(study, personal(study), [1, 2, 3, 1, 2])
    assert len(slots_of(participant)) == 5
    assert all(is_filled for _index, is_filled in slots_of(participant))


def test_the_threshold_is_a_setting_frozen_with_the_design() -> None:
    study = star_study(run=usage_run(), status="draft")
    change_design(study=study, settings={"taken_from": 3})
    study.refresh_from_db()
    assert design_snapshot(study)["settings"]["taken_from"] == 3
    with pytest.raises(ParallaxError, match="taken_from"):
        change_design(study=study, settings={"taken_from": 6})


def test_a_draft_without_the_setting_freezes_the_default() -> None:
    study = star_study(run=usage_run(), status="draft")
    assert "taken_from" not in study.settings
    assert launch_problems(study) == []
    launched: Any = star_study(slug="other", run=study.run)
    assert launched.versions.get().snapshot["settings"]["taken_from"] == 4


def test_a_study_on_ratings_has_no_such_setting() -> None:
    assert "taken_from" not in make_study().settings


def test_the_threshold_is_said_wherever_the_design_is(client: Client) -> None:
    study = star_study(run=usage_run(), settings={"taken_from": 3})
    rule = "ratings of 3 stars or more enter the profile as taken items"
    assert rule in preregistration(preregistration_plan(study))
    n_taken = next(one for one in participant_variables(study) if one.name == "list.n_taken")
    assert rule in n_taken.derivation
    owner = study.memberships.get().researcher
    client.force_login(owner)
    page = client.get(reverse("studies:flow", args=[study.slug])).content.decode()
    assert 'name="taken_from" value="3"' in page
    participant = completed(study)
    person = Person(next(iter(records(study, ["live"]))), 1)
    stars = participant.profile.values_list("rating", flat=True)
    assert n_taken.read(person) == sum(one >= 3 for one in stars)


def test_the_stage_asks_for_the_threshold_of_usage_data_alone() -> None:
    usage, rated = star_study(run=usage_run(), status="draft"), make_study(slug="rated", status="draft")
    assert FlowForm(usage)["taken_from"].initial == 4
    assert "taken_from" not in FlowForm(rated).fields


@pytest.mark.slow
def test_a_report_on_usage_data_is_built_and_says_the_threshold() -> None:
    study = star_study(run=usage_run())
    for number in range(4):
        completed(study, number=number)
    report = build_report(study=study)
    assert report.results["study"]["taken_from"] == 4
    said = " ".join(block.text for section in document_of(report).sections for block in section.blocks)
    assert "4 stars or more" in said


def test_a_study_from_before_there_was_a_choice_keeps_its_stars() -> None:
    study = star_study(run=usage_run())
    Study.objects.filter(pk=study.pk).update(
        settings={name: value for name, value in study.settings.items() if name != "elicitation"}
    )
    study.refresh_from_db()
    page = tree(Visitor(study).to("rate").get("rate/"))
    assert page.xpath("//fieldset[@class='stars']")
    assert not page.xpath("//button[@aria-pressed]")
    assert completed(study).status == "completed"
