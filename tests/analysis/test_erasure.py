"""An erasure reaches what reports keep of single participants, and the words of the log; the reports stay."""

from __future__ import annotations

import copy
import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from analysis.models import Drawing, Report
from analysis.services import build_report, download
from analysis.services.report_cache import cached
from core.models import LogEntry
from studies.data.services.retention import erase_expired, set_retention
from studies.design.services.launch import close_study
from studies.models import Notice, Participant, Study
from studies.monitoring.services.exclusions import exclude
from studies.participation.services.withdrawal import withdraw
from tests.analysis.conftest import FEW_RESAMPLES
from tests.factories.accounts import UserFactory
from tests.factories.analysis import every_page, planted_person
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

WORDS = "Ada told me that she guessed"


@pytest.fixture
def owner() -> Any:
    return UserFactory()


@pytest.fixture
def study(owner: Any) -> Study:
    """A study with a report on ten people, one of them excluded with words about her."""
    study = make_study(per_condition=9, owner=owner, settings=FEW_RESAMPLES)
    for label, n in (("TopPop", 5), ("PureSVD4", 6)):
        for number in range(n):
            planted_person(study, label, [1 + (number + k) % 5 for k in range(5)], 1 + number % 5)
    exclude(participant=study.participants.first(), reason=WORDS, actor=owner)
    build_report(study=study)
    return study


def _scores(report: Report) -> dict[str, Any]:
    return {one["key"]: one["points"] for one in report.results["variables"]}


def _erase(study: Study, person: Participant, how: str) -> None:
    if how == "withdrawal":
        withdraw(participant=person)
    else:
        set_retention(study=study, external_ids_days=None, answers_days=1)
        close_study(study=study)
        erase_expired(now=timezone.now() + timedelta(days=2))


@pytest.mark.slow
@pytest.mark.usefixtures("pictures_once")
@pytest.mark.parametrize("how", ["withdrawal", "retention"])
def test_scores_and_words_go_with_the_answers_and_the_report_stays(study: Study, owner: Any, how: str) -> None:
    report = Report.objects.get()
    before = copy.deepcopy(report.results)
    assert all(_scores(report)[key] for key in ("accuracy", "satisfaction"))
    assert WORDS in json.dumps(before)
    assert cached(report, "report.html", lambda: b"with her scores")
    assert report.drawings.exists()
    _erase(study, study.participants.first(), how)
    after = Report.objects.get()
    assert set(map(str, _scores(after).values())) == {"{}"}
    assert WORDS not in json.dumps(after.results)
    assert not Drawing.objects.exists()
    # What was reported stays, and so does where it came from.
    described = [(one["described"], one["anova"], one["tests"]) for one in before["variables"]]
    assert [(one["described"], one["anova"], one["tests"]) for one in after.results["variables"]] == described
    kept = ("number", "inputs_hash", "plan", "provenance", "created_at", "made_by_id")
    assert [getattr(after, name) for name in kept] == [getattr(report, name) for name in kept]
    log = LogEntry.objects.filter(kind="studies.study", facts__reports=[1])
    assert [one.reason for one in log] == ["Individual scores in report 1 were erased with participants' answers."]
    # It can still be read, and says what it lacks.
    client = Client()
    client.force_login(owner)
    page = every_page(client, after)
    assert "scores were erased" in page
    assert b"scores were erased" in download(report=after, name="supplement.html").content


@pytest.mark.parametrize("how", ["withdrawal", "retention"])
def test_no_word_about_a_person_is_left_in_the_log(study: Study, how: str) -> None:
    person = study.participants.first()
    LogEntry.objects.create(kind="studies.participant", object_id=person.pk, reason="Answers that do not admit: age.")
    other = study.participants.last()
    exclude(participant=other, reason="Spoke to a friend")
    for one in (person, other):
        Notice.objects.create(study=study, kind="flag", key=f"flag:{one.pk}:too_fast", text=f"{one.code} was too fast")
    n = LogEntry.objects.filter(kind="studies.participant").count()
    _erase(study, person, how)
    said = LogEntry.objects.filter(kind="studies.participant")
    assert said.count() == n + (how == "withdrawal")
    of_person = said.filter(object_id=person.pk).exclude(reason="").values_list("reason", flat=True)
    assert list(of_person) == (["Withdrew by their own link."] if how == "withdrawal" else [])
    assert not Notice.objects.filter(text__contains=person.code).exists()  # of the flags that owners were told
    assert Notice.objects.filter(text__contains=other.code).exists() == (how == "withdrawal")
    assert said.filter(facts__act="excluded", object_id=person.pk).exists()
    of_other = list(said.filter(object_id=other.pk).exclude(reason="").values_list("reason", flat=True))
    assert of_other == (["Excluded from analyses: Spoke to a friend"] if how == "withdrawal" else [])


def test_a_report_that_cannot_hold_the_person_keeps_its_scores(study: Study) -> None:
    later = planted_person(study, "TopPop", [1, 2, 3, 4, 5], 5)
    scores = _scores(Report.objects.get())
    withdraw(participant=later)
    assert _scores(Report.objects.get()) == scores
    never = planted_person(study, "TopPop", [1, 2, 3, 4, 5], 5)
    Participant.objects.filter(pk=never.pk).update(status="active", completed_at=None, step="overall")
    never.refresh_from_db()
    withdraw(participant=never)
    assert _scores(Report.objects.get()) == scores
