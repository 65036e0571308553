"""Models uploaded in the browser and by the API: from the form through the worker to what was understood."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.enums import Scope
from accounts.services import create_token
from catalog.models import DatasetVersion
from catalog.services.dataset_jobs import clean_uploads
from catalog.services.upload_folders import file_in
from evaluation.models import TrainedModel
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import model_rows
from evaluation.services import model_uploads
from evaluation.services.coverage import keyed_profiles
from jobs.models import Job, JobStatus
from jobs.services import do_job
from tests.factories.accounts import UserFactory
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
    return model_uploads.request_upload(
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
    assert file_in(job.payload["folder"], model_uploads.PART) is None
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
    assert file_in(job.payload["folder"], model_uploads.PART) is None


def test_arrays_that_unpack_to_too_much_are_refused(version: DatasetVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_uploads, "MOST_UNPACKED", 2**20)
    packed = io.BytesIO()
    np.savez_compressed(packed, items=np.arange(1, 41), weights=np.zeros((512, 512)))
    job = requested(version, SimpleUploadedFile("zeros.npz", packed.getvalue()))
    assert not do_job(job_id=job.pk)
    assert Job.objects.get().error.startswith("The arrays of zeros.npz have 2 MB; the limit for uploads is 1 MB.")


def test_form_refuses_what_no_worker_needs_to_see(
    client: Client, version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.forms.upload.MOST_MODEL", 10)
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
        token = create_token(owner=researcher, name="test", scope=scope)[1]
        return Client(headers={"Authorization": f"Bearer {token}"}).post("/api/v1/models/", fields)

    chosen = {"dataset": version.dataset.name, "kind": "matrix"}
    response = post(**chosen, name="Mine", file=whole(), are_strangers_unseen="true")
    assert response.status_code == 202
    assert response.headers["Location"] == response.json()["url"]
    assert (response.json()["status"], response.json()["model_url"]) == ("queued", None)
    assert do_job(job_id=response.json()["id"])
    reader = Client(headers={"Authorization": f"Bearer {create_token(owner=researcher, name='read')[1]}"})
    state = reader.get(response.json()["url"]).json()
    assert (state["status"], state["n_items"]) == ("succeeded", 40)
    unseen = "you state that it saw no test user of the split strangers"
    assert (state["facts"][0], state["facts"][1][: len(unseen)]) == ("40 weights other than 0", unseen)
    model = reader.get(state["model_url"]).json()
    assert (model["label"], model["origin"], model["base"]) == ("Mine", "matrix", None)

    bad = post(**chosen, file=weights("1,none,1"))
    do_job(job_id=bad.json()["id"])
    failed = reader.get(bad.json()["url"]).json()
    assert (failed["status"], failed["n_items"], failed["model_url"]) == (JobStatus.FAILED, None, None)
    assert "Unknown items (1): line 2 ('none')" in failed["error"]

    wrong = post(dataset="x", kind="nearest", filename="a")
    assert wrong.status_code == 400
    assert set(wrong.json()["extra"]["fields"]) == {"kind", "file", "filename"}
    assert post(dataset="none", kind="matrix", file=whole()).status_code == 404
    assert post(Scope.REPORT, **chosen, file=whole()).status_code == 403


def test_files_of_waiting_uploads_are_not_swept() -> None:

    version = make_version()
    job = requested(version, whole())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("catalog.services.upload_folders.ORPHAN_SECONDS", -1.0)
        clean_uploads()
    assert file_in(job.payload["folder"], model_uploads.PART) is not None
