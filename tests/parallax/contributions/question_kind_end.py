"""The contributed kind of question on a participant's page and in an export; run within a copy of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.factories.questionnaires import every_kind, make_study_asking
from tests.studies.test_every_kind import GIVEN, at_after, read, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_it_is_asked_answered_and_exported(tmp_path: Path) -> None:
    study = make_study_asking(every_kind(), per_condition=3)
    person = at_after(study)
    assert tree(person.get("after/")).xpath("count(//input[@type='date'][@name='since'])") == 1
    person.post("after/", {**GIVEN, "since": "2021-12-31", "continue": "1"})
    (row,), book = read(tmp_path, study, "wide")
    assert row["after.since"] == "2021-12-31"
    assert book["after.since"]["type"] == "text"
