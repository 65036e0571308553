"""Lists that are prepared: requested once, waited for by all alike, and stored as the service gave them."""

from __future__ import annotations

import pytest
from django.test import Client

from evaluation.enums import ModelOrigin
from evaluation.models import TrainedModel
from jobs.models import Job
from studies.models import ListRequest, Participant, RecommendationList
from tests.factories.studies import make_study
from tests.factories.walking import Person, leads

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_list_is_prepared_by_a_worker(client: Client) -> None:
    study = make_study()
    TrainedModel.objects.filter(pk=study.conditions.first().model_id).update(origin=ModelOrigin.REMOTE)
    study.save()
    for _ in range(2):
        person = Person(study)
        person.to("rate")
        participant = Participant.objects.latest("pk")
        pages = person.pages()
        assert next(pages).step == "rate"
        page = next(pages)
        print(page.step, participant.condition.label, page.text("//main"))
        print(Job.objects.all(), ListRequest.objects.all())
        for job in Job.objects.filter(kind="list", status="queued"):
            from jobs.services import do_job
            do_job(job_id=job.pk)
            job.refresh_from_db()
            print(job.status, job.error)
        if page.step == "preparation":
            response = person.client.get(page.url, headers={"HX-Request": "true"})
            print(response.headers)
        print(RecommendationList.objects.all())
    assert 0
