"""Experiments started in the console: their runs are queued, and the outcome is written once all have succeeded."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from catalog.models import DatasetVersion
from core.errors import ParallaxError
from evaluation.enums import RunStatus
from evaluation.experiments.yaml_loader import parse
from evaluation.models import EvaluationRun
from evaluation.services import experiment_jobs as jobs
from jobs.models import Job, JobStatus
from jobs.services import do_job, sweep
from tests.approval import assert_page_approved
from tests.evaluation.test_yaml_loader import SMALL
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.console import signed_in
from tests.factories.evaluation import work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
KEY = "croc-cold"  # a shipped one, in whose place a small one is read


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "read_experiment", lambda name: parse(SMALL, name))


def _ran(job: Job) -> None:
    for run in jobs.runs_of(job).values():
        work_off(run)
    Job.objects.update(hinted_at=None)


def _client() -> Client:
    return signed_in(UserFactory())


def test_an_experiment_waits_for_its_runs_and_its_outcome_is_downloaded(sent: list[int]) -> None:
    version: DatasetVersion = make_version()
    client, url = _client(), reverse("evaluation:experiment", args=[KEY])
    assert "Start experiment" in client.get(url).text
    assert "dataset" in client.post(url, {"dataset": "no-such"}).context["form"].errors
    page = client.post(url, {"dataset": version.dataset.name}).url
    job = Job.objects.get()
    assert client.post(url, {"dataset": version.dataset.name}).url == page  # the open job
    assert_page_approved("evaluation/experiment-running", client.get(page).text)
    assert client.get(reverse("evaluation:experiment-file", args=[job.pk])).status_code == 404
    sweep()
    assert sent == []
    _ran(job)
    sweep()
    assert sent == [job.pk]
    assert do_job(job_id=job.pk)
    assert not do_job(job_id=job.pk)
    part = client.get(page, headers={"HX-Request": "true"}).text
    assert_page_approved("evaluation/experiment-finished", part)
    assert "<html" not in part
    response = client.get(reverse("evaluation:experiment-file", args=[job.pk]))
    with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as archive:
        assert f"{KEY}/outcome.html" in archive.namelist()
    again = jobs.start_experiment(key=KEY, version=version, actor=None)  # finished runs are reused
    assert sent == [job.pk, again.pk]


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.CANCELLED])
def test_a_run_that_cannot_finish_fails_its_experiment(sent: list[int], status: str) -> None:
    job = jobs.start_experiment(key=KEY, version=make_version(), actor=None)
    EvaluationRun.objects.update(status=status, error="Out of memory.")
    sweep()
    job.refresh_from_db()
    assert job.status == JobStatus.FAILED
    assert "Out of memory." in _client().get(reverse("evaluation:experiment-job", args=[job.pk])).text
    assert not sent


def test_a_worker_that_is_too_early_or_too_late_writes_nothing(sent: list[int]) -> None:
    job = jobs.start_experiment(key=KEY, version=make_version(), actor=None)
    assert not do_job(job_id=0)
    assert not do_job(job_id=job.pk)
    job.refresh_from_db()
    assert job.status == JobStatus.QUEUED
    EvaluationRun.objects.all().delete()
    sweep()
    job.refresh_from_db()
    assert "was deleted" in job.error


def test_a_dataset_with_the_data_that_are_needed_is_chosen_first() -> None:
    names = []
    for name, highest in (("a-usage", 1), ("b-ratings", 5)):
        version = make_version(name=name)
        DatasetVersion.objects.filter(pk=version.pk).update(scale_low=1, scale_high=highest)
        names.append(version.dataset.name)
    page = _client().get(reverse("evaluation:experiment", args=[KEY]))
    assert [name for name, _label in page.context["form"].fields["dataset"].choices] == names[::-1]


def test_data_that_do_not_fit_are_refused_and_unknown_experiments_are_not_found(monkeypatch: Any) -> None:
    def refuse(**_given: Any) -> None:
        raise ParallaxError("experiment.other_data", "It contains no utilities.")

    monkeypatch.setattr("evaluation.views.start_experiment", refuse)
    version = make_version()
    url = reverse("evaluation:experiment", args=["survey-utility"])
    assert "no utilities" in _client().post(url, {"dataset": version.dataset.name}).text
    assert _client().get(reverse("evaluation:experiment", args=["nothing"])).status_code == 404
