"""Lists of a remote recommender: collected once for the profiles of a run, measured as lists, joined with studies."""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from misbehaving import InOrder
from service import Catalogue, Handler, Recommender, Server

from analysis.services import build_report
from catalog.services.dataset_jobs import clean_uploads
from catalog.services.upload_folders import folder_of
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.selectors.results import model_rows
from evaluation.services.collecting import depth_of
from evaluation.services.remote import register
from evaluation.services.serving import opened_model, recommend
from jobs.models import Job, JobStatus
from jobs.services import do_job
from parallax.integrity.all_checks import findings
from recommenders.base import Algorithm
from recommenders.data import Scale
from studies.design.selectors.available_models import available_models
from studies.design.services.conditions import choose_conditions
from studies.design.services.launch import launch_study
from tests.factories.accounts import UserFactory
from tests.factories.analysis import planted_person
from tests.factories.evaluation import make_run, work_off
from tests.factories.remote import running, service_that_is
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
EXACT = {"name": "one-plus-random", "relevant": 5.0, "irrelevant": 1.0, "negatives": 8, "mode": "exact"}


class OfModel(Recommender):
    """Serves a stored model."""

    model: Algorithm

    def recommend(self, request: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        index_of = {item: at for at, item in enumerate(self.catalogue.ids)}
        profile, scale = request["profile"], request["scale"]
        best = self.model.answer(
            [index_of[rated["item"]] for rated in profile],
            [rated["rating"] for rated in profile],
            Scale(scale["low"], scale["high"], scale["step"]),
            request["n"],
        )
        return [{"item": self.catalogue.ids[item], "score": float(-at)} for at, item in enumerate(best.items)], {}


@pytest.mark.slow
def test_collected_lists_are_measured_as_they_are_served(tmp_path: Path, settings: Any) -> None:
    settings.RECOMMENDER_HOSTS = ["127.0.0.1"]
    run = work_off(make_run(algorithms="toppop, puresvd:factors=4", protocol=EXACT, profile_lengths=(3,)))
    fitted = run.algorithms.get(position=1).model
    assert fitted is not None
    call_command("export_items", run.version.dataset.name, tmp_path / "items.jsonl")
    served = OfModel(Catalogue(tmp_path / "items.jsonl"))
    served.model = opened_model(fitted.digest)
    out = StringIO()
    with running(Server(served, 0, "", Handler)) as address:
        register(name="svd", address=address, operator="Example University", seconds=20)
        options: dict[str, Any] = {"out": tmp_path, "per_second": 1000.0, "learned_from": fitted.training_digest}
        call_command("collect_lists", run.pk, "svd", stdout=out, **options)
        remote = TrainedModel.objects.get(origin="remote")
        profile: dict[str, Any] = {"items": [0, 3, 8], "ratings": [5.0, 4.0, 1.0], "scale": (1.0, 5.0, 1.0)}
        assert recommend(model=remote, n=5, **profile).items == recommend(model=fitted, n=5, **profile).items
    (file,) = tmp_path.glob("lists-svd-*.csv")
    whole = file.read_bytes()
    middle = whole.index(b"\n", len(whole) // 2) + 1
    with running(Server(served, 0, "", Handler)) as address:
        register(name="svd", address=address, operator="Example University", seconds=20)
        for end in (0, 3, middle, middle + 40, len(whole) - 5):  # killed there, and called again
            file.write_bytes(whole[:end])
            call_command("collect_lists", run.pk, "svd", stdout=StringIO(), **options)
            assert file.read_bytes() == whole
        call_command("collect_lists", run.pk, "svd", depth=4, stdout=StringIO(), **options)  # in a file of its own
    assert file.read_bytes() == whole
    (short,) = tmp_path.glob("lists-svd-*-4.csv")
    assert set(Counter(line.partition(",")[0] for line in short.read_text().splitlines()[1:]).values()) == {4}
    upload = out.getvalue().partition("lists:upload=")[2][:64]
    again = work_off(
        make_run(
            version=run.version,
            algorithms=f"puresvd:factors=4, lists:upload={upload},name=svd",
            protocol=EXACT,
            profile_lengths=(3,),
        )
    )
    assert again.status == "succeeded", again.error
    for length in (0, 3):
        own, lists = model_rows(again, length)
        low, high = (lists.cells[f"recall(unlisted={end})"].value for end in ("worst", "best"))
        assert low <= own.cells["recall"].value <= high
        assert high - low < 0.05
    study = make_study(run=again, status="draft")
    assert remote.digest in {entry.model.digest for entry in available_models(study, None)}
    pinned = list(study.conditions.order_by("position").values_list("model_digest", flat=True))
    choose_conditions(study=study, digests=pinned[::-1])
    choose_conditions(study=study, digests=pinned)
    study.refresh_from_db()
    own_texts = study.texts.items()
    study.texts = {language: {**own, "consent": "Example University takes part."} for language, own in own_texts}
    study.save()
    with running(Server(served, 0, "", Handler)) as address:
        register(name="svd", address=address, operator="Example University", seconds=20)
        launch_study(study=study)
    assert not list(findings())
    for condition in study.conditions.order_by("position"):
        for rating in (1, 3, 4):
            planted_person(study, condition.label, [rating, 3, 4, 2, 1], rating)
    report = build_report(study=study)
    assert [facts.reads_order for facts in report.read_results().conditions] == [False, True]
    assert [condition.model.origin for condition in study.conditions.order_by("position")] == ["fitted", "remote"]
    assert depth_of(run) <= run.version.n_items


@pytest.fixture
def collecting(tmp_path: Path, settings: Any) -> tuple[EvaluationRun, Path, Client]:
    settings.RECOMMENDER_HOSTS = ["127.0.0.1"]
    run = work_off(make_run(algorithms="toppop", protocol=EXACT, profile_lengths=(3,)))
    call_command("export_items", run.version.dataset.name, tmp_path / "items.jsonl")
    client = Client()
    client.force_login(UserFactory(is_staff=True))
    return run, tmp_path / "items.jsonl", client


def asked(client: Client, run: EvaluationRun, **stated: Any) -> Any:
    return client.post(
        reverse("evaluation:lists", args=[run.pk]), {"recommender": "gru", "per_second": "1000", **stated}, follow=True
    )


def after(n: int, act: Callable[[], Any]) -> Any:
    """In the place of `time`, for a worker to whom something happens between two requests."""
    pauses = itertools.count(1)
    return patch(
        "evaluation.services.collecting.time",
        SimpleNamespace(monotonic=time.monotonic, sleep=lambda _seconds: act() if next(pauses) == n else None),
    )


def stop() -> None:
    raise KeyboardInterrupt


def test_worker_collects_lists_and_another_continues_without_asking_twice(
    collecting: tuple[EvaluationRun, Path, Client],
) -> None:
    run, items, client = collecting
    requests: list[str] = []
    in_order = InOrder.recommend

    def noted(self: InOrder, request: dict[str, Any]) -> Any:
        requests.append(request["request"])
        return in_order(self, request)

    with service_that_is("well", items) as service, patch.object(InOrder, "recommend", noted):
        register(name="gru", address=service.address, operator="Example University", seconds=20)
        assert f"Upload of the lists of gru for run {run.pk}" in asked(client, run).text
        assert "A worker collects the lists of gru" in asked(client, run).text
        job = Job.objects.get(kind="lists-collection")
        with after(4, stop), pytest.raises(KeyboardInterrupt):
            do_job(job_id=job.pk)
        job.refresh_from_db()
        assert (job.status, len(requests)) == (JobStatus.QUEUED, 4)
        with after(3, lambda: Job.objects.update(status=JobStatus.CANCELLED)), patch("jobs.services.REPORT_SECONDS", 0):
            assert not do_job(job_id=job.pk)
        page = client.get(reverse("evaluation:uploaded", args=[job.pk])).text
        assert "This was cancelled" in page
        assert reverse("evaluation:lists", args=[run.pk]) in page
        folder = folder_of(job.payload["folder"], "").resolve()
        os.utime(folder, (0, 0))
        clean_uploads()  # a cancelled collection can be continued for as long as its job is kept
        n_before = len(requests)
        assert len(set(requests)) < n_before < 10
        asked(client, run)
        job = Job.objects.latest("pk")
        assert do_job(job_id=job.pk)
    assert not folder.exists()
    # Of the lists of a worker that stopped, the last one may be half of one, and is asked for again.
    assert len(requests) - len(set(requests)) == 2
    page = client.get(reverse("evaluation:uploaded", args=[job.pk])).text
    model = TrainedModel.objects.get(algorithm="lists")
    assert f"Upload <code>{model.params['upload']}</code>" in page
    assert f"the profile lengths of run {run.pk}" in page
    assert "Measure it in a run" in page


def test_collection_is_cancelled_and_refused(collecting: tuple[EvaluationRun, Path, Client]) -> None:
    run, items, client = collecting
    with service_that_is("dead", items, retry_after=()) as service:
        register(name="gru", address=service.address, operator="Example University", seconds=20)
        page = asked(client, run, per_second="0", learned_from="x")
        assert set(page.context["form"].errors) == {"per_second", "learned_from"}
        asked(client, run)
        job = Job.objects.get(kind="lists-collection")
        page = client.post(reverse("evaluation:cancel-upload", args=[job.pk]), follow=True)
        assert "This was cancelled" in page.text
    stranger = Client()
    stranger.force_login(UserFactory())
    assert stranger.post(reverse("evaluation:cancel-upload", args=[job.pk])).status_code == 404
    asked(client, run)
    assert not do_job(job_id=Job.objects.latest("pk").pk)  # no service is there any more
    page = client.get(reverse("evaluation:uploaded", args=[Job.objects.latest("pk").pk]))
    assert "those that are stored are not asked for again" in page.text
    assert "gru cannot be used" in page.text
