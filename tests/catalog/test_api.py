"""Uploads in pieces, imports and versions through the REST API."""

from __future__ import annotations

import json
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from accounts.models import Project, User
from catalog.models import Dataset, DatasetVersion, Upload
from catalog.services import resumable_uploads, upload_folders
from catalog.services.dataset_jobs import clean_uploads
from jobs.models import Job
from jobs.services import do_job
from tests.factories.accounts import UserFactory, client_with_token
from tests.factories.catalog import make_version

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
NAMED = "user,item,rating\n" + "".join(f"{u},{i},{1 + (u * i) % 5}\n" for u in range(1, 31) for i in range(1, 21))
UNNAMED = NAMED.partition("\n")[2]
WITH_ZEROS = NAMED + "".join(f"{u},{i},0\n" for u in range(1, 7) for i in range(21, 24))


class Program:
    """A program with a token of a researcher."""

    def __init__(self, researcher: User, scope: str = "read write", only: str = "") -> None:
        self.client = client_with_token(researcher, scope, only=only)

    def get(self, address: str, **parts: Any) -> Any:
        return self.client.get(reverse(f"api:{address}", kwargs=parts))

    def post(self, address: str, body: Any, **parts: Any) -> Any:
        return self.client.post(reverse(f"api:{address}", kwargs=parts), json.dumps(body), "application/json")

    def begin(self, content: bytes, **changes: Any) -> Any:
        about = {"name": "ratings.csv", "size": len(content), "sha256": sha256(content).hexdigest()}
        return self.post("uploads-list", about | changes)

    def send(self, pk: int, offset: Any, piece: bytes, **headers: str) -> Any:
        address = reverse("api:uploads-detail", kwargs={"pk": pk})
        headers |= {} if offset is None else {"Upload-Offset": str(offset)}
        return self.client.post(address, piece, "application/octet-stream", headers=headers)

    def uploaded(self, text: str, name: str = "ratings.csv") -> int:
        pk: int = self.begin(text.encode(), name=name).json()["id"]
        assert self.send(pk, 0, text.encode()).json()["is_complete"]
        return pk


@pytest.fixture
def researcher() -> User:
    return UserFactory()


@pytest.fixture
def program(researcher: User) -> Program:
    return Program(researcher)


def faults(response: Any) -> dict[str, str]:
    assert response.status_code == 400, response.content
    return {each.get("pointer", each.get("header")): each["detail"] for each in response.json()["errors"]}


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_an_upload_is_sent_in_pieces_and_continued(program: Program) -> None:
    content = NAMED.encode()
    begun = program.begin(content)
    pk = begun.json()["id"]
    assert (begun.status_code, begun.json()["offset"]) == (201, 0)
    assert begun["Location"].endswith(reverse("api:uploads-detail", kwargs={"pk": pk}))
    assert program.send(pk, 0, content[:100]).json()["offset"] == 100
    wrong = program.send(pk, 50, content[50:])
    assert refusal(wrong) == (409, "upload.wrong_offset")
    assert wrong.json()["extra"] == {"offset": 100}
    head = program.client.head(begun["Location"])
    assert (head.status_code, head["Upload-Offset"]) == (200, "100")
    again = program.begin(content)
    assert (again.json()["id"], again.json()["offset"]) == (pk, 100)
    key = {"Idempotency-Key": "piece-2"}
    assert program.send(pk, 100, content[100:300], **key).json()["offset"] == 300
    assert program.send(pk, 100, content[100:300], **key).json()["offset"] == 300  # the answer was lost
    assert refusal(program.send(pk, 300, content[100:200], **key)) == (422, "idempotency.other_request")
    assert refusal(program.send(pk, 300, content[300:] + b"x")) == (409, "upload.too_long")
    assert program.send(pk, 300, content[300:]).json()["is_complete"]
    with resumable_uploads.opened_upload(Upload.objects.get()) as whole:
        assert whole.read() == content


def test_another_size_or_digest_is_refused(program: Program) -> None:
    content = NAMED.encode()
    pk = program.begin(content).json()["id"]
    program.send(pk, 0, content[:10])
    for change in ({"size": 99}, {"sha256": "0" * 64}):
        other = program.begin(content, **change)
        assert refusal(other) == (409, "upload.other_file")
        assert other.json()["extra"]["offset"] == 10
    refused = program.send(pk, 10, bytes(len(content) - 10))
    assert refusal(refused) == (409, "upload.other_digest")
    assert program.get("uploads-detail", pk=pk).json()["offset"] == 0
    assert program.send(pk, 0, content).json()["is_complete"]


def test_limits_and_faults_of_an_upload(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(faults(program.begin(b"", name="../etc", sha256="x"))) == {"/name", "/size", "/sha256"}
    assert "/size" in faults(program.begin(b"x", size=128 * 2**20 + 1))
    pk = program.begin(b"xyz").json()["id"]
    assert faults(program.send(pk, None, b"xyz")) == {"Upload-Offset": "Write the number of bytes that are there."}
    address = reverse("api:uploads-detail", kwargs={"pk": pk})
    other = program.client.post(address, "{}", "application/json", headers={"Upload-Offset": "0"})
    assert other.status_code == 415
    assert "" in faults(program.send(pk, 0, b""))
    monkeypatch.setattr(resumable_uploads, "MOST_UNUSED", 5)
    assert refusal(program.begin(b"abc", name="b.csv")) == (409, "upload.too_many")


def test_an_upload_is_its_owners_alone_and_deleted_by_them(program: Program) -> None:
    pk = program.begin(b"xyz").json()["id"]
    other = Program(UserFactory(is_superuser=True, is_staff=True))
    address = reverse("api:uploads-detail", kwargs={"pk": pk})
    assert [other.get("uploads-detail", pk=pk).status_code, other.send(pk, 0, b"xyz").status_code] == [404, 404]
    assert other.client.delete(address).status_code == 404
    assert other.get("uploads-list").json()["results"] == []
    assert [each["id"] for each in program.get("uploads-list").json()["results"]] == [pk]
    folder = upload_folders._root() / Upload.objects.get().folder
    assert folder.is_dir()
    assert program.client.delete(address).status_code == 204
    assert not folder.exists()


def test_uploads_are_swept_a_day_after_their_last_piece(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_folders, "ORPHAN_SECONDS", -1.0)
    pk = program.begin(b"xyz").json()["id"]
    program.send(pk, 0, b"x")
    clean_uploads()
    assert program.send(pk, 1, b"y").json()["offset"] == 2
    folder = upload_folders._root() / Upload.objects.get().folder
    Upload.objects.update(updated_at=timezone.now() - timedelta(hours=25))
    clean_uploads()
    assert not Upload.objects.exists()
    assert not folder.exists()


def test_an_upload_with_named_columns_becomes_a_dataset(program: Program, researcher: User) -> None:
    pk = program.uploaded(NAMED)
    body = {"uploads": [pk], "name": "mine", "title": "Mine", "item_type": "book"}
    sent = program.post("datasets-list", body)
    assert (sent.status_code, sent.json()["status"], sent["Retry-After"]) == (202, "queued", "2")
    assert not Upload.objects.exists()
    assert do_job(job_id=sent.json()["id"])
    state = program.client.get(sent["Location"]).json()
    assert state["status"] == "succeeded", state
    version = program.client.get(state["made_url"]).json()
    assert (version["dataset"], version["number"], version["n_ratings"]) == ("mine", 1, 600)
    assert version["item_type"] == "book"
    assert Dataset.objects.get().owner == researcher
    recipe = version["report"]["recipe"]
    again = program.post("datasets-list", {"uploads": [program.uploaded(NAMED)], "name": "again", "recipe": recipe})
    assert do_job(job_id=again.json()["id"])
    assert DatasetVersion.objects.get(dataset__name="again").n_ratings == 600


def test_columns_and_answers_that_are_not_sure_are_chosen_at_once(program: Program) -> None:
    sent = program.post("datasets-list", {"uploads": [program.uploaded(UNNAMED)], "name": "mine"})
    state = sent.json()
    assert (sent.status_code, state["status"], "Retry-After" in sent.headers) == (202, "waiting", False)
    assert state["result"]["columns"]["detected"] == {
        "ratings.csv": {"Column 1": "user", "Column 2": "item", "Column 3": "rating"}
    }
    roles = {"ratings.csv": {"Column 1": "item", "Column 9": "user"}, "b.csv": {}}
    wrong = program.client.post(
        state["result"]["choices_url"],
        json.dumps({"roles": roles, "item_type": "boat", "names": "x"}),
        "application/json",
    )
    assert set(faults(wrong)) == {"/names", "/item_type"}
    wrong = program.post("datasets-imports", {"roles": roles, "name": "?"}, job=state["id"])
    assert set(faults(wrong)) >= {"/name"}
    wrong = program.post("datasets-imports", {"roles": roles}, job=state["id"])
    assert set(faults(wrong)) == {
        "/roles", "/roles/b.csv", "/roles/ratings.csv/Column 2", "/roles/ratings.csv/Column 9",
    }  # fmt: skip
    swapped = {"ratings.csv": {"Column 1": "item", "Column 2": "user"}}
    done = program.post("datasets-imports", {"roles": swapped}, job=state["id"])
    assert (done.status_code, done.json()["status"]) == (202, "queued")
    assert refusal(program.post("datasets-imports", {"roles": swapped}, job=state["id"])) == (409, "import.not_waiting")
    assert do_job(job_id=state["id"])
    version = DatasetVersion.objects.get(dataset__name="mine")
    assert (version.n_users, version.n_items) == (20, 30)


def test_a_question_waits_for_its_answer(program: Program) -> None:
    sent = program.post("datasets-list", {"uploads": [program.uploaded(WITH_ZEROS)], "name": "mine"})
    (question,) = sent.json()["result"]["questions"]
    assert sent.json()["status"] == "waiting"
    assert question["answer"] == "answer_zero"
    pk = sent.json()["id"]
    wrong = program.post("datasets-imports", {"answers": {"answer_zero": "perhaps", "other": 1}}, job=pk)
    assert set(faults(wrong)) == {"/answers/answer_zero", "/answers/other"}
    chosen = next(value for value in question["values"] if ":" in value)
    assert program.post("datasets-imports", {"answers": {"answer_zero": chosen}}, job=pk).json()["status"] == "queued"
    assert do_job(job_id=pk)
    assert DatasetVersion.objects.get().scale_words.startswith("0 to 5")


def test_rows_with_problems_are_left_out_on_request(program: Program) -> None:
    broken = NAMED + "31,1,much\n"
    sent = program.post("datasets-list", {"uploads": [program.uploaded(broken)], "name": "mine"})
    pk = sent.json()["id"]
    assert not do_job(job_id=pk)
    state = program.get("jobs-detail", pk=pk).json()
    (kind,) = state["result"]["counts"]
    assert program.post("datasets-imports", {"fix": [kind.replace(" ", "-")]}, job=pk).status_code == 202
    assert do_job(job_id=pk)
    assert DatasetVersion.objects.get(dataset__name="mine").n_ratings == 600


def test_faults_of_an_import_leave_its_uploads(program: Program) -> None:
    make_version(name="taken")
    pk = program.uploaded(NAMED)
    unfinished = program.begin(b"xyz", name="other.csv").json()["id"]
    body = {"uploads": [pk, unfinished, 999], "recipe": {"layout": 5}, "name": "mine"}
    assert set(faults(program.post("datasets-list", body))) == {"/uploads", "/recipe"}
    assert faults(program.post("datasets-list", {"uploads": [pk], "name": "taken"})) == {
        "/name": "This name is not available to you. Choose another name."
    }
    assert "/project" in faults(program.post("datasets-list", {"uploads": [pk], "project": "None"}))
    assert Upload.objects.filter(pk=pk).exists()
    assert {job.status for job in Job.objects.all()} <= {"cancelled"}
    sent = program.post("datasets-list", {"uploads": [pk], "name": "mine"})
    assert sent.status_code == 202


def test_a_dataset_of_a_project_and_a_token_that_is_limited_to_it(researcher: User) -> None:
    project = Project.objects.create(name="Films")
    project.memberships.create(researcher=researcher, role="member")
    program = Program(researcher, only=f"project:{project.pk}")
    pk = program.uploaded(UNNAMED)
    assert "/project" in faults(program.post("datasets-list", {"uploads": [pk], "name": "mine"}))
    waiting = program.post("datasets-list", {"uploads": [pk], "name": "mine", "project": "Films"}).json()
    assert program.get("jobs-detail", pk=waiting["id"]).json()["status"] == "waiting"
    assert program.post("datasets-imports", {"roles": {}}, job=waiting["id"]).json()["status"] == "queued"
    assert do_job(job_id=waiting["id"])
    assert Dataset.objects.get().project == project
    assert program.post("datasets-downloads", {"set": "ml-latest-small", "accepted": True}).status_code == 403


def test_a_cancelled_import_leaves_no_files(program: Program, django_capture_on_commit_callbacks: Any) -> None:
    waiting = program.post("datasets-list", {"uploads": [program.uploaded(UNNAMED)], "name": "mine"}).json()
    folder = upload_folders._root() / Job.objects.get().payload["folder"]
    assert folder.is_dir()
    with django_capture_on_commit_callbacks(execute=True):
        assert program.client.delete(waiting["url"]).status_code == 204
    assert not folder.exists()
    assert Program(UserFactory()).post("datasets-imports", {}, job=waiting["id"]).status_code == 404


def test_a_download_needs_the_terms(program: Program) -> None:
    assert set(faults(program.post("datasets-downloads", {"set": "none"}))) == {"/set", "/accepted"}
    sent = program.post("datasets-downloads", {"set": "ml-latest-small", "accepted": True})
    assert (sent.status_code, sent.json()["kind"]) == (202, "download")
    make_version(name="ml-100k")
    assert "/set" in faults(program.post("datasets-downloads", {"set": "ml-100k", "accepted": True}))


def test_a_version_is_corrected_and_retired(researcher: User, program: Program) -> None:
    version = make_version()
    Dataset.objects.update(owner=researcher)
    parts = {"name": "small", "number": version.number}
    address, read = reverse("api:versions-detail", kwargs=parts), program.get("versions-detail", **parts)
    changes = {"item_type": "book", "item_language": "it"}

    def change(changes: Any, etag: str) -> Any:
        return program.client.patch(address, json.dumps(changes), "application/json", headers={"If-Match": etag})

    changed = change(changes, read["ETag"])
    assert (changed.status_code, changed.json()["item_type"], changed.json()["item_language"]) == (200, "book", "it")
    assert change({"is_retired": True}, read["ETag"]).status_code == 412
    wrong = change({"item_type": "boat", "is_retired": False, "n": 1}, changed["ETag"])
    assert set(faults(wrong)) == {"/item_type", "/is_retired", "/n"}
    assert change({"is_retired": True}, changed["ETag"]).json()["retired_at"]
    items = program.client.get(reverse("api:items-list", kwargs=parts), {"page_size": 5}).json()
    assert [each["id"] for each in items["results"]] == ["1", "2", "3", "4", "5"]
    following = program.client.get(items["next"]).json()
    assert following["results"][0]["id"] == "6"


def test_metadata_and_subsets_make_new_versions(researcher: User, program: Program) -> None:
    version = make_version()
    Dataset.objects.update(owner=researcher)
    parts = {"name": "small", "number": version.number}
    address = reverse("api:versions-metadata", kwargs=parts)
    file = SimpleUploadedFile("facts.csv", b"item,kind,value\n1,plot,A new plot.\n")
    sent = program.client.post(address, {"file": file, "on_bad_row": "refuse"})
    assert sent.status_code == 202, sent.content
    assert do_job(job_id=sent.json()["id"])
    made = program.client.get(sent["Location"]).json()["made_url"]
    assert made.endswith(reverse("api:versions-detail", kwargs={"name": "small", "number": 2}))
    assert set(faults(program.client.post(address, {"on_bad_row": "no"}))) == {"/on_bad_row"}
    subset = program.post("versions-subsets", {"top_items": 10}, **parts)
    assert do_job(job_id=subset.json()["id"])
    assert DatasetVersion.objects.get(number=3).n_items == 10
    wrong = program.post("versions-subsets", {"top_items": 0, "kind": "none", "date_from": "2020-13-01"}, **parts)
    assert set(faults(wrong)) >= {"/top_items", "/kind"}
    assert refusal(program.post("versions-subsets", {"min_item_ratings": 10**6}, **parts)) == (409, "subset.refused")
    stranger = Program(UserFactory())
    assert stranger.post("versions-subsets", {"top_items": 10}, **parts).status_code == 403
