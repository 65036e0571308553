"""The report as data: what was planted is found, refusals, determinism, and studies with little in them."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from analysis.compute.objective import _resampled, metric_intervals, study_measured
from analysis.files.formats import report_json
from analysis.files.listing import file_of
from analysis.models import Report
from analysis.present import objective as narrative
from analysis.read.inputs import Measured
from analysis.services import build_report
from core.errors import ParallaxError
from core.models import LogEntry
from evaluation.selectors.results import model_rows, user_values
from inference.anova import one_way
from inference.average_advantage import AverageAdvantage
from inference.results import Undefined
from studies.design.services.design import change_design
from studies.design.services.launch import launch_study
from studies.enums import Mode, Provenance
from studies.models import Response, Study
from studies.monitoring.selectors.quality import flags_by_participant
from tests.factories.accounts import UserFactory
from tests.factories.analysis import plant, planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def page_file(report: Report) -> bytes:
    file = file_of(report, "report.html")
    assert file is not None
    return file.make()


def variable(report: Report, key: str) -> dict[str, Any]:
    return next(one for one in report.results["variables"] if one["key"] == key)


def test_planted_means_give_the_planted_order(planted: Study) -> None:
    report = build_report(study=planted)
    for key in ("accuracy", "satisfaction"):
        order = variable(report, key)["orders"]["games_howell"]
        assert order["tiers"] == {"TopPop": "maximal", "CorNgr": "minimal", "PureSVD4": "minimal"}
        assert order["dominates"] == {"TopPop": ["CorNgr", "PureSVD4"], "CorNgr": [], "PureSVD4": []}
        assert order["letters"] == {"TopPop": "a", "CorNgr": "b", "PureSVD4": "b"}
    assert variable(report, "accuracy")["described"]["TopPop"]["mean"] == 4.4


def test_equal_novelty_of_all_is_said_not_computed(planted: Study) -> None:
    fon = variable(build_report(study=planted), "fon")
    assert fon["anova"]["is_defined"] is False
    assert fon["described"]["TopPop"]["mean"] == 0.8
    assert fon["orders"]["games_howell"]["is_empty"]


def test_anova_equals_the_one_on_the_studys_own_ratings(planted: Study) -> None:
    ratings = defaultdict(list)
    rows = Response.objects.filter(participant__study=planted, participant__status="completed", question="rating")
    for row in rows.select_related("participant__condition"):
        ratings[row.participant].append(int(row.value))
    groups = defaultdict(list)
    for participant, values in ratings.items():
        groups[participant.condition.label].append(Fraction(sum(values), len(values)))
    expected = one_way(groups)
    found = variable(build_report(study=planted), "accuracy")["anova"]
    assert (found["f"], found["p"], found["df_within"]) == (expected.f, expected.p, expected.df_within)


def test_objective_values_are_the_runs_own(planted: Study) -> None:
    report = build_report(study=planted)
    for one in report.results["objective"]["lengths"]:
        rows = model_rows(planted.run, one["profile_length"])
        assert [line["recall"] for line in one["table"]] == [row.cells["recall"].value for row in rows]
        assert [line["f"] for line in one["table"]] == [row.cells["f"].value for row in rows]
        for line in one["table"]:
            low, high = line["intervals"]["recall"]
            assert low <= line["recall"] <= high
    users = user_values(planted.run, "recall")
    assert report.results["objective"]["lengths"][0]["recall"]["n_cases"] == planted.run.n_relevant
    assert report.results["objective"]["lengths"][0]["recall"]["n_users"] <= len(users.user_ids)


def test_recall_by_popularity_adds_up_to_the_recall_of_all_cases(planted: Study) -> None:
    whole = build_report(study=planted).read_results().objective.lengths[0]
    parts = whole.by_popularity
    assert [part.third for part in parts] == sorted({part.third for part in parts})
    n_cases = sum(part.n_cases for part in parts)
    assert n_cases == whole.recall.n_cases
    for name, recall in whole.defined_values("recall").items():
        assert sum(part.n_cases * part.recall[name] for part in parts) / n_cases == pytest.approx(recall)
    table = narrative.popularity_table(whole)
    assert table is not None
    assert (table.key, len(table.rows), len(table.columns)) == ("by-popularity", 3, 1 + len(parts))


def test_primary_pair_is_the_plans_and_outside_the_exploratory_family(planted: Study) -> None:
    results = build_report(study=planted).results
    found, family = results["comparisons"], results["exploratory"]
    assert len(found) == 4 * 2 * 2
    assert [one["is_primary"] for one in found] == [True] + [False] * 15
    assert (found[0]["variable"], found[0]["metric"]) == ("accuracy", "recall")
    assert len(found[0]["decided"]["pairs"]) == 3
    assert family["tests"]
    assert not [test for test in family["tests"] if test["measure"] == "accuracy" and "recall" in test["metrics"]]
    smallest = min(family["tests"], key=lambda test: test["advantage"]["p"])
    n_tests = len(family["tests"])
    assert smallest["p"] == pytest.approx(min(1, n_tests * smallest["advantage"]["p"]))
    assert family["smallest_p_below"] == pytest.approx(0.05 / n_tests)


def test_the_average_advantage_is_that_of_the_means_and_the_pairs_of_the_metric(planted: Study) -> None:
    results = build_report(study=planted).read_results()
    assert results.advantage is not None
    overall, length = results.advantage.overall, results.objective.lengths[0]
    assert isinstance(overall, AverageAdvantage)
    separated = length.recall.order.pairs
    described = results.variables[0].described
    weights = {
        name: sum(name == better for better, _ in separated) - sum(name == worse for _, worse in separated)
        for name in described
    }
    assert overall.weights == weights
    value = sum(weights[name] * numbers.mean for name, numbers in described.items()) / len(separated)
    variance = (
        sum(weights[name] ** 2 * (numbers.sd or 0) ** 2 / numbers.n for name, numbers in described.items())
        / len(separated) ** 2
    )
    assert (overall.value, overall.se) == (pytest.approx(value), pytest.approx(variance**0.5))


@pytest.mark.slow
@pytest.mark.usefixtures("pictures_once")
def test_same_inputs_give_the_same_report(planted: Study) -> None:
    first = build_report(study=planted)
    assert build_report(study=planted) == first
    text, page = report_json(first), page_file(first)
    Report.objects.all().delete()
    again = build_report(study=planted)
    assert again.pk != first.pk
    assert report_json(again) == text
    again.created_at = first.created_at
    assert page_file(again) == page


def test_new_answers_give_a_new_report(planted: Study) -> None:
    first = build_report(study=planted)
    plant(planted, {"CorNgr": [5]})
    second = build_report(study=planted)
    assert (first.number, second.number) == (1, 2)
    assert second.inputs_hash != first.inputs_hash


def test_run_of_other_models_is_refused_by_name(planted: Study) -> None:
    other = make_run_at("succeeded", version=planted.dataset_version, algorithms="toppop,corngr", seed=7)
    with pytest.raises(ParallaxError, match=r"TopPop .* model") as refused:
        build_report(study=planted, run=other)
    assert refused.value.code == "report.models_differ"
    differing = {one["condition"]: one["measured"] for one in refused.value.extra["conditions"]}
    assert set(differing) == {"TopPop", "CorNgr", "PureSVD4"}
    assert differing["PureSVD4"] == ""
    assert not Report.objects.exists()


def test_changed_pin_of_one_condition_is_refused(planted: Study) -> None:
    planted.conditions.filter(label="CorNgr").update(model_digest="0" * 64)
    with pytest.raises(ParallaxError) as refused:
        build_report(study=planted)
    assert [one["condition"] for one in refused.value.extra["conditions"]] == ["CorNgr"]


def test_draft_unfinished_run_and_previews_are_refused(db: None) -> None:
    run = make_run_at("succeeded")
    draft = make_study(slug="draft", status="draft", run=run)
    with pytest.raises(ParallaxError) as refused:
        build_report(study=draft)
    assert refused.value.code == "report.not_launched"
    live = make_study(slug="live", run=run)
    queued = make_run_at("queued", version=run.version)
    with pytest.raises(ParallaxError) as refused:
        build_report(study=live, run=queued)
    assert refused.value.code == "report.run_not_finished"
    with pytest.raises(ParallaxError) as refused:
        build_report(study=live, mode=Mode.PREVIEW)
    assert refused.value.code == "report.unknown_mode"


def test_people_and_simulated_participants_are_never_mixed(study: Study) -> None:
    plant(study, {"TopPop": [1, 2]}, mode=Mode.SIMULATED, provenance=Provenance.MODELLED)
    planted_person(study, "CorNgr", [3] * 5, 3, mode=Mode.SIMULATED, provenance=Provenance.TRUE)
    simulated = build_report(study=study)
    assert simulated.mode == Mode.SIMULATED
    answers = simulated.results["answers"]
    assert (answers["n"], answers["n_modelled"], answers["n_true"]) == (57, 38, 19)
    plant(study, {"TopPop": [5, 5]})
    people = build_report(study=study)
    assert (people.mode, people.results["flow"]["analysed"]) == (Mode.LIVE, 2)
    assert variable(people, "satisfaction")["described"]["TopPop"]["mean"] == 5
    assert build_report(study=study, mode=Mode.SIMULATED) == simulated


def test_opening_outcomes_is_logged_with_who_and_whose(planted: Study) -> None:
    researcher = UserFactory()
    build_report(study=planted, made_by=researcher)
    build_report(study=planted, made_by=researcher)
    entry = LogEntry.objects.get(reason="A report unblinded the outcomes.")
    assert (entry.actor, entry.facts) == (researcher, {"report": 1, "mode": "live", "n": 15})


def test_condition_carried_by_few_items_is_marked(study: Study) -> None:
    plant(study, {"TopPop": [3, 4, 5, 3, 4]})
    for place in range(5):
        planted_person(study, "CorNgr", [3] * 5, 3, first_item=5 * place)
    items = {one["condition"]: one for one in build_report(study=study).results["items"]}
    assert (items["TopPop"]["n_distinct"], items["TopPop"]["is_carried_by_few"]) == (5, True)
    assert (items["CorNgr"]["n_distinct"], items["CorNgr"]["is_carried_by_few"]) == (25, False)
    assert "PureSVD4" not in items  # nobody met it, and both others have enough participants


def test_liking_and_interest_are_taken_apart(study: Study) -> None:
    planted_person(study, "TopPop", [5, 4, 1, 1, 2], 3, n_watched=2, n_heard=1)
    found = build_report(study=study).results["liking"][0]
    assert (found["share_watched"], found["liking"], found["interest"]) == (0.4, 4.5, pytest.approx(4 / 3))
    assert found["branches"] == {"watched": 2, "trailer_seen": 0, "neither": 3}


def test_resampled_recall_weighs_users_by_their_cases() -> None:
    """One user with nine misses and one with a hit: recall is .1, not .5, in every resample that holds both."""
    measured = Measured(
        length=0,
        conditions=("A",),
        values={kind: {"A": 0.1 if kind == "recall" else None} for kind in ("recall", "fallout", "precision", "f")},
        by_n={"recall": {"A": (0.1,)}, "fallout": {"A": (None,)}},
        users={"recall": np.array([[0.0], [1.0]]), "fallout": np.full((2, 1), np.nan)},
        cases={"recall": np.array([9, 1]), "fallout": np.array([0, 0])},
        digests={"A": ""},
    )
    drawn = _resampled(measured, np.random.default_rng(1), 1000)["recall"]
    assert set(drawn[:, 0].round(12)) == {0.0, 0.1, 1.0}
    result, _rankings = study_measured(measured, 1, None, np.random.default_rng(1))
    limits = result.table[0].intervals
    assert limits | {"recall": None} == {"recall": None, "fallout": None, "precision": None, "f": None}
    assert limits["recall"] is not None
    assert 0 < limits["recall"][0] < 0.1 < 0.7 < limits["recall"][1] < 1  # one event in ten cases of two users
    assert result.rare["recall"] == ("A",)
    assert isinstance(result.fallout.sign_tests, Undefined)


def test_intervals_of_precision_and_f_follow_from_recall_fallout_and_generality() -> None:
    """With recall .5, fallout .25 and a fifth of the cases relevant, .1 of .3 retrieved cases are relevant."""
    values = {kind: {"A": 0.5} for kind in ("recall", "fallout", "precision", "f")}
    measured = Measured(0, ("A",), values, {}, {}, {}, {})
    resampled = {"recall": np.full((9, 1), 0.5), "fallout": np.full((9, 1), 0.25)}
    found = metric_intervals(measured, resampled, 0.2)["A"]
    assert found["recall"] == (0.5, 0.5)
    assert found["precision"] == pytest.approx((1 / 3, 1 / 3))
    assert found["f"] == pytest.approx((0.4, 0.4))
    nothing = {"recall": np.zeros((9, 1)), "fallout": np.zeros((9, 1))}
    found = metric_intervals(measured, nothing, 0.2)["A"]
    assert (found["precision"], found["f"]) == (None, (0.0, 0.0))
    assert metric_intervals(measured, resampled, None)["A"]["precision"] is None
    other_test_users_note = {"recall": resampled["recall"], "fallout": resampled["fallout"][:5]}
    assert metric_intervals(measured, other_test_users_note, 0.2)["A"]["f"] is None


def test_intervals_belong_to_their_condition_and_to_its_values() -> None:
    values: dict[str, dict[str, float | None]] = {
        kind: {"A": 0.5, "B": 0.2} for kind in ("recall", "fallout", "precision", "f")
    }
    values["precision"]["B"] = None
    measured = Measured(0, ("A", "B"), values, {}, {}, {}, {})
    resampled = {"recall": np.tile([0.5, 0.2], (9, 1)), "fallout": np.tile([0.25, 0.05], (9, 1))}
    found = metric_intervals(measured, resampled, 0.2)
    assert found["A"]["recall"] == (0.5, 0.5)
    assert found["B"]["recall"] == (0.2, 0.2)
    # Of the .04 + .04 retrieved by B, half are relevant: F is 2 * .5 * .2 / .7.
    assert found["B"]["f"] == pytest.approx((2 / 7, 2 / 7))
    assert found["B"]["precision"] is None


@pytest.mark.integration
@pytest.mark.django_db
def test_flags_are_gathered_once_where_the_plan_has_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    study = make_study(run=run, status="draft")
    change_design(study=study, settings={"plan": {"exclude": ["all_ratings_alike"]}})
    launch_study(study=study)
    plant(study, {"TopPop": [4, 5], "CorNgr": [2, 1], "PureSVD4": [1, 2]})
    calls = []

    def counted(*args: Any) -> Any:
        calls.append(args)
        return flags_by_participant(*args)

    monkeypatch.setattr("studies.monitoring.selectors.exclusions.flags_by_participant", counted)
    build_report(study=study)
    assert len(calls) == 1
