"""The lists that participants saw: metrics by hand, planted and absent correlations, and what a report says."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from scipy.stats import kendalltau, t
from statsmodels.stats.multitest import multipletests

from analysis.compute.lists_shown import lists_shown
from analysis.enums import VARIABLE_OF
from analysis.files.contents import write_people
from analysis.files.formats import report_json
from analysis.models import Report
from analysis.present import lists_shown as narrative
from analysis.present.apa import apa_sentences
from analysis.read.inputs import Answers, Person
from analysis.read.lists import NO_RATINGS, NOT_INSTALLED, ONLY_RANKS, ShownLists, Slots, _overlaps, shown_lists
from analysis.results.lists_shown import LIST_METRICS, CorrelatedLists, ListsShown
from analysis.results.rankings import Ranking
from analysis.results.schema import report_schema
from analysis.services import build_report
from catalog.models import DatasetVersion
from catalog.selectors.ratings import content_terms
from evaluation.models import TrainedModel
from evaluation.selectors.cases import cases_of, training_rows
from inference.partial_order import PartialOrder
from inference.results import Undefined
from studies.models import RecommendedItem, Study
from tests.factories.analysis import page_without_pictures, planted_person
from tests.factories.catalog import make_items, make_version
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = pytest.mark.slow

LABELS = ("TopPop", "CorNgr", "PureSVD4")
ALGORITHMS = "toppop,corngr,puresvd:factors=4"
FEW = {"plan": {"resamples": 1000}}
N = 25
LENGTH = 5
NOT_READ = Undefined("The lists shown read no pairs.")
FAMILY = 48  # six metrics, four measures, two levels


def diversity_by_hand(version: DatasetVersion, items: list[int]) -> float:
    """One minus the mean cosine of all pairs, from dense rows."""
    terms = content_terms(version)
    assert terms is not None
    rows = terms[items].toarray()
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    return float(1 - (unit @ unit.T)[np.triu_indices(len(items), 1)].mean())


def populated(slug: str, slope: float, seed: int) -> Study:
    """Participants whose lists begin anywhere; satisfaction is `slope` times the diversity of the list, plus noise."""
    rng = np.random.default_rng(seed)
    items = tuple(
        replace(item, plot="", features=tuple(("genre", f"Genre {genre}") for genre in rng.choice(5, 2, replace=False)))
        for item in make_items(40)
    )
    run = make_run_at("succeeded", version=make_version(name=slug, items=items), algorithms=ALGORITHMS)
    study = make_study(slug=slug, run=run, settings=FEW)
    starts = rng.integers(0, 35, size=(len(LABELS), N))
    diversity = np.array([diversity_by_hand(study.dataset_version, list(range(s, s + LENGTH))) for s in starts.ravel()])
    z = ((diversity - diversity.mean()) / diversity.std()).reshape(starts.shape)
    for row, label in enumerate(LABELS):
        for number in range(N):
            satisfaction = int(np.clip(np.round(3 + slope * z[row, number] + rng.normal(0, 0.8)), 1, 5))
            ratings = [int(rating) for rating in rng.integers(1, 6, LENGTH)]
            planted_person(study, label, ratings, satisfaction, n_watched=int(rng.integers(0, 4)),
                           n_heard=int(rng.integers(0, 2)), first_item=int(starts[row, number]))  # fmt: skip
    slots = list(RecommendedItem.objects.filter(recommendation_list__participant__study=study).order_by("pk"))
    for slot in slots:
        slot.score = float(rng.normal(4, 0.5))
    RecommendedItem.objects.bulk_update(slots, ["score"])
    return study


@pytest.fixture(scope="module")
def planted_report(module_database: None) -> Report:
    return build_report(study=populated("diverse-lists", 1.0, 3))


@pytest.fixture
def lists(planted_report: Report) -> ListsShown:
    return of_report(planted_report)


def of_report(report: Report) -> ListsShown:
    lists = report.read_results().lists_shown
    assert lists is not None
    return lists


def pair_of(lists: ListsShown, metric: str, variable: str) -> CorrelatedLists:
    return next(pair for pair in lists.correlations if (pair.metric, pair.variable_key) == (metric, variable))


@pytest.mark.integration
@pytest.mark.django_db
def test_planted_diversity_goes_with_satisfaction(planted_report: Report, lists: ListsShown) -> None:
    pair = pair_of(lists, "diversity", "satisfaction")
    assert not isinstance(pair.within, Undefined)
    assert pair.within.coefficient > 0.5
    assert pair.within.interval is not None
    assert pair.within.interval.low > 0
    assert pair.p_holm_within is not None
    assert pair.p_holm_within < 0.001
    assert lists.significant_within[0] == pair
    page = page_without_pictures(planted_report)
    assert "Lists shown" in page
    (sentences,) = [own for heading, own in apa_sentences(planted_report.read_results()) if heading == "Lists shown"]
    assert "r = ." in sentences[0]
    assert "with global satisfaction" in page
    assert "are associations" in page
    assert "TopPop and PureSVD4:" in page


@pytest.mark.integration
@pytest.mark.django_db
def test_nothing_is_significant_where_nothing_is_planted(db: None) -> None:
    report = build_report(study=populated("null-lists", 0.0, 8))
    lists = of_report(report)
    assert lists.n_family > 30
    assert (lists.significant_within, lists.significant_between) == ((), ())
    assert "was significant at" in page_without_pictures(report)


@pytest.mark.integration
@pytest.mark.django_db
def test_every_correlation_again_from_single_values(planted_report: Report, lists: ListsShown, tmp_path: Path) -> None:
    write_people(planted_report, tmp_path)
    own, people = (
        {row["participant.id"]: row for row in csv.DictReader((tmp_path / "data" / name).read_text().splitlines())}
        for name in ("lists.csv", "analysed.csv")
    )
    codebook = list(csv.DictReader((tmp_path / "data" / "lists_codebook.csv").read_text().splitlines()))
    assert [row["name"] for row in codebook] == list(next(iter(own.values())))
    assert set(own) == set(people)
    p_values, corrected = [], []
    for pair in lists.correlations:
        x, y, labels = [], [], []
        for key, row in own.items():
            if value := row[f"list.{pair.metric}"]:
                x.append(float(value))
                y.append(float(people[key][pair.variable_key]))
                labels.append(row["condition"])
        first, second, names = np.array(x), np.array(y), np.array(labels)
        groups = [name for name in LABELS if name in labels]
        means = np.array([[side[names == name].mean() for name in groups] for side in (first, second)])
        centred = [
            side - means[row][[groups.index(name) for name in labels]] for row, side in enumerate((first, second))
        ]
        r = float(np.corrcoef(*centred)[0, 1])
        df = len(first) - len(groups) - 1
        assert not isinstance(pair.within, Undefined)
        assert (pair.within.coefficient, pair.within.df) == (pytest.approx(r), df)
        p = 2 * t.sf(abs(r) * np.sqrt(df / (1 - r * r)), df)
        assert pair.within.p == pytest.approx(p)
        p_values.append(p)
        corrected.append(pair.p_holm_within)
        if len(groups) < 3:
            assert isinstance(pair.between, Undefined)
            assert pair.p_holm_between is None
            continue
        assert not isinstance(pair.between, Undefined)
        assert pair.between.coefficient == pytest.approx(kendalltau(*means.round(9)).statistic)
        p_values.append(pair.between.p)
        corrected.append(pair.p_holm_between)
    assert corrected == pytest.approx(list(multipletests(p_values, method="holm")[1]))
    assert lists.n_family == len(p_values) == FAMILY - 4  # predicted ratings of one condition


@pytest.mark.integration
@pytest.mark.django_db
def test_metrics_by_hand(study: Study) -> None:
    items = list(study.dataset_version.items.order_by("index")[:6])
    names = [item.external_id for item in items]
    chosen = [[0, 1], [0, 2], [1, 2], [3, 4], [5]]
    slots = Slots(
        conditions=["TopPop", "TopPop", "CorNgr", "CorNgr", "CorNgr"],
        sizes=[2, 2, 2, 2, 1],
        items=[names[number] for row in chosen for number in row],
        scores=[4.0, 3.0, 4.0, 3.0, 4.5, 3.5, 5.5, None, None],
    )
    lists = shown_lists(study, study.run, slots)
    training = training_rows(cases_of(study.run).training_digest)
    counts = np.asarray((training.user_items != 0).sum(axis=0)).ravel()
    share = [counts[item.index] / training.n_users for item in items]
    for row, own in enumerate(chosen):
        shares = np.array([share[number] for number in own])
        assert lists.popularity[row] == pytest.approx(100 * shares.mean())
        rated = shares[shares > 0]
        assert (
            lists.novelty[row] == pytest.approx(-np.log2(rated).mean()) if len(rated) else np.isnan(lists.novelty[row])
        )
        if len(own) == 2:
            indexes = [items[number].index for number in own]
            assert lists.diversity[row] == pytest.approx(diversity_by_hand(study.dataset_version, indexes))
    assert np.isnan(lists.diversity[4])
    # Scores of TopPop only rank; an item without a score does not count.
    assert lists.predicted_rating.tolist() == pytest.approx([np.nan, np.nan, 4.0, 5.5, np.nan], nan_ok=True)
    assert dict(lists.unscored) == {"TopPop": ONLY_RANKS}  # PureSVD4 made no list
    assert lists.overlap_within.tolist() == pytest.approx([0.5, 0.5, 0.0, 0.0, 0.0])
    assert lists.overlap_between.tolist() == pytest.approx([0.5 / 3, 0.5 / 3, 0.5, 0.0, 0.0])


@pytest.mark.integration
@pytest.mark.django_db
def test_usage_data_have_no_predicted_ratings(study: Study) -> None:
    study.dataset_version.scale_low = study.dataset_version.scale_high
    name = study.dataset_version.items.order_by("index")[0].external_id
    lists = shown_lists(study, study.run, Slots(["CorNgr"], [1], [name], [4.0]))
    assert np.isnan(lists.predicted_rating).all()
    assert set(lists.unscored.values()) == {NO_RATINGS}
    assert np.isnan(lists.overlap_within).all()
    assert np.isnan(lists.overlap_between).all()


@pytest.mark.integration
@pytest.mark.django_db
def test_algorithm_that_is_not_installed_is_a_reason(study: Study) -> None:
    condition = study.conditions.get(label="CorNgr")
    TrainedModel.objects.filter(pk=condition.model_id).update(algorithm="of-another-machine")
    name = study.dataset_version.items.order_by("index")[0].external_id
    lists = shown_lists(study, study.run, Slots(["CorNgr"], [1], [name], [4.0]))
    assert lists.unscored["CorNgr"] == NOT_INSTALLED
    assert np.isnan(lists.predicted_rating).all()


@pytest.mark.integration
@pytest.mark.django_db
def test_scores_do_not_change_the_digest_of_the_answers(planted_report: Report) -> None:
    digest = planted_report.read_provenance().answers_digest
    slot = RecommendedItem.objects.filter(score__isnull=False).order_by("pk")[0]
    RecommendedItem.objects.filter(pk=slot.pk).update(score=slot.score + 1)
    again = build_report(study=planted_report.study)
    assert again.read_provenance().answers_digest == digest


@pytest.mark.integration
@pytest.mark.django_db
def test_older_reports_are_read_and_newer_ones_follow_the_schema(planted_report: Report) -> None:
    report = Report.objects.get(pk=planted_report.pk)
    stored = json.loads(report_json(report))
    assert not list(Draft202012Validator(json.loads(report_schema())).iter_errors(stored))
    # A database returns the keys of JSON in an order of its own.
    results: dict[str, Any] = report.results
    results["lists_shown"]["unscored"] = dict(reversed(results["lists_shown"]["unscored"].items()))
    assert "TopPop and PureSVD4" in page_without_pictures(report)
    del results["lists_shown"]
    assert report.read_results().lists_shown is None
    page = page_without_pictures(report)
    assert "Lists shown" not in page


def synthetic(rng: np.random.Generator, slope: float, n: int = 12) -> tuple[Answers, ShownLists, dict[Any, Ranking]]:
    """Answers and lists without a database: satisfaction is `slope` times diversity plus noise."""
    conditions = [label for label in LABELS for _number in range(n)]
    slots = np.array([rng.choice(40, LENGTH, replace=False) for _label in conditions])
    diversity = rng.normal(size=len(conditions))
    popularity = rng.normal(size=len(conditions))
    within, between = _overlaps(slots, conditions)
    people = []
    for number, label in enumerate(conditions):
        fon = int(rng.integers(0, LENGTH + 1))
        satisfaction = int(np.clip(np.round(3 + slope * diversity[number] + rng.normal(0, 0.8)), 1, 5))
        people.append(
            Person(
                condition=label,
                n_items=LENGTH,
                accuracy_sum=int(rng.integers(LENGTH, 5 * LENGTH + 1)),
                fon_sum=fon,
                son_sum=int(rng.integers(0, fon + 1)),
                satisfaction=satisfaction,
                n_liking=0,
                liking_sum=0,
                n_interest=0,
                interest_sum=0,
            )
        )
    answers = Answers(LABELS, tuple(people), (), n_answers=0, n_modelled=0, n_incomplete=0)
    lists = ShownLists(
        popularity=popularity, diversity=diversity, novelty=-popularity + rng.normal(0, 0.2, len(conditions)),
        predicted_rating=np.where(np.array(conditions) == "TopPop", np.nan, rng.normal(4, 1, len(conditions))),
        overlap_within=within, overlap_between=between, diversity_by="features", unscored={"TopPop": ONLY_RANKS},
    )  # fmt: skip
    sums = {"accuracy": "accuracy_sum", "fon": "fon_sum", "son": "son_sum", "satisfaction": "satisfaction"}
    rankings = {}
    for key, name in sums.items():
        values = {label: float(np.mean([getattr(person, name) for person in answers.of(label)])) for label in LABELS}
        rankings[VARIABLE_OF[key]] = Ranking(values, NOT_READ, PartialOrder.__new__(PartialOrder))
    return answers, lists, rankings


def computed(seed: int, slope: float) -> ListsShown:
    return lists_shown(*synthetic(np.random.default_rng(seed), slope))


@pytest.mark.unit
@pytest.mark.parametrize("slope", [0.9, -0.9])
def test_the_sign_is_that_of_the_data(slope: float) -> None:
    lists = computed(1, slope)
    pair = pair_of(lists, "diversity", "satisfaction")
    assert not isinstance(pair.within, Undefined)
    assert pair.within.coefficient * slope > 0
    assert lists.significant_within == (pair,)
    assert "satisfaction, r = " in narrative.findings(lists)[0]
    assert narrative.title(lists).startswith("One pair")


@pytest.mark.unit
def test_errors_in_the_family_are_as_rare_as_the_level_says() -> None:
    n = 150
    wrong = sum(bool(found.significant_within or found.significant_between)
                for found in (computed(seed, 0.0) for seed in range(n)))  # fmt: skip
    assert wrong <= 14  # P(more) < .01 at a rate of .05


@pytest.mark.unit
def test_means_are_described() -> None:
    lists = computed(5, 0.0)
    answers, shown, _rankings = synthetic(np.random.default_rng(5), 0.0)
    by_key = {measured.metric: measured for measured in lists.metrics}
    assert list(by_key) == [metric.key for metric in LIST_METRICS]
    own = shown.diversity[[person.condition == "CorNgr" for person in answers.people]]
    (row,) = [row for row in by_key["diversity"].conditions if row.condition == "CorNgr"]
    half = t.isf(0.025, len(own) - 1) * own.std(ddof=1) / np.sqrt(len(own))
    assert (row.n, row.mean, row.ci_low) == (12, pytest.approx(own.mean()), pytest.approx(own.mean() - half))
    assert by_key["predicted_rating"].n_without == 12
    assert [row.n for row in by_key["predicted_rating"].conditions] == [0, 12, 12]


@pytest.mark.unit
def test_conditions_of_equal_means_and_of_one_participant_have_reasons() -> None:
    answers, shown, rankings = synthetic(np.random.default_rng(2), 0.0, n=1)
    lists = lists_shown(answers, shown, rankings)
    pair = pair_of(lists, "diversity", "accuracy")
    assert isinstance(pair.within, Undefined)
    assert pair.within.reason
    same = {
        variable: Ranking(dict.fromkeys(LABELS, 1.0), NOT_READ, ranking.order) for variable, ranking in rankings.items()
    }
    lists = lists_shown(answers, shown, same)
    assert lists.n_family == 0
    between = pair_of(lists, "diversity", "accuracy").between
    assert isinstance(between, Undefined)
    assert between.reason
    assert len(narrative.findings(lists)) == 1


def test_overlap_counts_every_other_list() -> None:
    rng = np.random.default_rng(11)
    lists = np.array([rng.choice(30, LENGTH, replace=False) for _ in range(90)])
    for row in range(0, 90, 9):  # short lists
        lists[row, rng.integers(1, LENGTH) :] = -1
    conditions = ["alone", *(f"c{number % 4}" for number in range(89))]
    within, between = _overlaps(lists, conditions)
    sets = [set(row[row >= 0].tolist()) for row in lists]
    for row, (own, condition) in enumerate(zip(sets, conditions, strict=True)):
        shares = {is_same: [] for is_same in (True, False)}
        for other in range(90):
            if other != row:
                shares[conditions[other] == condition].append(len(own & sets[other]) / LENGTH)
        assert between[row] == pytest.approx(np.mean(shares[False]), abs=1e-12)
        if condition == "alone":
            assert np.isnan(within[row])
        else:
            assert within[row] == pytest.approx(np.mean(shares[True]), abs=1e-12)
    many = np.array([rng.choice(2000, LENGTH, replace=False) for _ in range(100_000)])
    started = process_time()
    _overlaps(many, ["a", "b"] * 50_000)
    assert process_time() - started < 5  # every list against every other takes half an hour
