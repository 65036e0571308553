"""What participants chose and did: outcomes by participant, and the table of choices in reports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from analysis.enums import ScaleVariable
from analysis.files.contents import write_people
from analysis.files.formats import report_json
from analysis.present.choices import finding, sentence
from analysis.present.verdict import evidence, headline
from analysis.results.choices import ComparedShares
from analysis.results.schema import report_schema
from analysis.services.report_builder import build_report
from inference.choices import SharesTest, mean_shares, picking_test
from inference.results import Undefined
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.launch_overview import planned_power
from studies.design.selectors.planning import preregistration_plan, primary_power_sentence
from studies.design.selectors.versions import frozen_tests
from studies.design.services.design import change_design
from studies.design.services.launch import launch_study
from studies.enums import Mode
from studies.instrument.flow import questionnaire_of
from studies.instrument.outcomes import possible_outcomes
from studies.models import Event, Response, Study
from studies.participation.selectors.choices import Chosen, choices_of
from studies.participation.selectors.responses import records
from studies.plans import ADVANTAGE_TEST, BEHAVIOUR_TEST, CHOICE_TEST, primary_test_of, share_tests
from studies.settings import StudySettings
from tests.factories.analysis import page_without_pictures, plant
from tests.factories.evaluation import ALGORITHMS, make_run_at
from tests.factories.packages import recomputed, write_numbers
from tests.factories.studies import make_study
from tests.studies.test_choice_pages import CHOICE, ITEMS, LIST, OVERALL
from tests.studies.test_own_flows import ABOUT, RATE, THANKS

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

PLANNED = ["pick.chosen", "behaviour.opened"]


def draft(algorithms: str = ALGORITHMS, **settings: Any) -> Study:
    flow = [ABOUT, RATE, {"lists": {"pages": [LIST, ITEMS, CHOICE, OVERALL]}}, THANKS]
    settings = {"flow": flow, "recorded": ["opened", "played"], "plan": {"outcomes": PLANNED}, **settings}
    evaluated = make_run_at("succeeded", algorithms=algorithms)
    study = make_study(status="draft", settings=settings, run=evaluated)
    for texts in study.texts.values():
        texts["consent"] += " {recorded_behaviour}"
    study.save()
    return study


def answered(study: Study, answers: Sequence[int] = (3, 4, 2, 5)) -> Study:
    """Launched: the first condition's participants pick rank 2, but for each fourth, and the others' pick nothing."""
    launch_study(study=study)
    study.refresh_from_db()
    labels = list(study.conditions.values_list("label", flat=True))
    plant(study, {label: list(answers) for label in labels})
    study.dataset_version.items.filter(index=1).update(n_ratings=7)
    for number, participant in enumerate(study.participants.order_by("pk")):
        picks = participant.condition.label == labels[0] and number % len(answers) % 4 < 3
        Response.objects.create(participant=participant, question="chosen", value="2" if picks else "none")
    return study


@pytest.fixture
def study() -> Study:
    return answered(draft())


def test_outcomes_are_one_number_for_each_completer(study: Study) -> None:
    first, second = study.participants.order_by("pk")[:2]
    items = [slot.item.external_id for slot in first.recommendation_list.slots.order_by("rank")]
    for item in (*items[:2], items[0], "another"):
        Event.objects.create(participant=first, kind="details_opened", page="recommendations", facts={"item": item})
    Event.objects.create(participant=first, kind="details_opened", page="rate", facts={"item": items[3]})
    facts = {"item": items[4], "seconds": 3.0}
    Event.objects.create(participant=second, kind="sample_played", page="items", rank=5, facts=facts)
    outcomes = possible_outcomes(questionnaire_of(study), study.design)
    choice, opened, played = (outcomes[key] for key in ("pick.chosen", "behaviour.opened", "behaviour.played"))
    read = {record.participant.pk: record for record in records(study, [Mode.LIVE], completed_only=True)}
    assert len(read) == study.participants.count()
    assert (sum(choice.value(record) for record in read.values()), choice.value(read[first.pk])) == (3, 1)
    assert [float(opened.value(read[each.pk])) for each in (first, second)] == [0.4, 0.0]
    assert [float(played.value(read[each.pk])) for each in (first, second)] == [0.0, 0.2]
    chosen = choices_of(study, Mode.LIVE)[first.pk]
    assert (chosen.rank, chosen.popularity, len(chosen.ratings)) == (2, 7, 5)
    assert chosen.ratings[1] == 7
    assert (Chosen().rank, Chosen().popularity) == (None, None)
    first.recommendation_lists.get().slots.all().delete()
    Response.objects.filter(participant=first, question="chosen").delete()
    (unseen,) = (each for each in records(study, [Mode.LIVE]) if each.participant == first)
    assert (choice.value(unseen), opened.value(unseen)) == (None, None)


def test_a_plan_names_choices_and_behaviour_as_outcomes(study: Study, tmp_path: Path) -> None:
    item = study.participants.order_by("pk")[0].recommendation_list.slots.get(rank=1).item.external_id
    for participant in study.participants.all():
        Event.objects.create(
            participant=participant, kind="details_opened", page="recommendations", facts={"item": item}
        )
    report = build_report(study=study)
    chosen, opened = report.read_results().variables[-2:]
    assert [variable.key for variable in (chosen, opened)] == PLANNED
    assert sorted(own.mean for own in chosen.described.values()) == [0.0] * (len(chosen.described) - 1) + [0.75]
    (tmp_path / "data").mkdir()
    write_people(report, tmp_path)  # refuses answers that differ from those of the report
    table = (tmp_path / "data" / "analysed.csv").read_text(encoding="utf-8").splitlines()
    assert table[0].endswith(",pick.chosen,behaviour.opened")
    assert not (tmp_path / "data" / "scales.csv").exists()  # its rows are scales of questions


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithms", "n", "method"), [(ALGORITHMS, 4, "exact"), ("toppop,corngr,puresvd:factors=4", 24, "chi-square")]
)
def test_both_scripts_recompute_the_tests(algorithms: str, n: int, method: str, rscript: str, tmp_path: Path) -> None:
    study = answered(draft(algorithms), [3, 4, 2, 5] * (n // 4))
    for number, participant in enumerate(study.participants.order_by("pk")):
        for slot in participant.recommendation_list.slots.order_by("rank")[: number * 7 % 5 % 4]:
            opened = {"item": slot.item.external_id}
            Event.objects.create(participant=participant, kind="details_opened", page="recommendations", facts=opened)
    report = build_report(study=study)
    assert [each.result.method for each in report.read_results().shares] == [method, "Wald"]  # type: ignore[union-attr]
    write_numbers(report, tmp_path)
    assert {line[0] for line in recomputed(tmp_path, rscript) if line[1] == "shares_pair"} == set(PLANNED)


def test_studies_without_a_choice_have_no_such_outcome() -> None:
    study = make_study()
    assert not {"pick.chosen", "behaviour.opened"} & set(possible_outcomes(questionnaire_of(study), study.design))
    assert choices_of(study, Mode.LIVE) == {}


def test_a_number_without_ends_is_no_outcome() -> None:
    study = draft()
    guess = {"key": "guess", "kind": "number", "text": {"en": "How many films did you see this year?"}}
    study.questionnaire = {**study.questionnaire, "overall": [*study.questionnaire["overall"], guess]}
    assert "overall.guess" not in possible_outcomes(questionnaire_of(study), study.design)
    study.questionnaire["overall"][-1] |= {"minimum": 0, "maximum": 900}
    assert "overall.guess" in possible_outcomes(questionnaire_of(study), study.design)


def test_the_report_describes_the_choices_of_each_condition(study: Study) -> None:
    report = build_report(study=study)
    first, *others = report.read_results().choices
    assert (first.n, first.n_chosen, first.share, first.rank, first.popularity) == (4, 3, 0.75, 2.0, 7.0)
    assert (first.low, first.high) == pytest.approx((0.3006, 0.9544), abs=5e-5)  # by the formula
    assert others
    assert {(each.n_chosen, each.share, each.rank, each.popularity) for each in others} == {(0, 0.0, None, None)}
    page = page_without_pictures(report)
    assert "Choices by condition" in page
    assert "75%" in page
    digest = report.read_provenance().sample_digest
    Response.objects.filter(question="chosen", value="2").first().delete()
    assert build_report(study=study).read_provenance().sample_digest != digest


def open_some(study: Study) -> None:
    """Of each condition's participants, the first opens one item, the second two, and so on."""
    for number, participant in enumerate(study.participants.order_by("pk")):
        slots = participant.recommendation_list.slots.order_by("rank")[: number % 4 + number // 4]
        for slot in slots:
            Event.objects.create(
                participant=participant,
                kind="details_opened",
                page="recommendations",
                facts={"item": slot.item.external_id},
            )


def test_planned_choices_and_behaviour_are_tested(study: Study) -> None:
    open_some(study)
    report = build_report(study=study)
    results = report.read_results()
    picked, opened = results.shares
    labels = [facts.label for facts in results.conditions]
    assert [each.variable_key for each in results.shares] == PLANNED
    assert picked.result == picking_test({label: (3 if label == labels[0] else 0, 4) for label in labels})
    n_items = study.design.list_length
    expected = {label: [(min(at + index, n_items), n_items) for at in range(4)] for index, label in enumerate(labels)}
    own = mean_shares(expected)
    assert isinstance(own, SharesTest)
    assert isinstance(opened.result, SharesTest)
    assert (opened.result.method, opened.result.p) == ("Wald", pytest.approx(own.p, rel=1e-9))
    assert results.primary_shares is None  # the primary variable is another
    assert isinstance(results.item_choice, Undefined)  # all picked rank 2
    page = page_without_pictures(report)
    assert "Choices and behaviour" in page
    assert "Differences between conditions, share who picked something" in page
    assert "What picks depend on: no result." in page
    assert not list(Draft202012Validator(json.loads(report_schema())).iter_errors(json.loads(report_json(report))))


def test_a_choice_as_primary_variable_is_tested_as_its_plan_says() -> None:
    primary = {"perceived": "pick.chosen", "objective": "recall"}
    study = draft(primary=primary)
    assert f"Primary test: {CHOICE_TEST}, at α = .05." in preregistration(preregistration_plan(study))
    assert "Do conditions differ in the share who picked something?" in preregistration(preregistration_plan(study))
    n, f = 30, study.design.effect
    assert "The primary test compares the shares of all conditions" in primary_power_sentence(
        study, n=n, f=f, alpha=0.05
    )
    assert planned_power(study, 20) < planned_power(study, 40)
    report = build_report(study=answered(study, (3, 4, 2, 5, 1, 3)))
    results = report.read_results()
    assert results.plan.tests["pick.chosen"] == CHOICE_TEST
    assert results.plan.primary_test == "shares"
    tested = results.primary_shares
    assert tested is not None
    assert isinstance(tested.result, SharesTest)
    assert tested.result.p == pytest.approx(0.0152, abs=5e-5)  # 5 of 6 against none, by Fisher's exact test
    assert "".join(run.text for run in headline(results)) == "Conditions differed in the share who picked something."
    first, *others = evidence(results)
    assert first.startswith("Primary test. Share who picked something: ")
    assert any(paragraph.startswith("Not in the plan: ") for paragraph in others)


def test_designs_frozen_without_these_words_keep_their_primary_test() -> None:
    primary = {"perceived": "pick.chosen", "objective": "recall"}
    study = draft(primary=primary)
    launch_study(study=study)
    study.refresh_from_db()
    design_hash, version = study.design_hash, study.versions.get()
    assert frozen_tests(study)["pick.chosen"] == CHOICE_TEST
    del version.snapshot["plan"]["tests"]["pick.chosen"]
    type(version).objects.filter(pk=version.pk).update(snapshot=version.snapshot)
    assert primary_test_of(frozen_tests(study), "pick.chosen") == "advantage"
    assert study.design_hash == design_hash
    text = preregistration(preregistration_plan(study))
    assert f"- {ADVANTAGE_TEST}" in text
    assert CHOICE_TEST not in text


def test_only_planned_shares_have_words_and_contrasts_stay_the_primary_test() -> None:
    study = draft(plan={"outcomes": PLANNED[1:]})
    assert share_tests(study.design) == {"behaviour.opened": BEHAVIOUR_TEST}
    assert f" Tested beside these: {BEHAVIOUR_TEST}." in preregistration(preregistration_plan(study))
    assert share_tests(StudySettings()) == {}
    change_design(study=study, settings={"recorded": [], "plan": {"outcomes": PLANNED[:1]}})
    study.refresh_from_db()
    assert share_tests(study.design) == {"pick.chosen": CHOICE_TEST}


def of_counts(counts: dict[str, tuple[int, int]]) -> ComparedShares:
    of = {"pick.chosen": ScaleVariable(name="Share who picked something", low=0.0, high=1.0, in_steps=False)}
    return ComparedShares(variable_key="pick.chosen", scale_variables=of, result=picking_test(counts))


@pytest.mark.parametrize(
    ("counts", "opening", "said"),
    [
        (
            {"A": (45, 50), "B": (25, 50), "C": (27, 50)},
            "Conditions differed in the ",
            "Share who picked something: A 90%, B 50% and C 54%. It differed between conditions (χ²(2, N = 150) = "
            "21.24, p < .001): A against B .40, 95% CI [.18, .57]; A against C .36, 95% CI [.15, .54].",
        ),
        (
            {"A": (4, 10), "B": (2, 10)},
            "No evidence that conditions differ in the ",
            "Share who picked something: A 40% and B 20%. We found no evidence that it differs between conditions "
            "(exact p = .628).",
        ),
        (
            {"A": (0, 10), "B": (0, 10)},
            "The conditions could not be compared in the ",
            "Share who picked something: no result. None or all of the participants picked something: nothing differs.",
        ),
    ],
)
def test_sentences_claim_what_the_test_shows(counts: dict[str, tuple[int, int]], opening: str, said: str) -> None:
    each = of_counts(counts)
    assert (finding(each, 0.05), sentence(each)) == (opening, said)


def test_an_f_test_is_said_with_its_degrees_of_freedom() -> None:
    result = mean_shares({"A": [(0, 5), (1, 5), (0, 5)], "B": [(3, 5), (5, 5), (4, 5)]})
    each = replace(of_counts({"A": (1, 2), "B": (1, 2)}), result=result)
    assert "(F(1, 3.20) = 20.17, p = .018): A against B −.73, 95% CI [−1.24, −.23]." in sentence(each)
