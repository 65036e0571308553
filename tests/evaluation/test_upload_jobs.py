"""Models and scores uploaded in the browser and by the API: from the form through the worker to what was understood."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.enums import Scope
from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_ids_of, user_ids_of
from catalog.services.dataset_jobs import clean_uploads
from catalog.services.upload_folders import file_in
from evaluation.forms.upload import UploadModelForm, UploadScoresForm
from evaluation.models import EvaluationRun, ExternalScores, TrainedModel
from evaluation.remote.messages import PROTOCOL, About
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import model_rows
from evaluation.services import upload_jobs
from evaluation.services.coverage import keyed_profiles
from evaluation.services.remote import model_of_service, register, service_of
from jobs.models import Job, JobStatus
from jobs.services import do_job
from tests.factories.accounts import UserFactory, client_with_token
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, make_run_at, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def weights(*lines: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("weights.csv", "\n".join(["item,neighbour,weight", *lines]).encode())


def whole(n: int = 40) -> SimpleUploadedFile:
    return weights(*(f"{item},{item % n + 1},0.5" for item in range(1, n + 1)))


@pytest.fixture
def version() -> DatasetVersion:
    return make_run_at("succeeded").version


@pytest.fixture
def client() -> Client:
    signed_in = Client()
    signed_in.force_login(UserFactory())
    return signed_in


def requested(version: DatasetVersion, file: SimpleUploadedFile) -> Job:
    stated: dict[str, Any] = {"learned_from": "", "are_strangers_unseen": False}
    return upload_jobs.request_upload(
        version=version, file=file, kind="matrix", params={}, actor=UserFactory(), **stated
    )


def address(version: DatasetVersion) -> str:
    return reverse("evaluation:upload", args=[version.dataset.name, version.number])


def test_page_shows_what_was_understood_beside_a_stored_model(client: Client, version: DatasetVersion) -> None:
    assert address(version) in client.get(version.get_absolute_url()).text
    assert "64\xa0MB. A worker checks such a file in half a minute" in client.get(address(version)).text
    response = client.post(address(version), {"kind": "matrix", "file": whole(), "name": "Next", "profile": "likes"})
    (job,) = Job.objects.all()
    assert response.url == reverse("evaluation:uploaded", args=[job.pk])
    assert 'hx-trigger="every 2s"' in client.get(response.url).text
    assert do_job(job_id=job.pk)
    page = client.get(response.url)
    model = TrainedModel.objects.get(algorithm="matrix")
    assert (model.label, model.params["profile"]) == ("Next", "likes")
    assert "40 of 40 items of the\n  dataset, 0 unknown items." in page.text
    assert "40 weights other than 0." in page.text
    assert len(page.context["tried"]) == 5
    assert all(user.trials[0].model == model for user in page.context["tried"])
    other = page.context["stored"][-1].model
    chosen = client.get(response.url, {"beside": other.pk}).context["tried"]
    assert {trial.model for user in chosen for trial in user.trials} == {model, other}
    assert all(len(trial.lines) == 5 for user in chosen for trial in user.trials)
    run = client.get(reverse("evaluation:new"), {"algorithms": page.context["algorithm"]}).context["form"]
    assert [row.label for row in run.custom.algorithms.rows] == ["Next"]
    assert file_in(job.payload["folder"], upload_jobs.PART) is None
    stranger = Client()
    stranger.force_login(UserFactory())
    assert stranger.get(response.url).status_code == 404


def test_page_of_lists_shows_coverage_and_users_who_have_one(client: Client) -> None:
    strangers = {"name": "strangers", "share": 0.3, "given": 0, "given_share": 0.8}
    full = {"name": "full-ranking", "relevant": 4.0}
    run = work_off(make_run(algorithms="toppop", split=strangers, protocol=full, reserve=0.0, profile_lengths=(3,)))
    keys = {row[0] for row in keyed_profiles(run) if row[0] != "key"}
    of_three = [key for key in sorted(keys) if sum(row[0] == key for row in keyed_profiles(run)) == 3][:6]
    file = SimpleUploadedFile(
        "lists.csv", "\n".join(f"{key},{item}" for key in of_three for item in range(1, 16)).encode()
    )
    posted = {"kind": "lists", "file": file, "name": "Batch", "are_strangers_unseen": "on"}
    response = client.post(address(run.version), posted)
    assert do_job(job_id=Job.objects.get().pk)
    page = client.get(response.url)
    n_users = len(np.unique(cases_of(run).cases.users))
    assert f"Lists for 0 of {n_users} test profiles of run {run.pk} as a whole." in page.text
    assert f"Lists for 6 of {n_users} test profiles of run {run.pk} of 3 ratings." in page.text
    assert "You state that it saw no test user of the split strangers" in page.text
    assert [user.n_ratings for user in page.context["tried"]] == [3] * 5
    for user in page.context["tried"]:
        ours, theirs = user.trials
        assert (ours.model.label, theirs.model.label) == ("Batch", "TopPop")
        assert len(ours.lines) == len(theirs.lines) == 5
    again = {"split": strangers, "protocol": full, "reserve": 0.0, "profile_lengths": (3,)}
    measured = work_off(make_run(version=run.version, algorithms=page.context["algorithm"], **again))
    assert model_rows(measured)[0].label == "Batch"
    assert not [comment for comment in measured.comments if "test ratings" in comment]


def test_everything_wrong_with_a_file_is_named_with_its_lines(client: Client, version: DatasetVersion) -> None:
    file = weights("1,2,0.5", "1,none,1", "3,4,much")
    job_page = client.post(address(version), {"kind": "matrix", "file": file}).url
    job = Job.objects.get()
    assert not do_job(job_id=job.pk)
    page = client.get(job_page).text
    assert "The model was not stored." in page
    assert "Unknown items (1): line 3" in page
    assert "Weights that are not finite numbers (1): line 4" in page
    assert file_in(job.payload["folder"], upload_jobs.PART) is None


def test_arrays_that_unpack_to_too_much_are_refused(version: DatasetVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_jobs, "MOST_UNPACKED", 2**20)
    packed = io.BytesIO()
    np.savez_compressed(packed, items=np.arange(1, 41), weights=np.zeros((512, 512)))
    job = requested(version, SimpleUploadedFile("zeros.npz", packed.getvalue()))
    assert not do_job(job_id=job.pk)
    assert Job.objects.get().error.startswith("The arrays of zeros.npz have 2 MB; the limit for uploads is 1 MB.")


def test_form_refuses_what_no_worker_needs_to_see(
    client: Client, version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(UploadModelForm.base_fields["file"], "most", 10)
    fields = {"kind": "nearest", "file": whole(), "learned_from": "x", "name": "a,b"}
    page = client.post(address(version), fields)
    assert page.status_code == 400
    assert set(page.context["form"].errors) == {"kind", "file", "learned_from", "name"}
    assert "the limit for uploads is" in page.text
    DatasetVersion.objects.update(retired_at=version.created_at)
    assert client.get(address(version)).status_code == 403
    assert not Job.objects.exists()


def test_api_takes_a_file_and_says_what_became_of_it(version: DatasetVersion) -> None:
    researcher = UserFactory()

    def post(scope: str = Scope.UPLOAD, **fields: Any) -> Any:
        return client_with_token(researcher, scope).post("/api/v1/models/", fields)

    chosen = {"dataset": version.dataset.name, "kind": "matrix"}
    response = post(**chosen, name="Mine", file=whole(), are_strangers_unseen="true")
    assert response.status_code == 202
    assert response.headers["Location"] == response.json()["url"]
    assert (response.json()["status"], response.json()["made_url"]) == ("queued", None)
    assert do_job(job_id=response.json()["id"])
    reader = client_with_token(researcher)
    state = reader.get(response.json()["url"]).json()
    assert (state["status"], state["result"]["n_items"]) == ("succeeded", 40)
    unseen = "you state that it saw no test user of the split strangers"
    known, stated = state["result"]["facts"]
    assert (known, stated[: len(unseen)]) == ("40 weights other than 0", unseen)
    model = reader.get(state["made_url"]).json()
    assert (model["label"], model["origin"], model["base"]) == ("Mine", "matrix", None)

    bad = post(**chosen, file=weights("1,none,1"))
    do_job(job_id=bad.json()["id"])
    failed = reader.get(bad.json()["url"]).json()
    assert (failed["status"], failed["made_url"]) == (JobStatus.FAILED, None)
    assert "Unknown items (1): line 2 ('none')" in failed["error"]

    wrong = post(dataset="x", kind="nearest", filename="a")
    assert wrong.status_code == 400
    assert {fault["pointer"] for fault in wrong.json()["errors"]} == {"/kind", "/file", "/filename"}
    assert post(dataset="none", kind="matrix", file=whole()).status_code == 404
    assert post(Scope.REPORT, **chosen, file=whole()).status_code == 403


def test_files_of_waiting_uploads_are_not_swept() -> None:

    version = make_version()
    job = requested(version, whole())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("catalog.services.upload_folders.ORPHAN_SECONDS", -1.0)
        clean_uploads()
    assert file_in(job.payload["folder"], upload_jobs.PART) is not None


@pytest.fixture
def run(db: None) -> EvaluationRun:
    return make_run_at("succeeded", owner=UserFactory())


def detail(run: EvaluationRun) -> str:
    return reverse("evaluation:detail", args=[run.pk])


def scores(run: EvaluationRun, *more: str) -> SimpleUploadedFile:
    """A score for every case but the last."""
    cases, users, items = cases_of(run).cases, user_ids_of(run.version), item_ids_of(run.version)
    pairs = zip(users[cases.users[:-1]], items[cases.items[:-1]], strict=True)
    lines = [f"{user},{item},{number}" for number, (user, item) in enumerate(pairs)]
    return SimpleUploadedFile("scores.csv", "\n".join(["user_id,item_id,score", *lines, *more]).encode())


def signed_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_another_system_is_measured_in_the_console(run: EvaluationRun) -> None:
    client, page = signed_in(run.owner), reverse("evaluation:scores", args=[run.pk])
    assert page in client.get(detail(run)).text
    shown = client.get(page)
    assert [name for name, _words in shown.context["files"]] == ["cases.npz", "train.inter", "cases.qrels"]
    assert "user Q0 item rank score tag" in shown.text
    assert "64\xa0MB. A worker checks such a file in half a minute; use the command upload_scores" in shown.text
    for name, _words in shown.context["files"]:
        file = client.get(reverse("api:runs-cases", args=[run.pk, name]))
        assert file.getvalue()
        assert file.headers["Content-Disposition"] == f'attachment; filename="run-{run.pk}-{name}"'
    sent = client.post(page, {"name": "Theirs", "file": scores(run)}).url
    job = Job.objects.get()
    assert sent == f"{page}?upload={job.pk}"
    assert f'hx-get="{sent}" hx-trigger="every 2s"' in client.get(sent).text
    assert do_job(job_id=job.pk)
    n = len(cases_of(run).cases)
    part = client.get(sent, headers={"HX-Request": "true"}).text
    assert "<strong>Theirs</strong> was measured: " in part
    assert f"scores for {n - 1:,} of {n:,} cases ({(n - 1) / n:.1%})" in part
    assert "<strong>Theirs</strong>: not servable" in part
    assert "Theirs is not servable" in client.get(detail(run)).text
    assert file_in(job.payload["folder"], upload_jobs.PART) is None
    bad = {"name": "Other", "file": scores(run, "nobody,1,1", "1,none,x")}
    sent = client.post(page, bad).url
    assert not do_job(job_id=Job.objects.latest("pk").pk)
    refused = client.get(sent).text
    assert f"Unknown users (1): line {n + 1}" in refused
    assert f"Unknown items (1): line {n + 2}" in refused
    assert f"Scores that are not finite numbers (1): line {n + 2}" in refused
    assert "Unknown users" not in signed_in(UserFactory()).get(sent).text


def test_scores_are_refused_before_a_worker_sees_them(run: EvaluationRun, monkeypatch: pytest.MonkeyPatch) -> None:
    page = reverse("evaluation:scores", args=[run.pk])
    label = model_rows(run)[0].label
    response = signed_in(run.owner).post(page, {"name": label, "file": scores(run)})
    assert (response.status_code, set(response.context["form"].errors)) == (400, {"name"})
    monkeypatch.setattr(UploadScoresForm.base_fields["file"], "most", 10)
    response = signed_in(run.owner).post(page, {"file": scores(run)})
    assert (response.status_code, set(response.context["form"].errors)) == (400, {"name", "file"})
    stranger = signed_in(UserFactory())
    assert stranger.get(page).context["form"] is None
    assert stranger.post(page, {"name": "Theirs", "file": scores(run)}).status_code == 403
    assert not Job.objects.exists()
    folds = work_off(make_run(algorithms="toppop", split={"name": "k-fold", "k": 2}, profile_lengths=()))
    address = reverse("evaluation:scores", args=[folds.pk])
    assert stranger.get(address).status_code == 404
    page = stranger.get(detail(folds)).text
    assert address not in page
    assert reverse("api:runs-profiles", args=[folds.pk]) not in page
    monkeypatch.setattr("evaluation.services.external_scores.MOST_CANDIDATES", 1)
    assert f"<code>export_run {run.pk} --cases</code>" in stranger.get(reverse("evaluation:scores", args=[run.pk])).text
    too_large = stranger.get(reverse("api:runs-cases", args=[run.pk, "cases.npz"]))
    assert too_large.status_code == 404
    assert f"The command export_run {run.pk} --cases writes cases.npz of any size." in too_large.json()["remedy"]


def test_api_measures_scores(run: EvaluationRun) -> None:
    url, owner = f"/api/v1/runs/{run.pk}/scores/", client_with_token(run.owner, Scope.UPLOAD)
    response = owner.post(url, {"name": "Theirs", "file": scores(run)})
    assert response.status_code == 202
    state = response.json()
    assert (state["kind"], state["status"], state["result"]) == ("scores-upload", "queued", {})
    assert response.headers["Location"] == state["url"]
    assert do_job(job_id=state["id"])
    done = client_with_token(run.owner).get(state["url"]).json()
    assert (done["status"], done["result"]) == ("succeeded", {"coverage": ExternalScores.objects.get().coverage})
    assert done["made_url"].endswith(f"/api/v1/runs/{run.pk}/metrics/")
    *_, row = owner.get(f"/api/v1/runs/{run.pk}/results/").json()["algorithms"]
    assert (row["label"], row["is_servable"]) == ("Theirs", False)

    bad = owner.post(url, {"name": "Other", "file": scores(run, "nobody,1,1")}).json()
    do_job(job_id=bad["id"])
    failed = owner.get(bad["url"]).json()
    assert failed["status"] == "failed"
    assert "Unknown users (1): line " in failed["error"]

    wrong = owner.post(url, {"names": "x", "are_ratings": "perhaps"})
    assert wrong.status_code == 400
    assert {fault["pointer"] for fault in wrong.json()["errors"]} == {"/names", "/name", "/file", "/are_ratings"}
    taken = owner.post(url, {"name": model_rows(run)[0].label, "file": scores(run)})
    assert (taken.status_code, taken.json()["code"]) == (409, "scores.bad_name")
    assert client_with_token(run.owner).post(url, {"name": "x", "file": scores(run)}).status_code == 403
    stranger = client_with_token(UserFactory(), Scope.UPLOAD)
    assert stranger.post(url, {"name": "x", "file": scores(run)}).status_code == 403
    assert stranger.get(state["url"]).status_code == 404
    assert Job.objects.count() == 2


def test_api_gives_profiles_and_cases(run: EvaluationRun, tmp_path: Path) -> None:
    call_command("export_run", run.pk, "--out", tmp_path, "--cases", "--profiles", stdout=io.StringIO())
    reader = client_with_token(UserFactory())
    for name in ("train.inter", "cases.qrels"):
        assert reader.get(f"/api/v1/runs/{run.pk}/cases/{name}/").getvalue() == (tmp_path / name).read_bytes()
    packed = reader.get(f"/api/v1/runs/{run.pk}/cases/cases.npz/")
    with np.load(io.BytesIO(packed.getvalue())) as ours, np.load(tmp_path / "cases.npz") as theirs:
        assert {name: ours[name].tolist() for name in ours} == {name: theirs[name].tolist() for name in theirs}
    profiles = reader.get(f"/api/v1/runs/{run.pk}/profiles/", {"format": "csv"}).getvalue()
    assert profiles == (tmp_path / "profiles.csv").read_bytes()
    rows = json.loads(reader.get(f"/api/v1/runs/{run.pk}/profiles/").getvalue())["rows"]
    assert set(rows[0]) == {"key", "segment", "item", "rating"}
    assert isinstance(rows[0]["rating"], float)
    refused = reader.get(f"/api/v1/runs/{run.pk}/cases/train.inter/", {"fold": 1})
    assert (refused.status_code, refused.json()["errors"][0]["parameter"]) == (400, "fold")
    for name in ("profiles.inter", "none.txt"):
        missing = reader.get(f"/api/v1/runs/{run.pk}/cases/{name}/")
        assert missing.status_code == 404
        assert "has the files cases.npz, train.inter, cases.qrels" in missing.json()["detail"]
    folds = work_off(make_run(algorithms="toppop", split={"name": "k-fold", "k": 2}, profile_lengths=()))
    for address in ("profiles/", "cases/train.inter/"):
        refused = reader.get(f"/api/v1/runs/{folds.pk}/{address}")
        assert (refused.status_code, refused.json()["code"]) == (409, "run.many_models")


def test_api_lists_registered_recommenders_without_addresses(
    db: None, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RECOMMENDER_HOSTS = ["recommender.example.org"]
    address, variable = "https://recommender.example.org", "PARALLAX_RECOMMENDER_TOKEN_A"
    monkeypatch.setenv(variable, "secret")
    recommender = register(name="Markov", address=address, operator="A lab", token_variable=variable, seconds=5)
    make_version()
    described = About(protocol=PROTOCOL, version="2.1", catalogue="0" * 64, deterministic=True, max_depth=50)
    model_of_service(service=service_of(recommender), described=described, version=DatasetVersion.objects.get())
    response = client_with_token(UserFactory()).get("/api/v1/recommenders/")
    (row,) = response.json()["results"]
    assert {name: row[name] for name in row if name != "id"} == {
        "name": "Markov", "operator": "A lab", "seconds": 5, "versions": ["2.1"],
    }  # fmt: skip
    assert variable not in response.text
    assert "recommender.example.org" not in response.text
