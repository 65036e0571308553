"""A dataset from a dropped file to its version, in a browser: five pages without a barrier, and published layouts."""

from __future__ import annotations

import importlib.util
import threading
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Browser, Page

from accounts.models import User
from catalog.models import DatasetVersion
from core import artefacts
from jobs.models import Job, JobStatus
from jobs.services import do_job
from tests.e2e.test_accessibility import SIDEWAYS, violations, with_axe
from tests.e2e.test_console_accessibility import signed_in
from tests.factories.accounts import UserFactory

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

RATINGS = "reader,book,mark\n" + "".join(f"{u},{b},{1 + (3 * u + 5 * b) % 10}\n" for u in range(12) for b in range(8))
DROP = """([zone, name, content]) => {
  const files = new DataTransfer();
  files.items.add(new File([content], name, {type: "text/csv"}));
  for (const kind of ["dragenter", "dragover", "drop"])
    zone.dispatchEvent(new DragEvent(kind, {dataTransfer: files, bubbles: true, cancelable: true}));
}"""
# Published layouts: several files, an added file of items, a workbook, a matrix, and what has to be asked.
CASES = {
    "01": {}, "05": {}, "10": {}, "12": {}, "16": {}, "23": {"events": "view"}, "29": {}, "30": {},
    "34": {"scale": "1:10:1"}, "40": {},
}  # fmt: skip


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A worker in a thread, which begins once it is told to."""
    monkeypatch.setattr("jobs.services.enqueue_on_commit", lambda *args, **ids: None)
    begin, stop = threading.Event(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            if begin.is_set():
                for pk in Job.objects.filter(status=JobStatus.QUEUED).values_list("pk", flat=True):
                    do_job(job_id=pk)
            time.sleep(0.1)
        connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    yield begin
    stop.set()
    thread.join()


def look_at(page: Page, what: str) -> None:
    with_axe(page)
    assert not page.evaluate(SIDEWAYS), f"{what} scrolls sideways"
    assert violations(page) == [], what


def drop(page: Page, field: str, name: str, content: str) -> None:
    zone = page.locator(f".drop:has([name={field}])").element_handle()
    page.evaluate(DROP, [zone, name, content])


def opened(browser: Browser, url: str, researcher: User, **settings: Any) -> Page:
    """The first page of an import."""
    context = browser.new_context(**settings)
    signed_in(context, url, researcher)
    page = context.new_page()
    page.set_default_timeout(90_000)  # the first page waits until the runtime of charts is bundled
    page.goto(f"{url}/catalog/import/dataset/")
    return page


def go_on(page: Page, to: str) -> None:
    page.click("button.go")
    page.wait_for_url(f"**/{to}/")


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.core), 390])
def test_a_dropped_file_becomes_a_version(
    live_server: Any, browser: Browser, worker: threading.Event, settings: Any, tmp_path: Path, width: int
) -> None:
    settings.VAR_DIR = tmp_path
    researcher: User = UserFactory()
    page = opened(browser, live_server.url, researcher, viewport={"width": width, "height": 900})
    look_at(page, "files")
    # Too large: refused before anything is sent.
    page.evaluate("document.querySelector('[name=uploads]').dataset.most = 10")
    drop(page, "uploads", "marks.csv", RATINGS)
    assert "limit for uploads" in page.locator(".drop-problem").first.inner_text()
    assert page.evaluate("!document.querySelector('[name=uploads]').checkValidity()")
    page.reload()
    # No table: the error stands beside the field, and the page takes another file.
    drop(page, "uploads", "words.csv", "hello\nworld\n")
    page.click("form[data-upload] button.go")
    page.wait_for_selector(".errorlist li")
    assert (
        "words.csv, line 1: the first line 'hello' has one column" in page.locator(".errorlist li").first.inner_text()
    )
    look_at(page, "files refused")
    drop(page, "uploads", "marks.csv", RATINGS + "3,7,excellent\n4,9,12\n")
    go_on(page, "columns")
    assert page.locator("[name=role_0_2]").input_value() == "rating"
    assert page.locator(".preview tbody tr").count() == 8
    look_at(page, "columns")
    go_on(page, "ratings")
    look_at(page, "ratings")
    # Nothing is preselected; without an answer the page does not lead on.
    page.click("button.go")
    assert "ratings" in page.url
    page.check("[name=answer_scale][value='1:10:1']")
    page.focus(".handles input:last-child")
    page.keyboard.press("ArrowLeft")
    assert page.locator("[name=liked]").input_value() == "8"
    assert page.locator("[data-count=liked]").inner_text() == "28 ratings"
    assert page.locator(".bars .high").count() == 3
    go_on(page, "items")
    assert "Waiting for a worker" in page.locator("#job").inner_text()
    look_at(page, "progress")
    worker.set()
    page.wait_for_selector(".item-grid")
    look_at(page, "items")
    page.click("text=Add a file of items")
    page.set_input_files(
        "[name=items_file]", {"name": "b.csv", "mimeType": "text/csv", "buffer": b"book,name\n3,Three\n"}
    )
    page.click("button[value=add]")
    page.wait_for_selector("text=Three")
    go_on(page, "check")
    look_at(page, "check")
    assert "line 98, column mark: 'excellent' is not a number" in page.locator("main").inner_text()
    page.uncheck("[name=fix_0]")
    assert not page.evaluate("document.querySelector('#step').checkValidity()")
    page.check("[name=fix_0]")
    page.click("text=Name and item type")
    with page.expect_download() as download:
        page.click("text=Save recipe")
    assert download.value.suggested_filename == "import-recipe.yaml"
    page.click("text=Fix and import")
    page.wait_for_url("**/catalog/marks/1/", timeout=60_000)
    assert "Imported 96 ratings of 9 items; 2 rows were excluded." in page.locator(".messages").inner_text()
    assert "marks.csv, line 98, column mark" in page.locator("section:has(#import)").inner_text()
    look_at(page, "version")
    version = DatasetVersion.objects.get()
    assert (version.dataset.owner, version.report["limits"]["relevant"]) == (researcher, 8)
    assert list((tmp_path / "uploads").iterdir()) == []
    page.context.close()


@pytest.mark.core
def test_the_pages_work_without_scripts(
    live_server: Any, browser: Browser, worker: threading.Event, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    worker.set()
    page = opened(browser, live_server.url, UserFactory(), java_script_enabled=False)
    page.set_input_files("[name=uploads]", {"name": "marks.csv", "mimeType": "text/csv", "buffer": RATINGS.encode()})
    go_on(page, "columns")
    go_on(page, "ratings")
    page.select_option("[name=liked]", "7")
    go_on(page, "items")
    until(page, lambda: page.locator(".item-grid").count() > 0)
    go_on(page, "check")
    page.click("button.go")
    until(page, lambda: "/marks/1/" in page.url)
    assert DatasetVersion.objects.get().report["limits"]["relevant"] == 7
    page.goto(f"{live_server.url}/catalog/marks/1/subset/")
    page.fill("[name=top_items]", "3")
    page.click("text=Count what remains")
    assert "Top 3 items" in page.locator("#subset-count").inner_text()
    page.context.close()


def until(page: Page, is_done: Any) -> None:
    """Reload a page that does not do so by itself."""
    for _ in range(600):
        if is_done():
            return
        page.wait_for_timeout(100)
        page.reload()
    raise AssertionError(page.url)


@pytest.mark.parametrize("number", CASES)
def test_a_published_layout_is_imported_as_it_is_proposed(
    live_server: Any,
    browser: Browser,
    worker: threading.Event,
    settings: Any,
    tmp_path: Path,
    shared_dir: Path,
    number: str,
) -> None:
    settings.VAR_DIR = tmp_path
    worker.set()
    (case,) = (shared_dir / "cases" / "import").glob(f"{number}-*")
    about = tomllib.loads((case / "case.toml").read_text())
    source = case / about["path"]
    page = opened(browser, live_server.url, UserFactory(), viewport={"width": 1280, "height": 900})
    page.set_input_files("[name=uploads]", sorted(source.iterdir()) if source.is_dir() else [source])
    go_on(page, "columns")
    if number not in ("16",):
        assert_roles(page, about["roles"])
    go_on(page, "ratings")
    for option, answer in CASES[number].items():
        page.check(f"[name=answer_{option}][value='{answer}']")
    go_on(page, "items")
    page.wait_for_selector(".item-grid")
    if "--items-file" in about["options"]:
        page.click("text=Add a file of items")
        page.set_input_files("[name=items_file]", case / about["options"][1])
        page.click("button[value=add]")
        page.wait_for_selector("text=Remove the added file")
        page.wait_for_selector(".item-grid")
    go_on(page, "check")
    warned = page.locator("main").inner_text()
    page.click("button.go")
    page.wait_for_url("**/1/")
    spec = importlib.util.spec_from_file_location("check_import", shared_dir / "cases" / "check_import.py")
    assert spec is not None
    assert spec.loader is not None
    checks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checks)
    assert checks.judge(about, 0, warned, stored(DatasetVersion.objects.get())) == ("right", "")
    page.context.close()


def assert_roles(page: Page, roles: dict[str, str]) -> None:
    """The preselected role of each column of the case that is on the page."""
    chosen: dict[str, str] = {}
    for field in page.locator(".preview select").all():
        label = page.locator(f"label[for={field.get_attribute('id')}]").inner_text()
        chosen.setdefault(label.removeprefix("Role of ").rpartition(" in ")[0], field.input_value())
    for name, role in roles.items():
        if name in chosen:
            assert chosen[name].removeprefix("feature:") == role.removeprefix("feature:"), name


def stored(version: DatasetVersion) -> dict[str, Any]:
    """What was imported, as the cases are compared with."""
    items = version.items.order_by("index").prefetch_related("features")
    arrays = artefacts.load("ratings", version.ratings_digest).arrays
    return {
        "n_users": version.n_users, "n_items": version.n_items, "n_ratings": version.n_ratings,
        "scale": [version.scale_low, version.scale_high, version.scale_step], "report": version.report,
        "items": [[item.external_id, item.title] for item in items],
        "features": {item.external_id: [[each.kind, each.value] for each in item.features.all()] for item in items},
        "arrays": {name: array.tolist() for name, array in arrays.items()},
    }  # fmt: skip
