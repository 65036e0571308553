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
from catalog.forms import upload as upload_forms
from catalog.importers import download
from catalog.models import Dataset, DatasetVersion
from catalog.selectors.dataset_jobs import jobs_of
from catalog.services import dataset_jobs, job_work, upload_folders
from jobs.models import Job, JobStatus
from jobs.services import do_job, sweep
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.jobs import work
from tests.factories.pages import flat

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
RATINGS = "reader,book,mark\n" + "".join(f"{u},{b},{1 + (3 * u + 5 * b) % 10}\n" for u in range(12) for b in range(8))
BOOKS = "book,name,author\n" + "".join(f"{b},The book {b},Author {b % 3}\n" for b in range(8))
EDITIONS = Path(__file__).parents[1] / "data" / "imports" / "editions" / "marks.csv"


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
    files = [SimpleUploadedFile(name, content)]
    if items:
        files.append(SimpleUploadedFile("books.csv", items.encode()))
    return client.post(reverse("catalog:import"), {"uploads": files})


def proposed(client: Client, address: str) -> dict[str, Any]:
    """What a page of an import proposes, as a browser would send it."""
    form = client.get(address).context["form"]
    values = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in values.items() if value not in (None, False)}


def step(sent: Any, name: str) -> str:
    """The address of a page of the import that an upload led to."""
    return reverse("catalog:step", args=[sent["Location"].split("/")[3], name])


def walk(client: Client, sent: Any, **chosen: Any) -> Any:
    """Go through the pages with what is proposed and some changes, up to the job of the import; the last answer is
    that of the page which did not lead on.
    """
    for name in ("columns", "ratings", "items", "check"):
        address = step(sent, name)
        values = proposed(client, address)
        answer = client.post(
            address,
            {
                **values,
                "act": "next",
                **{key: chosen[key] for key in chosen if key in values or name == chosen.get("at")},
            },
        )
        if answer.status_code != 302 or answer["Location"] == address:
            return answer
        if name == "ratings":
            work()
    return answer


def import_it(client: Client, sent: Any, **chosen: Any) -> Any:
    """Walk through the pages, let the worker work, and return the page of the job."""
    answer = walk(client, sent, **chosen)
    if answer.status_code != 302 or "/jobs/" not in answer["Location"]:
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
    assert '<option value="author" selected>' in page
    assert_page_approved("catalog/import-columns", page)
    (folder,) = folders(var)
    assert folder.stat().st_mode & 0o777 == 0o700
    answer = import_it(client, sent, title="Marks", item_type="book", disliked="3", at="check")
    version = DatasetVersion.objects.get()
    assert answer["Location"] == version.get_absolute_url()
    assert (version.n_users, version.n_items, version.n_ratings) == (12, 8, 96)
    assert (version.scale_low, version.scale_high, version.scale_step) == (1, 10, 1)
    assert (version.dataset.name, version.dataset.title, version.dataset.item_type) == ("marks", "Marks", "book")
    assert str(version.dataset.owner.pk) == client.session["_auth_user_id"]
    item = version.items.get(external_id="3")
    assert item.title == "The book 3"
    assert item.features.get(kind="author").value == "Author 0"
    assert version.report["limits"] == {"relevant": 9.0, "irrelevant": 3.0}
    page = client.get(version.get_absolute_url()).text
    assert_page_approved("catalog/version-imported", page)
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
    assert import_it(client, sent).status_code == 302, Job.objects.get().error
    version = DatasetVersion.objects.get()
    assert (version.scale_low, version.scale_high, version.scale_step) == expected
    if name == "l.csv":
        assert version.items.filter(title="Perché\nno 3").exists()


def test_usage_data_have_no_ratings(client: Client) -> None:
    rows = "Invoice,StockCode\n" + "".join(f"{u},{(u + step) % 9}\n" for u in range(9) for step in range(3))
    sent = send(client, rows)
    assert_page_approved("catalog/import-columns-of-usage", client.get(sent["Location"]).text)
    assert import_it(client, sent).status_code == 302
    version = DatasetVersion.objects.get()
    assert version.scale_low == version.scale_high


def test_an_archive_of_known_layout_is_recognised(client: Client) -> None:
    sent = send(client, movielens_archive(), name="ml-tiny.zip")
    assert "MovieLens" in client.get(sent["Location"]).context["format"].title
    assert import_it(client, sent).status_code == 302
    assert DatasetVersion.objects.get().source_format == "movielens-csv"


def test_files_read_otherwise_are_proposed_again(client: Client) -> None:
    address = send(client, RATINGS)["Location"]
    for changed in ({"act": "preview", "has_header": "no"}, {"act": "next", "encoding": "latin-1"}):
        sent = client.post(address, {**proposed(client, address), **changed})
        assert sent["Location"] == address  # shown again before it leads on
    page = client.get(address).text
    assert "Column 1" in page
    assert Job.objects.get().payload["options"] == {"has_header": "no", "encoding": "latin-1"}


def test_roles_win_over_what_is_detected(client: Client) -> None:
    rows = "who,what,a,b\n" + "".join(f"u{u},i{i},{1 + (u + i) % 5},{1 + (2 * u + i) % 5}\n" for u, i in PAIRS)
    sent = send(client, rows)
    client.post(
        sent["Location"],
        {**proposed(client, sent["Location"]), "role_0_0": "user", "role_0_1": "item", "role_0_3": "rating"},
    )
    assert import_it(client, sent).status_code == 302
    version = DatasetVersion.objects.get()
    assert (version.n_users, version.n_items, version.scale_high) == (9, 9, 5)
    assert version.report["recipe"]["parts"][0]["columns"][3]["role"] == "rating"
    assert version.report["summary"]["columns_not_used"] == ["a"]


ZEROS = "user,item,score\n" + "".join(f"{u},{i},{(u + i) % 6}\n" for u, i in PAIRS)


@pytest.mark.parametrize(("answer", "n_ratings", "scale"), [("0", 68, (1, 5)), ("0:5:1", 81, (1, 6))])
def test_a_question_is_asked_and_can_be_asked_again(
    client: Client, answer: str, n_ratings: int, scale: tuple[int, int]
) -> None:
    sent = send(client, ZEROS)
    refused = walk(client, sent)
    assert refused.status_code == 400
    assert "Choose an answer." in str(refused.context["form"].errors["answer_zero"])
    page = client.get(step(sent, "ratings"))
    assert_page_approved("catalog/import-ratings-with-zeros", page.text)
    assert not page.context["form"]["answer_zero"].value()
    assert client.get(step(sent, "check"))["Location"] == step(sent, "ratings")
    other = {"0": "0:5:1", "0:5:1": "0"}[answer]
    client.post(step(sent, "ratings"), {"act": "preview", "answer_zero": other})
    client.post(step(sent, "ratings"), {"act": "again"})
    assert import_it(client, sent, answer_zero=answer, at="ratings").status_code == 302
    version = DatasetVersion.objects.get()
    assert (version.n_ratings, version.scale_low, version.scale_high) == (n_ratings, *scale)


def test_an_outlier_is_asked_about_with_its_line(client: Client) -> None:
    sent = send(client, RATINGS + "3,9,12\n")
    client.post(sent["Location"], proposed(client, sent["Location"]))
    page = client.get(step(sent, "ratings"))
    assert_page_approved("catalog/import-ratings-with-an-outlier", page.text)
    assert 'class="stray"' in page.text
    answer = walk(client, sent, answer_scale="1:10:1", at="ratings")
    assert "/jobs/" in answer["Location"]
    work()
    version = DatasetVersion.objects.get()
    assert (version.n_ratings, version.scale_high) == (96, 10)
    assert version.report["dropped"] == {"rating off the scale": 1}


def test_events_are_chosen(client: Client) -> None:
    rows = "visitor,item,event\n" + "".join(f"{u},{i},{'view' if (u + i) % 3 else 'buy'}\n" for u, i in PAIRS)
    sent = send(client, rows)
    assert import_it(client, sent, answer_events=["buy"], at="ratings").status_code == 302
    assert DatasetVersion.objects.get().n_ratings == 27


def test_a_file_of_items_is_added_and_removed(client: Client, var: Path) -> None:
    sent = send(client)
    client.post(sent["Location"], proposed(client, sent["Location"]))
    address = step(sent, "ratings")
    client.post(address, proposed(client, address))
    work()
    address = step(sent, "items")
    page = client.get(address)
    assert len(page.context["items"]) == 8
    assert_page_approved("catalog/import-items-without-titles", page.text)
    answer = client.post(address, {"act": "add"})
    assert "items_file" in answer.context["form"].errors
    answer = client.post(address, {"act": "add", "items_file": SimpleUploadedFile("bad.csv", b"nothing")})
    assert "bad.csv" in str(answer.context["form"].errors["items_file"])
    client.post(address, {"act": "add", "items_file": SimpleUploadedFile("books.csv", BOOKS.encode())})
    assert_page_approved("catalog/import-items-waiting", client.get(address).text)
    work()
    page = flat(client.get(address).text)
    assert "<strong>The book 3</strong>" in page
    assert "have no title" not in page
    (folder,) = folders(var)
    client.post(address, {"act": "remove"})
    work()
    assert "have no title" in client.get(address).text
    client.post(address, {"act": "add", "items_file": SimpleUploadedFile("books.csv", BOOKS.encode())})
    work()
    assert import_it(client, sent).status_code == 302
    assert DatasetVersion.objects.get().items.get(external_id="3").title == "The book 3"
    assert not folder.exists()


def test_equal_titles_are_merged_and_kept_apart_again(client: Client) -> None:
    sent = send(client, EDITIONS.read_bytes())
    for name in ("columns", "ratings"):
        address = step(sent, name)
        client.post(address, proposed(client, address))
    work()
    address = step(sent, "items")
    assert_page_approved("catalog/import-items-with-equal-titles", client.get(address).text)
    client.post(address, {"act": "merge"})
    work()
    page = client.get(address)
    assert "Keep them apart" in page.text
    assert len(page.context["items"]) == 4
    client.post(address, {"act": "apart"})
    work()
    assert len(client.get(address).context["items"]) == 5
    client.post(address, {"act": "merge"})
    work()
    assert import_it(client, sent).status_code == 302
    version = DatasetVersion.objects.get()
    assert (version.n_items, version.n_ratings) == (4, 17)


def test_every_problem_is_shown_at_once_and_fixed_in_one_import(client: Client) -> None:
    bad = RATINGS + "3,7,excellent\n,2,4\n0,0,2\n1,0,9\n"
    sent = send(client, bad)
    page = walk(client, sent, name="Marks!")
    assert page.status_code == 400
    assert_page_approved("catalog/import-check-with-problems", page.text)
    assert page.context["check"]["summary"]["ratings"] == 96
    assert not DatasetVersion.objects.exists()
    assert import_it(client, sent).status_code == 302
    version = DatasetVersion.objects.get()
    assert version.n_ratings == 96
    assert sum(version.report["dropped"].values()) == 4
    text = flat(client.get(version.get_absolute_url()).text)
    assert "marks.csv, line 98, column mark" in text


def test_a_recipe_is_saved_and_imports_the_next_file(client: Client) -> None:
    sent = send(client, ZEROS)
    assert import_it(client, sent, answer_zero="0", at="ratings").status_code == 302
    recipe = client.get(reverse("catalog:recipe", args=[Job.objects.get().pk]))
    assert recipe["Content-Disposition"] == 'attachment; filename="marks-recipe.yaml"'
    files = {"uploads": [SimpleUploadedFile("more.csv", ZEROS.replace("0,0,0", "0,0,3").encode())]}
    broken = client.post(reverse("catalog:import"), {**files, "recipe": SimpleUploadedFile("r.yaml", b"parts: 3")})
    assert "r.yaml" in str(broken.context["form"].errors["recipe"])
    files["uploads"][0].seek(0)
    again = client.post(reverse("catalog:import"), {**files, "recipe": SimpleUploadedFile("r.yaml", recipe.content)})
    assert import_it(client, again).status_code == 302
    assert DatasetVersion.objects.latest("pk").n_ratings == 69


def test_an_import_is_taken_up_where_it_was_left(client: Client) -> None:
    sent = send(client)
    client.post(sent["Location"], proposed(client, sent["Location"]))
    assert step(sent, "ratings") in client.get(reverse("catalog:import")).text
    address = step(sent, "ratings")
    client.post(address, {**proposed(client, address), "liked": "7"})
    work()
    assert client.get(address).context["form"]["liked"].value() == "7"
    # A change of what is read needs another check, and one of the limits does not.
    client.post(address, {**proposed(client, address), "liked": "8"})
    assert "check" in Job.objects.get().payload
    client.post(address, {**proposed(client, address), "scale": "1:11:1"})
    assert "check" not in Job.objects.get().payload
    work()
    assert "1 to 11" in client.get(step(sent, "check")).context["check"]["scale"]


# Refusals


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "empty"),
        ("one.csv", b"hello\nworld\n", "has one column"),
        ("bytes.csv", b"\x00\x01\x02PK", "this is not a text file"),
        ("utf16.csv", "a,b\n1,2\n".encode("utf-16"), "no column of users"),
        ("header.csv", b"user,item,rating\n", "no row after the header"),
        ("twice.csv", b"user,user,rating\n1,2,3\n", "names column &#x27;user&#x27; twice"),
        ("broken.zip", b"PK\x03\x04nothing", "not a ZIP archive"),
        ("sheet.xlsx", b"PK\x03\x04\x00nothing", "not a ZIP archive"),
    ],
)
def test_a_file_that_is_no_dataset_is_refused_beside_its_field(
    client: Client, var: Path, name: str, content: bytes, said: str
) -> None:
    answer = send(client, content, name=name)
    assert answer.status_code == 400
    assert said in str(answer.context["form"].errors["uploads"])
    assert not Job.objects.exists()
    assert folders(var) == []


def test_a_zip_bomb_is_refused(client: Client, var: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("ratings.csv", b"0" * (40 * 2**20))
    answer = send(client, archive.getvalue(), name="bomb.zip")
    assert answer.status_code == 400
    assert "above the limit" in answer.text
    assert folders(var) == []


@pytest.mark.parametrize(
    ("at", "chosen", "field", "said"),
    [
        ("ratings", {"scale": "1:10:x"}, "__all__", "LOWEST:HIGHEST:STEP"),
        ("ratings", {"scale": "5:1:1"}, "__all__", "cannot be"),
        ("ratings", {"not_rated": "none"}, "not_rated", "Write numbers"),
        ("ratings", {"disliked": "9", "liked": "3"}, "liked", "above"),
        ("check", {"name": "Marks!"}, "name", "valid"),
        ("columns", {"role_0_0": "item"}, "role_0_1", "reader is the column of items already"),
        ("columns", {"role_0_0": ""}, "__all__", "Choose the column of users in marks.csv"),
        ("columns", {"role_1_0": ""}, "__all__", "Choose the column of ids in books.csv"),
    ],
)  # fmt: skip
def test_choices_that_cannot_be_are_refused_in_words(
    client: Client, at: str, chosen: dict[str, str], field: str, said: str
) -> None:
    answer = walk(client, send(client, items=BOOKS), **chosen, at=at)
    assert answer.status_code == 400
    assert said in str(answer.context["form"].errors[field])
    assert Job.objects.get().status == JobStatus.WAITING
    assert not Dataset.objects.exists()


def test_a_file_of_which_nothing_is_left_leads_back(client: Client) -> None:
    sent = send(client, RATINGS)
    page = walk(client, sent, scale="100:200:1", at="ratings")
    assert_page_approved("catalog/import-check-nothing-left", client.get(step(sent, "check")).text)
    assert page.status_code in (302, 400)


def test_a_large_file_is_refused_with_what_to_do(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_forms.UploadForm.base_fields["uploads"], "most", 100)
    answer = send(client)
    assert answer.status_code == 400
    assert "import_dataset" in answer.text


# Whose files and names


def test_other_people_s_datasets_get_no_version(client: Client) -> None:
    assert import_it(client, send(client)).status_code == 302
    stranger = Client()
    stranger.force_login(UserFactory())
    answer = import_it(stranger, send(stranger, RATINGS.replace("0,0,1", "0,0,2")))
    assert answer.status_code == 400
    assert "name" in answer.context["form"].errors
    assert DatasetVersion.objects.count() == 1
    assert import_it(client, send(client, RATINGS.replace("0,0,1", "0,0,2"))).status_code == 302
    assert DatasetVersion.objects.count() == 2


def test_a_name_that_is_taken_meanwhile_is_refused_by_the_worker(client: Client) -> None:
    answer = walk(client, send(client))
    Dataset.objects.create(name="marks", title="Marks", owner=UserFactory())
    work()
    assert_page_approved("catalog/import-job-failed", client.get(answer["Location"]).text)
    assert not DatasetVersion.objects.exists()


def test_an_import_goes_into_a_project_that_the_account_writes_in(client: Client) -> None:
    owner = User.objects.get(pk=client.session["_auth_user_id"])
    assert "Visible to" not in walk(client, send(client), name="!").text
    own, foreign = create_project(name="Own", owner=owner), create_project(name="Foreign", owner=UserFactory())
    sent = send(client)
    refused = walk(client, sent, project=str(foreign.pk), at="check")
    assert refused.status_code == 400
    assert "Own" in refused.text
    assert "Foreign" not in refused.text
    assert import_it(client, sent, project=str(own.pk), at="check").status_code == 302
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
    answer = walk(client, send(client), project=project.pk, at="check")
    project.memberships.filter(researcher=owner).update(role="viewer")
    work()
    assert "to the project" in client.get(answer["Location"]).text
    assert not DatasetVersion.objects.exists()


def test_administrators_see_jobs_of_others_but_no_waiting_uploads_and_none_of_projects(client: Client) -> None:
    owner = User.objects.get(pk=client.session["_auth_user_id"])
    project = create_project(name="Own", owner=owner)
    boss = UserFactory(is_superuser=True, is_staff=True)
    waiting = Job.objects.get(pk=send(client)["Location"].split("/")[3])
    failed = Job.objects.create(kind="import", status="failed", owner=owner, payload={"source": "a.csv"})
    private = project.jobs.create(kind="import", status="failed", owner=owner, payload={"source": "b.csv"})
    assert set(jobs_of(boss)) == {failed}
    assert set(jobs_of(owner)) == {waiting, failed, private}


def test_nobody_sees_the_uploads_of_others(client: Client) -> None:
    address = send(client)["Location"]
    job = Job.objects.get()
    stranger = Client()
    stranger.force_login(UserFactory(is_staff=True))
    for page in (address, reverse("catalog:job", args=[job.pk])):
        assert stranger.get(page).status_code == 404
    for name in ("job-cancel", "job-retry"):
        assert stranger.post(reverse(f"catalog:{name}", args=[job.pk])).status_code == 404
    assert "marks.csv" in client.get(reverse("catalog:import")).text
    assert "marks.csv" not in stranger.get(reverse("catalog:import")).text


def test_the_pages_stand_behind_sign_in() -> None:
    for address in (
        reverse("catalog:import"),
        reverse("catalog:step", args=[1, "columns"]),
        reverse("catalog:job", args=[1]),
    ):
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
    assert not Job.objects.exists()
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
    assert Job.objects.filter(status=JobStatus.CANCELLED).count() == 1
    monkeypatch.setattr(dataset_jobs, "WAITING_HOURS", 0)
    with django_capture_on_commit_callbacks(execute=True):
        dataset_jobs.clean_uploads()
    assert folders(var) == []
    orphan = upload_folders.new_folder()
    upload_folders.delete_orphans(set())
    assert [folder.name for folder in folders(var)] == [orphan]  # its job may be about to be stored
    monkeypatch.setattr(upload_folders, "ORPHAN_SECONDS", -1)
    dataset_jobs.clean_uploads()
    assert folders(var) == []


def test_an_upload_can_be_discarded(
    client: Client, var: Path, django_capture_on_commit_callbacks: Any
) -> None:  # fmt: skip
    address = send(client)["Location"]
    job = Job.objects.get()
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("catalog:job-cancel", args=[job.pk]))
    assert folders(var) == []
    assert client.get(address, follow=True).text.count("This was cancelled") == 1
    assert client.post(reverse("catalog:job-cancel", args=[job.pk]), follow=True).text.count("cannot become") == 1


def test_a_file_that_is_gone_is_said_to_be(client: Client, var: Path) -> None:
    address = send(client)["Location"]
    given = {**proposed(client, address), "act": "next"}
    upload_folders.delete_folder(Job.objects.get().payload["folder"])
    page = client.get(address, follow=True)
    assert "Upload it again" in page.text
    assert Job.objects.get().status == JobStatus.CANCELLED
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
    sent = walk(client, send(client))
    page = client.get(sent["Location"])
    assert_page_approved("catalog/import-job-waiting", page.text)
    assert "every 1500ms" in page.text
    job = Job.objects.get()
    Job.objects.update(status=JobStatus.RUNNING, activity="Reading marks.csv", done=1200, total=4800)
    part = client.get(sent["Location"], headers={"HX-Request": "true"}).text
    assert 'max="4800" value="1200"' in part
    assert "1,200 of 4,800" in part
    assert "<html" not in part
    Job.objects.update(status=JobStatus.QUEUED)
    assert do_job(job_id=job.pk)
    assert not do_job(job_id=job.pk)  # delivered twice
    answer = client.get(sent["Location"], headers={"HX-Request": "true"})
    assert answer["HX-Redirect"] == sent["Location"]
    client.get(sent["Location"])  # a page that polls may be sent on twice
    assert client.get(sent["Location"], follow=True).text.count("Imported 96 ratings") == 1
    assert client.get(reverse("catalog:step", args=[job.pk, "check"]))["Location"] == sent["Location"]
    DatasetVersion.objects.all().delete()
    assert client.get(sent["Location"]).status_code == 404


def test_a_cancelled_job_stores_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = walk(client, send(client))
    job = Job.objects.get()

    def cancelled(started: Job, progress: Any) -> Any:
        client.post(reverse("catalog:job-cancel", args=[job.pk]))
        return job_work.import_files(started, progress)

    monkeypatch.setattr(dataset_jobs, "WORK", {"import": cancelled})
    assert not do_job(job_id=job.pk)
    assert not DatasetVersion.objects.exists()
    assert "This was cancelled" in client.get(sent["Location"]).text


def test_jobs_of_dead_workers_are_sent_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr("jobs.services.enqueue_on_commit", lambda name, *, queue, job_id: sent.append(job_id))
    walk(client, send(client))
    job = Job.objects.get()
    assert sent.pop(0) == job.pk  # the check
    assert sent == [job.pk]
    Job.objects.update(status=JobStatus.RUNNING, leased_until=None, lease="gone", attempts=1)
    assert sweep() == 1
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
    assert_page_approved("catalog/import", page)
    address = reverse("catalog:download")
    refused = client.post(address, {"set": "ml-latest-small"})
    assert refused.status_code == 400
    assert "accept its terms" in str(refused.context["download_form"].errors["accepted"])
    assert client.post(address, {"set": "ml-7", "accepted": "on"}).status_code == 400
    sent = client.post(address, {"set": "ml-latest-small", "accepted": "on"})
    assert client.post(address, {"set": "ml-latest-small", "accepted": "on"})["Location"] == sent["Location"]
    other = Client()
    other.force_login(UserFactory())
    assert "Another account" in other.post(address, {"set": "ml-latest-small", "accepted": "on"}).text
    work()
    page = client.get(sent["Location"]).text
    assert "503" in page
    assert_page_approved("catalog/download-job-failed", page, {r"127\.0\.0\.1:\d+": "SERVER"})
    grouplens[0] = movielens_archive()
    (job,) = Job.objects.all()
    client.post(reverse("catalog:job-retry", args=[job.pk]))
    work()
    assert client.get(sent["Location"])["Location"] == "/catalog/ml-latest-small/1/"
    assert DatasetVersion.objects.get().n_ratings == 64
    assert list((var / "downloads").iterdir()) == []
    assert "not available" in other.post(address, {"set": "ml-latest-small", "accepted": "on"}).text
    assert "cannot become" in client.post(reverse("catalog:job-retry", args=[job.pk]), follow=True).text


def test_movielens_goes_through_the_pages(client: Client, movielens_small: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(movielens_small.iterdir()):
            packed.write(file, f"ml-latest-small/{file.name}")
    assert import_it(client, send(client, archive.getvalue(), name="ml-latest-small.zip")).status_code == 302
    assert DatasetVersion.objects.get().n_ratings == 100_836


def test_market_baskets_go_through_the_pages(client: Client, shared_dir: Path) -> None:
    names = ("orII_0910_baskets.csv.gz", "orII_0910_median_price.csv.gz")
    files = [SimpleUploadedFile(name, (shared_dir / "data" / "online-retail" / name).read_bytes()) for name in names]
    sent = client.post(reverse("catalog:import"), {"uploads": files[:1]})
    form = client.get(sent["Location"]).context["form"]
    assert [form[f"role_0_{at}"].value() for at in range(2)] == ["user", "item"]
    for name in ("columns", "ratings"):
        client.post(step(sent, name), proposed(client, step(sent, name)))
    work()
    client.post(step(sent, "items"), {"act": "add", "items_file": files[1]})
    work()
    assert import_it(client, sent).status_code == 302
    assert DatasetVersion.objects.get().dataset.name == "orii-0910-baskets"
