"""An export that a worker makes, and what becomes of it when answers are erased."""

from __future__ import annotations

import os
import signal
import zipfile
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.models import Job, JobStatus
from jobs.services import do_job, sweep
from studies.data.exports.tables import Options
from studies.data.services import erasure, exports
from studies.data.services.exports import request_export
from studies.data.services.retention import erase_expired, set_retention
from studies.design.services.launch import close_study
from studies.enums import Mode, NoticeKind, ParticipantStatus
from studies.models import ExternalId, Notice, Participant, Study
from studies.monitoring.services.notice_rules import notify_due
from studies.participation.services.withdrawal import withdraw
from tests.evaluation.conftest import Installation, first_state, make_installation  # noqa: F401 -- a fixture
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration]
SIMULATED = Options(include_simulated=True)


@pytest.fixture
def study(db: None) -> Study:
    study = make_study()
    completed(study, Mode.SIMULATED)
    return study


@pytest.fixture
def asked(study: Study, sent: list[int]) -> Job:
    return request_export(study=study, kind="wide", options=SIMULATED)


def again(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


def test_its_archive_is_what_was_asked_for(asked: Job) -> None:
    assert do_job(job_id=asked.pk) is True
    done = again(asked)
    assert (done.status, len(done.result["sha256"])) == (JobStatus.SUCCEEDED, 64)
    with default_storage.open(done.file) as file, zipfile.ZipFile(file) as archive:
        assert any(name.endswith("wide_data.csv") for name in archive.namelist())


def test_a_full_disk_is_said(asked: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_args: Any) -> None:
        raise OSError("Disk full.")

    monkeypatch.setattr(exports, "write_export", faulty)
    assert do_job(job_id=asked.pk) is False
    assert (again(asked).status, again(asked).error) == (JobStatus.FAILED, "Disk full.")


# On a real worker --------------------------------------------------------------------------------------

STUDY = """
import django
django.setup()
from tests.factories.analysis import plant
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from studies.design.services.launch import close_study
study = make_study(run=make_run_at("succeeded", algorithms="toppop,corngr"))
plant(study, {"TopPop": [4, 5, 4] * 60, "CorNgr": [2, 1, 2] * 60})
close_study(study=study)
"""
ASK = """
import django
django.setup()
from studies.data.exports.tables import Options
from studies.models import Study
from studies.data.services.exports import request_export
request_export(study=Study.objects.get(), kind="psych-ds", options=Options())
"""
WORKER = ["-m", "celery", "-A", "parallax", "worker", "--pool", "solo", "--without-gossip", "--without-mingle"]


def stopped(installation: Installation) -> int | None:
    """Stop the process that holds the job, so that it is killed in the midst of it."""
    found = installation.query("SELECT lease FROM jobs_job WHERE status = 'running'")
    if not found:
        return None
    pid = int(found[0][0].split(":")[1])
    os.kill(pid, signal.SIGSTOP)
    if installation.query("SELECT 1 FROM jobs_job WHERE status = 'running'"):
        return pid
    os.kill(pid, signal.SIGCONT)
    return None


@pytest.mark.slow
def test_an_export_whose_worker_was_killed_is_made_by_another(make_installation: Any) -> None:  # noqa: F811 -- the fixture
    installation: Installation = make_installation(SWEEP_SECONDS="1")
    made = installation.run("-c", STUDY)
    assert made.returncode == 0, made.stderr
    first = installation.start(*WORKER, "-n", "first@%h")
    asked = installation.run("-c", ASK)
    assert asked.returncode == 0, asked.stderr
    assert installation.until(lambda: stopped(installation), "a worker at the export") == first.pid
    first.kill()
    first.wait()
    second = installation.start(*WORKER, "-n", "second@%h")
    installation.until(lambda: installation.query("SELECT 1 FROM jobs_job WHERE status = 'succeeded'"), "the export")
    assert installation.query("SELECT attempts, error FROM jobs_job") == [(2, "")]
    second.terminate()
    second.wait()


def of_people(study: Study) -> tuple[Participant, Job]:
    """Somebody whose answers are in an archive that a worker made."""
    person = completed(study)
    Study.objects.filter(pk=study.pk).update(outcomes_opened_at=timezone.now())
    study.refresh_from_db()
    job = request_export(study=study, kind="wide", options=Options(include_external_ids=True))
    assert do_job(job_id=job.pk)
    return person, again(job)


def erased_by(what: str, study: Study, person: Participant) -> None:
    if what == "withdrawal":
        withdraw(participant=person)
        return
    days = {"external ids": (1, None), "answers": (None, 1)}[what]
    set_retention(study=study, external_ids_days=days[0], answers_days=days[1])
    close_study(study=study)
    erase_expired(now=timezone.now() + timedelta(days=2))


@pytest.mark.parametrize("what", ["withdrawal", "external ids", "answers"])
def test_an_archive_goes_with_the_data_in_it(
    study: Study, sent: list[int], client: Client, what: str, django_capture_on_commit_callbacks: Any
) -> None:
    person, job = of_people(study)
    ExternalId.objects.create(study=study, participant=person, name="workerId", value="w")
    with django_capture_on_commit_callbacks(execute=True):
        erased_by(what, study, person)
    assert not default_storage.exists(job.file)
    left = again(job)
    assert (left.status, left.file, left.error) == (JobStatus.SUCCEEDED, "", erasure.DROPPED)
    client.force_login(study.memberships.get().researcher)
    address = reverse("studies:export-file", args=[study.slug, job.pk])
    page = client.get(address, follow=True)
    assert page.redirect_chain == [(reverse("studies:quality", args=[study.slug]), 302)]
    # Said, and in the table.
    assert unescape(page.text).count(erasure.DROPPED) == 2
    assert address not in page.text
    notify_due()
    assert not Notice.objects.filter(kind=NoticeKind.FAULT).exists()
    anew = request_export(study=study, kind="wide", options=Options())
    assert do_job(job_id=anew.pk)
    with django_capture_on_commit_callbacks(execute=True):
        erase_expired(now=timezone.now() + timedelta(days=3))  # nothing is left to erase
    assert again(anew).file != ""


def test_a_preview_that_withdraws_leaves_archives(study: Study, sent: list[int]) -> None:
    _, job = of_people(study)
    withdraw(participant=completed(study, Mode.PREVIEW))
    assert again(job).file != ""


def test_a_withdrawal_takes_a_running_job_back_and_what_it_made_is_not_stored(
    study: Study, sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    person, _ = of_people(study)
    other = request_export(study=study, kind="ratings", options=SIMULATED)
    job = request_export(study=study, kind="wide", options=Options())
    save = default_storage.save
    stored: list[str] = []

    def withdrawn_from(name: str, content: Any) -> str:
        withdraw(participant=person)
        stored.append(save(name, content))
        return stored[0]

    with monkeypatch.context() as patched:
        patched.setattr(default_storage, "save", withdrawn_from)
        assert do_job(job_id=job.pk) is False
    assert Participant.objects.get(pk=person.pk).status == ParticipantStatus.WITHDRAWN
    left = again(job)
    assert (left.status, left.attempts, left.lease, left.file) == (JobStatus.QUEUED, 0, "", "")
    assert not default_storage.exists(stored[0])
    assert again(other).status == JobStatus.QUEUED
    assert sweep() == 1  # the other was told of just now
    assert do_job(job_id=job.pk) is True
    notify_due()
    assert not Notice.objects.filter(kind=NoticeKind.FAULT).exists()


def test_answers_are_read_once_an_erasure_under_way_has_ended(asked: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, str]] = []
    lock = exports.locked_study

    def locked_study(key: int) -> Study:
        seen.append((key, again(asked).status))
        return lock(key)

    monkeypatch.setattr(exports, "locked_study", locked_study)
    assert do_job(job_id=asked.pk) is True
    # Once it runs, so that an erasure that begins after the lock finds it.
    assert seen == [(asked.subject_id, JobStatus.RUNNING)]
