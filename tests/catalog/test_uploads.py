"""Datasets imported on pages: the upload, its columns, the worker's refusals in words, and other people's names."""

from __future__ import annotations

import gzip
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.services.projects import create_project, set_member
from catalog.enums import JobStatus
from catalog.forms import upload as upload_forms
from catalog.importers import download
from catalog.models import Dataset, DatasetJob, DatasetVersion
from catalog.selectors.dataset_jobs import jobs_of
from catalog.services import dataset_jobs, job_work, upload_folders
from catalog.services.dataset_jobs import run_job
from jobs import leases
from tests.factories.accounts import UserFactory
from tests.factories.jobs import work
from tests.factories.pages import flat

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
RATINGS = "reader,book,mark\n" + "".join(f"{u},{b},{1 + (3 * u + 5 * b) % 10}\n" for u in range(12) for b in range(8))
BOOKS = "book,name,author\n" + "".join(f"{b},The book {b},Author {b % 3}\n" for b in range(8))


@pytest.fixture(autouse=True)
def var(settings: Any, tmp_path: Path) -> Path:
    """A data folder of its own for uploads and downloads."""
    settings.VAR_DIR = tmp_path / "var"
    settings.VAR_DIR.mkdir(mode=0o700)
    return settings.VAR_DIR


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(UserFactory())
    return client


def send(client: Client, ratings: str | bytes = RATINGS, items: str = "", *, name: str = "marks.csv") -> Any:
    """Upload these files; a redirect leads to the columns."""
    content = ratings.encode() if isinstance(ratings, str) else ratings
    files = {"file": SimpleUploadedFile(name, content)}
    if items:
        files["items_file"] = SimpleUploadedFile("books.csv", items.encode())
    return client.post(reverse("catalog:import"), files)


def proposed(client: Client, address: str) -> dict[str, Any]:
    """What the columns page proposes, as a browser would send it."""
    form = client.get(address).context["form"]
    return {name: form[name].value() or "" for name in form.fields}


def import_it(client: Client, sent: Any, **chosen: str) -> Any:
    """Confirm the proposed columns with some changes, let the worker work, and return the page of its job."""
    address = sent["Location"]
    answer = client.post(address, {**proposed(client, address), "act": "import", **chosen})
    if answer.status_code != 302:
        return answer
    work()
    return client.get(answer["Location"])


def folders(var: Path) -> list[Path]:
    return list((var / "uploads").iterdir()) if (var / "uploads").exists() else []


# From the upload to the version


def test_ratings_and_items_become_a_version(client: Client, var: Path) -> None:
    sent = send(client, items=BOOKS)
    page = client.get(sent["Location"]).text
    assert "The book 3" in page
    assert "1 to 10 in steps of 1" in page
    assert '<option value="author" selected>' in page
    (folder,) = folders(var)
    assert folder.stat().st_mode & 0o777 == 0o700
    answer = import_it(client, sent, title="Marks", item_type="book")
    version = DatasetVersion.objects.get()
    assert answer["Location"] == version.get_absolute_url()
    assert (version.n_users, version.n_items, version.n_ratings) == (12, 8, 96)
    assert (version.scale_low, version.scale_high, version.scale_step) == (1, 10, 1)
    assert (version.dataset.name, version.dataset.title, version.dataset.item_type) == ("marks", "Marks", "book")
    assert str(version.dataset.owner.pk) == client.session["_auth_user_id"]
    item = version.items.get(external_id="3")
    assert item.title == "The book 3"
    assert item.features.get(kind="author").value == "Author 0"
    page = client.get(version.get_absolute_url()).text
    assert "Imported 96 ratings of 8 items." in page
    assert "Measure algorithms on this" in page
    assert folders(var) == []


PAIRS = [(user, item) for user in range(9) for item in range(9)]
STARS = [f"{u}\t{i}\t{1 + (u + i) % 5}\t{978300760 + u}\n" for u, i in PAIRS]
HALVES = [f"{u};{i};{(u + i) % 10 / 2 + 0.5}\n" for u, i in PAIRS]
COMMAS = [f"{u};{i};{1 + (u + i) % 9 / 2}\n".replace(".", ",") for u, i in PAIRS]
LATIN = [f'Niccolò {u},"Perché\nno {i}",{1 + (u + i) % 10}\n' for u, i in PAIRS]
OBJECTS = [f'{{"user": {u}, "item": {i}, "rating": {1 + (u + i) % 5}}}\n' for u, i in PAIRS]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        pytest.param("s.csv", "user;item;rating\n" + "".join(HALVES), (0.5, 5, 0.5), id="semicolons, half stars"),
        pytest.param("t.tsv", "".join(STARS), (1, 5, 1), id="tabs, no header"),
        pytest.param("u.data", "".join(STARS), (1, 5, 1), id="another name"),
        pytest.param("c.csv", "user;item;rating\n" + "".join(COMMAS), (1, 5, 0.5), id="decimal commas"),
        pytest.param(
            "l.csv",
            ("utente,libro,voto\n" + "".join(LATIN)).encode("latin-1"),
            (1, 10, 1),
            id="Latin-1, quoted newlines",
        ),
        pytest.param("z.csv.gz", gzip.compress(RATINGS.encode()), (1, 10, 1), id="gzip"),
        pytest.param("j.jsonl", "".join(OBJECTS), (1, 5, 1), id="JSON Lines"),
    ],
)
def test_what_is_detected_is_imported_as_it_is_proposed(
    client: Client, name: str, content: str | bytes, expected: tuple[float, ...]
) -> None:
    sent = send(client, content, name=name)
    assert sent.status_code == 302, sent.text
    assert import_it(client, sent).status_code == 302, DatasetJob.objects.get().error
    version = DatasetVersion.objects.get()
    assert (version.scale_low, version.scale_high, version.scale_step) == expected
    if name == "l.csv":
        assert version.items.filter(title="Perché\nno 3").exists()


def test_usage_data_have_no_ratings(client: Client) -> None:
    rows = "Invoice,StockCode\n" + "".join(f"{u},{(u + step) % 9}\n" for u in range(9) for step in range(3))
    sent = send(client, rows)
    assert proposed(client, sent["Location"])["kind"] == "usage"
    assert import_it(client, sent).status_code == 302
    version = DatasetVersion.objects.get()
    assert version.scale_low == version.scale_high


def test_an_archive_of_known_layout_needs_no_columns(client: Client) -> None:
    sent = send(client, movielens_archive(), name="ml-tiny.zip")
    page = client.get(sent["Location"]).text
    assert "Recognised: MovieLens latest" in page
    assert '<th scope="col">' not in page
    assert import_it(client, sent).status_code == 302
    assert DatasetVersion.objects.get().source_format == "movielens-csv"


def test_a_text_read_wrongly_is_previewed_again(client: Client) -> None:
    address = send(client, RATINGS)["Location"]
    given = {**proposed(client, address), "act": "preview", "has_header": "no", "name": "kept"}
    page = client.post(address, given)
    assert page.status_code == 200
    assert "Column 1" in page.text
    assert 'value="kept"' in page.text
    # Sent for import with another delimiter than it was previewed with: shown again, not imported.
    page = client.post(address, {**proposed(client, address), "act": "import", "encoding": "latin-1"})
    assert page.status_code == 200
    assert DatasetJob.objects.get().status == JobStatus.WAITING


# Refusals


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "empty"),
        ("one.csv", b"hello\nworld\n", "there is one column"),
        ("bytes.csv", b"\x00\x01\x02PK", "this is no text"),
        ("utf16.csv", "a,b\n1,2\n".encode("utf-16"), "Save it as UTF-8"),
        ("header.csv", b"user,item,rating\n", "no row after the header"),
        ("twice.csv", b"user,user,rating\n1,2,3\n", "names column &#x27;user&#x27; twice"),
        ("broken.zip", b"PK\x03\x04nothing", "no ZIP archive"),
        ("sheet.xlsx", b"PK\x03\x04\x00nothing", "this is no text"),
    ],
)
def test_a_file_that_is_no_dataset_is_refused_beside_its_field(
    client: Client, var: Path, name: str, content: bytes, said: str
) -> None:
    answer = send(client, content, name=name)
    assert answer.status_code == 400
    assert said in str(answer.context["form"].errors["file"])
    assert not DatasetJob.objects.exists()
    assert folders(var) == []


def test_a_zip_bomb_is_refused(client: Client, var: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("ratings.csv", b"0" * (40 * 2**20))
    answer = send(client, archive.getvalue(), name="bomb.zip")
    assert answer.status_code == 400
    assert "more than is let in" in answer.text
    assert folders(var) == []


def test_items_that_are_no_table_are_refused_beside_their_field(client: Client) -> None:
    answer = send(client, items="nothing")
    assert answer.status_code == 400
    assert "books.csv" in str(answer.context["form"].errors["items_file"])


@pytest.mark.parametrize(
    ("chosen", "field", "said"),
    [
        ({"scale": "1:10"}, "scale", "LOWEST:HIGHEST:STEP"),
        ({"scale": "5:1:1"}, "scale", "cannot be"),
        ({"name": "Marks!"}, "name", "valid"),
        ({"column_0": "item"}, "column_1", "Item is column reader already"),
        ({"column_2": ""}, "__all__", "Choose the column of the rating"),
        ({"column_2": "rating", "kind": "usage"}, "column_2", "Usage data have no ratings"),
        ({"item_column_1": ""}, "__all__", "Choose the column of the title among those of books.csv"),
    ],
)  # fmt: skip
def test_columns_that_cannot_be_are_refused_in_words(
    client: Client, chosen: dict[str, str], field: str, said: str
) -> None:
    answer = import_it(client, send(client, items=BOOKS), **chosen)
    assert answer.status_code == 400
    assert said in str(answer.context["form"].errors[field])
    assert DatasetJob.objects.get().status == JobStatus.WAITING
    assert not Dataset.objects.exists()


def test_a_wrong_value_in_the_first_rows_is_named_at_its_column(client: Client) -> None:
    answer = import_it(client, send(client, "user,item,rating\n1,2,3\n1,3,good\n2,2,4\n"))
    assert answer.status_code == 400
    assert "Line 3: &#x27;good&#x27; is not a number." in str(answer.context["form"].errors["column_2"])


def test_a_bad_row_is_named_at_its_column_or_excluded(client: Client, var: Path) -> None:
    bad = RATINGS + "3,7,excellent\n"
    page = import_it(client, send(client, bad))
    assert page.status_code == 200
    text = flat(page.text)
    assert "Nothing was changed." in text
    assert '<th scope="row">marks.csv</th><td class="n" data-label="Line">98</td>' in text
    assert '<td data-label="Column">mark</td>' in text
    job = DatasetJob.objects.get()
    assert job.status == JobStatus.FAILED
    assert len(folders(var)) == 1
    address = reverse("catalog:columns", args=[job.pk])
    form = client.get(address).context["form"]
    assert "Line 98" in str(form.errors["column_2"])
    assert "may help" in str(form.errors["on_bad_row"])
    answer = client.post(address, {**proposed(client, address), "act": "import", "on_bad_row": "drop"})
    work()
    assert client.get(answer["Location"]).status_code == 302
    version = DatasetVersion.objects.get()
    text = flat(client.get(version.get_absolute_url()).text)
    assert "1 row was excluded" in text
    assert "marks.csv, line 98, column mark" in text
    assert folders(var) == []


def test_a_large_file_is_refused_with_what_to_do(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_forms, "MOST_DATASET", 100)
    answer = send(client)
    assert answer.status_code == 400
    assert "Use the command import_dataset for larger files." in answer.text


# Whose files and names


def test_other_people_s_datasets_get_no_version(client: Client) -> None:
    assert import_it(client, send(client)).status_code == 302
    stranger = Client()
    stranger.force_login(UserFactory())
    answer = import_it(stranger, send(stranger, RATINGS.replace("0,0,1", "0,0,2")))
    assert answer.status_code == 400
    assert "This name is not available to you" in answer.text
    assert DatasetVersion.objects.count() == 1
    assert import_it(client, send(client, RATINGS.replace("0,0,1", "0,0,2"))).status_code == 302
    assert DatasetVersion.objects.count() == 2


def test_a_name_that_is_taken_meanwhile_is_refused_by_the_worker(client: Client) -> None:
    address = send(client)["Location"]
    answer = client.post(address, {**proposed(client, address), "act": "import"})
    Dataset.objects.create(name="marks", title="Marks", owner=UserFactory())
    work()
    assert "is not available. Choose another name." in client.get(answer["Location"]).text
    assert not DatasetVersion.objects.exists()


def test_an_import_goes_into_a_project_that_the_account_writes_in(client: Client) -> None:
    owner = User.objects.get(pk=client.session["_auth_user_id"])
    assert "project" not in proposed(client, send(client)["Location"])
    own, foreign = create_project(name="Own", owner=owner), create_project(name="Foreign", owner=UserFactory())
    sent = send(client)
    assert "Foreign" not in client.get(sent["Location"]).text
    assert import_it(client, sent, project=str(foreign.pk)).status_code == 400
    assert import_it(client, sent, project=str(own.pk)).status_code == 302
    dataset = Dataset.objects.get()
    assert dataset.project == own
    # A new version stays where the dataset is, whatever the form says.
    assert import_it(client, send(client, RATINGS.replace("0,0,1", "0,0,2"))).status_code == 302
    dataset.refresh_from_db()
    assert (dataset.project, dataset.versions.count()) == (own, 2)


def test_an_import_into_a_project_that_the_account_has_left_stores_nothing(client: Client) -> None:
    owner = User.objects.get(pk=client.session["_auth_user_id"])
    project = create_project(name="Own", owner=UserFactory())
    set_member(project=project, email=owner.email, role="member", actor=None)
    address = send(client)["Location"]
    answer = client.post(address, {**proposed(client, address), "act": "import", "project": project.pk})
    project.memberships.filter(researcher=owner).update(role="viewer")
    work()
    assert "You may no longer add datasets to the project" in client.get(answer["Location"]).text
    assert not DatasetVersion.objects.exists()


def test_administrators_see_jobs_of_others_but_no_waiting_uploads_and_none_of_projects(client: Client) -> None:
    owner = User.objects.get(pk=client.session["_auth_user_id"])
    project = create_project(name="Own", owner=owner)
    boss = UserFactory(is_superuser=True, is_staff=True)
    waiting = DatasetJob.objects.get(pk=send(client)["Location"].rstrip("/").rpartition("/")[2])
    failed = DatasetJob.objects.create(kind="import", status="failed", requested_by=owner, source="a.csv")
    private = DatasetJob.objects.create(
        kind="import", status="failed", requested_by=owner, source="b.csv", project=project
    )
    assert set(jobs_of(boss)) == {failed}
    assert set(jobs_of(owner)) == {waiting, failed, private}


def test_nobody_sees_the_uploads_of_others(client: Client) -> None:
    address = send(client)["Location"]
    job = DatasetJob.objects.get()
    stranger = Client()
    stranger.force_login(UserFactory(is_staff=True))
    for page in (address, reverse("catalog:job", args=[job.pk])):
        assert stranger.get(page).status_code == 404
    for name in ("job-cancel", "job-retry"):
        assert stranger.post(reverse(f"catalog:{name}", args=[job.pk])).status_code == 404
    assert "marks.csv" in client.get(reverse("catalog:import")).text
    assert "marks.csv" not in stranger.get(reverse("catalog:import")).text


def test_the_pages_stand_behind_sign_in() -> None:
    for address in (reverse("catalog:import"), reverse("catalog:columns", args=[1]), reverse("catalog:job", args=[1])):
        assert "/account/" in Client().get(address)["Location"]


def test_files_on_the_server_are_for_staff_and_beneath_one_folder(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "marks.csv").write_text(RATINGS)
    (tmp_path / "secret.csv").write_text(RATINGS)
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    address = reverse("catalog:import")
    staff = Client()
    staff.force_login(UserFactory(is_staff=True))
    assert "path" not in staff.get(address).context["form"].fields  # no folder is configured
    settings.IMPORT_DIR = str(folder)
    assert "path" not in client.get(address).context["form"].fields
    assert client.post(address, {"path": "marks.csv"}).status_code == 400
    for path in ("../secret.csv", str(tmp_path / "secret.csv"), "link.csv", ".", "nothing.csv", "a\0b"):
        answer = staff.post(address, {"path": path})
        assert answer.status_code == 400, path
        assert "path" in answer.context["form"].errors
    assert not DatasetJob.objects.exists()
    assert "marks.csv" in staff.get(address).text
    assert import_it(staff, staff.post(address, {"path": "marks.csv"})).status_code == 302
    assert DatasetVersion.objects.get().n_ratings == 96
    assert (folder / "marks.csv").exists()


# Waiting files


def test_uploads_that_nobody_uses_are_deleted(
    client: Client, var: Path, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(dataset_jobs, "MOST_WAITING", 2)
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(3):
            send(client)
    assert len(folders(var)) == 2
    assert DatasetJob.objects.filter(status=JobStatus.CANCELLED).count() == 1
    monkeypatch.setattr(dataset_jobs, "WAITING_HOURS", 0)
    with django_capture_on_commit_callbacks(execute=True):
        dataset_jobs.sweep_jobs()
    assert folders(var) == []
    orphan = upload_folders.new_folder()
    upload_folders.delete_orphans(set())
    assert [folder.name for folder in folders(var)] == [orphan]  # its job may be about to be stored
    monkeypatch.setattr(upload_folders, "ORPHAN_SECONDS", -1)
    dataset_jobs.sweep_jobs()
    assert folders(var) == []
    monkeypatch.setattr(dataset_jobs, "KEPT_DAYS", 0)
    dataset_jobs.clean_jobs()
    assert not DatasetJob.objects.exists()


def test_an_upload_can_be_discarded(
    client: Client, var: Path, django_capture_on_commit_callbacks: Any
) -> None:  # fmt: skip
    address = send(client)["Location"]
    job = DatasetJob.objects.get()
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("catalog:job-cancel", args=[job.pk]))
    assert folders(var) == []
    assert client.get(address, follow=True).text.count("This was cancelled") == 1
    assert client.post(reverse("catalog:job-cancel", args=[job.pk]), follow=True).text.count("cannot become") == 1


def test_a_file_that_is_gone_is_said_to_be(client: Client, var: Path) -> None:
    address = send(client)["Location"]
    given = proposed(client, address)
    upload_folders.delete_folder(DatasetJob.objects.get().folder)
    page = client.get(address, follow=True)
    assert "no longer there. Upload it again." in page.text
    assert DatasetJob.objects.get().status == JobStatus.CANCELLED
    assert client.post(address, given, follow=True).status_code == 200


def test_a_large_upload_is_linked_and_a_full_disk_refuses(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = TemporaryUploadedFile("../marks.csv", "text/csv", len(RATINGS), "utf-8")
    upload.write(RATINGS.encode())
    upload.seek(0)
    folder = upload_folders.new_folder()
    upload_folders.store_upload(upload, folder=folder, part="ratings")
    stored = upload_folders.file_in(folder, "ratings")
    assert stored is not None
    assert (stored.name, stored.read_text(), stored.stat().st_mode & 0o777) == ("marks.csv", RATINGS, 0o600)
    upload.close()
    monkeypatch.setattr(upload_folders, "LEAST_FREE", 2**60)
    answer = send(client)
    assert answer.status_code == 400
    assert "disk is full" in answer.text


# The job and its page


def test_the_page_of_a_job_shows_its_progress_and_leads_to_the_version(client: Client) -> None:
    address = send(client)["Location"]
    sent = client.post(address, {**proposed(client, address), "act": "import"})
    page = client.get(sent["Location"])
    assert "Waiting for a worker" in page.text
    assert "every 1500ms" in page.text
    job = DatasetJob.objects.get()
    DatasetJob.objects.update(status=JobStatus.RUNNING, activity="Reading marks.csv", done=1200, total=4800)
    part = client.get(sent["Location"], headers={"HX-Request": "true"}).text
    assert 'max="4800" value="1200"' in part
    assert "1,200 of 4,800" in part
    assert "<html" not in part
    DatasetJob.objects.update(status=JobStatus.QUEUED)
    assert run_job(job_id=job.pk)
    assert not run_job(job_id=job.pk)  # delivered twice
    answer = client.get(sent["Location"], headers={"HX-Request": "true"})
    assert answer["HX-Redirect"] == sent["Location"]
    client.get(sent["Location"])  # a page that polls may be sent on twice
    assert client.get(sent["Location"], follow=True).text.count("Imported 96 ratings") == 1
    assert client.get(address)["Location"] == sent["Location"]
    DatasetVersion.objects.all().delete()
    assert "The version is no longer there" in client.get(sent["Location"]).text


def test_a_cancelled_job_stores_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    address = send(client)["Location"]
    sent = client.post(address, {**proposed(client, address), "act": "import"})
    job = DatasetJob.objects.get()

    def cancelled(started: DatasetJob, progress: Any) -> Any:
        client.post(reverse("catalog:job-cancel", args=[job.pk]))
        return job_work.import_files(started, progress)

    monkeypatch.setattr(dataset_jobs, "WORK", {"import": cancelled})
    assert not run_job(job_id=job.pk)
    assert not DatasetVersion.objects.exists()
    assert "This was cancelled" in client.get(sent["Location"]).text


def test_jobs_of_dead_workers_are_sent_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(leases, "enqueue_on_commit", lambda task, job_id: sent.append(job_id))
    address = send(client)["Location"]
    client.post(address, {**proposed(client, address), "act": "import"})
    job = DatasetJob.objects.get()
    assert sent == [job.pk]
    DatasetJob.objects.update(status=JobStatus.RUNNING, leased_until=None, lease="gone", attempts=1)
    assert dataset_jobs.sweep_jobs() == 1
    assert sent == [job.pk, job.pk]


# Downloads


@pytest.fixture
def grouplens(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes | None]]:
    """A server at 127.0.0.1 in place of GroupLens'; what it serves under every name can be changed."""
    content: list[bytes | None] = [None]

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            whole = content[0]
            if whole is None:
                self.send_error(503)
                return
            is_sum = self.path.endswith(".md5")
            body = hashlib.md5(whole, usedforsecurity=False).hexdigest().encode() if is_sum else whole
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setattr(download, "GROUPLENS", f"http://127.0.0.1:{server.server_address[1]}/")
    yield content
    server.shutdown()
    thread.join()
    server.server_close()


def movielens_archive() -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        rows = "".join(f"{u},{i},{1 + (u + i) % 5}.0,978300760\n" for u in range(1, 9) for i in range(1, 9))
        packed.writestr("ml/ratings.csv", "userId,movieId,rating,timestamp\n" + rows)
        films = "".join(f"{i},F{i} (1999),Drama\n" for i in range(1, 9))
        packed.writestr("ml/movies.csv", "movieId,title,genres\n" + films)
    return archive.getvalue()


def test_a_movielens_dataset_is_downloaded_and_imported(
    client: Client, var: Path, grouplens: list[bytes | None]
) -> None:
    page = client.get(reverse("catalog:import")).text
    assert "no commercial use" in page
    address = reverse("catalog:download")
    refused = client.post(address, {"set": "ml-latest-small"})
    assert refused.status_code == 400
    assert "accept its terms" in str(refused.context["download_form"].errors["accepted"])
    assert client.post(address, {"set": "ml-7", "accepted": "on"}).status_code == 400
    sent = client.post(address, {"set": "ml-latest-small", "accepted": "on"})
    assert client.post(address, {"set": "ml-latest-small", "accepted": "on"})["Location"] == sent["Location"]
    other = Client()
    other.force_login(UserFactory())
    assert "Another account is downloading" in other.post(address, {"set": "ml-latest-small", "accepted": "on"}).text
    work()
    page = client.get(sent["Location"]).text
    assert "503" in page
    assert "on another computer and upload the archive" in page
    grouplens[0] = movielens_archive()
    (job,) = DatasetJob.objects.all()
    client.post(reverse("catalog:job-retry", args=[job.pk]))
    work()
    assert client.get(sent["Location"])["Location"] == "/catalog/ml-latest-small/1/"
    assert DatasetVersion.objects.get().n_ratings == 64
    assert list((var / "downloads").iterdir()) == []
    assert "is not available to you" in other.post(address, {"set": "ml-latest-small", "accepted": "on"}).text
    assert "cannot become" in client.post(reverse("catalog:job-retry", args=[job.pk]), follow=True).text


def test_movielens_goes_through_the_pages(client: Client, movielens_small: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(movielens_small.iterdir()):
            packed.write(file, f"ml-latest-small/{file.name}")
    assert import_it(client, send(client, archive.getvalue(), name="ml-latest-small.zip")).status_code == 302
    assert DatasetVersion.objects.get().n_ratings == 100_836


def test_market_baskets_go_through_the_pages(client: Client, shared_dir: Path) -> None:
    files = {
        "file": SimpleUploadedFile(
            "b.csv.gz", (shared_dir / "data" / "online-retail" / "orII_0910_baskets.csv.gz").read_bytes()
        ),
        "items_file": SimpleUploadedFile(
            "p.csv.gz", (shared_dir / "data" / "online-retail" / "orII_0910_median_price.csv.gz").read_bytes()
        ),
    }
    sent = client.post(reverse("catalog:import"), files)
    form = client.get(sent["Location"]).context["form"]
    assert form["kind"].value() == "usage"
    assert form.table.roles == {"Invoice": "user", "StockCode": "item"}
