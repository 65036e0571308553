"""A new study: on files, on a dataset whose run is started first, or on a finished run."""

from __future__ import annotations

import html
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import User
from evaluation.models import EvaluationRun
from evaluation.services.run_proposals import proposals_for, run_of_proposal
from evaluation.services.runs import cancel_run
from jobs.models import Job, JobStatus
from jobs.services import do_job, sweep
from studies.design.services.new_study import free_slug
from studies.models import Study
from tests.catalog.test_uploads import RATINGS, import_it
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.console import console_url, signed_in
from tests.factories.evaluation import make_run_at, work_off
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
NEW = "studies:new"


@pytest.fixture
def me(db: Any) -> User:
    researcher: User = UserFactory()
    return researcher


@pytest.fixture
def client(me: User) -> Client:
    return signed_in(me)


def test_a_study_on_a_finished_run_is_created_at_once(client: Client) -> None:
    run = make_run_at("succeeded")
    make_run_at("succeeded", version=run.version, seed=9)
    assert client.get(reverse(NEW), {"run": run.pk}).context["form"]["kind"].value() == "custom"
    fields = {"title": "Good films", "kind": "custom", "template": "cremonesi-2011", "run": run.pk}
    response = client.post(reverse(NEW), fields)
    study = Study.objects.get()
    assert response.url == console_url("dataset", study)
    assert (study.run_id, study.title, study.slug) == (run.pk, "Good films", "good-films")
    again = client.post(reverse(NEW), {**fields, "slug": "good-films"}).text
    assert "There is a study called good-films already." in again
    assert Study.objects.count() == 1


def test_a_study_on_a_dataset_waits_for_its_run_and_opens(client: Client, me: User) -> None:
    make_version()
    response = client.post(reverse(NEW), {"title": "Good films", "kind": "quick", "dataset": "small"})
    run, job = EvaluationRun.objects.get(), Job.objects.get(kind="study")
    assert run.owner == me
    assert response.url == reverse("studies:starting", args=[job.pk])
    page = client.get(response.url)
    assert f"run {run.pk}" in page.text
    assert "0\n  of 1 parts" in page.text
    assert not do_job(job_id=job.pk)
    assert not Study.objects.exists()
    work_off(run)
    assert do_job(job_id=job.pk)
    study = Study.objects.get()
    assert (study.slug, study.run, study.memberships.get().researcher) == ("good-films", run, me)
    assert [condition.label for condition in study.conditions.order_by("position")] == [
        "TopPop",
        "NNCosNgr",
        "PureSVD40",
    ]
    assert client.get(response.url).url == console_url("dataset", study)
    assert client.get(response.url, headers={"HX-Request": "true"})["HX-Redirect"] == console_url("dataset", study)
    assert signed_in(UserFactory()).get(response.url).status_code == 404


def test_a_second_study_on_the_same_models_starts_no_second_run(client: Client, me: User) -> None:
    version = make_version()
    run = work_off(run_of_proposal(proposal=proposals_for(version)["quick"], version=version, owner=me))
    response = client.post(reverse(NEW), {"title": "Again", "kind": "quick", "dataset": "small"})
    assert EvaluationRun.objects.get() == run
    assert response.url == console_url("dataset", Study.objects.get())


def test_a_cancelled_run_ends_the_wait_with_its_reason(client: Client) -> None:
    make_version()
    address = client.post(reverse(NEW), {"title": "Films", "kind": "quick", "dataset": "small"}).url
    cancel_run(run=EvaluationRun.objects.get())
    sweep()
    assert Job.objects.get(kind="study").status == JobStatus.FAILED
    assert "did not finish" in client.get(address).text
    client.post(reverse(NEW), {"title": "Films", "kind": "quick", "dataset": "small"})
    assert EvaluationRun.objects.get().status == "queued"


def test_a_file_leads_through_the_import_and_back(client: Client, settings: Any, tmp_path: Any) -> None:
    settings.VAR_DIR = tmp_path
    upload = SimpleUploadedFile("marks.csv", RATINGS.encode())
    sent = client.post(reverse(NEW), {"title": "Good books", "kind": "replication", "uploads": [upload]})
    assert sent["Location"].endswith("/columns/")
    back = import_it(client, sent)
    form = client.get(back["Location"]).context["form"]
    assert (form["title"].value(), form["kind"].value(), form["dataset"].value()) == (
        "Good books",
        "replication",
        "marks",
    )
    assert form.proposals["replication"].summary in client.get(back["Location"]).text


@pytest.mark.parametrize(("kind", "given"), [("quick", {"dataset": "small"}), ("replication", {})])
def test_a_template_decides_what_is_compared(client: Client, kind: str, given: dict[str, str]) -> None:
    make_version()
    page = client.get(reverse(NEW), {"template": "diversity-dose", "kind": kind, **given})
    form = page.context["form"]
    assert [card.get("title") if isinstance(card, dict) else card.title for card in form.cards] == ["Quick comparison"]
    assert form["kind"].value() == "quick"
    assert client.get(reverse(NEW), {"kind": "quick", "run": 1}).context["form"]["kind"].value() == "quick"
    assert "+ MMR 0.6 and PureSVD" in page.text
    said = html.unescape(page.text)
    assert all(preset.description in said for preset in form.templates)
    sent = {"title": "Doses", "template": "diversity-dose", "kind": "replication", "dataset": "small"}
    assert "Select a valid choice" in client.post(reverse(NEW), sent).text


def test_a_study_from_a_template_waits_for_the_run_it_needs(client: Client) -> None:
    make_version()
    sent = {"title": "Doses", "template": "diversity-dose", "kind": "quick", "dataset": "small"}
    client.post(reverse(NEW), sent)
    work_off(EvaluationRun.objects.get())
    assert do_job(job_id=Job.objects.get(kind="study").pk)
    study = Study.objects.get()
    assert (study.template, study.conditions.count()) == ("diversity-dose", 4)


def test_a_run_that_lacks_what_a_template_needs_is_refused_with_the_remedy(client: Client) -> None:
    run = make_run_at("succeeded")
    sent = {"title": "Doses", "template": "diversity-dose", "kind": "custom", "run": run.pk}
    page = client.post(reverse(NEW), sent)
    assert "did not measure PureSVD4 + MMR 0.3" in page.text
    assert "manage.py evaluate small" in page.text
    assert not Study.objects.exists()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"title": ""}, "This field is required."),
        ({"dataset": ""}, "Choose a file, or a dataset."),
        ({"kind": "custom"}, "Choose a finished run, or start one first."),
        ({"slug": "new"}, "A study&#x27;s link cannot end in"),
    ],
)
def test_what_is_missing_is_said(client: Client, changes: dict[str, str], problem: str) -> None:
    make_version()
    page = client.post(reverse(NEW), {"title": "Films", "kind": "quick", "dataset": "small", **changes})
    assert problem in page.text
    assert not Study.objects.exists()


def test_a_link_follows_from_the_title() -> None:
    assert free_slug("Gute Bücher, 2nd wave!") == "gute-bucher-2nd-wave"
    assert free_slug("日本") == "study"
    assert free_slug("New") == "new-2"
    make_study(slug="books")
    make_study(slug="books-2", run=Study.objects.get().run)
    assert free_slug("Books") == "books-3"
