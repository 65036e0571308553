"""An installation whose files are in a bucket: work, pages, uploads, backups and checks, also while it is away."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage, storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.services import build_report, packages
from analysis.services.packages import request_files
from catalog import tasks as catalog_tasks
from catalog.services import dataset_jobs, upload_folders
from core import artefacts
from core.errors import ArtefactError, ParallaxError, StorageUnavailable
from evaluation import tasks as evaluation_tasks
from evaluation.enums import PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunPart
from evaluation.services import serving
from evaluation.services.parts import lease_part
from evaluation.services.worker_loop import execute
from jobs import archives
from jobs import tasks as job_tasks
from jobs.models import Job, JobStatus
from jobs.services import do_job
from parallax.backup import stored_files
from parallax.backup.archive import new_archive
from parallax.doctor import machine
from parallax.doctor import stored_files as doctor
from parallax.doctor.diagnosis import Diagnosis, Level
from parallax.integrity.artefacts import check_artefacts
from parallax.outages import is_outage
from studies import tasks as study_tasks
from studies.data.exports.tables import Options
from studies.data.services.exports import request_export
from studies.enums import Mode, StudyStatus
from studies.participation.services import ratings, recommending
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at, work_off
from tests.factories.installations import ROOT, Installation
from tests.factories.jobs import work
from tests.factories.object_servers import Gate, ObjectServer, bucket_environment, bucket_storages
from tests.factories.studies import assigned, completed, items_of, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def gate(object_server: ObjectServer) -> Iterator[Gate]:
    with Gate(object_server.url) as gate:
        yield gate


@pytest.fixture
def bucket(object_server: ObjectServer) -> str:
    return object_server.new_bucket()


@pytest.fixture(autouse=True)
def installation(
    settings: Any, gate: Gate, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    # Its connection would wait for the transaction of the test.
    monkeypatch.setattr("jobs.leases.Heartbeat._beat", lambda self: None)
    settings.STORAGES = {**settings.STORAGES, **bucket_storages(gate.url, bucket)}
    settings.ARTEFACTS_S3 = f"s3://{bucket}/installation"
    settings.ARTEFACT_CACHE = tmp_path / "cache"
    forget()
    yield
    forget()


def forget() -> None:
    """Close what this process has open."""
    artefacts.clear_cache()
    serving.opened_model.cache_clear()


def on_another_machine(settings: Any, folder: Path) -> None:
    """Go on as a machine with a data folder of its own, without copies."""
    folder.mkdir(mode=0o700, exist_ok=True)
    settings.VAR_DIR, settings.ARTEFACT_CACHE = folder, folder / "cache"
    forget()


# Work


@pytest.mark.core
def test_a_part_is_put_back_while_the_storage_is_away_and_the_run_says_so(gate: Gate) -> None:
    run = make_run_at("running", algorithms="toppop,puresvd:factors=4")
    part = lease_part(run=run)
    assert part is not None
    gate.shut()
    with pytest.raises(StorageUnavailable):
        execute(part=part)
    part.refresh_from_db()
    run.refresh_from_db()
    assert (part.status, part.attempts) == (PartStatus.QUEUED, 0)
    assert run.status == RunStatus.RUNNING
    assert f"{gate.url} with the bucket" in run.activity
    gate.open()
    assert work_off(run).status == RunStatus.SUCCEEDED
    assert list(check_artefacts()) == []


def test_a_run_fails_in_words_where_the_bucket_is_gone(settings: Any, gate: Gate) -> None:
    run = make_run_at("running", algorithms="toppop")
    settings.STORAGES = {**settings.STORAGES, **bucket_storages(gate.url, "no-such-bucket")}
    part = lease_part(run=run)
    assert part is not None
    assert execute(part=part) is False
    run.refresh_from_db()
    failed = RunPart.objects.get(pk=part.pk)
    assert failed.status == PartStatus.FAILED
    assert "no-such-bucket" in EvaluationRun.objects.get(pk=run.pk).error


def test_integrity_reads_the_bucket_and_not_the_copies(object_server: ObjectServer, bucket: str) -> None:
    run = make_run_at("succeeded", algorithms="toppop")
    assert list(check_artefacts()) == []
    model = run.algorithms.get().model
    assert model is not None
    name = next(name for name in stored_files.list_files("artefacts") if model.digest in name and name.endswith(".npy"))
    object_server.client().put_object(Bucket=bucket, Key=f"installation/artefacts/{name}", Body=b"other bytes")
    assert [finding.code for finding in check_artefacts()] == ["artefact.damaged"]


def test_an_export_waits_for_the_storage_and_what_no_job_names_is_deleted(
    gate: Gate, object_server: ObjectServer, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study()
    completed(study, Mode.SIMULATED)
    job = request_export(study=study, kind="wide", options=Options(include_simulated=True))
    gate.shut()
    with pytest.raises(StorageUnavailable):
        do_job(job_id=job.pk)
    job.refresh_from_db()
    assert (job.status, job.attempts, job.error) == (JobStatus.QUEUED, 0, "")
    gate.open()
    assert do_job(job_id=job.pk)
    job.refresh_from_db()
    client = Client()
    client.force_login(study.memberships.get().researcher)
    answer = client.get(reverse("studies:export-file", args=(study.slug, job.pk)))
    assert b"".join(answer.streaming_content)[:2] == b"PK"  # type: ignore[attr-defined]
    # An archive whose deletion failed, as it would after an erasure while the storage was away.
    name = archives.store(job, ContentFile(b"answers"))
    archives.clean_jobs()
    assert default_storage.exists(name)  # a worker may be about to name it
    monkeypatch.setattr(archives, "UNNAMED_SECONDS", 0)
    monkeypatch.setattr(archives, "UNNAMED_KEY", "another-hour")
    archives.clean_jobs()
    assert not default_storage.exists(name)
    assert default_storage.exists(job.file)


def test_a_package_is_stored_downloaded_and_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study()
    completed(study, Mode.SIMULATED)
    report = build_report(study=study, mode=Mode.SIMULATED)
    job = request_files(report=report)
    monkeypatch.setattr(packages, "draw_files", lambda *given: None)
    monkeypatch.setattr(packages, "stored_file", lambda *given: SimpleNamespace(make=lambda: b"PK of a worker"))
    assert do_job(job_id=job.pk)
    job.refresh_from_db()
    package = packages.download_package(report=report)
    assert package is not None
    assert package.content == b"PK of a worker"
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(days=8))
    archives.clean_jobs()
    assert not default_storage.exists(job.file)


def test_sweeps_go_on_while_the_storage_is_away(gate: Gate) -> None:
    run = make_run_at("succeeded", algorithms="toppop")
    part = run.parts.filter(kind="measure").first()
    assert part is not None
    RunPart.objects.filter(pk=part.pk).update(result_digest="0" * 64)  # to be removed
    gate.shut()
    for sweep in (
        study_tasks.sweep, evaluation_tasks.sweep, catalog_tasks.sweep, job_tasks.sweep,
    ):  # fmt: skip
        sweep()
    part.refresh_from_db()
    assert part.result_digest
    gate.open()
    evaluation_tasks.sweep()
    part.refresh_from_db()
    assert not part.result_digest


# Pages


def test_a_study_waits_for_the_storage_and_pauses_for_a_missing_model(
    gate: Gate, settings: Any, object_server: ObjectServer, bucket: str, tmp_path: Path
) -> None:
    study = make_study()
    person = assigned(study)
    for item in items_of(study, 5):
        ratings.rate_item(participant=person, item=item, rating=3)
    on_another_machine(settings, tmp_path / "other")
    gate.shut()
    with pytest.raises(StorageUnavailable) as caught:
        recommending.finish_rating(participant=person)
    assert is_outage(caught.value)
    study.refresh_from_db()
    assert study.status == StudyStatus.LIVE
    gate.open()
    assert person.condition is not None
    prefix = f"installation/artefacts/models/{person.condition.model_digest}/"
    object_server.client().delete_object(Bucket=bucket, Key=f"{prefix}meta.json")
    with transaction.atomic(), pytest.raises(ParallaxError, match="your recommendations"):
        recommending.finish_rating(participant=person)
    study.refresh_from_db()
    assert study.status == StudyStatus.PAUSED


def test_a_page_that_needs_the_storage_says_that_it_is_away(gate: Gate, settings: Any, tmp_path: Path) -> None:
    study = make_study()
    client = Client(raise_request_exception=False)
    client.force_login(study.memberships.get().researcher)
    job = request_export(study=study, kind="wide", options=Options(include_simulated=True))
    Job.objects.filter(pk=job.pk).update(status=JobStatus.SUCCEEDED, file="exports/1/a.zip")
    gate.shut()
    answer = client.get(reverse("studies:export-file", args=(study.slug, job.pk)))
    assert answer.status_code == 503
    assert "store or read" in answer.text


# Uploads


RATINGS = "reader,book,mark\n" + "".join(f"{u},{b},{1 + (3 * u + 5 * b) % 10}\n" for u in range(12) for b in range(8))


@pytest.fixture
def uploaded(settings: Any, tmp_path: Path) -> Job:
    """An upload that the web server of one machine has received."""
    on_another_machine(settings, tmp_path / "web")
    upload = SimpleUploadedFile("marks.csv", RATINGS.encode())
    job = dataset_jobs.prepare_import(uploads=[upload], actor=UserFactory())
    dataset_jobs.start_import(job=job, chosen={"name": "marks"}, actor=job.owner)
    return job


def test_an_upload_is_imported_by_a_worker_of_another_machine(
    uploaded: Job, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = settings.VAR_DIR
    on_another_machine(settings, tmp_path / "worker")
    work()
    uploaded.refresh_from_db()
    assert uploaded.status == "succeeded", uploaded.error
    assert uploaded.subject.n_ratings == 96
    assert default_storage.listdir("uploads") == ([], [])
    # The machine that received it deletes its copy in a sweep.
    settings.VAR_DIR = web
    assert len(list((web / "uploads").iterdir())) == 1
    monkeypatch.setattr(upload_folders, "ORPHAN_SECONDS", -1)
    dataset_jobs.clean_uploads()
    assert list((web / "uploads").iterdir()) == []


def test_uploads_of_no_job_are_deleted_from_the_storage_later(monkeypatch: pytest.MonkeyPatch) -> None:
    name = upload_folders.new_folder()
    upload_folders.store_upload(SimpleUploadedFile("marks.csv", b"a,b"), folder=name, part="ratings")
    upload_folders.delete_orphans(set())
    assert default_storage.listdir("uploads")[0] == [name]  # its job may be about to be stored
    monkeypatch.setattr(upload_folders, "ORPHAN_SECONDS", -1)
    upload_folders.delete_orphans({name})
    assert default_storage.listdir("uploads")[0] == [name]
    upload_folders.delete_orphans(set())
    assert default_storage.listdir("uploads")[0] == []


def test_an_upload_that_is_gone_is_refused_in_words(uploaded: Job, settings: Any, tmp_path: Path) -> None:
    upload_folders.delete_folder(uploaded.payload["folder"])
    on_another_machine(settings, tmp_path / "worker")
    work()
    uploaded.refresh_from_db()
    assert uploaded.status == "failed"
    assert "Upload it again" in uploaded.error


# Checks of the installation


def problems(found: Iterator[Diagnosis]) -> list[str]:
    listed = list(found)
    assert all(one.what and (one.level is Level.OK or one.remedy) for one in listed)
    return [f"{one.what} {one.remedy}" for one in listed if one.level is Level.PROBLEM]


def test_doctor_tries_the_bucket_and_leaves_nothing(settings: Any, gate: Gate) -> None:
    subjects = [one.subject for one in doctor.check_storages()]
    assert subjects == ["Artefacts", "Downloads and uploads", "Artefact cache"]
    assert problems(doctor.check_storages()) == []
    assert problems(machine.check_versions()) == []
    for alias in ("default", "artefacts"):
        assert storages[alias].listdir("doctor") == ([], [])


def test_doctor_names_the_setting_of_a_bucket_that_cannot_be_used(
    settings: Any, gate: Gate, object_server: ObjectServer
) -> None:
    object_server.require_accounts(0)
    try:
        refused = problems(doctor.check_storages())
    finally:
        object_server.require_accounts(None)
    assert len(refused) == 2
    assert all("AWS_SECRET_ACCESS_KEY" in words for words in refused)
    gate.shut()
    assert all("does not answer" in words for words in problems(doctor.check_storages()))
    gate.open()
    settings.STORAGES = {**settings.STORAGES, **bucket_storages(gate.url, "no-such-bucket")}
    missing = problems(doctor.check_storages())
    assert len(missing) == 2
    assert all("no-such-bucket" in words and "PARALLAX_ARTEFACTS_S3" in words for words in missing)


def test_doctor_names_a_cache_that_cannot_be_written_and_a_folder_that_must_be_shared(
    settings: Any, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    settings.ARTEFACT_CACHE = tmp_path / "file"
    assert ["PARALLAX_ARTEFACT_CACHE" in words for words in problems(doctor.check_storages())] == [True]
    settings.IMPORT_DIR = str(tmp_path)
    assert [one.level for one in doctor.check_import_folder()] == [Level.ADVICE]
    settings.ARTEFACTS_S3 = ""
    assert list(doctor.check_import_folder()) == []


def test_doctor_says_that_a_folder_is_of_one_machine(settings: Any) -> None:
    folder = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": settings.VAR_DIR}}
    settings.STORAGES = {**settings.STORAGES, "default": folder, "artefacts": folder}
    assert list(doctor.check_storages()) == []
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    (found,) = doctor.check_storages()
    assert found.level is Level.OK
    assert "PARALLAX_ARTEFACTS_S3" in found.what


def test_a_command_says_that_the_storage_is_away(gate: Gate, bucket: str, tmp_path: Path) -> None:
    script = (
        "import sys\nfrom parallax import command_line\n"
        "def call(argv):\n    from django.core.files.storage import default_storage\n    default_storage.listdir('')\n"
        "command_line.execute_from_command_line = call\ncommand_line.main(['manage.py', 'check'])\n"
    )
    installation = Installation(tmp_path / "var", **bucket_environment(gate.url, bucket))
    gate.shut()
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT, env=installation.environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: The storage http://127.0.0.1:")
    assert len(done.stderr.splitlines()) == 1


# Backups


@pytest.mark.core
def test_a_backup_holds_the_files_of_the_bucket_and_puts_them_into_another(
    settings: Any, gate: Gate, object_server: ObjectServer, tmp_path: Path
) -> None:
    digest = artefacts.store("models", {"a": np.arange(3)}, {})
    default_storage.save("exports/1/a.zip", ContentFile(b"an export"))
    default_storage.save("uploads/1/ratings/a.csv", ContentFile(b"waits for a worker"))
    found = {folder: stored_files.list_files(folder) for folder in stored_files.STORAGE_OF}
    assert found["media"] == ["exports/1/a.zip"]
    with new_archive(tmp_path / "backup.zip") as writer:
        for folder, names in found.items():
            stored_files.add_files(writer, folder, names)
        with pytest.raises(FileNotFoundError):
            stored_files.add_files(writer, "media", ["exports/gone.zip"])
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        archive.extractall(tmp_path / "extracted")
    settings.STORAGES = {**settings.STORAGES, **bucket_storages(gate.url, object_server.new_bucket())}
    on_another_machine(settings, tmp_path / "restored")
    with pytest.raises(ArtefactError):
        artefacts.load("models", digest)
    for folder in found:
        stored_files.restore_files(tmp_path / "extracted", folder)
        assert stored_files.list_files(folder) == found[folder]
    assert artefacts.load("models", digest).arrays["a"].tolist() == [0, 1, 2]
    artefacts.verify("models", digest)


CREATE = """
import django
django.setup()
from tests.factories.evaluation import make_run_at
make_run_at("succeeded", algorithms="toppop,puresvd:factors=4")
"""


def test_backup_and_restore_by_command_into_another_bucket(
    object_server: ObjectServer, tmp_path: Path, migrated_copy: Callable[[Path], None]
) -> None:
    def installed(name: str) -> Installation:
        environment = bucket_environment(object_server.url, object_server.new_bucket())
        return Installation(tmp_path / name, DJANGO_SETTINGS_MODULE="parallax.settings", **environment)

    source, target = installed("source"), installed("target")
    migrated_copy(source.var / "parallax.sqlite3")
    source.run("-c", CREATE)
    said = source.manage("backup", str(tmp_path / "backup.zip"), "--skip-trial")
    assert "files of artefacts" in said
    target.manage("restore", str(tmp_path / "backup.zip"))
    assert json.loads(target.manage("check_integrity", "--json"))["findings"] == []
