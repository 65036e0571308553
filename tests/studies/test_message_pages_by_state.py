"""The message page of each state of a study: in both languages, with what to do and a contact."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from studies.design.services.archiving import archive_study
from studies.design.services.launch import close_study, pause_study
from studies.models import Study
from tests.factories.studies import assigned, make_study
from tests.factories.walking import Person, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

WORDS = {
    "draft": (("has not started", "come back later"), ("non è ancora iniziato", "Torna più tardi")),
    "paused": (("is paused", "come back later"), ("in pausa", "Torna più tardi")),
    "full": (("The study is full",), ("al completo",)),
    "closed": (("This study has ended",), ("si è concluso",)),
    "archived": (("is not running", "please ask them"), ("non è in corso", "chiedi a loro")),
}


def _study_at(state: str) -> Study:
    study = make_study(status="draft" if state == "draft" else "live", per_condition=1)
    if state == "full":
        assigned(study)
        assigned(study)
    elif state == "closed":
        close_study(study=study)
    elif state != "draft":
        pause_study(study=study)
    if state == "archived":
        archive_study(study=study)
    return study


@pytest.mark.parametrize("state", list(WORDS))
def test_who_comes_by_the_link_is_told_in_their_language_whom_to_ask(state: str) -> None:
    study = _study_at(state)
    owner = study.memberships.get().researcher
    before = study.participants.count()
    for language, words in zip(("en", "it"), WORDS[state], strict=True):
        page = Client().get(f"/s/{study.slug}/", headers={"Accept-Language": language})
        said = " ".join(tree(page).xpath("string(//main)").split())
        for word in words:
            assert word in said, (language, said)
        assert tree(page).get("lang") == language
        assert tree(page).xpath("//main//a[starts-with(@href, 'mailto:')]/@href") == [f"mailto:{owner.email}"]
        assert not tree(page).xpath("//main//form")
    assert study.participants.count() == before


@pytest.mark.parametrize("language", ["en", "it"])
def test_who_was_under_way_when_a_study_was_archived_may_still_withdraw(language: str) -> None:
    study = make_study(per_condition=3)
    person = Person(study).to("rate")
    person.get(f"rate/?lang={language}")
    pause_study(study=study)
    archive_study(study=study)
    page: Any = person.get("rate/")
    words = {"en": "Your answers are saved", "it": "Le tue risposte sono salvate"}
    assert words[language] in page.text
    assert f"{person.base}withdraw/" in tree(page).xpath("//main//a/@href")
    assert person.post("withdraw/").status_code == 200
    assert person.me.status == "withdrawn"
