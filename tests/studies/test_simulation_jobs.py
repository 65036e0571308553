"""Simulated participants requested in the console: a worker walks them, and the page shows how far it is."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from core.errors import ParallaxError
from jobs.models import Job, JobStatus
from jobs.services import do_job
from studies.enums import Mode, Role
from studies.models import Participant, Study
from studies.simulation.services.pilot import request_simulation
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.console import owner_of, signed_in
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
FIELDS = {"per_condition": "1", "seed": "3"}


def _request(study: Study, **changes: Any) -> Job:
    asked = {"per_condition": 1, "seed": 3, "base_url": "http://127.0.0.1:9/", "actor": None, **changes}
    return request_simulation(study=study, **asked)


def test_a_request_is_stored_once_and_its_page_shows_progress(sent: list[int]) -> None:
    study = make_study()
    client, url = owner_of(study), reverse("studies:simulate", args=[study.slug])
    assert "labelled as simulated" in client.get(url).text
    for given, problem in (({"per_condition": "0"}, "greater than or equal to 1"), ({"seed": ""}, "required")):
        assert problem in client.post(url, {**FIELDS, **given}).text
    page = client.post(url, FIELDS).url
    job = study.jobs.get()
    assert job.payload == {"per_condition": 1, "seed": 3, "base_url": "http://testserver/"}
    assert client.post(url, FIELDS).url == page  # the open job
    assert sent == [job.pk]
    assert "Waiting for a worker" in client.get(page).text
    study.jobs.update(status=JobStatus.RUNNING, activity="1 of 2 participants")
    part = client.get(page, headers={"HX-Request": "true"}).text
    assert "1 of 2 participants" in part
    assert "every 2s" in part
    assert "<html" not in part
    study.jobs.update(status=JobStatus.SUCCEEDED)
    assert reverse("studies:quality", args=[study.slug]) in client.get(page).text
    study.jobs.update(status=JobStatus.FAILED, error="No answer.")
    analyst = UserFactory()
    add_member(study=study, email=analyst.email, role=Role.ANALYST)
    assert "Start again" in client.get(page).text
    assert "No answer." in signed_in(analyst).get(page).text
    assert "Start again" not in signed_in(analyst).get(page).text


def test_what_cannot_be_simulated_is_refused_and_a_failed_walk_says_why(sent: list[int]) -> None:
    study = make_study(run=make_run_at("succeeded", reserve=0.3))
    for given, problem in (({"per_condition": 0}, "Simulate 1 to"), ({"per_condition": 201}, "Simulate 1 to")):
        with pytest.raises(ParallaxError, match=problem):
            _request(study, **given)
    job = _request(study)
    assert not do_job(job_id=job.pk)  # nobody answers at port 9
    job.refresh_from_db()
    assert job.status == JobStatus.FAILED
    assert "port 9" in job.error or ":9" in job.error
    assert not do_job(job_id=job.pk)  # a repeated message
    assert not do_job(job_id=0)
    assert _request(study).pk != job.pk
    study.jobs.all().delete()
    Study.objects.update(status="closed")
    with pytest.raises(ParallaxError, match="live studies only"):
        _request(study)
    draft = make_study(slug="draft", status="draft", run=study.run)
    Study.objects.filter(pk=draft.pk).update(texts={})
    with pytest.raises(ParallaxError, match="launched yet"):
        _request(Study.objects.get(pk=draft.pk))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_walks_simulated_participants_to_the_end(live_server: Any, sent: list[int]) -> None:
    study = make_study(run=make_run_at("succeeded", reserve=0.3))
    job = _request(study, base_url=f"{live_server.url}/")
    assert do_job(job_id=job.pk)
    job.refresh_from_db()
    assert (job.status, job.result) == (JobStatus.SUCCEEDED, {"reached": "2 of 2 participants"})
    modes = Participant.objects.filter(study=study).values_list("mode", "status")
    assert set(modes) == {(Mode.SIMULATED, "completed")}
