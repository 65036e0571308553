"""Runs, experiments, recommendations and uploads through the REST API."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from accounts.models import User
from evaluation.experiments.yaml_loader import parse
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.services import experiment_jobs
from jobs.models import Job
from jobs.services import do_job
from tests.evaluation.test_yaml_loader import SMALL
from tests.factories.accounts import UserFactory, client_with_token
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at, work_off
from tests.factories.studies import make_usage_run

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
SPEC = {
    "dataset": "small",
    "algorithms": [["toppop", {}], ["puresvd", {"factors": 4}]],
    "split": {"name": "probe", "share": 0.2},
    "protocol": {"name": "one-plus-random", "negatives": 20, "relevant": 4.0, "irrelevant": 2.0},
    "reserve": 0.1,
}


class Program:
    """A program with a token of a researcher."""

    def __init__(self, researcher: User, scope: str = "read write") -> None:
        self._client = client_with_token(researcher, scope)

    def get(self, name: str, *args: Any, **query: Any) -> Any:
        return self._client.get(reverse(f"api:{name}", args=args), query)

    def post(self, name: str, *args: Any, **body: Any) -> Any:
        address = reverse(f"api:{name}", args=args)
        return self._client.post(address, json.dumps(body), "application/json")


@pytest.fixture
def researcher() -> User:
    return UserFactory()


@pytest.fixture
def program(researcher: User) -> Program:
    return Program(researcher)


def faults(response: Any) -> dict[str, str]:
    assert response.status_code == 400, response.content
    return {each.get("pointer", each.get("parameter")): each["detail"] for each in response.json()["errors"]}


def test_a_run_is_started_cancelled_resumed_and_measured(program: Program, researcher: User) -> None:
    make_version()
    started = program.post("runs-list", **SPEC)
    run = EvaluationRun.objects.get()
    assert started.status_code == 202
    assert started["Location"] == "http://testserver" + reverse("api:runs-detail", args=[run.pk])
    assert started["Retry-After"] == "2"
    assert (run.owner, started.json()["status"], started.json()["split"]) == (researcher, "queued", run.split)
    assert program.post("runs-cancel", run.pk).json()["status"] == "cancelled"
    again = program.post("runs-cancel", run.pk)
    assert again.status_code == 409
    assert program.post("runs-resume", run.pk).status_code == 202
    work_off(run)
    finished = program.get("runs-detail", run.pk)
    assert (finished.json()["status"], finished.has_header("Retry-After")) == ("succeeded", False)
    assert finished.json()["algorithms"][1]["params"]["factors"] == 4


def test_a_run_is_written_as_in_commands_and_repeated(program: Program) -> None:
    make_version()
    texts = {"algorithms": "toppop, puresvd:factors=4", "split": "probe:share=0.2", "repeats": 3}
    assert program.post("runs-list", **SPEC | texts).status_code == 202
    assert len({run.seed for run in EvaluationRun.objects.all()}) == 3
    assert {tuple(run.algorithms.values_list("algorithm", flat=True)) for run in EvaluationRun.objects.all()} == {
        ("toppop", "puresvd")
    }


def test_all_faults_of_a_run_are_named_at_once(program: Program) -> None:
    make_version()
    body = {**SPEC, "algorithms": "toppop,nothing", "split": {"share": 0.1}, "n": 0, "repeats": 99, "extra": 1}
    found = faults(program.post("runs-list", **body))
    assert set(found) == {"/algorithms", "/split", "/n", "/repeats", "/extra"}
    assert "nothing" in found["/algorithms"]
    assert found["/extra"] == "There is no such field. Correct its name, or remove it."
    assert "/algorithms" in faults(program.post("runs-list", **SPEC | {"algorithms": [["puresvd", {"factors": {}}]]}))
    assert set(faults(program.post("runs-list"))) == {"/algorithms", "/dataset", "/protocol", "/split"}
    unknown = program.post("runs-list", **SPEC | {"dataset": "none"})
    assert (unknown.status_code, unknown.json()["code"]) == (409, "dataset.unknown")
    assert "manage.py" not in unknown.content.decode()
    impossible = program.post("runs-list", **SPEC | {"algorithms": "puresvd:factors=4000"})
    assert impossible.status_code == 409
    assert not EvaluationRun.objects.exists()


def test_a_run_of_another_account_is_read_and_not_changed(program: Program) -> None:
    run = make_run_at("queued", owner=UserFactory())
    assert program.get("runs-detail", run.pk).status_code == 200
    for act in ("cancel", "resume"):
        assert program.post(f"runs-{act}", run.pk).status_code == 403
    assert EvaluationRun.objects.get().status == "queued"


def test_a_proposal_is_a_body_that_starts_a_run(program: Program) -> None:
    make_version()
    proposals = program.get("runs-proposals", dataset="small").json()["proposals"]
    assert [each["title"] for each in proposals.values()] == ["Quick comparison", "Replicate 2011"]
    assert program.post("runs-list", dataset="small", **proposals["quick"]["spec"]).status_code == 202
    assert "dataset" in faults(program.get("runs-proposals"))


def test_the_tests_of_a_run(program: Program) -> None:
    run = make_run_at("succeeded")
    metrics = program.get("runs-tests", run.pk, test="mcnemar").json()["metrics"]
    recall = next(each for each in program.get("runs-tests", run.pk).json()["metrics"] if each["metric"] == "recall")
    assert (recall["test"], recall["correction"]) == ("sign", "holm")
    assert {line["label"] for line in recall["lines"]} == {"TopPop", "PureSVD4"}
    assert recall["pairs"][0].keys() >= {"a", "b", "p", "is_significant"}
    assert all(each["test"] == "mcnemar" for each in metrics)
    assert faults(program.get("runs-tests", run.pk, test="t")) == {
        "test": "Write sign or signed-rank or nemenyi or sign-flip or mcnemar."
    }
    ranking = make_run_at("succeeded", version=run.version, protocol={"name": "full-ranking", "relevant": 4.0})
    assert "test" in faults(program.get("runs-tests", ranking.pk, test="mcnemar"))


def test_a_model_recommends_for_a_profile_and_needs_no_more_than_reading(researcher: User) -> None:
    run = make_run_at("succeeded")
    program = Program(researcher, "read")
    model = TrainedModel.objects.get(algorithm="puresvd")
    rows = program.post("models-recommendations", model.pk, profile={"7": 5, "12": 4}, n=3)
    assert rows.status_code == 200
    assert [each.keys() for each in rows.json()] == [{"item", "title", "score", "is_filled"}] * 3
    titles = dict(run.version.items.values_list("external_id", "title"))
    assert all(titles[each["item"]] == each["title"] for each in rows.json())
    assert not {"7", "12"} & {each["item"] for each in rows.json()}
    scores = [each["score"] for each in rows.json()]
    assert scores == sorted(scores, reverse=True)
    wrong = program.post("models-recommendations", model.pk, profile={"7": 9, "none": 4}, n=3)
    assert set(faults(wrong)) == {"/profile/7"}
    unknown = program.post("models-recommendations", model.pk, profile={"7": 5, "none": 4, "0": 1})
    assert faults(unknown) == dict.fromkeys(("/profile/none", "/profile/0"), f"{run.version} has no item of this id.")
    usage = make_usage_run()
    of_usage = TrainedModel.objects.filter(version=usage.version).first()
    assert of_usage is not None
    assert len(program.post("models-recommendations", of_usage.pk, profile={"7": 5}).json()) == 5
    assert "/n" in faults(program.post("models-recommendations", model.pk, profile={"7": 5}, n=99))
    assert "/profile" in faults(program.post("models-recommendations", model.pk, profile={}))
    assert program.post("runs-list", **SPEC).status_code == 403


def test_an_experiment_is_started_and_its_outcome_downloaded(
    program: Program, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment_jobs, "read_experiment", lambda name: parse(SMALL, name))
    make_version()
    assert "croc-cold" in [each["key"] for each in program.get("experiments-list").json()]
    assert "/experiment" in faults(program.post("experiments-list", experiment="none", dataset="small"))
    asked = {"experiment": "croc-cold", "dataset": "small"}
    started = program.post("experiments-list", **asked)
    job = Job.objects.get()
    assert (started.status_code, started.json()["made_url"]) == (202, None)
    assert started["Location"].endswith(reverse("api:jobs-detail", args=[job.pk]))
    assert program.post("experiments-list", **asked).json()["id"] == job.pk
    other = Program(UserFactory())
    assert other.post("experiments-list", **asked).json()["id"] != job.pk
    early = program.get("experiments-outcome", job.pk)
    assert (early.status_code, early.json()["code"]) == (409, "experiment.not_written")
    for run in experiment_jobs.runs_of(job).values():
        work_off(run)
    assert do_job(job_id=job.pk)
    made = program.get("jobs-detail", job.pk).json()["made_url"]
    assert made.endswith(reverse("api:experiments-outcome", args=[job.pk]))
    outcome = program.get("experiments-outcome", job.pk)
    archive = b"".join(outcome.streaming_content)
    assert zipfile.ZipFile(io.BytesIO(archive)).namelist()


def test_jobs_of_uploads_say_what_they_made(researcher: User) -> None:
    run = make_run_at("succeeded", owner=researcher)
    client = client_with_token(researcher, "write read")
    weights = "item,neighbour,weight\n" + "\n".join(f"{item},{item % 40 + 1},0.5" for item in range(1, 41))
    file = SimpleUploadedFile("weights.csv", weights.encode())
    sent = client.post(reverse("api:models-list"), {"dataset": "small", "kind": "matrix", "file": file})
    assert sent.status_code == 202
    assert do_job(job_id=sent.json()["id"])
    state = client.get(sent["Location"]).json()
    model = TrainedModel.objects.get(algorithm="matrix")
    assert state["made_url"].endswith(reverse("api:models-detail", args=[model.pk]))
    assert state["result"]["n_items"] == 40
    wrong = client.post(
        reverse("api:runs-scores", args=[run.pk]), {"name": "Mine", "file": SimpleUploadedFile("s.csv", b"a,b\n1,2\n")}
    )
    assert not do_job(job_id=wrong.json()["id"])
    state = client.get(wrong["Location"]).json()
    assert (state["status"], state["made_url"]) == ("failed", None)
    assert state["error"]
