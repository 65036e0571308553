"""Generalisation over participants and items in a report."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from analysis.compute.comparison import advantage_of
from analysis.compute.follow_up import nested_model
from analysis.enums import VARIABLE_OF
from analysis.read.inputs import Answers
from analysis.results.rankings import Ranking
from inference.average_advantage import AverageAdvantage, MeanEstimates
from inference.item_effects import ItemEffectsResult
from inference.partial_order import partial_order
from inference.results import Pair, Undefined
from tests.analysis.test_effects import answers_with, results_of, words_of

LABELS = "ABC"


@pytest.fixture
def answers() -> Answers:
    """A is liked more than B by a step and a half; C lies between."""
    rng = np.random.default_rng(4)
    lists: dict[str, list[list[int]]] = {}
    for name, centre in {"A": 3.9, "B": 2.3, "C": 3.1}.items():
        leanings = centre + rng.normal(0, 0.7, 20)
        lists[name] = [np.clip(np.rint(one + rng.normal(0, 0.8, 5)), 1, 5).astype(int).tolist() for one in leanings]
    return answers_with(lists)


@pytest.mark.unit
def test_the_model_has_the_observed_means(answers: Answers) -> None:
    model, estimates = nested_model(answers)
    observed = [sum(person.accuracy_sum for person in answers.of(name)) / 100 for name in LABELS]
    assert isinstance(model, ItemEffectsResult)
    assert (model.n_items, model.n_persons, model.n_answers) == (5, 60, 300)
    assert [each.mean for each in model.conditions] == pytest.approx(observed, abs=1e-6)
    assert isinstance(estimates, MeanEstimates)
    assert estimates.names == tuple(LABELS)
    assert estimates.means == pytest.approx(observed, abs=1e-6)


@pytest.mark.unit
def test_the_advantage_for_other_items_has_the_standard_error_of_the_model(answers: Answers) -> None:
    nested = nested_model(answers)[1]
    values = {"A": 0.3, "B": 0.1, "C": 0.2}
    pairs = [Pair(a, b, values[a] - values[b], 0.01, True) for a, b in combinations(LABELS, 2)]
    recall = Ranking(values, Undefined("Not read."), partial_order(values, pairs))
    found = advantage_of(answers, VARIABLE_OF["accuracy"], recall, nested)
    overall, other = found.overall, found.other_items
    assert isinstance(overall, AverageAdvantage)
    assert isinstance(other, AverageAdvantage)
    assert other.value == pytest.approx(overall.value, abs=1e-6)
    assert other.weights == overall.weights == {"A": 2, "B": -2, "C": 0}
    assert isinstance(nested, MeanEstimates)
    contrast = np.array([2, -2, 0]) / 3
    assert other.se == pytest.approx(np.sqrt(contrast @ nested.covariance @ contrast))
    # Satisfaction is no mean of ratings of items.
    assert advantage_of(answers, VARIABLE_OF["satisfaction"], recall, nested).other_items is None


@pytest.mark.unit
def test_section_says_which_question_the_model_answers(answers: Answers) -> None:
    text = words_of(results_of(answers))
    assert ("differed significantly") in text
    assert "confirms every pair" in text


@pytest.mark.unit
def test_pairs_that_do_not_generalise_are_named(answers: Answers) -> None:
    results = results_of(answers)
    results["nested"]["p"] = 0.4
    results["nested"]["pairs"]["pairs"][0] |= {"p": 0.2, "is_significant": False}
    text = words_of(results)
    assert "no significant difference" in text
    assert "pairs: A over B." in text


@pytest.mark.unit
def test_models_of_older_versions_without_degrees_of_freedom_are_read(answers: Answers) -> None:
    results = results_of(answers)
    older = results["nested"]
    del older["df_denominator"]
    for condition in older["conditions"]:
        del condition["df"]
    for pair in older["pairs"]["pairs"]:
        del pair["interval"]
    text = words_of(results)
    assert f"Wald χ²(2) = {older['chi_squared']:.2f}, p " in text
    assert "(large-sample)" in text


@pytest.mark.unit
def test_reports_without_the_model_have_no_section(answers: Answers) -> None:
    assert "nested in algorithms" not in words_of(results_of(answers) | {"nested": None})


@pytest.mark.unit
def test_ratings_that_are_not_all_at_hand_are_said() -> None:
    whole = answers_with({"A": [[3] * 5], "B": [[4] * 5]})
    part = Answers(whole.conditions, whole.people, whole.shown[1:], 10, 0, 0)
    assert all(isinstance(each, Undefined) for each in nested_model(part))
