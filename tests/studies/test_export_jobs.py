"""An export that a worker makes: taken by one, put back when its worker is gone, finished once."""

from __future__ import annotations

import os
import signal
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core.models import LogEntry
from jobs import leases
from jobs.leases import GONE, HINT_SECONDS, MAX_ATTEMPTS
from studies.data.exports import Options
from studies.data.services import exports
from studies.data.services.exports import JOBS, make_export, request_export
from studies.data.services.retention import erase_expired, set_retention
from studies.design.services.launch import close_study
from studies.enums import ExportStatus, Mode, NoticeKind, ParticipantStatus
from studies.models import ExportJob, ExternalId, Notice, Participant, Study
from studies.monitoring.services.notice_rules import notify_due
from studies.participation.services.withdrawal import withdraw
from tests.evaluation.conftest import Installation, first_state, make_installation  # noqa: F401 -- a fixture
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration]
SIMULATED = Options(include_simulated=True)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The jobs that messages were sent for, in order."""
    found: list[int] = []
    monkeypatch.setattr(leases, "enqueue_on_commit", lambda name, *, job_id: found.append(job_id))
    return found


@pytest.fixture
def study(db: None) -> Study:
    study = make_study()
    completed(study, Mode.SIMULATED)
    return study


@pytest.fixture
def asked(study: Study, sent: list[int]) -> ExportJob:
    return request_export(study=study, kind="wide", options=SIMULATED)


def again(job: ExportJob) -> ExportJob:
    return ExportJob.objects.get(pk=job.pk)


def taken(job: ExportJob) -> ExportJob:
    found = again(job)
    assert JOBS.take(found)
    return found


def die(job: ExportJob) -> None:
    """The worker that holds it is heard of no more."""
    ExportJob.objects.filter(pk=job.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def test_of_two_workers_one_makes_it(asked: ExportJob) -> None:
    held = taken(asked)
    assert make_export(job_id=asked.pk) is False
    assert (again(asked).status, again(asked).lease, again(asked).file) == (ExportStatus.RUNNING, held.lease, "")
    assert JOBS.release(held)
    assert make_export(job_id=asked.pk) is True
    assert make_export(job_id=asked.pk) is False
    done = again(asked)
    assert (done.status, done.attempts, done.lease) == (ExportStatus.DONE, 1, "")
    with default_storage.open(done.file) as file, zipfile.ZipFile(file) as archive:
        assert any(name.endswith("wide_data.csv") for name in archive.namelist())


def test_one_whose_worker_is_gone_is_told_of_again_and_made_by_another(asked: ExportJob, sent: list[int]) -> None:
    gone = taken(asked)
    assert JOBS.requeue() == 0  # its lease lives
    die(asked)
    assert JOBS.requeue() == 1
    assert sent == [asked.pk, asked.pk]
    assert make_export(job_id=asked.pk) is True
    assert JOBS.finish(gone, to=ExportStatus.FAILED, error="too late") is False
    assert (again(asked).status, again(asked).attempts, again(asked).error) == (ExportStatus.DONE, 2, "")
    reasons = LogEntry.objects.filter(kind="studies.exportjob").order_by("id").values_list("to_status", "reason")
    assert list(reasons) == [("running", ""), ("queued", GONE), ("running", ""), ("done", "")]


def test_a_message_that_was_lost_is_sent_again_after_a_while(asked: ExportJob, sent: list[int]) -> None:
    assert JOBS.requeue() == 0
    ExportJob.objects.update(hinted_at=timezone.now() - timedelta(seconds=HINT_SECONDS + 1))
    assert JOBS.requeue() == 1
    assert JOBS.requeue() == 0
    assert sent == [asked.pk, asked.pk]


def test_one_that_ends_every_worker_fails_in_words(asked: ExportJob) -> None:
    for number in range(MAX_ATTEMPTS):
        assert taken(asked).attempts == number + 1
        die(asked)
        JOBS.requeue()
    assert make_export(job_id=asked.pk) is False
    assert again(asked).status == ExportStatus.FAILED
    assert again(asked).error.startswith(f"{MAX_ATTEMPTS} workers in turn stopped before finishing this job")


def test_who_lost_the_lease_meanwhile_leaves_no_archive(asked: ExportJob, monkeypatch: pytest.MonkeyPatch) -> None:
    save = default_storage.save

    stored: list[str] = []

    def given_away(name: str, content: Any) -> str:
        die(asked)
        JOBS.requeue()
        stored.append(save(name, content))
        return stored[0]

    monkeypatch.setattr(default_storage, "save", given_away)
    assert make_export(job_id=asked.pk) is False
    assert (again(asked).status, again(asked).file) == (ExportStatus.QUEUED, "")
    assert not default_storage.exists(stored[0])


@pytest.mark.parametrize(
    ("fault", "status", "is_raised"),
    [
        (OperationalError("the database is away"), ExportStatus.QUEUED, True),
        (KeyboardInterrupt(), ExportStatus.QUEUED, True),
        (OSError("The disk is full."), ExportStatus.FAILED, False),
        (ZeroDivisionError("never thought of"), ExportStatus.FAILED, True),
    ],
)
def test_a_fault_gives_it_back_or_fails_it(
    asked: ExportJob, monkeypatch: pytest.MonkeyPatch, fault: BaseException, status: str, is_raised: bool
) -> None:
    def faulty(*_args: Any) -> None:
        raise fault

    monkeypatch.setattr(exports, "write_export", faulty)
    if is_raised:
        with pytest.raises(type(fault)):
            make_export(job_id=asked.pk)
    else:
        assert make_export(job_id=asked.pk) is False
    found = again(asked)
    assert (found.status, found.lease, found.leased_until) == (status, "", None)
    assert bool(found.error) == (status == ExportStatus.FAILED)


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
from studies.data.exports import Options
from studies.models import Study
from studies.data.services.exports import request_export
request_export(study=Study.objects.get(), kind="psych-ds", options=Options())
"""
WORKER = ["-m", "celery", "-A", "parallax", "worker", "--pool", "solo", "--without-gossip", "--without-mingle"]


def stopped(installation: Installation) -> int | None:
    """Stop the process that holds the job, so that it is killed in the midst of it."""
    found = installation.query("SELECT lease FROM studies_exportjob WHERE status = 'running'")
    if not found:
        return None
    pid = int(found[0][0].split(":")[1])
    os.kill(pid, signal.SIGSTOP)
    if installation.query("SELECT 1 FROM studies_exportjob WHERE status = 'running'"):
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
    installation.until(
        lambda: installation.query("SELECT 1 FROM studies_exportjob WHERE status = 'done'"), "the export"
    )
    (row,) = installation.query("SELECT attempts, error, sha256 FROM studies_exportjob")
    assert (row[0], row[1], len(row[2])) == (2, "", 64)
    second.terminate()
    second.wait()


def of_people(study: Study) -> tuple[Participant, ExportJob]:
    """Somebody whose answers are in an archive that a worker made."""
    person = completed(study)
    Study.objects.filter(pk=study.pk).update(outcomes_opened_at=timezone.now())
    study.refresh_from_db()
    job = request_export(study=study, kind="wide", options=Options(include_external_ids=True))
    assert make_export(job_id=job.pk)
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
    assert (left.status, left.file, left.error) == (ExportStatus.DONE, "", exports.DROPPED)
    client.force_login(study.memberships.get().researcher)
    address = reverse("studies:export-file", args=[study.slug, job.pk])
    page = client.get(address, follow=True)
    assert page.redirect_chain == [(reverse("studies:quality", args=[study.slug]), 302)]
    # Said, and in the table.
    assert page.text.count("Deleted: a participant&#x27;s data were erased after this export was created.") == 2
    assert address not in page.text
    notify_due()
    assert not Notice.objects.filter(kind=NoticeKind.FAULT).exists()
    anew = request_export(study=study, kind="wide", options=Options())
    assert make_export(job_id=anew.pk)
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
        assert make_export(job_id=job.pk) is False
    assert Participant.objects.get(pk=person.pk).status == ParticipantStatus.WITHDRAWN
    left = again(job)
    assert (left.status, left.attempts, left.lease, left.file) == (ExportStatus.QUEUED, 0, "", "")
    assert not default_storage.exists(stored[0])
    assert again(other).status == ExportStatus.QUEUED
    assert JOBS.requeue() == 1  # the other was told of just now
    assert make_export(job_id=job.pk) is True
    notify_due()
    assert not Notice.objects.filter(kind=NoticeKind.FAULT).exists()


def test_a_job_is_taken_under_the_lock_of_its_study(asked: ExportJob, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, str]] = []
    monkeypatch.setattr(exports, "locked_study", lambda key: seen.append((key, again(asked).status)))
    assert make_export(job_id=asked.pk) is True
    assert seen == [(asked.study_id, ExportStatus.QUEUED)]
    assert make_export(job_id=0) is False
