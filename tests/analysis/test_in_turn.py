"""Reports on studies in which each participant meets all conditions in turn: compared within participants."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from django.test import Client

from analysis.compute import comparison as both_sides
from analysis.compute.factorial import factorial_of
from analysis.compute.follow_up import correlations_of, effects_of_all, nested_model
from analysis.compute.in_turn import NOT_INDEPENDENT, effect_in_turn, occasions_of
from analysis.compute.perceived import study_variable, values_of
from analysis.enums import VARIABLE_OF, Metric, Variable
from analysis.models import Report
from analysis.present import factorial, in_turn
from analysis.present.apa import of_variable
from analysis.read.inputs import Answers, Met, Person
from analysis.read.responses import read_answers
from analysis.read.sample import comments_of
from analysis.results.factorial import Factorial, PlannedEffect
from analysis.results.in_turn import InTurnTests
from analysis.results.perceived import PerceivedVariable
from analysis.results.rankings import Ranking
from analysis.services import build_report
from documents.blocks import FigureMaker
from inference.average_advantage import AverageAdvantage, MeanEstimates
from inference.partial_order import partial_order
from inference.results import PairwiseResult, Undefined
from inference.sequences import CarryOver, WithinResult
from studies import plans
from studies.allocation.assignment.sequences import williams_square
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.design.selectors.versions import frozen_tests
from studies.design.services.launch import launch_study
from studies.flow_pages import IN_TURN, FlowPages, Lists
from studies.models import Participant, Response, Study
from studies.monitoring.services.exclusions import exclude
from studies.settings import Contrast, Effect, Primary, StudySettings
from tests.analysis.conftest import ALGORITHMS, FEW_RESAMPLES
from tests.approval import assert_approved
from tests.factories.analysis import every_page, page_without_pictures
from tests.factories.evaluation import make_run_at
from tests.factories.packages import recomputed, unpack
from tests.factories.several_lists import flow_of_lists, planted_in_turn
from tests.factories.studies import add_sequences, make_study
from tests.report_text import text_of_report

NAMES = ("A", "B", "C")
SATISFACTION = VARIABLE_OF["satisfaction"]
RECALL = Metric("recall", 0, 5)
Value = Callable[[int, str, int, str | None], float]


def answers_of(
    n: int, value: Value, *, missing: Sequence[tuple[int, int]] = (), names: tuple[str, ...] = NAMES
) -> Answers:
    """`n` people in a Williams square; `value` of person, condition, position and the condition before."""
    square, people, occasions = williams_square(len(names)), [], []
    for person in range(n):
        order = [names[condition] for condition in square[person % len(square)]]
        for position, name in enumerate(order, start=1):
            previous = order[position - 2] if position > 1 else None
            if (person, position) in missing:
                continue
            satisfaction = round(value(person, name, position, previous))
            people.append(Person(5, *[None] * 7, satisfaction, name))
            occasions.append(Met(person, position, previous))
    return Answers(names, tuple(people), (), len(people), 0, 0, occasions=tuple(occasions))


def noise(seed: int, scale: float) -> Callable[[], float]:
    rng = np.random.default_rng(seed)
    return lambda: float(rng.normal(0, scale))


def planted(n: int = 60, *, missing: Sequence[tuple[int, int]] = ()) -> Answers:
    """A is 6 above B and C, people differ by 20 points, and chance by 3, on a scale of 100."""
    levels, chance = np.random.default_rng(5).normal(50, 20, n), noise(6, 3)
    return answers_of(n, lambda person, name, *_at: levels[person] + 6 * (name == "A") + chance(), missing=missing)


def of(answers: Answers, variable: Variable = SATISFACTION) -> tuple[PerceivedVariable, Ranking, InTurnTests]:
    result, ranking = study_variable(answers, variable)
    assert result.in_turn is not None
    return result, ranking, result.in_turn


def metric(*pairs: tuple[str, str]) -> Ranking:
    """A metric that separates these pairs, the better one first."""
    order = partial_order({"A": 3.0, "B": 2.0, "C": 1.0}, ())
    dominates = {name: tuple(worse for better, worse in pairs if better == name) for name in NAMES}
    return Ranking(
        {"A": 3.0, "B": 2.0, "C": 1.0}, Undefined("Not tested."), type(order)(**{**vars(order), "dominates": dominates})
    )


def test_people_who_meet_all_conditions_are_compared_with_themselves() -> None:
    result, ranking, tests = of(planted())
    between = (result.anova, result.welch, result.kruskal, result.brown_forsythe, result.shapiro_residuals,
               *vars(result.tests).values())  # fmt: skip
    assert set(map(id, between)) == {id(NOT_INDEPENDENT)}
    assert result.welch_without_constant is None
    assert isinstance(tests.model, WithinResult)
    assert isinstance(result.pairs, PairwiseResult)
    # Between people, a difference of 6 points would be lost in their spread of 20.
    found = {(pair.a, pair.b): pair for pair in result.pairs.pairs}
    assert [pair.is_significant for pair in found.values()] == [True, True, False]
    assert found["A", "B"].difference == pytest.approx(6, abs=1.5)
    assert (found["A", "B"].se or 0) < 1
    assert set(ranking.order.direct) == {("A", "B"), ("A", "C")}
    assert result.order.dominates["A"] == ("B", "C")
    assert tests.n_missing == 0
    assert tests.completers is None
    # Rows are described as they are, each condition by itself.
    assert {name: numbers.n for name, numbers in result.described.items()} == dict.fromkeys(NAMES, 60)
    assert ranking.values == pytest.approx({name: numbers.mean for name, numbers in result.described.items()})


def test_analyses_of_independent_people_are_not_made_of_occasions() -> None:
    answers = planted(12)
    assert effects_of_all(answers, [SATISFACTION]) == ((), ())
    assert correlations_of(answers, [SATISFACTION, VARIABLE_OF["accuracy"]]) == ((), None)
    assert nested_model(answers) == (None, NOT_INDEPENDENT)


def test_missing_occasions_move_no_mean_and_completers_stand_beside() -> None:
    # The lowest people lack A, so that its observed mean is too high; the model knows their other values.
    full = planted()
    lows = sorted(range(60), key=lambda person: full.people[3 * person].satisfaction or 0)[:20]
    lacking = [
        (at.participant, at.position)
        for person, at in zip(full.people, full.occasions, strict=True)
        if person.condition == "A" and at.participant in lows
    ]
    result, ranking, tests = of(planted(missing=lacking))
    assert tests.n_missing == 20
    observed = result.described["A"].mean - result.described["B"].mean
    assert observed > 12
    assert ranking.values["A"] - ranking.values["B"] == pytest.approx(6, abs=1.5)
    assert isinstance(tests.completers, WithinResult)
    assert (tests.completers.n_participants, tests.completers.n_occasions) == (40, 120)


def test_occasions_of_those_who_left_count_and_completed_participants_stand_beside() -> None:
    # Person 0 left after two lists and person 1 after one; person 2 completed, and lacks a value.
    full = planted()
    answers = replace(planted(missing=[(0, 3), (1, 2), (1, 3), (2, 3)]), left=(0, 1))
    assert answers.n_people == 58
    result, _ranking, tests = of(answers)
    assert tests.n_missing == 4
    assert isinstance(tests.model, WithinResult)
    assert (tests.model.n_participants, tests.model.n_occasions) == (60, 180 - 4)
    assert isinstance(tests.completers, WithinResult)
    assert (tests.completers.n_participants, tests.completers.n_occasions) == (57, 57 * 3)
    assert [name for name, _test in in_turn.tests(tests)].count("Mixed model, completed participants") == 1
    assert "4 occasions without a value, taken as missing at random." in " ".join(in_turn.other_tests(result, tests))
    # A participant may leave after the last list.
    _result, _ranking, tests = of(replace(full, left=(5,)))
    assert (tests.n_missing, tests.completers and tests.completers.n_participants) == (0, 59)
    assert "completed" not in " ".join(name for name, _test in in_turn.tests(of(full)[2]))
    assert replace(full, left=(5,)).digest != full.digest


def test_carry_over_is_found_and_first_occasions_are_free_of_it() -> None:
    chance = noise(7, 1)

    def value(_person: int, name: str, _position: int, previous: str | None) -> float:
        return 50 + 4 * (name == "A") - 8 * (previous == "A") + chance()

    _result, _ranking, tests = of(answers_of(60, value))
    assert isinstance(tests.carry_over, CarryOver)
    assert tests.carry_over.test.p < 0.001
    assert isinstance(tests.first, PairwiseResult)
    assert tests.first.test == "Games-Howell"
    assert tests.first.pairs[0].difference == pytest.approx(4, abs=1)
    assert isinstance(tests.pairs, PairwiseResult)
    assert tests.pairs.pairs[0].difference > 6  # those who come after A are low
    adjusted = tests.carry_over.adjusted
    assert adjusted.pairs[0].difference == pytest.approx(4, abs=1)


def test_two_conditions_are_compared_without_a_test_of_carry_over() -> None:
    chance = noise(8, 1)
    answers = answers_of(40, lambda _person, name, *_at: 50 + 4 * (name == "A") + chance(), names=("A", "B"))
    result, _ranking, tests = of(answers)
    assert isinstance(tests.pairs, PairwiseResult)
    assert [pair.is_significant for pair in tests.pairs.pairs] == [True]
    assert isinstance(tests.carry_over, Undefined)
    assert "compare the first occasions instead" in " ".join(in_turn.other_tests(result, tests))


def test_the_average_advantage_rests_on_the_covariance_of_the_mixed_model() -> None:
    answers = planted()
    means = both_sides.comparable(answers, SATISFACTION)
    assert isinstance(means, MeanEstimates)
    found = both_sides.advantage_of(answers, SATISFACTION, metric(("A", "B"), ("A", "C")), Undefined("None."))
    assert isinstance(found.overall, AverageAdvantage)
    weights = np.array([1.0, -0.5, -0.5])
    assert found.overall.value == pytest.approx(weights @ means.means)
    assert found.overall.se == pytest.approx(np.sqrt(weights @ means.covariance @ weights))
    # Covariances take the people out: without them it would be (20² · 1.5 / 60)^.5, about 3.
    assert found.overall.se < 0.7
    assert found.other_items is None
    family = both_sides.exploratory_of(answers, [SATISFACTION], {RECALL: metric(("A", "B"))}, ("accuracy", "recall"))
    assert len(family.tests) == 1


def test_a_planned_contrast_is_of_the_mixed_models_means() -> None:
    answers = planted()
    both, one = (
        both_sides.tested_contrast(answers, SATISFACTION, Contrast(higher=("A",), lower=("B", "C"), sides=sides), 0.05)
        for sides in (2, 1)
    )
    assert not isinstance(both.result, Undefined)
    assert not isinstance(one.result, Undefined)
    assert both.result.welch is None
    assert both.result.pooled.df > 100  # 59 · 2 without those of positions
    assert one.result.pooled.p == pytest.approx(both.result.pooled.p / 2)
    assert one.result.pooled.ci_high is None
    assert both.result.d == pytest.approx(both.result.difference / 20, rel=0.3)
    assert both.is_significant
    values = values_of(answers, SATISFACTION)
    effect = effect_in_turn(answers, values, {"A": 1.0, "B": -0.5, "C": -0.5}, 0.05)
    assert not isinstance(effect, Undefined)
    assert (effect.value, effect.p) == pytest.approx((both.result.difference, both.result.pooled.p))
    equal = both_sides.tested_equivalence(answers, SATISFACTION, 3.0, 0.05, both)
    assert not isinstance(equal.result, Undefined)
    assert [(pair.a, pair.b) for pair in equal.result.pairs if pair.is_equivalent] == [("B", "C")]
    assert equal.contrast is not None
    assert equal.contrast.df == both.result.pooled.df


def test_a_planned_effect_is_of_the_mixed_models_means_and_the_only_one() -> None:
    answers = planted()
    model = SimpleNamespace(algorithm="toppop", params={})
    conditions = [SimpleNamespace(label=name, levels={"kind": name.lower()}, model=model) for name in NAMES]
    effect = Effect(factor="kind", levels=("a", "b"))
    found = factorial_of(answers, conditions, [SATISFACTION], "satisfaction", effect, alpha=0.05)
    assert found is not None
    assert found.planned is not None
    assert (found.variables, found.contrasts) == ((), ())
    result, of_pairs = found.planned.result, of(answers)[0].pairs
    assert not isinstance(result, Undefined)
    assert not isinstance(of_pairs, Undefined)
    pair = of_pairs.pairs[0]
    assert (result.value, result.se, result.df) == pytest.approx((pair.difference, pair.se, pair.df))
    assert result.interval == result.family_interval


def test_what_cannot_be_fitted_says_why() -> None:
    constant = answers_of(12, lambda *_of: 3.0)
    result, _ranking, tests = of(constant)
    for each in (tests.model, tests.repeated, tests.friedman, tests.first, tests.carry_over, result.pairs):
        assert isinstance(each, Undefined)
    assert result.order.is_empty
    assert isinstance(both_sides.comparable(constant, SATISFACTION), Undefined)
    contrast = both_sides.tested_contrast(constant, SATISFACTION, Contrast(higher=("A",), lower=("B",)), 0.05)
    assert isinstance(contrast.result, Undefined)
    assert isinstance(both_sides.tested_equivalence(constant, SATISFACTION, 1.0, 0.05, contrast).result, Undefined)
    assert isinstance(effect_in_turn(constant, values_of(constant, SATISFACTION), {}, 0.05), Undefined)
    assert of_variable(result)[1].startswith("The mixed model of global satisfaction has no result.")
    no_answers = Answers(NAMES, (), (), 0, 0, 0)
    assert occasions_of(no_answers, []).values == ()


def test_occasions_are_among_what_a_report_is_computed_from() -> None:
    answers = planted(6)
    other = Answers(**{**vars(answers), "occasions": answers.occasions[::-1]})
    assert answers.digest != other.digest
    assert answers.digest != Answers(**{**vars(answers), "occasions": ()}).digest


def test_plans_say_which_tests_compare_within_participants() -> None:
    primary = Primary(perceived="satisfaction", objective="recall", smallest_effect=0.2)
    assert plans.TESTS_IN_TURN.keys() == plans.TESTS.keys()
    in_turn = FlowPages(lists=Lists(shown=IN_TURN))

    def tests_of(primary: Primary, flow: FlowPages = in_turn) -> dict[str, str]:
        return plans.tests_of(StudySettings(primary=primary).model_copy(update={"flow": flow}))

    within, between = tests_of(primary), tests_of(primary, FlowPages())
    assert {plans.primary_test_of(each, "satisfaction") for each in (within, between)} == {"advantage"}
    assert "mixed model" in within["equivalence"]
    assert "Welch" not in " ".join(within.values())
    assert between.items() >= plans.TESTS.items()
    contrast = Contrast(higher=("A",), lower=("B",))
    planned = tests_of(Primary(perceived="satisfaction", objective="recall", contrast=contrast))
    assert planned["contrast"] == "planned contrast of the primary variable, a t test of the mixed model's means"
    effect = tests_of(Primary(perceived="satisfaction", objective="recall", effect=Effect(trend="strength")))
    assert "mixed model" in effect["effect"]


N = 24  # participants, four in each sequence
LIKED = (1, -1, -1)  # by the position of the condition: TopPop is best, the others alike


PRIMARY = {"perceived": "satisfaction", "objective": "recall", "smallest_effect": 0.5}


def study_in_turn(slug: str = "in-turn", *, algorithms: str = ALGORITHMS, **settings: object) -> Study:
    study = make_study(
        slug=slug, run=make_run_at("succeeded", algorithms=algorithms), status="draft", per_condition=N,
        settings={**FEW_RESAMPLES, "flow": flow_of_lists(shown="in_turn"), **settings},
    )  # fmt: skip
    if not study.sequences.exists():
        add_sequences(study, N // 6)
    launch_study(study=study)
    study.refresh_from_db()
    for person in range(N):
        sequence = study.sequences.get(position=person % 6)
        satisfaction, ratings = [], []
        for occasion, (condition,) in enumerate(sequence.occasions):
            chance = (person * 7 + condition * 5 + occasion * 3) % 4 == 0
            value = min(5, max(1, 3 + person % 2 + LIKED[condition] + chance))
            satisfaction.append(value)
            ratings.append([min(5, max(1, value - (rank + person) % 2)) for rank in range(5)])
        planted_in_turn(study, person % 6, ratings, satisfaction=satisfaction)
    return study


@pytest.fixture(scope="module")
def built(module_database: None) -> Report:
    return build_report(study=study_in_turn())


@pytest.fixture
def report(built: Report) -> Report:
    return Report.objects.get(pk=built.pk)


@pytest.mark.integration
@pytest.mark.django_db
def test_a_report_compares_lists_in_turn_within_participants(report: Report) -> None:
    results = report.read_results()
    assert results.is_in_turn
    assert results.flow.analysed == N
    assert [facts.n for facts in results.conditions] == [N] * 3
    assert [(line.target, line.analysed) for line in results.flow.by_condition] == [(4, 4)] * 6
    assert results.planned is not None
    assert results.planned.deviations == ()
    assert frozen_tests(report.study) == dict(plans.TESTS_IN_TURN)
    assert results.plan.primary_test == "advantage"
    assert (results.nested, results.covariates, results.power, results.effects, results.correlations) == (
        None, None, None, (), ()
    )  # fmt: skip
    decided = results.primary and results.primary.decided
    assert not isinstance(decided, Undefined)
    assert decided is not None
    assert {(pair.a, pair.b): pair.participants_favour for pair in decided.pairs} == {
        ("TopPop", "CorNgr"): "TopPop", ("TopPop", "PureSVD4"): "TopPop", ("CorNgr", "PureSVD4"): None,
    }  # fmt: skip
    names = [alternative.name for alternative in results.alternatives]
    assert "First occasions alone" in names
    assert "Items nested in algorithms" not in names
    assert not re.search(
        "Welch|Kruskal|Tukey's HSD|Cremonesi et al. .2011.: the analysis", page_without_pictures(report)
    )
    assert_approved("reports/in-turn", text_of_report(report))
    planned = factorial.planned_sentence
    effect = PlannedEffect(
        variable_key="accuracy", effect=Effect(factor="kind", levels=("a", "b")).stored(), result=NOT_INDEPENDENT
    )
    section = factorial.factors_section(
        replace(results, factorial=Factorial(alpha=0.05, variables=(), planned=effect)), FigureMaker("")
    )
    assert [block.text for block in section.blocks] == [planned(effect, 0.05)]


@pytest.mark.integration
@pytest.mark.django_db
def test_the_console_shows_every_chapter(report: Report, client: Client) -> None:
    client.force_login(report.study.memberships.get().researcher)
    page = every_page(client, report)
    assert "Lists in turn" in page
    assert "Participants by sequence" in page


@pytest.mark.integration
@pytest.mark.django_db
def test_comments_go_with_the_condition_that_they_are_about(report: Report) -> None:
    participant = report.study.participants.order_by("pk")[0]  # meets TopPop, CorNgr and PureSVD4 in this order
    Response.objects.create(participant=participant, question="comment", occasion=2, value="Too old for me.")
    assert [(comment.condition, comment.text) for comment in comments_of(report)] == [("CorNgr", "Too old for me.")]


@pytest.mark.integration
@pytest.mark.django_db
def test_what_is_missing_and_who_is_excluded_is_said() -> None:
    study = study_in_turn("in-turn-missing")
    first, second, *_rest = study.participants.order_by("pk")
    exclude(participant=first, reason="Answered at random")
    Response.objects.filter(participant=second, question="satisfaction", occasion=2).delete()
    report = build_report(study=study)
    results = report.read_results()
    assert results.flow.analysed == N - 1
    assert {facts.n for facts in results.conditions} == {N - 1, N - 2}
    page = text_of_report(report)
    lacking = (
        "1 occasion without a value, taken as missing at random. Completed participants with every value alone: F(2,"
    )
    assert lacking in page
    assert results.exclusions is not None
    accuracy = results.exclusions.variables[0]
    assert accuracy.analysed.welch is None
    assert not isinstance(accuracy.analysed.test, Undefined)
    assert "the conclusion is the same, with the same significant pairs" in page


def leaver(
    study: Study, lists: int, *, sequence: int = 0, status: str = "abandoned", is_over: bool = True
) -> Participant:
    """Someone who answered so many lists; only where `is_over` did they go on to the next page after the last."""
    ratings = [[2 + occasion, 3, 3, 3, 4] for occasion in range(lists)]
    place = {"step": "recommendations", "occasion": lists + 1} if is_over else {}
    return planted_in_turn(study, sequence, ratings, satisfaction=(2, 4, 3), status=status, **place)


@pytest.fixture(scope="module")
def built_with_leavers(module_database: None) -> Report:
    """Three people left and finished 1 + 2 + 2 occasions; one of them is excluded. No one else counts."""
    study = study_in_turn("in-turn-left")
    leaver(study, 1)
    leaver(study, 2, sequence=1)
    leaver(study, 1, is_over=False)
    leaver(study, 0)
    exclude(participant=leaver(study, 2), reason="Answered at random")
    for status in ("active", "returned", "attention_failed", "withdrawn"):
        leaver(study, 2, status=status)
    return build_report(study=study)


@pytest.fixture
def report_with_leavers(built_with_leavers: Report) -> Report:
    return Report.objects.get(pk=built_with_leavers.pk)


@pytest.mark.integration
@pytest.mark.django_db
def test_a_report_counts_the_occasions_that_were_finished_by_those_who_left(report_with_leavers: Report) -> None:
    results = report_with_leavers.read_results()
    assert (results.flow.analysed, results.flow.n_left, results.flow.n_left_occasions) == (N, 2, 3)
    # In the sequences TopPop, CorNgr, PureSVD4 and CorNgr, PureSVD4, TopPop
    assert {facts.label: facts.n for facts in results.conditions} == {
        "TopPop": N + 1, "CorNgr": N + 1, "PureSVD4": N + 1,
    }  # fmt: skip
    assert sum(line.analysed for line in results.flow.by_condition) == results.sample.total.n == N
    assert results.exclusions is None  # all who completed are analysed
    tests = results.variables[0].in_turn
    assert isinstance(tests, InTurnTests)
    assert tests.n_missing == 3
    assert isinstance(tests.model, WithinResult)
    assert (tests.model.n_participants, tests.model.n_occasions) == (N + 2, 3 * N + 3)
    assert isinstance(tests.completers, WithinResult)
    assert (tests.completers.n_participants, tests.completers.n_occasions) == (N, 3 * N)
    assert "Completed participants alone" in {alternative.name for alternative in results.alternatives}
    page = text_of_report(report_with_leavers)
    assert "2 participants who left before the end contributed the 3 occasions that they had finished." in page
    text = preregistration(preregistration_plan(report_with_leavers.study))
    assert "So are the occasions that those who leave before the end have finished" in text
    assert plans.ALL_OCCASIONS in text


@pytest.mark.integration
@pytest.mark.django_db
def test_a_plan_frozen_with_other_words_analyses_completed_participants_alone(report_with_leavers: Report) -> None:
    study, version = report_with_leavers.study, report_with_leavers.study.versions.get()
    assert len(read_answers(study, "live", {}).analysed.left) == 3
    version.snapshot["plan"]["tests"]["difference"] = plans.ALL_OCCASIONS.partition(", over")[0]
    study.versions.update(snapshot=version.snapshot)
    reading = read_answers(study, "live", {})
    assert (reading.analysed.left, len(reading.analysed.occasions)) == ((), 3 * N)
    results = report_with_leavers.read_results()
    older = replace(results, plan=replace(results.plan, tests=dict(version.snapshot["plan"]["tests"])))
    assert in_turn.left_sentence(older) == "Participants who left before the end are not analysed."
    text = preregistration(preregistration_plan(study))
    assert "Those who leave before the end, withdraw or return their submission are not; their number is" in text


@pytest.mark.integration
@pytest.mark.django_db
def test_a_planned_contrast_or_effect_has_the_headline() -> None:
    primary = {"perceived": "satisfaction", "objective": "recall"}
    contrast = {"higher": ["TopPop"], "lower": ["CorNgr", "PureSVD4"], "sides": 1}
    report = build_report(study=study_in_turn("in-turn-contrast", primary={**primary, "contrast": contrast}))
    page = page_without_pictures(report)
    assert "with TopPop than with CorNgr and PureSVD4" in re.sub("<[^>]+>|\\s+", " ", page).replace("  ", " ")
    assert "Mixed model (planned)" in page
    assert "Pooled variance" not in page


@pytest.fixture
def report_with_bound(module_database: None) -> Report:
    """A contrast is planned, and the smallest effect of interest."""
    contrast = {"higher": ["TopPop"], "lower": ["CorNgr", "PureSVD4"]}
    return build_report(study=study_in_turn("in-turn-bound", primary={**PRIMARY, "contrast": contrast}))


@pytest.fixture
def report_with_effect(module_database: None) -> Report:
    dose = "toppop,toppop|popularity:strength=0.3,toppop|popularity:strength=0.6"
    primary = {**PRIMARY, "effect": {"trend": "strength"}}
    return build_report(study=study_in_turn("in-turn-effect", algorithms=dose, primary=primary))


IN_EVERY_PACKAGE = {"mixed", "mixed_pair", "mixed_contrast", "repeated_measures", "friedman", "nemenyi"}


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.slow
@pytest.mark.usefixtures("pictures_once")
@pytest.mark.parametrize(
    ("name", "n_more", "planned", "n_bounded"),
    [
        ("report", 0, False, 0),
        ("report_with_leavers", 3, False, 0),
        ("report_with_bound", 0, True, 4),
        ("report_with_effect", 0, True, 3),
    ],
)
def test_the_scripts_of_a_package_recompute_what_is_within_participants(
    name: str, n_more: int, planned: bool, n_bounded: int, tmp_path: Path, rscript: str, request: pytest.FixtureRequest
) -> None:
    report = request.getfixturevalue(name)
    unpack(report, tmp_path)
    rows = (tmp_path / "data" / "analysed.csv").read_text().splitlines()
    assert rows[0].startswith("participant.id,condition,position,")
    assert len(rows) == 1 + 3 * N + n_more
    lines = recomputed(tmp_path, rscript)
    assert {line[1] for line in lines} >= IN_EVERY_PACKAGE
    assert not {"welch", "games_howell", "advantage", "nested", "equivalence"} & {line[1] for line in lines}
    assert any(line[1:3] == ["mixed_contrast", "planned"] for line in lines) == planned
    assert len({tuple(line[2:4]) for line in lines if line[1] == "mixed_equivalence"}) == n_bounded
