"""Preferences between lists side by side: what is read, computed and said."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from analysis.compute.side_by_side import preferences_of
from analysis.files.contents import write_people
from analysis.files.document import document_of
from analysis.files.numbers import lines_of
from analysis.present.apa import apa_sentences
from analysis.read.inputs import Answers, Judged, ScaleAnswers
from analysis.read.responses import read_comparisons
from analysis.services.report_builder import build_report
from core.errors import ParallaxError
from core.provenance import rng_for
from inference.paired_comparisons import Judgements, davidson
from inference.results import Undefined
from studies.design.services.design import change_design
from studies.enums import Mode
from studies.instrument.flow import questionnaire_of
from studies.instrument.outcomes import possible_outcomes
from studies.models import RecommendationList, Response, Study
from tests.factories.analysis import page_without_pictures
from tests.factories.packages import write_numbers
from tests.factories.side_by_side import PLAN, PRIMARY, planted_comparison, side_by_side_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

OVERALL = PRIMARY["perceived"]


def computed(judged: list[Judged], *names: str, keys: tuple[str, ...] = ("q",)) -> list[Any]:
    outcomes = tuple(ScaleAnswers(key, key, -2, 2, (key,), ()) for key in keys)
    answers = Answers(names, (), (), 0, 0, 0, outcomes=outcomes, judged=tuple(judged))
    found = preferences_of(answers, keys[0], rng_for(1, "test"), alpha=0.05, resamples=2000)
    return [*found.values()]


def judged(participant: int, left: str, right: str, answer: int | None, *, is_identical: bool = False) -> Judged:
    return Judged(participant, 1, left, right, {"q": answer}, float(is_identical), is_identical)


@pytest.fixture
def study() -> Study:
    """Of 21 people, 12 clearly prefer the first condition, 3 slightly the second, and one has two identical lists."""
    study = side_by_side_study()
    for number in range(20):
        towards = -2 if number < 12 else 1 if number < 15 else 0
        planted_comparison(study, number % 2, [{"overall": towards, "varied": -towards}], shared=number % 2)
    planted_comparison(study, 0, [1], shared=study.design.list_length)
    return study


def test_comparisons_are_read_with_their_sides_lists_and_answers(study: Study) -> None:
    first, second, *_others = read_comparisons(study, Mode.LIVE, {}).analysed.judged
    labels = tuple(study.conditions.order_by("position").values_list("label", flat=True))
    assert [(each.left, each.right) for each in (first, second)] == [labels, labels[::-1]]
    assert (first.answers[OVERALL], second.answers[OVERALL]) == (-2, 2)
    n = study.design.list_length
    assert [each.shared for each in (first, second)] == [0, pytest.approx(1 / (2 * n - 1))]
    assert read_comparisons(study, Mode.SIMULATED, {}).analysed.judged == ()


def test_participants_who_are_excluded_or_have_no_lists_are_not_analysed(study: Study) -> None:
    first, second = study.participants.order_by("pk")[:2]
    RecommendationList.objects.filter(participant=second).delete()
    reading = read_comparisons(study, Mode.LIVE, {first.pk: ("rule", "fast")})
    assert (len(reading.keys), reading.analysed.n_excluded, reading.analysed.n_incomplete) == (19, 1, 1)
    assert [(reason.reason, reason.n) for reason in reading.reasons] == [("fast", 1)]
    assert len(reading.completers.judged) == 20
    assert reading.arms == tuple(study.sequences.order_by("position").values_list("label", flat=True))
    assert [each.participant for each in reading.analysed.judged] == list(range(19))
    assert reading.analysed.digest != reading.completers.digest
    assert reading.analysed.judged[0].shared == pytest.approx(0)
    assert reading.completers.judged[-1].is_identical


def test_the_report_tests_the_signs_and_counts_identical_lists_apart(study: Study) -> None:
    report = build_report(study=study)
    results = report.read_results()
    overall, varied = results.preferences
    a, b = study.conditions.order_by("position").values_list("label", flat=True)
    exact = binomtest(12, 15)
    (pair,), (tested,) = overall.pairs, overall.tests.pairs
    assert (pair.a, pair.b, pair.steps, pair.n_identical) == (a, b, (12, 0, 5, 3, 0), 1)
    assert tested.p == pytest.approx(exact.pvalue)
    assert tested.difference == pytest.approx(9 / 20)
    assert (pair.effect.interval.low, pair.effect.interval.high) == pytest.approx(exact.proportion_ci(method="exact"))
    assert tested.ci_low == pytest.approx(0.45 - 1.96 * (0.75 - 0.45**2) ** 0.5 / 20**0.5, abs=0.06)
    assert overall.n_left + overall.n_right == 15
    assert [pair.n_a, pair.n_b] == [varied.pairs[0].n_b, varied.pairs[0].n_a]
    assert pair.shared == pytest.approx((10 * 1 / 9 + 1) / 21)
    assert (results.variables, results.flow.analysed, results.power) == ((), 21, None)
    assert [condition.n for condition in results.conditions] == [21, 21]
    assert results.primary is not None
    assert results.primary.variable_key == "compare.overall"
    assert {(each.a, each.b): each.participants_favour for each in results.primary.decided.pairs} == {(a, b): a}


def test_the_report_says_who_was_preferred(study: Study) -> None:
    report = build_report(study=study)
    document = document_of(report)
    assert "".join(run.text for run in document.headline) == "Participants preferred TopPop to PureSVD4."
    said = (
        "Participants preferred TopPop to PureSVD4: 12 of 15 with a preference (80%, 95% CI [.52, .96], exact "
        "p = .035); 5 saw no difference. P(TopPop) − P(PureSVD4) = .45, 95% bootstrap CI [.10, .75]. The left list was "
        "preferred in 7 of 15 judgements with a preference."
    )
    assert said in document.evidence
    page = page_without_pictures(report)
    assert "“Which list has more varied films?” Participants chose PureSVD4 over TopPop: 12 of 15" in page
    assert "1 pair of identical lists is a tie by design and not counted." in page
    assert "compared two lists at a time" in page
    assert "Which list do you prefer overall?" in dict(apa_sentences(report.read_results()))
    assert build_report(study=study).pk == report.pk


def test_without_enough_evidence_the_report_says_so() -> None:
    study = side_by_side_study()
    for number in range(10):
        planted_comparison(study, number % 2, [-1 if number < 6 else 1])
    document = document_of(build_report(study=study))
    assert "".join(run.text for run in document.headline) == (
        "No evidence that participants preferred TopPop to PureSVD4, or PureSVD4 to TopPop."
    )
    assert document.evidence[0].startswith("We found no evidence that participants preferred TopPop to PureSVD4: 6 of ")


def test_three_conditions_have_log_worths_clustered_by_participant() -> None:
    study = side_by_side_study(3)
    a, b, _c = labels = list(study.conditions.order_by("position").values_list("label", flat=True))
    answers = [(-1, -1, -1), (-1, -2, 1), (1, -1, 0), (-2, -1, -1), (-1, 1, 1), (0, -1, -1)] * 5
    for number, own in enumerate(answers):
        pairs = [tuple(sorted(pair)) for pair in study.sequences.get(position=number % 6).occasions]
        planted_comparison(study, number % 6, [own[[(0, 1), (0, 2), (1, 2)].index(pair)] for pair in pairs])
    report = build_report(study=study)
    preference = report.read_results().preferences[0]
    rows = [
        (each.left, each.right, each.answers[OVERALL], each.participant)
        for each in read_comparisons(study, Mode.LIVE, {}).analysed.judged
    ]
    left, right, _given, people = zip(*rows, strict=True)
    preferred = [None if not answer else (lft if answer < 0 else rgt) for lft, rgt, answer, _ in rows]
    expected = davidson(Judgements(left, right, preferred, people, labels))
    assert preference.model is not None
    assert preference.model.worths == pytest.approx(dict(zip(labels, expected.means.means.tolist(), strict=True)))
    assert [pair.p for pair in preference.tests.pairs] == pytest.approx([pair.p for pair in expected.pairs.pairs])
    assert preference.model.test.p == pytest.approx(expected.test.p)
    own = {
        pair: [of for lft, rgt, of in zip(left, right, preferred, strict=True) if {lft, rgt} == {*pair}]
        for pair in combinations(labels, 2)
    }
    wins = [(of.count(first), of.count(second), of.count(None)) for (first, second), of in own.items()]
    assert [(pair.n_a, pair.n_b, pair.steps[2]) for pair in preference.pairs] == wins
    assert preference.rates[a] == pytest.approx(
        sum(wins[at][0] + wins[at][2] / 2 for at in (0, 1)) / sum(map(sum, wins[:2]))
    )
    said = document_of(report).evidence
    assert said[0].startswith("Log-worths differed between conditions, F(2, 28) = ")
    assert "variance clustered by 30 participants" in said[0]
    assert any(sentence.startswith(f"{a} over {b}: 20 of 25 with a preference (80%") for sentence in said)


def test_sides_that_were_exchanged_are_the_same_preference() -> None:
    one_way = [judged(n, "A", "B", -1 if n < 9 else 2) for n in range(12)]
    both = [judged(n, "B", "A", 1 if n < 9 else -2) if n % 2 else one_way[n] for n in range(12)]
    ((first, ranking), *_), ((second, _), *_) = computed(one_way, "A", "B"), computed(both, "A", "B")
    assert first.pairs == second.pairs
    assert first.tests == second.tests
    assert (first.n_left, second.n_left) == (9, 7)
    assert ranking.values == pytest.approx({"A": 0.75, "B": 0.25})


def test_without_a_preference_there_is_no_test() -> None:
    ((result, ranking), *_) = computed([judged(n, "A", "B", 0) for n in range(4)], "A", "B")
    assert isinstance(result.tests, Undefined)
    assert (result.pairs[0].steps, ranking.values) == ((0, 0, 4, 0, 0), {"A": 0.5, "B": 0.5})
    ((result, _), *_) = computed([judged(0, "A", "B", 2), judged(1, "A", "B", None)], "A", "B", "C")
    assert isinstance(result.tests, Undefined)
    assert (result.model, result.n_participants, result.rates) == (None, 1, {"A": 0.0, "B": 1.0})
    ((result, _), *_) = computed([judged(0, "A", "B", 2, is_identical=True)], "A", "B")
    assert (result.pairs[0].n_identical, result.n_participants, result.rates) == (1, 0, {})


def test_a_report_without_any_preference_is_shown() -> None:
    study = side_by_side_study()
    for number in range(12):
        planted_comparison(study, number % 2, [0], shared=study.design.list_length if number % 3 else 0)
    document = document_of(build_report(study=study))
    assert "could not be tested" in "".join(run.text for run in document.headline)
    assert document.evidence[0] == "No participant preferred one of the lists."
    Response.objects.filter(question="overall").delete()
    assert document_of(build_report(study=study)).evidence[0] == "No participant preferred one of the lists."


def test_without_a_comparison_of_lists_there_is_no_report() -> None:
    with pytest.raises(ParallaxError, match="nothing to report"):
        build_report(study=side_by_side_study(), mode=Mode.LIVE)


def test_outcomes_are_the_questions_of_preference_alone() -> None:
    study = side_by_side_study(status="draft")
    why = {"key": "why", "kind": "long_text", "text": {"en": "Why?"}}
    study.questionnaire = {**study.questionnaire, "compare": [*study.questionnaire["compare"], why]}
    outcomes = possible_outcomes(questionnaire_of(study), study.design)
    assert [(key, outcome.low, outcome.high) for key, outcome in outcomes.items()] == [
        ("compare.overall", -2, 2), ("compare.varied", -2, 2),
    ]  # fmt: skip
    contrast = {"higher": ["TopPop"], "lower": ["PureSVD4"]}
    for settings in (
        {"plan": {**PLAN, "variables": ["satisfaction"]}},
        {"primary": {**PRIMARY, "contrast": contrast}},
        {"primary": {**PRIMARY, "smallest_effect": 0.1}},
    ):
        with pytest.raises(ParallaxError, match="compared by questions of preference"):
            change_design(study=study, settings=settings)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("script", ["recompute.py", "recompute.R"])
def test_the_scripts_of_the_package_recompute_preferences(k: int, script: str, tmp_path: Path) -> None:
    study = side_by_side_study(k)
    for number in range(36):
        answers = [(number * (1 + at) % 5) - (3 if at else 2) + (number % 7 == 0) for at in range(k * (k - 1) // 2)]
        planted_comparison(study, number % (k * (k - 1)), [max(-2, min(2, each)) for each in answers])
    report = build_report(study=study)
    (tmp_path / "data").mkdir()
    write_numbers(report, tmp_path)
    lines = [line for line in lines_of(report.read_results()) if line[0].startswith("compare.")]
    assert {line[1] for line in lines} >= ({"sign"} if k == 2 else {"davidson", "davidson_pair", "davidson_side"})
    program = "Rscript" if script.endswith("R") else sys.executable
    run = subprocess.run(
        [program, tmp_path / "scripts" / script, tmp_path], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr
    Response.objects.filter(question="overall", value=0).update(value=1)
    with pytest.raises(ParallaxError, match="answers have changed"):
        write_people(report, tmp_path)
