"""A newcomer with a file of book ratings: pages, clicks and words from an empty account to a launched study.

    python -m pytest -s tests/e2e/test_newcomer.py

prints the figures.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.db.models import Q
from playwright.sync_api import Browser, Page

from accounts.models import User
from evaluation.enums import RUN_OPEN
from evaluation.models import EvaluationRun
from evaluation.services.worker_loop import work_on
from jobs.models import Job, JobStatus
from jobs.services import do_job
from studies.enums import StudyStatus
from studies.models import Study
from tests.e2e.test_console_accessibility import signed_in
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

MOST_PAGES, MOST_CLICKS, MOST_WORDS = 14, 25, 600
MOST_OF_TEMPLATE = 16, 35, 900
# The console's own words of a page's main area, and those of its frame and of an open list of templates, which are read
# once, by part. Not counted: previews, what comes from
# the file or the study (data-content), folded help, what only screen readers read, and options that are not chosen.
OWN_WORDS = """() => {
  const wordsOf = (part) => part.innerText.split(/\\s+/).filter(Boolean).length;
  const main = document.querySelector("main"), copy = main.cloneNode(true);
  const chosen = [...main.querySelectorAll("select")].map((select) => select.selectedOptions[0]?.text ?? "");
  copy.querySelectorAll("select").forEach((select, i) => select.replaceWith(chosen[i]));
  copy.querySelectorAll(
    "details[open] > .run-kinds, " +
    ".rail, .crumbs, aside.preview, .preview tbody, .item-grid, [data-content], [aria-hidden], svg, script, .vh"
  ).forEach((part) => part.remove());
  copy.setAttribute("style", "position: absolute; left: -9999px");
  main.after(copy);
  const own = wordsOf(copy);
  copy.remove();
  const frame = [...document.querySelectorAll(".sidebar nav, .rail .line, details[open] > .run-kinds")];
  return [own, frame.map((part) => [part.innerText, wordsOf(part)])];
}"""


def book_ratings() -> str:
    """Ratings of 60 books by 80 readers on a scale of 1 to 10, and one that is off the scale."""
    rng = random.Random(7)
    rows = ["reader,title,author,rating"]
    for reader in range(80):
        for book in rng.sample(range(60), 20):
            liked = 7.5 if (reader + book) % 3 else 4.5
            rating = min(10, max(1, round(rng.gauss(liked, 1.6))))
            rows.append(f"r{reader},The book {book},Author {book % 12},{rating}")
    return "\n".join([*rows, "r1,The book 59,Author 11,12"]) + "\n"


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A worker in a thread, for jobs and runs."""
    for place in ("jobs.services", "evaluation.services.runs"):
        monkeypatch.setattr(f"{place}.enqueue_on_commit", lambda *args, **ids: None)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            for pk in Job.objects.filter(status=JobStatus.QUEUED).values_list("pk", flat=True):
                do_job(job_id=pk)
            for pk in EvaluationRun.objects.filter(Q(status__in=RUN_OPEN)).values_list("pk", flat=True):
                while work_on(run_id=pk):
                    pass
            time.sleep(0.1)
        connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stop.set()
    thread.join()


class Newcomer:
    """A person at a page who counts: pages, by their address, clicks, and the console's words of each page."""

    def __init__(self, page: Page, most: tuple[int, int, int] = (MOST_PAGES, MOST_CLICKS, MOST_WORDS)) -> None:
        self.page, self.most, self.clicks = page, most, 0
        self.pages: list[str] = []
        self.words = 0
        self.frame: set[str] = set()  # its parts that were read

    def arrive(self, address: str, *, ready: str = "main") -> None:
        """Wait for a page by its address and the part it ends its work with, and count it; of its frame what is new."""
        self.page.wait_for_url(address)
        self.page.wait_for_selector(ready)
        self.page.wait_for_load_state("networkidle")
        words, frame = self.page.evaluate(OWN_WORDS)
        words += self._new_in(frame)
        self.pages.append(f"{self.page.url.split('/', 3)[3]} ({words} words)")
        self.words += words

    def _new_in(self, frame: list[tuple[str, int]]) -> int:
        words = sum(n for part, n in frame if part not in self.frame)
        self.frame |= {part for part, _n in frame}
        return words

    def click(self, selector: str) -> None:
        self.page.locator(selector).first.click()
        self.clicks += 1

    def unfold(self, selector: str) -> None:
        """Open the list of templates, and count what it says."""
        self.click(selector)
        self.words += self._new_in(self.page.evaluate(OWN_WORDS)[1])

    @property
    def counts(self) -> tuple[int, int, int]:
        return len(self.pages), self.clicks, self.words

    def report(self) -> str:
        goals = zip(self.counts, self.most, ("pages", "clicks", "words"), strict=True)
        lines = [f"{n} {what} of {most}{'' if n <= most else ', not reached'}" for n, most, what in goals]
        return "\n".join([*self.pages, *lines])


@pytest.mark.parametrize(("template", "n_conditions"), [("", 3), ("two-lists", 2)])
def test_a_newcomer_gets_from_a_file_to_a_launched_study(
    live_server: Any,
    browser: Browser,
    worker: None,
    settings: Any,
    tmp_path: Path,
    template: str,
    n_conditions: int,
) -> None:
    settings.VAR_DIR = tmp_path
    make_version(name="of-others")
    researcher: User = UserFactory()
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    signed_in(context, live_server.url, researcher)
    page = context.new_page()
    page.set_default_timeout(180_000)  # the first page waits until the runtime of charts is bundled
    me = Newcomer(page, MOST_OF_TEMPLATE) if template else Newcomer(page)
    page.goto(live_server.url)
    me.arrive("**/")
    me.click("a:text-is('New study')")
    me.arrive("**/studies/new/")
    me.click("[name=title]")
    page.keyboard.type("Books for our readers")
    if template:
        me.unfold("details:has([name=template]) summary")
        me.click(f"label:has([name=template][value='{template}'])")
        page.wait_for_selector("summary:has-text('Two lists side by side')")
    me.clicks += 1  # the file is chosen in the browser's own window
    page.set_input_files(
        "[name=uploads]", {"name": "books.csv", "mimeType": "text/csv", "buffer": book_ratings().encode()}
    )
    me.click("main button.go")
    me.arrive("**/columns/")
    me.click(".foot .go")
    me.arrive("**/ratings/")
    me.click(".answers label")
    me.click(".foot .go")
    me.arrive("**/items/", ready=".item-grid")
    me.click(".foot .go")
    me.arrive("**/check/", ready=".foot .go")
    me.click(".foot .go")
    me.arrive("**/studies/new/?**")
    assert page.locator("[name=title]").input_value() == "Books for our readers"
    compared = "NNCosNgr and PureSVD" if template else "TopPop, NNCosNgr and PureSVD"
    assert compared in page.locator(".run-kind:has([name=kind])").first.inner_text()
    me.click("main button.go")
    me.arrive("**/studies/books-for-our-readers/dataset/")
    me.click(".rail a[href$='/launch/']")
    me.arrive("**/launch/")
    assert not page.locator("#needed").count()
    me.click(".foot .go")
    page.wait_for_url("**/studies/books-for-our-readers/")
    study = Study.objects.get()
    sys.stdout.write(f"\n{me.report()}\n")
    assert (study.status, study.conditions.count()) == (StudyStatus.LIVE, n_conditions)
    assert study.sequences.count() == (2 if template else 0)
    assert all(n <= most for n, most in zip(me.counts, me.most, strict=True))
