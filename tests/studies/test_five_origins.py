"""A study of conditions of every origin, walked over HTTP while the service of one of them is killed and restarted."""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection

from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_ids_of, ratings_of
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.remote.client import Service, about
from evaluation.services.remote import register
from jobs.models import Job, JobStatus
from parallax.children import Children
from studies.design.services.condition_serving import recommend_in
from studies.design.services.launch import launch_study
from studies.enums import ParticipantStatus, StudyStatus
from studies.models import ListRequest, Notice, Participant, Study
from studies.participation.services.serving import profile_of
from studies.simulation.services.pilot import walk_group
from tests.factories.catalog import make_version
from tests.factories.databases import database_url
from tests.factories.evaluation import make_run, work_off
from tests.factories.exports import Exported
from tests.factories.remote import HERE
from tests.factories.studies import make_study
from tests.parallax.test_children import free_port

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PER_CONDITION = 6  # simulated participants, in five conditions
AT_ONCE = 6
ORIGINS = {"puresvd": "fitted", "re-ranked": "fitted", "matrix": "matrix", "lists": "lists", "remote": "remote"}
OPERATOR = "Example University"
PROTOCOL = {"name": "one-plus-random", "relevant": 4.0, "irrelevant": 2.0, "negatives": 8, "mode": "exact"}
SERVICE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "remote-recommender" / "misbehaving.py"


def until(condition: Callable[[], Any], seconds: float = 150.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.05)


class ServiceProcess:
    """The example service as a process of its own, which can be killed and started again on its port."""

    def __init__(self, items: Path) -> None:
        self.port = free_port()
        self.command = [sys.executable, SERVICE, items, "--port", str(self.port)]
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command)
        about(Service("svc", self.address, HERE, 10, retry_after=(0.2,) * 50))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def service(transactional_db: None, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    settings.RECOMMENDER_HOSTS = ["127.0.0.1"]
    monkeypatch.setenv("PARALLAX_RECOMMENDER_HOSTS", "127.0.0.1")
    monkeypatch.setenv("DATABASE_URL", database_url())
    make_version()
    call_command("export_items", "small", tmp_path / "items.jsonl")
    process = ServiceProcess(tmp_path / "items.jsonl")
    yield process
    process.kill()


def measured(version: DatasetVersion, algorithms: str) -> EvaluationRun:
    run = work_off(make_run(version=version, algorithms=algorithms, protocol=PROTOCOL, reserve=0.25))
    assert run.status == "succeeded", run.error
    return run


def uploads(version: DatasetVersion, folder: Path, learned_from: str) -> list[str]:
    """A matrix of shared users and one list for everyone, as a run names them."""
    ids, rated = item_ids_of(version), ratings_of(version).user_items.astype(bool).astype(float)
    np.savez_compressed(folder / "shared.npz", items=ids, weights=(rated.T @ rated).toarray())
    with (folder / "everyone.csv").open("w", newline="") as file:
        csv.writer(file).writerows(("*", item) for item in sorted(ids, key=int))
    named = []
    for kind, name in (("matrix", "shared.npz"), ("lists", "everyone.csv")):
        out = StringIO()
        options = {"kind": kind, "name": kind, "learned_from": learned_from}
        call_command("upload_model", "small", folder / name, stdout=out, **options)
        model = TrainedModel.objects.get(algorithm=kind)
        named.append(f"{kind}:" + ",".join(f"{key}={value}" for key, value in model.params.items() if value))
    return named


def study_of_five(service: ServiceProcess, folder: Path) -> Study:
    version = DatasetVersion.objects.get()
    run = measured(version, "puresvd:factors=4")
    fitted = run.algorithms.get().model
    assert fitted is not None
    learned = fitted.training_digest
    matrix, lists = uploads(version, folder, learned)
    register(name="svc", address=service.address, operator=OPERATOR, seconds=5)
    out = StringIO()
    call_command("collect_lists", run.pk, "svc", out=folder, per_second=1e6, learned_from=learned, stdout=out)
    collected = out.getvalue().partition("lists:upload=")[2][:64]
    five = f"puresvd:factors=4,puresvd:factors=4|mmr:strength=0.3,{matrix},{lists},lists:upload={collected},name=svc"
    study = make_study(run=measured(version, five), status="draft")
    study.texts = {code: {**own, "consent": f"{own['consent']}\n\n{OPERATOR}."} for code, own in study.texts.items()}
    study.save()
    launch_study(study=study)
    origins = [condition.model.origin for condition in study.conditions.order_by("position")]
    assert origins == list(ORIGINS.values())
    assert [condition.model.base is not None for condition in study.conditions.order_by("position")].index(True) == 1
    return study


def interrupt(service: ServiceProcess) -> int:
    """Kill the service twice, each time until a worker has asked it in vain; returns how often."""

    def asking() -> set[int]:
        return set(Job.objects.filter(kind="list", status=JobStatus.RUNNING).values_list("pk", flat=True))

    def is_asked_in_vain() -> bool:
        before = asking()
        time.sleep(0.5)  # an answer takes a hundredth of it
        return bool(before & asking())

    try:
        for n_answered in (1, 3):
            until(lambda n=n_answered: ListRequest.objects.filter(answer__isnull=False).count() >= n)  # type: ignore[misc]
            service.kill()
            until(is_asked_in_vain)
            service.start()
    finally:
        connection.close()
    return 2


def test_five_origins_are_walked_while_the_service_is_killed_twice(service: ServiceProcess, tmp_path: Path) -> None:
    study = study_of_five(service, tmp_path)
    with Children(port=free_port(), workers=1) as site, ThreadPoolExecutor(1) as beside:
        kills = beside.submit(interrupt, service)
        done = walk_group(
            study=study,
            per_condition=PER_CONDITION,
            seed=1,
            base_url=site.url,
            parallel=AT_ONCE,
            progress=lambda progress: None,
        )
        assert kills.result() == 2
    n = PER_CONDITION * len(ORIGINS)
    assert (done.finished, done.outcomes) == (n, {"thanks": n})
    study.refresh_from_db()
    assert study.status == StudyStatus.LIVE
    assert not Notice.objects.exists()

    people = Participant.objects.filter(study=study).select_related("condition", "list_request")
    assert Counter(each.condition.position for each in people) == dict.fromkeys(range(5), PER_CONDITION)
    attempts = []
    for participant in people:
        assert participant.status == ParticipantStatus.COMPLETED
        assert participant.profile.count() == 5
        assert participant.responses.filter(question="rating").count() == 5
        assert participant.responses.filter(question="satisfaction").count() == 1
        # What was shown is what the pinned model answers to the stored ratings, here and now.
        stored, profile = participant.recommendation_list, profile_of(participant)
        served = recommend_in(
            study=study,
            condition=participant.condition,
            ratings={item: rating for item, (rating, _at) in profile.items()},
            rated_at={item: at.timestamp() for item, (_rating, at) in profile.items()},
            n=5,
        )
        assert stored.model_digest == participant.condition.model_digest == served.digest
        assert tuple(slot.item.index for slot in stored.slots.order_by("rank")) == served.items
        assert not stored.slots.filter(is_filled=True).exists()
        if participant.condition.model.origin == "remote":
            attempts.append(participant.list_request.attempts)
    assert min(attempts) == 1
    assert max(attempts) > 1

    rows = [row for row in Exported(study, "wide", include_simulated=True).rows() if row["list.model"]]
    assert Counter(row["list.origin"] for row in rows) == Counter(list(ORIGINS.values()) * PER_CONDITION)
    shortest = study.design.preparation_seconds or 0
    assert shortest >= 1
    for row in rows:
        is_remote = row["list.origin"] == "remote"
        assert (row["list.version"], int(row["list.attempts"]) > 0) == ("1" if is_remote else "", is_remote)
        assert float(row["list.waited_seconds"]) >= shortest
    assert sum(int(row["list.attempts"]) for row in rows) == sum(attempts)
