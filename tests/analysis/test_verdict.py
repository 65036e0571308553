"""The first screen: its rules by numbers, its sentences by approved texts."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.files.document import document_of
from analysis.models import Report
from analysis.present import verdict
from analysis.present.verdict import facts
from analysis.results.codec import decode
from analysis.results.comparison import Advantage, DecidedPairs
from analysis.results.report import Results
from analysis.services import build_report
from charting import render
from charting.frame import stamped
from charting.pairs import GridCell, Ranked, pairs_grid, ranked_lists
from inference.average_advantage import AverageAdvantage
from inference.average_advantage import Verdict as Decision
from inference.pair_decisions import PairClass, PairDecision
from inference.results import Interval, Undefined
from studies.enums import Mode, StudyStatus
from studies.models import Study
from tests.analysis.conftest import ALGORITHMS, FEW_RESAMPLES
from tests.approval import assert_approved
from tests.factories.analysis import plant
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

SAMPLE = Path(__file__).parents[1] / "data" / "sample_verdict.json"
EQUAL = [3, 4, 3, 4, 3, 4]


@pytest.fixture(scope="module")
def sample() -> Results:
    """The sample study: seven algorithms, twelve simulated participants each."""
    plain: dict[str, Any] = json.loads(SAMPLE.read_text(encoding="utf-8"))
    return decode(Results, plain)


def screen(results: Results) -> str:
    """The first screen as plain text."""
    tiles = [f"[{tile.heading}] {tile.number} | {tile.evidence}" for tile in facts(results)]
    return "\n".join([*verdict.full_text(results), *verdict.limitations(results), *tiles]) + "\n"


def with_advantage(results: Results, **changes: Any) -> Results:
    """The same with another average advantage."""
    assert results.advantage is not None
    assert isinstance(results.advantage.overall, AverageAdvantage)
    overall = replace(results.advantage.overall, **changes)
    return replace(results, advantage=Advantage(overall=overall))


def test_the_sample_study_has_the_numbers_of_the_specification(sample: Results) -> None:
    assert sample.advantage is not None
    overall = sample.advantage.overall
    assert isinstance(overall, AverageAdvantage)
    assert overall.verdict is Decision.AGREE
    assert overall.n_pairs == 19
    assert (overall.value, overall.interval.low, overall.interval.high) == pytest.approx((0.26, 0.12, 0.39), abs=0.006)
    assert (overall.t, overall.df) == pytest.approx((3.79, 50.22), abs=0.006)
    assert sample.advantage.influential_algorithms == ("LSA",)
    assert sample.primary is not None
    decided = sample.primary.decided
    assert isinstance(decided, DecidedPairs)
    counts = {decision: len(decided.of(decision)) for decision in PairClass}
    assert counts == {
        PairClass.AGREE: 3, PairClass.CONTRADICT: 0, PairClass.PARTICIPANTS_ONLY: 0, PairClass.OFFLINE_ONLY: 16,
        PairClass.UNDECIDED: 2,
    }  # fmt: skip
    assert decided.offline_rank_sets.sets["PureSVD10"] == (1, 1)
    assert len(decided.participants_rank_sets.best) == 6
    assert_approved("verdict-sample", screen(sample))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("disagree", {"value": -0.26, "t": -3.79, "interval": Interval(-0.39, -0.12)}),
        ("cannot-tell", {"value": 0.05, "t": 0.7, "p": 0.47, "interval": Interval(-0.09, 0.19)}),
        (
            "no-relevant-relation",
            {"value": 0.05, "t": 0.7, "p": 0.47, "interval": Interval(-0.09, 0.19), "bound": 0.2,
             "p_equivalence": 0.012, "narrow_interval": Interval(-0.07, 0.17)},
        ),
    ],
)  # fmt: skip
def test_each_rule_has_its_sentence(sample: Results, name: str, changes: dict[str, Any]) -> None:
    assert_approved(f"verdict-{name}", screen(with_advantage(sample, **changes)))


def test_what_is_not_shown_for_other_items_is_said(sample: Results) -> None:
    assert sample.advantage is not None
    other = sample.advantage.other_items
    assert isinstance(other, AverageAdvantage)
    wide = replace(other, interval=Interval(-0.02, 0.54), p=0.07)
    results = replace(sample, advantage=replace(sample.advantage, other_items=wide))
    assert "not shown" in "".join(run.text for run in verdict.headline(results))
    assert "not shown" not in "".join(run.text for run in verdict.headline(sample))


def contradicted(results: Results) -> Results:
    """The same where participants prefer TopPop to two algorithms of higher recall."""
    primary = results.primary
    assert primary is not None
    assert isinstance(primary.decided, DecidedPairs)
    pairs = tuple(
        PairDecision(pair.a, pair.b, PairClass.CONTRADICT, "TopPop", next(n for n in (pair.a, pair.b) if n != "TopPop"))
        if {pair.a, pair.b} in ({"TopPop", "NNCosNgr"}, {"TopPop", "AsySVD"})
        else pair
        for pair in primary.decided.pairs
    )
    return replace(results, comparisons=(replace(primary, decided=replace(primary.decided, pairs=pairs)),))


def test_contradictions_are_named(sample: Results) -> None:
    results = contradicted(sample)
    assert results.primary is not None
    assert "2 of 21" in verdict.contradictions(results.primary)
    assert sample.primary is not None
    assert not verdict.contradictions(sample.primary)


def test_a_metric_that_separates_no_pair_compares_nothing(sample: Results) -> None:
    primary = sample.primary
    assert primary is not None
    assert isinstance(primary.decided, DecidedPairs)
    pairs = tuple(PairDecision(pair.a, pair.b, PairClass.UNDECIDED, None, None) for pair in primary.decided.pairs)
    results = replace(
        sample,
        comparisons=(replace(primary, decided=replace(primary.decided, pairs=pairs)),),
        advantage=Advantage(overall=Undefined("The metric separates no pair of algorithms.")),
    )
    assert_approved("verdict-nothing-to-compare", screen(results))


def test_values_that_are_all_equal_do_not_blame_the_offline_run(sample: Results) -> None:
    assert sample.primary is not None
    equal = Undefined("Within the compared conditions all values are equal.")
    results = replace(sample, comparisons=(replace(sample.primary, decided=equal),), advantage=Advantage(overall=equal))
    heading = "".join(run.text for run in verdict.headline(results))
    assert heading.endswith("This study cannot tell whether recall and perceived accuracy go together:")
    assert verdict.evidence(results)[0].startswith(equal.reason)


def test_plans_frozen_with_a_rank_correlation_keep_it(sample: Results) -> None:
    older = {"comparison": "Kendall's tau-b with the exact two-sided p over all orders of the conditions"}
    results = replace(sample, plan=replace(sample.plan, tests=older))
    assert results.plan.primary_test == "rank correlation"
    assert_approved("verdict-rank-correlation", screen(results))


def test_novelty_is_higher_and_never_better(sample: Results) -> None:
    primary = sample.primary
    assert primary is not None
    results = replace(sample, comparisons=(replace(primary, variable_key="fon"),))
    assert_approved("verdict-novelty", screen(results))
    assert "better" not in " ".join(verdict.full_text(results))


def closed(study: Study) -> Study:
    """The same study after its close."""
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.CLOSED)
    study.refresh_from_db()
    return study


def three(per_condition: int = 2, **settings: Any) -> Study:
    """Three algorithms."""
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    return make_study(run=run, per_condition=per_condition, settings={**FEW_RESAMPLES, **settings})


@pytest.mark.django_db
def test_an_interim_report_has_no_verdict() -> None:
    study = three(per_condition=5)
    plant(study, {"TopPop": [4]})
    results = build_report(study=study).read_results()
    assert_approved("verdict-interim", screen(results))
    assert not document_of(Report.objects.get()).summary.blocks
    again = build_report(study=closed(study)).read_results()  # closing changes the inputs
    assert not verdict.evidence(again)


@pytest.mark.django_db
def test_conditions_with_few_participants_are_left_out_on_both_sides() -> None:
    study = three(per_condition=6)
    plant(study, {"TopPop": [4, 5, 4, 5, 4, 3], "CorNgr": [2, 1, 2, 1, 1, 3], "PureSVD4": [5, 5, 5, 4]})
    report = build_report(study=closed(study))
    results = report.read_results()
    assert [condition.label for condition in results.conditions] == ["TopPop", "CorNgr"]
    assert [(condition.label, condition.n) for condition in results.left_out] == [("PureSVD4", 4)]
    assert results.variables[0].conditions == results.objective.lengths[0].conditions == ("TopPop", "CorNgr")
    text = screen(results)
    assert "PureSVD4 (4)." in text
    assert "16 of 18 planned participants." in text
    for figure in document_of(report).figures():
        if figure.key in ("pairs", "slope", "scatter", "box-accuracy", "bars-recall"):
            assert "PureSVD4" not in json.dumps(figure.spec), figure.key


@pytest.mark.django_db
def test_a_study_without_differences_cannot_tell() -> None:
    study = three()
    plant(study, dict.fromkeys(("TopPop", "CorNgr", "PureSVD4"), EQUAL), mode=Mode.SIMULATED)
    report = build_report(study=study, mode=Mode.SIMULATED)
    results = report.read_results()
    assert results.advantage is not None
    overall = results.advantage.overall
    assert isinstance(overall, Undefined) or overall.verdict is Decision.CANNOT_TELL
    assert_approved("verdict-null", screen(results))
    (lists,) = (figure.spec["data"] for figure in document_of(report).figures() if figure.key == "slope")
    # Equal means stand in the metric's order, so that no lines cross.
    assert [line["name"] for line in lists["perceived"]] == [line["name"] for line in lists["objective"]]


@pytest.mark.django_db
def test_participants_who_follow_the_metric_agree_and_the_reverse_disagrees() -> None:
    study = three()
    plant(study, dict.fromkeys(("TopPop", "CorNgr", "PureSVD4"), EQUAL), mode=Mode.SIMULATED)
    first = build_report(study=study, mode=Mode.SIMULATED).read_results()
    order = first.objective.lengths[0].recall.order.best_first
    for reading, decision in ((order, Decision.AGREE), (order[::-1], Decision.DISAGREE)):
        study.participants.all().delete()
        answers = zip(reading, ([5, 5, 4, 5, 5, 5], [3, 3, 4, 3, 3, 3], [1, 1, 2, 1, 1, 1]), strict=True)
        plant(study, dict(answers), mode=Mode.SIMULATED)
        results = build_report(study=study, mode=Mode.SIMULATED).read_results()
        assert results.advantage is not None
        overall = results.advantage.overall
        assert isinstance(overall, AverageAdvantage)
        assert overall.verdict is decision
        assert_approved(f"verdict-perfect-{decision.value}", screen(results))


@pytest.mark.django_db
@pytest.mark.parametrize("answers", [{"TopPop": [5, 4, 5, 5, 5, 4]}, {}], ids=["significant", "open"])
def test_a_planned_contrast_stays_the_headline(answers: dict[str, list[int]], request: pytest.FixtureRequest) -> None:
    contrast = {"higher": ["TopPop"], "lower": ["CorNgr"], "sides": 2}
    primary = {"perceived": "accuracy", "objective": "recall", "contrast": contrast}
    study = three(primary=primary)
    plant(study, {**dict.fromkeys(("TopPop", "CorNgr", "PureSVD4"), EQUAL), **answers}, mode=Mode.SIMULATED)
    results = build_report(study=study, mode=Mode.SIMULATED).read_results()
    assert results.plan.primary_test == "contrast"
    assert_approved(f"verdict-contrast-{request.node.callspec.id}", screen(results))


def test_the_figures_carry_the_mark_and_every_pair_inside() -> None:
    names = ["A", "B", "C"]
    kinds = ("agree", "contradict", "undecided")
    cells = [
        GridCell(a, b, kind, "Said.") for (a, b), kind in zip(itertools.combinations(names, 2), kinds, strict=True)
    ]
    grid = pairs_grid(names, dict.fromkeys(names, ".1"), cells, title="Pairs")
    ranked = [Ranked(name, ".1", 1, 3) for name in names]
    lists = ranked_lists(
        ranked, ranked[::-1], title="Lists", sides=("recall", "accuracy"), reversed_pairs=[("A", "C")]
    )  # fmt: skip
    for spec in (stamped(grid, "Simulated participants"), stamped(lists, "Simulated participants")):
        for width in (560, 340):
            picture = render.svg(spec, width=width)
            assert "Simulated participants" in picture
            assert picture == render.svg(spec, width=width)
    assert len(re.findall(r'class="cell"', render.svg(grid))) == 3
    assert "gradient" in render.svg(lists)
    assert render.png(grid, ppi=72).startswith(b"\x89PNG")
    assert render.svg_as_pdf(render.svg(lists)).startswith(b"%PDF")
