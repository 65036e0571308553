"""Lists of a remote recommender in a study: prepared by a worker, waited for by all alike, and never substituted."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from misbehaving import InOrder

from core.errors import ParallaxError
from evaluation.models import RemoteRecommender
from evaluation.remote.client import about
from evaluation.services import remote, remote_lists
from evaluation.services.remote import model_of_service, register, service_of
from jobs.archives import clean_jobs
from jobs.models import Job, JobStatus
from jobs.services import do_job
from studies.console.forms.flow import FlowForm
from studies.data.codebook.cells import iso_time
from studies.data.exports.export_files import write_export
from studies.design.selectors.placeholders import asked_questions
from studies.design.services.amending import change_consent
from studies.design.services.design import change_design
from studies.design.services.launch import design_snapshot, launch_problems, launch_study, pause_study, resume_study
from studies.enums import StudyStatus
from studies.instrument.questionnaires.questions import DECLINED
from studies.models import Condition, ListRequest, Notice, Participant, RecommendationList, Study
from studies.participation.services.checking_canaries import request_canaries
from studies.participation.services.withdrawal import withdraw
from tests.factories.exports import Exported
from tests.factories.remote import service_that_is
from tests.factories.studies import make_study
from tests.factories.walking import Person, leads
from tests.studies.test_choice_studies import posted
from tests.studies.test_sequences import IN_TURN

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
OPERATOR = "Example University"


@pytest.fixture(autouse=True)
def hosts(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RECOMMENDER_HOSTS = ["127.0.0.1"]
    service_of = remote.service_of

    def impatient(recommender: RemoteRecommender) -> Any:  # retries without pauses, so that no test waits for them
        return replace(service_of(recommender), retry_after=(0.0, 0.0, 0.0))

    monkeypatch.setattr(remote_lists, "service_of", impatient)


@pytest.fixture
def draft() -> Study:
    study = make_study(status="draft")
    study.texts = {
        language: {**own, "consent": f"{own['consent']}\n\n{OPERATOR}."} for language, own in study.texts.items()
    }
    study.save()
    return study


@pytest.fixture
def items(draft: Study, tmp_path: Path) -> Path:
    call_command("export_items", draft.dataset_version.dataset.name, tmp_path / "items.jsonl")
    return tmp_path / "items.jsonl"


@contextmanager
def served(study: Study, items: Path, how: str = "well") -> Iterator[Condition]:
    """The first condition has a service as its recommender, or another one under the same name."""
    with service_that_is(how, items) as service:
        gru = register(name="gru", address=service.address, operator=OPERATOR, seconds=20)
        condition = study.conditions.get(position=0)
        if condition.model.origin != "remote":
            model = model_of_service(
                service=service_of(gru), described=about(service).content, version=study.dataset_version
            )
            Condition.objects.filter(pk=condition.pk).update(model=model, model_digest=model.digest)
            study.run.algorithms.filter(position=0).update(model=model)
            study.save()
        yield condition


def work() -> None:
    for job in Job.objects.filter(kind="list", status=JobStatus.QUEUED):
        do_job(job_id=job.pk)


def waiting_person(study: Study, position: int = 0) -> tuple[Person, Participant]:
    """Someone of a condition whose list is being prepared."""
    while True:
        person = Person(study)
        next(page for page in person.pages() if page.step in ("preparation", "recommendations"))
        participant = Participant.objects.select_related("condition").latest("pk")
        if participant.condition is not None and participant.condition.position == position:
            return person, participant


def page_of(person: Person) -> Any:
    return person.client.get(f"{person.base}rate/")


def pass_preparation_time() -> None:
    ListRequest.objects.update(requested_at=timezone.now() - timedelta(minutes=1))


def ready_again() -> None:
    Job.objects.filter(kind="list").update(payload={})
    RemoteRecommender.objects.filter(open_until__isnull=False).update(open_until=timezone.now())


def rows_of(study: Study, kind: str, name: str, folder: Path) -> list[dict[str, str]]:
    write_export(study, kind, folder)
    (codebook,), (data,) = folder.glob(f"{name}_codebook.csv"), folder.glob(f"{name}_data.csv")
    with codebook.open(encoding="utf-8") as file:
        variables = [line["name"] for line in csv.DictReader(file)]
    with data.open(encoding="utf-8") as file:
        lines = csv.DictReader(file)
        assert lines.fieldnames == variables
        return list(lines)


def test_list_is_prepared_by_a_worker(draft: Study, items: Path, tmp_path: Path) -> None:
    with served(draft, items):
        assert launch_problems(draft) == []
        launch_study(study=draft)
        draft.refresh_from_db()
        assert draft.design.preparation_seconds is not None
        assert draft.conditions.get(position=0).canaries
        person, participant = waiting_person(draft)
        page = page_of(person)
        assert "This page continues by itself." in page.text
        assert '<meta http-equiv="refresh" content="2">' in page.text
        rated = participant.profile.latest("pk").item_id
        assert leads(person.client.post(f"{person.base}rate/{rated}/", {"rating": "1"})) == "rate"
        work()
        pass_preparation_time()
        assert leads(page_of(person)) == "recommendations"
    stored = RecommendationList.objects.get(participant=participant)
    requested = ListRequest.objects.get(participant=participant)
    assert [slot.item.index for slot in stored.slots.all()] == requested.answer["items"]
    assert stored.model_digest == participant.condition.model_digest
    assert (requested.attempts, requested.version) == (1, "1")
    (row,) = [row for row in Exported(draft, "wide").rows() if row["list.model"]]
    assert (row["list.origin"], row["list.version"], row["list.attempts"]) == ("remote", "1", "1")
    assert float(row["list.waited_seconds"]) >= 60
    table = rows_of(draft, "wide", "study-*_list-requests", tmp_path / "wide")
    (asked,) = [each for each in table if each["participant.id"] == row["participant.id"]]
    ids = list(draft.dataset_version.items.order_by("index").values_list("external_id", flat=True))
    answer = json.loads(asked["request.answer"])
    assert answer == {**requested.answer, "items": [ids[index] for index in requested.answer["items"]]}
    assert (asked["request.attempts"], asked["request.version"], asked["request.error"]) == ("1", "1", "")
    assert float(asked["request.seconds"]) == requested.seconds
    assert asked["request.time_shown_utc"] == iso_time(requested.shown_at)
    assert asked["request.time_requested_utc"] == iso_time(requested.requested_at)
    assert rows_of(draft, "psych-ds", "data/study-*_description-listrequests", tmp_path / "package") == table
    assert "listrequests_data.csv`: one row per request" in (tmp_path / "package" / "README.md").read_text()
    assert not [secret for secret in (participant.code, str(requested.key)) if secret in str(asked)]
    withdraw(participant=participant)
    assert not ListRequest.objects.filter(participant=participant).exists()
    assert not Job.objects.filter(kind="list").exists()
    table.remove(asked)
    assert rows_of(draft, "wide", "study-*_list-requests", tmp_path / "later") == table


def test_every_condition_waits_alike(draft: Study, items: Path, tmp_path: Path) -> None:
    draft.settings = {**draft.settings, "preparation_seconds": 30}
    draft.save()
    with served(draft, items):
        launch_study(study=draft)
        assert Study.objects.get().design.preparation_seconds == 30
        people = [waiting_person(draft, position)[0] for position in (0, 1)]
        work()
        assert Job.objects.filter(kind="list").count() == Participant.objects.filter(condition__position=0).count()
        assert all("This page continues by itself." in page_of(person).text for person in people)
        pass_preparation_time()
        assert [leads(page_of(person)) for person in people] == ["recommendations"] * 2
    of_local = rows_of(draft, "wide", "study-*_list-requests", tmp_path)[-1]
    assert (of_local["request.attempts"], of_local["request.answer"]) == ("0", "")


def test_service_that_is_away_is_asked_again(draft: Study, items: Path) -> None:
    with served(draft, items):
        launch_study(study=draft)
    person, participant = waiting_person(draft)
    with served(draft, items, "dead"):
        work()
    requested, job = ListRequest.objects.get(participant=participant), Job.objects.get(kind="list")
    assert (job.status, requested.attempts, requested.answer) == (JobStatus.QUEUED, 4, None)
    assert "cannot be used" in requested.error
    work()  # not before its time
    assert ListRequest.objects.get(pk=requested.pk).attempts == 4
    pass_preparation_time()
    assert "This takes longer than usual. Your ratings are saved" in page_of(person).text
    assert Study.objects.get().status == StudyStatus.LIVE
    ready_again()
    with served(draft, items):
        work()
        assert leads(page_of(person)) == "recommendations"
    assert ListRequest.objects.get(pk=requested.pk).attempts == 5
    assert not RecommendationList.objects.filter(slots__is_filled=True).exists()


def test_service_that_fails_for_long_pauses_the_study(draft: Study, items: Path) -> None:
    with served(draft, items):
        launch_study(study=draft)
    _person, participant = waiting_person(draft)
    with served(draft, items, "dead"):
        for _ in range(4):
            ready_again()
            work()
    assert Study.objects.get().status == StudyStatus.PAUSED
    assert ListRequest.objects.get(participant=participant).attempts == 16
    assert "left alone for 30 seconds 3 times within 10 minutes" in Notice.objects.get().text


def test_service_that_comes_and_goes_pauses_the_study_too(draft: Study, items: Path) -> None:
    draft.conditions.update(target=3)
    with served(draft, items):
        launch_study(study=draft)
    for _ in range(3):
        assert Study.objects.get().status == StudyStatus.LIVE
        waiting_person(draft)
        with served(draft, items, "dead"):
            for _ in range(2):  # five failed attempts: the breaker opens
                work()
                ready_again()
        with served(draft, items):
            work()
    assert Study.objects.get().status == StudyStatus.PAUSED


@pytest.mark.parametrize(
    ("how", "cause"),
    [
        ("repeating", "Listed items that are repeated (1)"),
        ("short", "The list has 4 items"),
        ("other-version", "Its list comes from version 2"),
        ("malformed", "is not JSON"),
        ("redirecting", "Redirects are not followed"),
    ],
)
def test_service_that_breaks_the_protocol_pauses_the_study(draft: Study, items: Path, how: str, cause: str) -> None:
    with served(draft, items):
        launch_study(study=draft)
    person, participant = waiting_person(draft)
    with served(draft, items, how):
        work()
        assert Study.objects.get().status == StudyStatus.PAUSED
        assert cause in Notice.objects.get().text
        assert "The study is paused" in person.client.get(person.base, follow=True).text
        with pytest.raises(ParallaxError, match="The study stays paused"):
            resume_study(study=Study.objects.get())
    assert not RecommendationList.objects.filter(participant=participant).exists()
    with served(draft, items):
        resume_study(study=Study.objects.get())
        page_of(person)
        work()
        pass_preparation_time()
        assert leads(page_of(person)) == "recommendations"
    assert ListRequest.objects.get(participant=participant).error == ""


def test_participant_who_returns_after_their_failed_job_was_deleted_gets_a_list(draft: Study, items: Path) -> None:
    with served(draft, items):
        launch_study(study=draft)
    person, participant = waiting_person(draft)
    with served(draft, items, "malformed"):
        work()
    Job.objects.filter(kind="list").update(created_at=timezone.now() - timedelta(days=2))
    clean_jobs()
    assert not Job.objects.filter(kind="list").exists()
    with served(draft, items):
        resume_study(study=Study.objects.get())
        for _ in range(2):  # one job at a time
            assert "This page continues by itself." in page_of(person).text
        assert Job.objects.filter(kind="list").count() == 1
        work()
        pass_preparation_time()
        assert leads(page_of(person)) == "recommendations"
    assert RecommendationList.objects.filter(participant=participant).exists()
    assert Job.objects.filter(kind="list").count() == 1  # none for a list that is there


def test_answers_that_the_design_lists_are_sent_and_named_in_the_consent_text(
    draft: Study, items: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts: list[dict[str, Any]] = []
    in_order = InOrder.recommend

    def noted(self: InOrder, request: dict[str, Any]) -> Any:
        contexts.append(request["context"])
        return in_order(self, request)[0], {"moods": 2}

    monkeypatch.setattr(InOrder, "recommend", noted)
    with served(draft, items):
        form = FlowForm(draft, posted(FlowForm(draft), sent_answers=["gender", "age"]))
        assert form.is_valid(), form.errors
        form.save(None)
        draft.refresh_from_db()
        assert draft.settings["sent_answers"] == ["gender", "age"]
        problems = launch_problems(draft)
        assert [problem for problem in problems if "Quote the question in it: " in problem] == problems
        assert len(problems) == 2 * len(draft.texts)
        quoted = {question.key: question.text for question in asked_questions(draft).about}
        draft.texts = {
            language: {**own, "consent": own["consent"] + quoted["gender"][language] + quoted["age"][language].lower()}
            for language, own in draft.texts.items()
        }
        draft.save()
        launch_study(study=draft)
        assert all(context["answers"] == {} for context in contexts)
        contexts.clear()
        _person, participant = waiting_person(draft)
        participant.responses.filter(question="gender").update(value=dict(DECLINED))
        work()
    assert contexts[-1]["answers"] == {"age": 33}
    assert ListRequest.objects.get(participant=participant).answer["facts"] == {"moods": 2}
    with pytest.raises(ParallaxError, match="The design was frozen"):
        change_design(study=draft, settings={"sent_answers": []})


def test_answers_that_cannot_be_sent_are_refused(draft: Study) -> None:
    before = design_snapshot(draft)
    change_design(study=draft, settings={"sent_answers": []})
    assert design_snapshot(Study.objects.get()) == before  # as drafts from before this choice
    for question in draft.questionnaire["about"]:
        question["identifies"] = question["key"] == "education"
    draft.save()
    with pytest.raises(ParallaxError, match="Answers to education, nationality, comment, mood") as refusal:
        change_design(study=draft, settings={"sent_answers": ["gender", "education", "nationality", "comment", "mood"]})
    assert "Choose among" in str(refusal.value)


def test_page_asks_a_service_that_does_not_answer_once_and_a_worker_again(draft: Study, items: Path) -> None:
    with served(draft, items) as condition:
        launch_study(study=draft)
        condition.refresh_from_db()
        fields = {name: getattr(condition, name) for name in ("model", "model_digest", "canaries")}
        draft.conditions.filter(position=1).update(**fields, presentation={"layout": "grid"})
        pause_study(study=draft)
    with served(draft, items, "dead"), pytest.raises(ParallaxError, match=r"gru cannot be used.*does not answer, as"):
        resume_study(study=draft)
    assert RemoteRecommender.objects.get().failures == 1  # for both conditions
    with served(draft, items):
        resume_study(study=draft)
    request_canaries()
    with served(draft, items, "recovering"):
        assert do_job(job_id=Job.objects.get(kind="canaries").pk)
    assert RemoteRecommender.objects.get().failures == 0


def test_canaries_notice_other_lists_of_the_same_version(draft: Study, items: Path) -> None:
    with served(draft, items):
        launch_study(study=draft)
        request_canaries()
        request_canaries()
        (job,) = Job.objects.filter(kind="canaries")
        assert do_job(job_id=job.pk)
        assert Study.objects.get().status == StudyStatus.LIVE
    Job.objects.update(created_at=timezone.now() - timedelta(minutes=61))
    request_canaries()
    assert Job.objects.filter(kind="canaries").count() == 2
    with served(draft, items, "random"):
        do_job(job_id=Job.objects.filter(kind="canaries").latest("pk").pk)
    assert Study.objects.get().status == StudyStatus.PAUSED
    assert "canary profiles get other lists than at the launch" in Notice.objects.get().text


def test_consent_text_names_who_runs_the_service(draft: Study, items: Path) -> None:
    with served(draft, items):
        RemoteRecommender.objects.update(operator="Another Institute")
        problems = launch_problems(draft)
    assert [problem for problem in problems if "does not name Another Institute" in problem] == problems
    assert len(problems) == len(draft.texts)


def test_a_consent_text_keeps_the_name_when_it_is_changed(draft: Study, items: Path) -> None:
    with served(draft, items):
        launch_study(study=draft)
    operator = RemoteRecommender.objects.get().operator
    named = draft.texts["en"]["consent"]
    unnamed = {"en": {"consent": named.replace(operator, "somewhere")}}
    with pytest.raises(ParallaxError, match=f"does not name {operator}") as refusal:
        change_consent(study=draft, texts=unnamed, why="Shorter")
    assert refusal.value.code == "consent.unnamed"
    change_consent(study=draft, texts={"en": {"consent": f"{named} Thank you."}}, why="Kinder")


def test_several_lists_for_each_participant_need_models_of_a_run(draft: Study, items: Path) -> None:
    with served(draft, items) as condition:
        change_design(study=draft, settings={"flow": IN_TURN})
        text = f"Remote recommenders make no lists for studies with several for each participant: {condition.label}."
        assert any(problem.startswith(text) for problem in launch_problems(Study.objects.get(pk=draft.pk)))
