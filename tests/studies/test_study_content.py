"""Cached questions and texts of studies, and the rows that participants' pages read."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from studies.allocation.selectors.allocations import arms_of
from studies.design.selectors.placeholders import content_of
from studies.models import Study
from studies.participation.selectors.participant_rows import (
    participant_by_entry,
    participant_by_token,
    study_by_slug,
)
from studies.participation.services.participant_state import lock
from tests.factories.studies import assigned, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True)]


def test_content_is_read_once_for_each_version_of_the_study() -> None:
    study = make_study()
    first = content_of(study)
    with CaptureQueriesContext(connection) as queries:
        assert content_of(Study.objects.get(pk=study.pk)) is first
    assert len(queries) == 1  # the row of the study itself
    study.questionnaire["after"] = [{"key": "where", "kind": "text", "text": {"en": "{Items}: where?"}}]
    study.save()
    assert [question.key for question in content_of(study).questionnaire.block("after")] == ["where"]
    assert content_of(study).questionnaire.block("after")[0].text["en"] == "Films: where?"
    assert ["after" in content.flow.keys for content in (first, content_of(study))] == [False, True]
    Study.objects.filter(pk=study.pk).update(texts={"en": {"title": "{Ratings_asked} ratings"}})
    assert content_of(Study.objects.get(pk=study.pk)).texts["en"]["title"] == "Five ratings"


def test_texts_of_a_version_cannot_be_replaced() -> None:
    with pytest.raises(TypeError):
        content_of(make_study()).texts["en"] = {}  # type: ignore[index]


def test_participants_are_read_with_their_study_in_one_query() -> None:
    study = make_study()
    person, version = assigned(study), study.dataset_version
    with CaptureQueriesContext(connection) as queries:
        row = participant_by_token(person.token_digest)
        assert row == person
        assert (row.study.slug, row.study.dataset_version.created_at) == (study.slug, version.created_at)
    assert len(queries) == 1
    assert {"texts", "questionnaire"} <= row.study.get_deferred_fields()
    assert participant_by_entry(study, person.entry_key) == person
    assert participant_by_entry(study, "nobody's") is None
    assert study_by_slug(study.slug) == study
    assert study_by_slug("no-study") is None
    assert arms_of(study) == list(study.conditions.order_by("position"))


def test_locking_reads_the_row_again_in_place() -> None:
    person = assigned(make_study())
    type(person).objects.filter(pk=person.pk).update(step="items", item_rank=2)
    lock(person)
    assert (person.step, person.item_rank) == ("items", 2)
