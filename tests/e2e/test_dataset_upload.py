"""A dataset from a dropped file to its version, in a browser: columns, progress and report, without a barrier."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Browser, Page

from accounts.models import User
from catalog.enums import JobStatus
from catalog.models import DatasetJob, DatasetVersion
from catalog.services import dataset_jobs
from jobs import leases
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


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A worker in a thread, which begins once it is told to."""
    monkeypatch.setattr(leases, "enqueue_on_commit", lambda *args, **ids: None)
    begin, stop = threading.Event(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            if begin.is_set():
                for pk in DatasetJob.objects.filter(status=JobStatus.QUEUED).values_list("pk", flat=True):
                    dataset_jobs.run_job(job_id=pk)
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


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.core), 390])
def test_a_dropped_file_becomes_a_version(
    live_server: Any, browser: Browser, worker: threading.Event, settings: Any, tmp_path: Path, width: int
) -> None:
    settings.VAR_DIR = tmp_path
    researcher: User = UserFactory()
    context = browser.new_context(viewport={"width": width, "height": 900})
    signed_in(context, live_server.url, researcher)
    page = context.new_page()
    page.set_default_timeout(90_000)  # the first page waits until the runtime of charts is bundled
    page.goto(f"{live_server.url}/catalog/import/dataset/")
    look_at(page, "upload")
    # Too large: refused before anything is sent.
    page.evaluate("document.querySelector('[name=file]').dataset.most = 10")
    drop(page, "file", "marks.csv", RATINGS)
    assert "limit for uploads" in page.locator(".drop-problem").first.inner_text()
    assert page.evaluate("!document.querySelector('[name=file]').checkValidity()")
    page.reload()
    # No table: the error stands beside the field, and the page takes another file.
    drop(page, "file", "words.csv", "hello\nworld\n")
    page.click("form[data-upload] button.go")
    page.wait_for_selector(".errorlist li")
    assert "words.csv, line 1: there is one column" in page.locator(".errorlist li").first.inner_text()
    look_at(page, "upload refused")
    drop(page, "file", "marks.csv", RATINGS + "3,7,excellent\n")
    page.click("form[data-upload] button.go")
    page.wait_for_url("**/import/columns/*/")
    assert page.locator("[name=column_2]").input_value() == "rating"
    assert page.locator(".preview tbody tr").count() == 8
    look_at(page, "columns")
    page.click("button[value=import]")
    page.wait_for_url("**/import/jobs/*/")
    assert "Waiting for a worker" in page.locator("#job").inner_text()
    look_at(page, "progress")
    worker.set()
    page.wait_for_selector("text=Nothing was changed.")
    look_at(page, "refused by the worker")
    page.click("text=Change columns and settings")
    assert "Line 98: 'excellent' is not a number." in page.locator(".preview .errorlist").inner_text()
    look_at(page, "columns with errors")
    page.select_option("[name=on_bad_row]", "drop")
    page.click("button[value=import]")
    page.wait_for_url("**/catalog/marks/1/", timeout=60_000)
    assert "Imported 96 ratings of 8 items; 1 row was excluded." in page.locator(".messages").inner_text()
    assert "marks.csv, line 98, column mark" in page.locator("section:has(#import)").inner_text()
    look_at(page, "version")
    assert DatasetVersion.objects.get().dataset.owner == researcher
    assert list((tmp_path / "uploads").iterdir()) == []
    context.close()


@pytest.mark.core
def test_the_pages_work_without_scripts(
    live_server: Any, browser: Browser, worker: threading.Event, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    worker.set()
    context = browser.new_context(java_script_enabled=False)
    signed_in(context, live_server.url, UserFactory())
    page = context.new_page()
    page.set_default_timeout(90_000)  # the first page waits until the runtime of charts is bundled
    page.goto(f"{live_server.url}/catalog/import/dataset/")
    file = {"name": "marks.csv", "mimeType": "text/csv", "buffer": RATINGS.encode()}
    page.set_input_files("[name=file]", file)  # type: ignore[arg-type]  # a file of the test's own
    page.click("form[data-upload] button.go")
    page.click("button[value=import]")
    for _ in range(600):
        if "/marks/1/" in page.url:
            break
        page.wait_for_timeout(100)
        page.reload()
    assert page.url.endswith("/catalog/marks/1/")
    page.goto(f"{live_server.url}/catalog/marks/1/subset/")
    page.fill("[name=top_items]", "3")
    page.click("text=Count what remains")
    assert "Top 3 items" in page.locator("#subset-count").inner_text()
    context.close()
