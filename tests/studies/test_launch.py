"""Studies made from a template, changed, launched, paused, resumed, closed; members."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.utils import timezone

from core.errors import ParallaxError
from core.models import LogEntry
from core.provenance import digest_of
from evaluation.models import EvaluationRun, TrainedModel
from studies.design.selectors.launch_overview import launch_overview
from studies.design.services.design import change_design, create_study
from studies.design.services.launch import (
    close_study,
    design_snapshot,
    draft_snapshot,
    launch_study,
    pause_study,
    resume_study,
)
from studies.enums import STUDY_MOVES, Role, StudyStatus
from studies.instrument.questionnaires.schema import ABOUT, AFTER, BLOCKS, ITEMS, OVERALL
from studies.models import Condition, Study, StudyMembership
from studies.team.services.members import add_member, remove_member
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_items, make_version
from tests.factories.evaluation import make_run_at
from tests.factories.questionnaires import every_kind
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def _refused(code: str, call: Any, **kwargs: Any) -> ParallaxError:
    with pytest.raises(ParallaxError) as refusal:
        call(**kwargs)
    assert refusal.value.code == code
    assert str(refusal.value).endswith(".")
    return refusal.value


def test_conditions_pin_the_very_models_that_the_newest_run_measured() -> None:
    version = make_version()
    make_run_at("succeeded", version=version)
    newest = make_run_at("succeeded", version=version, seed=2)
    # A run that another test made before is replayed with its own time.
    EvaluationRun.objects.filter(pk=newest.pk).update(finished_at=timezone.now())
    make_run_at("queued", version=version, seed=3)
    study = create_study(slug="s", version=version, per_condition=30, seed=4)
    assert study.run_id == newest.pk
    pinned = [(c.label, c.model_id, c.model_digest, c.target) for c in study.conditions.all()]
    measured = newest.algorithms.select_related("model")
    assert pinned == [(a.label, a.model.pk, a.model.digest, 30) for a in measured if a.model]
    assert study.conditions.count() == 2
    assert study.status == StudyStatus.DRAFT
    assert study.settings["ratings_asked"] == 5


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"slug": "Good Films"}, "study.bad_slug"),
        ({"slug": "p"}, "study.bad_slug"),
        ({"per_condition": 0}, "study.bad_target"),
        ({"template": "nothing"}, "study.unknown_template"),
        ({"slug": "taken"}, "study.slug_taken"),
    ],
)
def test_a_study_that_cannot_be_made_is_refused(change: dict[str, Any], code: str) -> None:
    taken = make_study(slug="taken", status="draft")
    given = {"slug": "s", "version": taken.dataset_version, **change}
    _refused(code, create_study, **given)
    assert Study.objects.count() == 1


def test_a_study_needs_a_finished_run_of_its_own_dataset() -> None:
    version = make_version()
    _refused("study.no_run", create_study, slug="s", version=version)
    queued = make_run_at("queued", version=version)
    _refused("study.run_not_finished", create_study, slug="s", version=version, run=queued)
    other = make_run_at("succeeded", version=make_version(name="other", seed=2))
    _refused("study.run_of_other_dataset", create_study, slug="s", version=version, run=other)


def test_a_draft_can_be_changed_and_a_bad_change_leaves_it_as_it_was() -> None:
    study = make_study(status="draft")
    changed = change_design(
        study=study,
        title="New",
        per_condition=9,
        settings={"idle_minutes": 30},
        ages=(18, 65),
        texts={"en": {"consent": "**Yes?**", "screened_out": "kept out"}},
    )
    assert (changed.title, changed.settings["idle_minutes"]) == ("New", 30)
    assert set(study.conditions.values_list("target", flat=True)) == {9}
    age = next(q for q in changed.questionnaire["about"] if q["key"] == "age")
    assert age["admits"] == {"minimum": 18, "maximum": 65}
    assert changed.texts["en"]["consent"] == "**Yes?**"
    assert changed.texts["en"]["screened_out"] == "kept out"
    _refused("study.bad_settings", change_design, study=study, settings={"idle_minutes": 0}, per_condition=5)
    _refused("study.bad_settings", change_design, study=study, ages=(50, 20))
    study.refresh_from_db()
    assert study.settings["idle_minutes"] == 30
    assert set(study.conditions.values_list("target", flat=True)) == {9}


def test_the_launch_freezes_the_design_under_its_hash() -> None:
    study = make_study(status="draft")
    expected = digest_of(draft_snapshot(study))
    version = launch_study(study=study, why="ready")
    assert study.status == StudyStatus.LIVE
    assert study.design_hash == version.design_hash == expected == digest_of(version.snapshot)
    assert (version.number, version.why) == (1, "ready")
    assert [c["model"] for c in version.snapshot["conditions"]] == list(
        study.conditions.values_list("model_digest", flat=True)
    )
    assert version.snapshot["dataset"] == study.dataset_version.content_hash
    assert LogEntry.objects.filter(kind="studies.study", object_id=study.pk, to_status="live").count() == 1
    _refused("studies.not_draft", change_design, study=study, title="Another")


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 99},
        {"settings": {"idle_minutes": 7}},
        {"texts": {"en": {"consent": "Other."}}},
        {"per_condition": 7},
        {"ages": (21, 50)},
    ],
)
def test_every_part_of_the_design_is_under_the_hash(change: dict[str, Any]) -> None:
    study = make_study(status="draft")
    before = digest_of(design_snapshot(study))
    if "seed" in change:
        study.seed = change["seed"]
    else:
        study = change_design(study=study, **change)
    assert digest_of(design_snapshot(study)) != before


def test_the_size_of_a_trial_with_simulated_participants_is_no_part_of_the_design() -> None:
    study = make_study()
    study.settings["simulated_per_condition"] = 99
    assert digest_of(design_snapshot(study)) == study.design_hash


def test_two_studies_of_one_design_have_one_hash() -> None:
    first = make_study(slug="a")
    second = make_study(slug="b", run=first.run)
    assert first.design_hash == second.design_hash


def test_a_study_is_launched_once() -> None:
    study = make_study()
    _refused("studies.not_live", launch_study, study=study)
    assert study.versions.count() == 1


def test_the_launch_names_every_problem_and_changes_nothing() -> None:
    study = make_study(status="draft")
    condition = study.conditions.first()
    assert condition is not None
    TrainedModel.objects.filter(pk=condition.model_id).update(digest="0" * 64)
    Condition.objects.filter(pk=condition.pk).update(target=0)
    refusal = _refused("study.cannot_launch", launch_study, study=study)
    problems = refusal.extra["problems"]
    assert len(problems) == 3
    assert all(problem.startswith(condition.label) for problem in problems)
    study.refresh_from_db()
    assert (study.status, study.design_hash, study.versions.count()) == ("draft", "", 0)


def test_the_launch_opens_every_model() -> None:
    study = make_study(status="draft")
    condition = study.conditions.first()
    assert condition is not None
    Condition.objects.filter(pk=condition.pk).update(model_digest="1" * 64)
    TrainedModel.objects.filter(pk=condition.model_id).update(digest="1" * 64)
    refusal = _refused("study.cannot_launch", launch_study, study=study)
    assert "missing" in refusal.extra["problems"][0]


def test_a_design_that_cannot_run_or_a_run_that_was_undone_stops_the_launch() -> None:
    study = make_study(status="draft")
    study.settings["idle_minutes"] = 0
    study.save()
    EvaluationRun.objects.filter(pk=study.run_id).update(status="cancelled")
    problems = _refused("study.cannot_launch", launch_study, study=study).extra["problems"]
    assert str(study.run_id) in problems[0]
    assert "idle_minutes" in problems[1]


def test_a_study_needs_two_conditions_of_its_run_and_enough_items() -> None:
    study = make_study(status="draft")
    change_design(study=study, settings={"ratings_asked": 30, "list_length": 20})
    study.refresh_from_db()
    study.conditions.last().delete()  # type: ignore[union-attr]
    other = make_study(slug="other", version=make_version(name="other", seed=3, items=make_items(30)))
    foreign = other.conditions.first()
    assert foreign is not None
    study.conditions.update(model=foreign.model, model_digest=foreign.model_digest)
    problems = " ".join(_refused("study.cannot_launch", launch_study, study=study).extra["problems"])
    assert "two conditions" in problems
    assert "50" in problems
    assert f"run {study.run_id}" in problems


def _act(to: str) -> Any:
    return {"live": resume_study, "paused": pause_study, "closed": close_study, "draft": None}[to]


@pytest.mark.parametrize("start", StudyStatus.values)
@pytest.mark.parametrize("to", ["live", "paused", "closed"])
def test_every_move_of_a_study_is_allowed_or_refused_as_the_table_says(start: str, to: str) -> None:
    study = make_study(status=start)
    may = to in STUDY_MOVES.get(start, frozenset()) and (start, to) not in (("draft", "live"), ("closed", "live"))
    if may:
        _act(to)(study=study)
        study.refresh_from_db()
        assert study.status == to
        assert (study.closed_at is not None) == (to == "closed")
    else:
        _refused(f"studies.not_{to}", _act(to), study=study)
        study.refresh_from_db()
        assert study.status == start


def test_members_are_added_changed_and_removed_and_an_owner_stays() -> None:
    study = make_study(status="draft")
    owner = study.memberships.get()
    analyst = UserFactory()
    member = add_member(study=study, email=analyst.email.upper(), role=Role.ANALYST)
    assert add_member(study=study, email=analyst.email, role=Role.INTERVIEWER).pk == member.pk
    _refused("study.last_owner", remove_member, study=study, membership=StudyMembership.objects.get(pk=owner.pk))
    _refused("study.last_owner", add_member, study=study, email=owner.researcher.email, role=Role.ANALYST)
    assert study.memberships.filter(role=Role.OWNER).count() == 1
    remove_member(study=study, membership=member)
    assert study.memberships.count() == 1


@pytest.mark.parametrize(
    ("email", "role", "code"),
    [("nobody@example.org", "analyst", "study.unknown_researcher"), ("x@example.org", "king", "study.unknown_role")],
)
def test_members_that_cannot_be_are_refused(email: str, role: str, code: str) -> None:
    _refused(code, add_member, study=make_study(status="draft"), email=email, role=role)


def test_the_questions_of_every_block_are_counted_before_the_launch() -> None:
    study = make_study(status="draft")
    study.questionnaire = every_kind()
    counts = {block: len(study.questionnaire[block]) for block in BLOCKS}
    assert min(counts.values()) > 0
    said = dict(launch_overview(study).facts)["Questionnaire"]
    numbers = [int(number) for number in re.findall(r"\d+", said.partition(";")[0])]
    assert numbers == [sum(counts.values()), counts[ABOUT], counts[ITEMS], counts[OVERALL], counts[AFTER]]
