"""Bulk reading of participants' data: the number of queries does not depend on the number of participants."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from studies.enums import Mode
from studies.instrument.questionnaires.conditions import Test as Comparison
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.participation.selectors.responses import QuestionFilter, records
from tests.factories.analysis import planted_person
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_queries_do_not_grow_with_participants() -> None:
    study = make_study()
    counted = []
    for _ in range(2):
        for place in range(3):
            planted_person(study, "TopPop", [3, 4, 5, 1, 2], 4, first_item=place)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            found = list(records(study, [Mode.LIVE]))
        counted.append(len(queries))
    assert len(found) == 6
    # Items are read once: the second time, all of them in the same query as the first three participants'.
    assert counted[0] == counted[1]


def test_everybody_has_their_own_answers_and_items() -> None:
    study = make_study()
    for place in range(3):
        planted_person(study, "PureSVD4", [1 + place, 4, 5, 1, 2], 1 + place, first_item=place)
    found = list(records(study, [Mode.LIVE], with_times=True))
    assert [record.answers["satisfaction"] for record in found] == [1, 2, 3]
    assert [record.items[0].answers["rating"] for record in found] == [1, 2, 3]
    assert [record.measures.accuracy_sum for record in found if record.measures] == [13, 14, 15]
    items = list(study.dataset_version.items.order_by("index")[:7])
    for place, record in enumerate(found):
        assert [item.slot.item for item in record.items] == items[place : place + 5]
        assert [item.slot.rank for item in record.items] == [1, 2, 3, 4, 5]
        assert record.participant.condition.label == "PureSVD4"
        assert len(record.answered) == record.n_answers == 19
    assert all(not record.answered for record in records(study, [Mode.LIVE]))


def test_asked_questions_are_found_by_the_answers_that_conditions_look_at() -> None:
    study = make_study()
    question_filter = QuestionFilter(questionnaire_from(study.questionnaire))
    conditional = [question for question in question_filter.questionnaire.items if question.shown_if is not None]
    mentioned = {test.question for question in conditional for test in question.shown_if.tests()}
    assert mentioned <= set(question_filter.mentioned)
    for given in ({"watched": True}, {"watched": False}, {"watched": False, "rating": 3}, {}):
        expected = {question.key for question in question_filter.questionnaire.shown("items", given)}
        assert question_filter.keys("items", given) == expected
        assert question_filter.keys("items", given) == expected  # the second time from what was kept
    assert not Comparison("watched", "equals", True).holds({"watched": 1})
    # 1 is no yes: the two are kept apart.
    assert question_filter.keys("items", {"watched": 1}) == {
        question.key for question in question_filter.questionnaire.shown("items", {"watched": 1})
    }
