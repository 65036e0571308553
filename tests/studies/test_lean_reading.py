"""The lean reading tells what the records of exports tell."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from studies.enums import Mode, Provenance
from studies.models import ProfileRating, Response, Study
from studies.participation.selectors.responses import completed_answers, records
from tests.factories.analysis import planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def assert_same(study: Study, mode: str) -> int:
    """Every participant, item and count; give how many there were."""
    found = list(completed_answers(study, mode))
    for lean, record in zip(found, records(study, [mode], completed_only=True), strict=True):
        assert lean.participant == record.participant
        assert lean.participant.condition == record.participant.condition
        assert (lean.answers, lean.measures, lean.not_asked) == (record.answers, record.measures, record.not_asked)
        assert (lean.n_answers, lean.n_modelled) == (record.n_answers, record.n_modelled)
        own = [(one.slot, one.answers, one.measures) for one in lean.items]
        assert own == [(one.slot, one.answers, one.measures) for one in record.items]
        assert (lean.profile, lean.recommendations, lean.public_id) == ((), None, "")
    return len(found)


@pytest.fixture
def study(db: None) -> Study:
    return make_study(run=make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4"))


def test_it_tells_what_records_tell(study: Study) -> None:
    study.questionnaire["overall"].append(
        {"key": "why", "kind": "text", "required": False, "text": {"en": "Why?", "it": "Perché?"},
         "shown_if": {"question": "satisfaction", "equals": 1}}
    )  # fmt: skip
    study.save()
    for number in range(4):
        ratings = [1 + (number + rank) % 5 for rank in range(5)]
        one = planted_person(study, "TopPop", ratings, 1 + number, n_watched=number, provenance=Provenance.MODELLED)
        # Whoever is not asked has left an answer from before they changed the one that it hangs on.
        Response.objects.create(participant=one, question="why", rank=0, value="Bad", provenance=Provenance.PERSON)
        Response.objects.create(participant=one, question="heard", rank=6, value=True, provenance=Provenance.PERSON)
        if number:
            stale = Response(participant=one, question="heard", rank=1, value=True, provenance=Provenance.PERSON)
            stale.save()
    lacking = planted_person(study, "CorNgr", [3] * 5, 3)
    lacking.responses.filter(question="rating", rank=2).delete()
    planted_person(study, "CorNgr", [3] * 5, 3, mode=Mode.SIMULATED)
    ProfileRating.objects.create(
        participant=lacking, item=study.dataset_version.items.all()[0], rating=3, provenance=Provenance.MODELLED
    )
    assert assert_same(study, Mode.LIVE) == 5
    assert assert_same(study, Mode.SIMULATED) == 1
    told = [one.answers.get("why") for one in completed_answers(study, Mode.LIVE)]
    assert told == ["Bad", None, None, None, None]


def test_it_asks_the_database_as_often_for_one_as_for_ten(study: Study) -> None:
    counts = []
    for n in (1, 9):
        for _ in range(n):
            planted_person(study, "TopPop", [3] * 5, 3)
        with CaptureQueriesContext(
            connection,
        ) as asked:
            list(completed_answers(study, Mode.LIVE))
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 6
