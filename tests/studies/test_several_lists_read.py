"""The data of studies in which each person has several lists, as readers get them."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from studies.enums import Mode
from studies.models import Participant, Response, Study
from studies.participation.selectors.responses import Record, completed_answers, records
from tests.factories.several_lists import in_turn_study, planted_in_turn
from tests.factories.side_by_side import planted_comparison, side_by_side_study
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

FIRST, SECOND = [5, 4, 3, 2, 1], [1, 1, 2, 2, 3]


@pytest.fixture
def study() -> Study:
    return in_turn_study()


def only(study: Study, mode: str = Mode.LIVE) -> Record:
    (record,) = records(study, [mode])
    return record


@pytest.mark.parametrize("sequence", [0, 1])
def test_each_occasion_has_its_own_list_answers_and_measures(study: Study, sequence: int) -> None:
    planted_in_turn(study, sequence, [FIRST, SECOND], satisfaction=(2, 5))
    labels = [["TopPop", "PureSVD4"], ["PureSVD4", "TopPop"]][sequence]
    record = only(study)
    assert [[condition.label for condition in each.conditions] for each in record.occasions] == [[x] for x in labels]
    assert [each.answers["satisfaction"] for each in record.occasions] == [2, 5]
    assert [[item.answers["rating"] for item in each.items] for each in record.occasions] == [FIRST, SECOND]
    assert [each.measures and each.measures.accuracy_sum for each in record.occasions] == [15, 9]
    assert [each.measures and each.measures.satisfaction for each in record.occasions] == [2, 5]
    assert [each.items[0].looked_at["details_opened"] for each in record.occasions] == [1, 1]
    # Of the person: answers outside the lists, everything in its lists, and each answer once.
    assert record.answers.keys() >= {"age", "first_visit"}
    assert "satisfaction" not in record.answers
    assert (record.measures, record.participant.condition) == (None, None)
    assert [item.answers["rating"] for item in record.items] == [*FIRST, *SECOND]
    assert record.n_answers == Response.objects.filter(participant__study=study).count() + 5


def test_a_record_of_one_occasion_reads_as_one_of_a_study_with_one_list(study: Study) -> None:
    planted_in_turn(study, 1, [FIRST, SECOND], satisfaction=(2, 5))
    record = only(study)
    first, second = record.by_occasion()
    assert [(each.occasion, each.side) for each in (first, second)] == [(1, 1), (2, 1)]
    assert [str(each.participant.condition) for each in (first, second)] == ["PureSVD4", "TopPop"]
    assert first.participant.pk == second.participant.pk == record.participant.pk
    assert (first.answers["satisfaction"], first.answers["age"]) == (2, 30)
    assert (second.answers["satisfaction"], second.answers["age"]) == (5, 30)
    assert second.recommendations is not None
    assert (second.recommendations.occasion, second.recommendations.condition_id) == (
        2, second.participant.condition_id,
    )  # fmt: skip
    assert record.participant.condition_id is None  # the copies of the participant are their own


def test_what_was_not_reached_has_no_answers_and_no_measures(study: Study) -> None:
    planted_in_turn(study, 0, [FIRST])
    record = only(study)
    first, second = record.by_occasion()
    assert (first.measures is not None, second.measures) == (True, None)
    assert "satisfaction" in second.not_asked
    assert "satisfaction" not in second.answers
    assert len(second.items) == study.design.list_length  # all lists are made when the ratings are given
    assert all("rating" in item.not_asked for item in second.items)
    assert second.items[0].looked_at == {}


def test_measures_without_satisfaction_are_there_once_an_occasion_is_over(study: Study) -> None:
    study.questionnaire["overall"] = [{"key": "why", "kind": "text", "required": False, "text": {"en": "Why?"}}]
    study.save()
    planted_in_turn(study, 0, [FIRST])
    assert [each.measures is None for each in only(study).occasions] == [True, True]  # still at its last page
    Participant.objects.filter(study=study).update(step="recommendations", occasion=2)
    assert [each.measures is None for each in only(study).occasions] == [False, True]
    Participant.objects.filter(study=study).update(step="thanks", occasion=1)
    Response.objects.filter(occasion=1, rank=1, question="rating").delete()
    assert [each.measures is None for each in only(study).occasions] == [True, True]  # the second has no answers


def test_a_lean_read_is_the_same_and_asks_the_database_no_more_for_ten(study: Study) -> None:
    counts = []
    for n in (1, 9):
        for number in range(n):
            planted_in_turn(study, number % 2, [FIRST, SECOND])
        planted_in_turn(study, 0, [FIRST])
        with CaptureQueriesContext(connection) as asked:
            lean = list(completed_answers(study, Mode.LIVE))
        counts.append(len(asked))
    assert counts[0] == counts[1]
    whole = list(records(study, [Mode.LIVE], completed_only=True))
    assert len(whole) == len(lean) == 10

    def facts(record: Record) -> list[Any]:
        own = [
            [each.occasion, each.answers, each.not_asked, each.measures, each.participant.condition]
            for each in record.by_occasion()
        ]
        own.append([(item.slot, item.answers, item.measures) for item in record.items])
        return [record.participant, record.answers, record.n_answers, record.n_modelled, own]

    assert [facts(record) for record in lean] == [facts(record) for record in whole]


def test_lists_side_by_side_have_a_record_each() -> None:
    study = side_by_side_study()
    planted_comparison(study, 1, [{"overall": 2}])
    (occasion,) = only(study).occasions
    assert [condition.label for condition in occasion.conditions] == ["PureSVD4", "TopPop"]
    assert (occasion.answers, occasion.measures) == ({"overall": -2}, None)
    left, right = only(study).by_occasion()
    assert [(each.occasion, each.side, len(each.items)) for each in (left, right)] == [(1, 1, 5), (1, 2, 5)]
    assert ("overall" in left.answers, "overall" in right.answers) == (True, False)
    assert {item.slot.item for item in left.items}.isdisjoint(item.slot.item for item in right.items)


def test_before_the_assignment_a_person_has_no_occasions(study: Study) -> None:
    Participant.objects.create(
        study=study, code="x", token_digest="x", entry_key="x", consented_at=study.created_at,
        last_seen_at=study.created_at,
    )  # fmt: skip
    record = only(study)
    assert (record.occasions, record.items, record.recommendations) == ((), (), None)
    assert record.by_occasion() == (record,)


def test_a_study_with_one_list_has_its_own_record_as_that_of_its_occasion() -> None:
    study = make_study()
    Participant.objects.create(
        study=study, code="x", token_digest="x", entry_key="x", consented_at=study.created_at,
        last_seen_at=study.created_at,
    )  # fmt: skip
    record = only(study)
    assert record.by_occasion() == (record,)
