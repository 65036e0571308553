"""Replications started in the console: workers continue them whenever their run or simulation has finished."""

from __future__ import annotations

import io
import sys
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core.errors import ParallaxError
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun
from jobs.archives import clean_jobs
from jobs.models import Job, JobStatus
from jobs.services import do_job, sweep
from parallax.replication import services, stages
from parallax.replication.services import run_of, simulation_of
from studies.design.services.launch import close_study
from studies.enums import Mode, ParticipantStatus, Role
from studies.models import Participant, Study
from tests.factories.accounts import UserFactory
from tests.factories.analysis import planted_person
from tests.factories.catalog import make_version
from tests.factories.console import signed_in
from tests.factories.evaluation import make_run_at, work_off
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]
START = "/replications/"
SMALL = {"per_condition": 2, "seed": 1, "first_factors": 3, "second_factors": 5, "reserve": 0.3}
CHOSEN = stages.Settings(per_condition=2, factors=(3, 5), reserve=0.3)
SEVEN = "lsa:factors=3,toppop,puresvd:factors=5,corngr,nncosngr,puresvd:factors=3,asysvd:factors=3"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """One page is written in place of every figure: test_replicate.py looks at the files."""

    def write(replication: Any, folder: Path) -> None:
        folder.mkdir()
        (folder / "replication.html").write_text(replication.title)

    monkeypatch.setattr(services.pages, "write_folder", write)


def _advance() -> None:
    Job.objects.filter(kind="replication").update(hinted_at=None)
    sweep()


def _job() -> Job:
    return Job.objects.get(kind="replication")


def _owner(study: Study) -> Client:
    return signed_in(study.memberships.get(role=Role.OWNER).researcher)


def _names(response: Any) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as archive:
        return archive.namelist()


def _closed_study() -> Study:
    study = make_study(run=make_run_at("succeeded", algorithms=SEVEN), settings={"plan": {"resamples": 1000}})
    for number, condition in enumerate(study.conditions.order_by("position")):
        for answer in (1 + number % 5, 1 + (number + 1) % 5, 3):
            planted_person(study, condition.label, [answer] * 5, answer, n_watched=answer % 3, n_heard=number % 3)
    close_study(study=study)
    return study


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_dataset_is_replicated_step_by_step(
    live_server: Any, settings: Any, sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpyro", None)  # the Bayesian analysis has tests of its own
    settings.SITE_URL = live_server.url
    current_app.conf.task_always_eager = True
    try:
        version, actor = make_version(), UserFactory()
        client = signed_in(actor)
        page = client.post(START, {"data_from": f"dataset:{version.dataset.name}", **SMALL}).url
        job = _job()
        run = run_of(job)
        assert run is not None
        assert run.status == RunStatus.SUCCEEDED
        _advance()
        assert do_job(job_id=job.pk)  # launches the study and requests its participants
        assert not do_job(job_id=job.pk) or Job.objects.get(kind="simulation").status == JobStatus.SUCCEEDED
    finally:
        current_app.conf.task_always_eager = False
    job = _job()
    simulation = simulation_of(job)
    assert simulation is not None
    if simulation.status != JobStatus.SUCCEEDED:
        do_job(job_id=simulation.pk)
    people = Participant.objects.filter(study=job.subject, mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED)
    assert people.count() == 14
    _advance()
    do_job(job_id=job.pk)
    job.refresh_from_db()
    assert (job.status, job.error) == (JobStatus.SUCCEEDED, "")
    text = client.get(page).text
    assert "is finished" in text
    assert "no evidence" in text
    names = _names(client.get(reverse("replication:file", args=[job.pk])))
    assert {"cremonesi-2011/replication.html", "cremonesi-2011/report/report.html"} <= set(names)


def test_a_run_is_queued_and_its_study_launched_once_it_has_succeeded(
    sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    version, actor = make_version(), UserFactory()
    client, given = signed_in(actor), {"data_from": f"dataset:{version.dataset.name}", **SMALL}
    page = client.post(START, given).url
    job = _job()
    assert client.post(START, given).url == page  # the open job
    _advance()
    assert sent == []
    assert not do_job(job_id=job.pk)
    text = client.get(page).text
    assert "Queued, 0 of" in text
    assert "<dd>3 and 5</dd>" in text
    work_off(run_of(job))
    _advance()
    assert sent == [job.pk]
    assert do_job(job_id=job.pk)
    job = _job()
    assert job.status == JobStatus.QUEUED
    assert isinstance(job.subject, Study)
    simulation = simulation_of(job)
    assert simulation is not None
    assert simulation.payload["base_url"] == "http://testserver/"
    assert not do_job(job_id=job.pk)  # waits for the participants
    part = client.get(page, headers={"HX-Request": "true"}).text
    assert f"Simulation {simulation.pk}" in part
    assert "<html" not in part
    Job.objects.filter(kind="simulation").update(status=JobStatus.FAILED, error="No answer.")
    _advance()
    job.refresh_from_db()
    assert "No answer." in job.error
    with pytest.raises(ParallaxError, match="Another researcher"):
        services.start_simulated(
            paper=stages.TEMPLATE, version=version, chosen=CHOSEN, base_url="http://x/", actor=UserFactory()
        )


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.CANCELLED, ""])
def test_a_run_that_cannot_finish_fails_its_replication(sent: list[int], status: str) -> None:
    job = services.start_simulated(
        paper=stages.TEMPLATE, version=make_version(), chosen=CHOSEN, base_url="http://x/", actor=UserFactory()
    )
    if status:
        EvaluationRun.objects.update(status=status, error="Out of memory.")
    else:
        EvaluationRun.objects.all().delete()
    _advance()
    job.refresh_from_db()
    assert job.status == JobStatus.FAILED
    assert ("Out of memory." if status else "was deleted") in job.error
    assert not sent


def test_answers_of_a_closed_study_are_compared_for_its_readers_only(sent: list[int], quick: None) -> None:
    study = _closed_study()
    client, other = _owner(study), signed_in(UserFactory())
    given = {"data_from": f"study:{study.slug}"}
    assert study.title not in other.get(START).text
    assert "valid choice" in other.post(START, given).text
    page = client.post(START, given).url
    job = _job()
    assert sent == [job.pk]
    assert client.post(START, given).url == page
    file = reverse("replication:file", args=[job.pk])
    assert client.get(file).status_code == 404
    assert do_job(job_id=job.pk)
    assert not do_job(job_id=job.pk)
    text = client.get(page).text
    assert "Download the comparison" in text
    assert "imulated" not in text.split("<main")[1].split("</main>")[0]
    names = _names(client.get(file))
    assert names == ["cremonesi-2011/replication.html"]
    assert other.get(page).status_code == other.get(file).status_code == 404
    Job.objects.update(created_at=timezone.now() - timedelta(days=8))
    assert client.get(file).status_code == 404
    assert "no longer kept" in client.get(page).text
    stored = _job().file
    clean_jobs()
    assert not default_storage.exists(stored)


def test_answers_withdrawn_since_are_not_downloaded(sent: list[int], quick: None) -> None:
    study = _closed_study()
    job = services.start_comparison(paper=stages.TEMPLATE, study=study, actor=None)
    assert do_job(job_id=job.pk)
    job.refresh_from_db()
    assert services.may_be_downloaded(job)
    person = Participant.objects.filter(study=study).first()
    Participant.objects.filter(pk=person.pk).update(status=ParticipantStatus.WITHDRAWN, updated_at=timezone.now())
    assert not services.may_be_downloaded(job)
    clean_jobs()
    assert not default_storage.exists(job.file)


def test_bad_input_is_refused_beside_its_field(sent: list[int]) -> None:
    study = make_study(status="closed")
    planted_person(study, "TopPop", [3] * 5, 3)
    client = _owner(study)
    assert "has the algorithms" in client.post(START, {"data_from": f"study:{study.slug}"}).text
    name = study.dataset_version.dataset.name
    assert "equal to 2" in client.post(
        START, {"data_from": f"dataset:{name}", **SMALL, "per_condition": 1}
    ).text  # fmt: skip
    assert client.post(START, {"data_from": ""}).context["form"].errors
    assert not Job.objects.filter(kind="replication").exists()
    assert client.get(reverse("replication:job", args=[1])).status_code == 404
