"""The sequences of a draft follow its flow, its conditions and their targets, wherever one of them changes."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from core.errors import ParallaxError, ParameterError
from evaluation.models import EvaluationRun
from inference.power import participants_within, within_power
from studies.allocation.services.sequences import orders_of
from studies.design.narrative.plan import preference_power_sentence
from studies.design.narrative.preregistration import ASPREDICTED, OSF, preregistration
from studies.design.selectors.available_models import available_models
from studies.design.selectors.launch_overview import advice_of, launch_overview, planned_power, stage_summaries
from studies.design.selectors.planning import lists_in_words, preregistration_plan
from studies.design.services.amending import extend_targets
from studies.design.services.archiving import archive_study, delete_study, restore_study
from studies.design.services.conditions import choose_conditions
from studies.design.services.design import change_design, create_study
from studies.design.services.duplicating import duplicate_study
from studies.design.services.fixes import apply_fix
from studies.design.services.launch import design_findings, design_snapshot, draft_snapshot, launch_study
from studies.enums import Mode, ParticipantStatus, Role, StudyStatus
from studies.flow_pages import Lists
from studies.models import Participant, Study
from studies.monitoring.selectors.estimate import estimate_of
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at
from tests.factories.studies import add_conditions, assigned, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

PAGES = [
    {"key": "recommendations", "kind": "list"},
    {"key": "items", "kind": "item_questions", "block": "items"},
    {"key": "overall", "kind": "questions", "block": "overall"},
]


def flow(**lists: Any) -> list[dict[str, Any]]:
    """The flow of 2011 with its pages about the list, shown so."""
    return [
        {"key": "about", "kind": "questions", "block": "about", "assigns": True},
        {"key": "rate", "kind": "elicit"},
        {"lists": {**lists, "pages": PAGES}},
        {"key": "thanks", "kind": "end"},
    ]


IN_TURN = flow(shown="in_turn")


@pytest.fixture
def run() -> EvaluationRun:
    return make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")


@pytest.fixture
def draft(run: EvaluationRun) -> Study:
    return make_study(run=run, status="draft", per_condition=10)


def switch(study: Study, pages: list[dict[str, Any]], *, settings: Any = None, **changes: Any) -> Study:
    change_design(study=study, settings={"flow": pages, **(settings or {})}, **changes)
    study.refresh_from_db()
    return study


def rows(study: Study) -> list[tuple[str, int, Any]]:
    return list(study.sequences.order_by("position").values_list("label", "target", "occasions"))


def test_three_conditions_in_turn_have_six_sequences_with_equal_targets(draft: Study) -> None:
    assert rows(draft) == []
    switch(draft, IN_TURN)
    assert rows(draft) == [  # 10 participants in six sequences: 2 in each
        ("TopPop, CorNgr, PureSVD4", 2, [[0], [1], [2]]),
        ("CorNgr, PureSVD4, TopPop", 2, [[1], [2], [0]]),
        ("PureSVD4, TopPop, CorNgr", 2, [[2], [0], [1]]),
        ("PureSVD4, CorNgr, TopPop", 2, [[2], [1], [0]]),
        ("TopPop, PureSVD4, CorNgr", 2, [[0], [2], [1]]),
        ("CorNgr, TopPop, PureSVD4", 2, [[1], [0], [2]]),
    ]
    change_design(study=draft, per_condition=36)
    assert {target for _label, target, _occasions in rows(draft)} == {6}
    assert len(design_snapshot(draft)["sequences"]) == 6
    switch(draft, flow())
    assert rows(draft) == []
    assert "sequences" not in design_snapshot(draft)


def test_the_conditions_decide_the_sequences(draft: Study) -> None:
    switch(draft, IN_TURN)
    digests = {entry.label: entry.model.digest for entry in available_models(draft, None)}
    choose_conditions(study=draft, digests=[digests["PureSVD4"], digests["TopPop"]])
    assert rows(draft) == [("PureSVD4, TopPop", 5, [[0], [1]]), ("TopPop, PureSVD4", 5, [[1], [0]])]


def test_letters_stand_for_labels_that_are_too_long(draft: Study) -> None:
    for condition in draft.conditions.all():
        condition.label = f"{condition.label} with explanations of each item"
        condition.save()
    switch(draft, IN_TURN)
    assert [label for label, *_ in rows(draft)] == ["A, B, C", "B, C, A", "C, A, B", "C, B, A", "A, C, B", "B, A, C"]


def test_a_study_is_created_with_sequences(run: EvaluationRun) -> None:
    study = create_study(slug="in-turn", version=run.version, run=run, per_condition=12, settings={"flow": IN_TURN})
    assert [target for _label, target, _occasions in rows(study)] == [2] * 6


def test_blocks_hold_each_sequence_once_whatever_the_targets_were(draft: Study) -> None:
    change_design(study=draft, targets={0: 5})
    draft.refresh_from_db()
    assert draft.settings["block_weights"] == [1, 2, 2]
    switch(draft, IN_TURN)
    assert "block_weights" not in draft.settings
    switch(draft, flow())
    assert draft.settings["block_weights"] == [1, 2, 2]


def test_previews_of_other_sequences_are_removed(draft: Study) -> None:
    switch(draft, IN_TURN)
    assert assigned(draft, Mode.PREVIEW).sequence is not None
    change_design(study=draft, per_condition=30)
    assert Participant.objects.filter(study=draft).count() == 1
    digests = list(draft.conditions.order_by("position").values_list("model_digest", flat=True))
    choose_conditions(study=draft, digests=digests[:2])
    assert not Participant.objects.filter(study=draft).exists()
    assert len(rows(draft)) == 2


def test_copies_and_archived_studies_have_them_and_deleting_removes_them(draft: Study) -> None:
    switch(draft, IN_TURN)
    copy = duplicate_study(study=draft, slug="copy", title="Copy")
    assert rows(copy) == rows(draft)
    archive_study(study=draft)
    restore_study(study=draft)
    assert len(rows(draft)) == 6
    delete_study(study=draft)
    assert len(rows(copy)) == 6


def test_raised_targets_raise_those_of_the_sequences(draft: Study) -> None:
    switch(draft, IN_TURN)
    launch_study(study=draft)
    labels = list(draft.conditions.values_list("label", flat=True))
    before = rows(draft)
    with pytest.raises(ParallaxError, match="all have the same target") as refused:
        extend_targets(study=draft, targets={labels[0]: 20}, why="More people.")
    assert refused.value.code == "amend.unequal_targets"
    client, address = page(draft, "versions")
    assert list(client.get(address).context["targets"].fields) == ["target_0", "why"]
    answer = client.post(address, {"act": "targets", "targets-target_0": 20, "targets-why": "More people."})
    assert answer.status_code == 302
    draft.refresh_from_db()
    assert set(draft.conditions.values_list("target", flat=True)) == {20}
    assert draft.status == StudyStatus.LIVE
    assert rows(draft) == [(label, 4, occasions) for label, _target, occasions in before]


def problems_of(study: Study) -> list[str]:
    return [point.text for point in design_findings(study)]


def test_everything_that_keeps_people_from_several_lists_is_named_at_once(draft: Study) -> None:
    version = draft.dataset_version
    switch(draft, IN_TURN, targets={0: 20})
    switch(draft, IN_TURN, settings={"interviewers": "nested"})
    version.n_items = 19  # five are rated, and three lists of five are made of others
    version.save()
    draft = Study.objects.get(pk=draft.pk)
    assert problems_of(draft) == [
        "Each participant meets every condition, and targets differ: TopPop 20, CorNgr 10, PureSVD4 10. Give all the "
        "same target.",
        "Interviewers run one condition each, and participants meet several. Cross interviewers with conditions.",
        "The dataset has 19 items; rating 5 and recommending 15 others needs 20. Ask for fewer known items or "
        "recommend fewer.",
    ]
    switch(draft, flow(shown="in_turn", leave_out="nothing"), per_condition=10, settings={"interviewers": "crossed"})
    assert problems_of(draft) == []


def test_a_design_that_does_not_exist_is_a_problem_of_the_flow(draft: Study) -> None:
    switch(draft, IN_TURN)
    add_conditions(draft, 7)
    change_design(study=draft, per_condition=10)
    assert rows(draft) == []
    points = [point for point in design_findings(draft) if point.field == "shown"]
    assert [(point.stage, point.text) for point in points] == [
        (
            "flow",
            "A person meets 2 to 6 conditions in turn; got 7. Choose other conditions, or show lists in another way.",
        )
    ]


def test_the_time_of_pages_counts_for_each_list(draft: Study) -> None:
    one = {step.step: step.seconds for step in estimate_of(draft).steps}
    switch(draft, IN_TURN)
    estimate = estimate_of(draft)
    three = {step.step: step.seconds for step in estimate.steps}
    assert three["items"] == 3 * one["items"]
    assert three["recommendations"] == 3 * one["recommendations"]
    assert (three["rate"], three["about"]) == (one["rate"], one["about"])
    assert estimate.n_planned == 12


def test_the_preregistration_tells_the_orders_and_counts_participants_once(draft: Study) -> None:
    switch(draft, IN_TURN, per_condition=36)
    plan = preregistration_plan(draft)
    for form in (ASPREDICTED, OSF):
        text = preregistration(plan, form)
        for words in (
            "3 conditions within participants. Each participant meets the lists of all three conditions in turn, in "
            "one of six orders of a Williams square. Items of earlier lists are left out of later ones.",
            "judges 5 recommendations of each list",
            "a block holds each sequence once",
            "36 participants who complete, 6 in each sequence. The study ends when every sequence reaches its target",
            "a comparison of the 3 conditions finds an effect of f = 0.25 at α = .05 with a power of .91 with 36 "
            "participants",
        ):
            assert words in text, words
        assert "between participants" not in text
        assert "each participant meets one" not in text


def test_the_launch_page_tells_the_lists_and_which_sequences_a_pilot_lacks(draft: Study) -> None:
    switch(draft, IN_TURN, per_condition=36)
    overview = launch_overview(draft)
    facts = dict(overview.facts)
    assert facts["Participants"] == "36 in 6 sequences of 3 conditions"
    assert facts["Lists"] == lists_in_words(draft)
    assert stage_summaries(draft)["flow"].endswith("5 recommended, lists in turn")
    walked = assigned(draft, Mode.SIMULATED)
    Participant.objects.filter(pk=walked.pk).update(status=ParticipantStatus.COMPLETED)
    lacking = [text for point in advice_of(draft) if (text := point.text).startswith("No simulated participant has")]
    assert len(lacking) == 1
    assert lacking[0].count(";") == 4  # five of six sequences
    assert walked.sequence.label not in lacking[0]


def test_power_is_that_of_a_comparison_within_participants(draft: Study) -> None:
    switch(draft, IN_TURN, per_condition=36)
    assert planned_power(draft, 36) == pytest.approx(within_power(3, 36, 0.25, 0.5, contrast=True))
    change_design(study=draft, per_condition=10, settings={"effect": 0.25})
    draft.refresh_from_db()
    points = [point for point in advice_of(draft) if point.fix == "power"]
    assert within_power(3, 12, 0.25, 0.5, contrast=True) == pytest.approx(0.53, abs=0.005)
    assert [point.text for point in points] == ["Power is .53 for f = 0.25, with 12 participants."]
    apply_fix(study=draft, fix="power")
    assert set(draft.conditions.values_list("target", flat=True)) == {participants_within(3, 0.25, 0.5, contrast=True)}


def page(study: Study, name: str) -> Any:
    client = Client()
    client.force_login(study.memberships.get(role=Role.OWNER).researcher)
    address = reverse(f"studies:{name}", args=[study.slug])
    return client, address


def posted(form: Any, **changes: Any) -> dict[str, Any]:
    """What a browser posts of a form after these changes."""
    values = {name: values for name, values in form.stored_values().items() if values != [""]}
    values |= {name: [value] for name, value in changes.items() if value is not None}
    return {name: value for name, value in values.items() if value and (name not in changes or changes[name])}


def test_the_flow_stage_switches_to_lists_in_turn_and_back(draft: Study) -> None:
    client, address = page(draft, "flow")
    before = draft_snapshot(draft)
    shown = client.get(address)
    assert "For each of" not in shown.content.decode()
    answer = client.post(address, posted(shown.context["form"], shown="in_turn"))
    assert answer.status_code == 302
    draft.refresh_from_db()
    assert draft.settings["flow"][2]["lists"] == {"shown": "in_turn", "leave_out": "shown", "pages": PAGES}
    assert len(rows(draft)) == 6
    shown = client.get(address)
    text = " ".join(shown.content.decode().split())
    assert "For each of 3 lists" in text
    assert "in one of six orders of a Williams square" in text
    cards = shown.context["cards"]
    assert [name for name, is_repeated, _minutes in cards if is_repeated] == [
        "The recommendations",
        "Questions about each item",
        "The list as a whole",
    ]
    assert sum(minutes * (3 if is_repeated else 1) for _name, is_repeated, minutes in cards) == pytest.approx(
        shown.context["estimate"].minutes
    )
    client.post(address, posted(shown.context["form"], shown="in_turn", leave_out=False))
    draft.refresh_from_db()
    assert draft.design.flow.lists == Lists(shown="in_turn", leave_out="nothing")
    client.post(address, posted(client.get(address).context["form"], shown="one"))
    draft.refresh_from_db()
    assert rows(draft) == []
    assert draft_snapshot(draft) == before  # the pages of 2011 are not stored


def test_lists_side_by_side_need_pages_of_their_own(draft: Study) -> None:
    client, address = page(draft, "flow")
    answer = client.post(address, posted(client.get(address).context["form"], shown="side_by_side"))
    assert answer.status_code == 200
    assert "Lists side by side need questions that compare them." in answer.context["form"].errors["shown"][0]
    draft.refresh_from_db()
    assert "flow" not in draft.settings


def test_an_own_flow_keeps_its_pages(draft: Study) -> None:
    hello = {"key": "hello", "kind": "text", "title": {"en": "Hello", "it": "Ciao"}, "text": {"en": "Hi", "it": "Ciao"}}
    switch(draft, [hello, *flow()])
    client, address = page(draft, "flow")
    client.post(address, posted(client.get(address).context["form"], shown="in_turn"))
    draft.refresh_from_db()
    assert draft.settings["flow"] == [hello, *flow(shown="in_turn", leave_out="shown")]


def test_other_stages_speak_of_participants_of_the_study(draft: Study) -> None:
    switch(draft, IN_TURN, per_condition=36)
    client, address = page(draft, "sample")
    shown = client.get(address)
    text = " ".join(shown.content.decode().split())
    assert "3 conditions in 6 sequences, 36 participants" in text
    assert "Participants per condition" not in text
    assert "Different targets" not in text
    assert client.post(address, posted(shown.context["form"], per_condition=48)).status_code == 302
    assert {target for _label, target, _occasions in rows(draft)} == {8}
    client, address = page(draft, "conditions")
    shown = client.get(address)
    assert not [name for name in shown.context["form"].fields if name.startswith("target")]
    assert client.post(address, posted(shown.context["form"], doses="as ranked")).status_code == 302
    client, address = page(draft, "imbalance")
    assert client.get(address).context["expected"].n_participants == 48
    client, address = page(draft, "power")
    text = client.get(address).content.decode()
    assert "power of .80 takes 28" in text
    assert "per condition" not in text
    launch_study(study=draft)
    for stage in ("sample", "conditions", "flow"):
        client, address = page(draft, stage)
        assert client.get(address).status_code == 200


def test_the_api_and_the_shell_give_the_sequences(run: EvaluationRun, tmp_path: Path) -> None:
    owner = UserFactory()
    design = tmp_path / "design.yaml"
    design.write_text(yaml.safe_dump({"settings": {"flow": IN_TURN}}), encoding="utf-8")
    call_command(
        "create_study", "by-shell", "--dataset", run.version.dataset.name, "--design", str(design),
        "--per-condition", "36", "--owner", owner.email, stdout=StringIO(),
    )  # fmt: skip
    study = Study.objects.get(slug="by-shell")
    assert [target for _label, target, _occasions in rows(study)] == [6] * 6
    launch_study(study=study)
    client = Client()
    client.force_login(owner)
    answer = client.get("/api/v1/studies/by-shell/design/").json()
    assert [row["occasions"] for row in answer["design"]["sequences"]] == [row[2] for row in rows(study)]


def test_lists_side_by_side_have_sequences_of_pairs(draft: Study) -> None:
    lists = Lists(shown="side_by_side", pairs_each=2)
    assert len(orders_of(lists, 3)) == 6
    assert orders_of(Lists(shown="side_by_side"), 2) == [[[0, 1]], [[1, 0]]]
    with pytest.raises(ParameterError, match="got 5"):
        orders_of(lists, 5)


def test_the_power_of_a_comparison_side_by_side_is_that_of_the_sign_test() -> None:
    sentence = preference_power_sentence(n=100, pairs=1, pairs_each=1, alpha=0.05)
    assert "compared by 100 participants" in sentence
    assert "power of .83" in sentence
    assert "compared by 66 participants" in preference_power_sentence(n=100, pairs=3, pairs_each=2, alpha=0.05)
