"""Novelty without its overlap, one family of correlations, and no claim of absence from a test without significance."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client
from statsmodels.stats.power import tt_ind_solve_power

from analysis.compute.follow_up import correlations_of, part_whole_correlation
from analysis.compute.perceived import study_variable
from analysis.enums import VARIABLE_OF, VARIABLES
from analysis.present import follow_up as narrative
from analysis.read.inputs import Answers, Person
from analysis.results.follow_up import CorrelatedVariables, NoveltyCorrelation
from analysis.results.report import ItemWords
from analysis.services import build_report
from inference.results import Undefined
from studies.models import Study, StudyMembership
from tests.analysis.test_degenerate import ABSENCE, words_of
from tests.factories.analysis import every_page, plant

NEUTRAL = {"TopPop": [3, 4, 2, 3, 4], "CorNgr": [3, 2, 4, 4, 3], "PureSVD4": [4, 3, 3, 2, 4]}


def independent_answers(unwatched: float, unheard: float, n: int = 3000) -> Answers:
    """Participants in two conditions whose answers about five items each are independent."""
    rng = np.random.default_rng(20)
    new = rng.random((n, 5)) < unwatched
    unknown = new & (rng.random((n, 5)) < unheard)
    people = tuple(
        Person(condition="AB"[row % 2], n_items=5, accuracy_sum=15, fon_sum=int(new[row].sum()),
               son_sum=int(unknown[row].sum()), satisfaction=3, n_liking=0, liking_sum=0, n_interest=5, interest_sum=15)
        for row in range(n)
    )  # fmt: skip
    return Answers(("A", "B"), people, (), 10 * n, 0, 0)


@pytest.mark.unit
@pytest.mark.parametrize(("unwatched", "unheard", "r"), [(0.457, 0.457, 0.56), (0.5, 0.5, 0.577)])
def test_independent_answers_correlate_as_part_and_whole(unwatched: float, unheard: float, r: float) -> None:
    answers = independent_answers(unwatched, unheard)
    (pair,), novelty = correlations_of(answers, [VARIABLE_OF["fon"], VARIABLE_OF["son"]])
    assert novelty is not None
    assert not isinstance(pair.within, Undefined)
    assert not isinstance(novelty.within, Undefined)
    assert pair.within.coefficient == pytest.approx(r, abs=0.03)
    assert part_whole_correlation(answers) == pytest.approx(r, abs=0.02)
    assert abs(novelty.within.coefficient) < 0.05
    assert novelty.n_without == sum(not person.fon_sum for person in answers.people)
    sentence = narrative.novelty([pair], novelty, ItemWords())
    assert "within algorithms" in sentence
    assert "is inflated" in sentence
    assert "is inflated" in narrative.novelty([pair], None, ItemWords())  # a report of an older version


@pytest.mark.unit
def test_correlations_are_one_family() -> None:
    correlations, novelty = correlations_of(independent_answers(0.5, 0.5, 60), VARIABLES[1:3])
    assert novelty is not None
    pairs: list[CorrelatedVariables | NoveltyCorrelation] = [*correlations, novelty]
    tests = [
        (result.p, corrected)
        for pair in pairs
        for name in ("overall", "within", "between")
        if not isinstance(result := getattr(pair, name), Undefined)
        and (corrected := getattr(pair.p_holm, name)) is not None
    ]
    smallest = min(tests)
    assert smallest[1] == pytest.approx(min(1, smallest[0] * len(tests)))
    assert all(corrected >= p for p, corrected in tests)
    assert "one family" in narrative.correlation_family(correlations)


@pytest.mark.unit
def test_the_detectable_difference_of_two_conditions_is_that_of_a_t_test_with_80_percent_power() -> None:
    people = independent_answers(0.5, 0.5, 60)
    result, _ranking = study_variable(people, VARIABLE_OF["fon"])
    assert result.detectable_difference is not None
    sd = np.sqrt(np.mean([described.sd**2 for described in result.described.values()]))
    power = tt_ind_solve_power(result.detectable_difference[0] / sd, nobs1=30, alpha=0.05)
    assert power == pytest.approx(0.8, abs=0.001)


@pytest.mark.integration
@pytest.mark.django_db
def test_no_sentence_claims_absence(study: Study, client: Client) -> None:
    """Nor does one in the studies of test_degenerate.py, with even less to tell apart."""
    plant(study, NEUTRAL)
    report = build_report(study=study)
    client.force_login(StudyMembership.objects.filter(study=study)[0].researcher)
    page = words_of(every_page(client, report))
    assert "Correlations between measures" in page
    assert ABSENCE.findall(page) == []
