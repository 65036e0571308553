"""From an empty account to a launched study on one's own ratings, in the browser alone, with every interaction counted.

The account, the web server and the worker are those of `create_account` and `up`. The script finds links, buttons and
fields by the words a person reads. `PARALLAX_RECORDING` names a folder to keep `first-study.json`, the interactions and
when they were, and `first-study.zip`, the recording that `playwright show-trace` plays.
"""

from __future__ import annotations

import csv
import json
import os
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.test_main_job import manage, serving

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

MOST_INTERACTIONS, MOST_SECONDS = 40, 15 * 60


class Researcher:
    """Someone at the keyboard: every act on the page is one interaction with a label and a time."""

    def __init__(self, page: Page) -> None:
        self.page, self.began = page, time.monotonic()
        self.acts: list[dict[str, float | str]] = []

    def _count(self, act: str) -> None:
        self.acts.append({"second": round(time.monotonic() - self.began, 1), "act": act})

    def follow(self, link: str) -> None:
        self._count(f"follow “{link}”")
        self.page.get_by_role("main").get_by_role("link", name=link, exact=True).first.click()

    def press(self, button: str) -> None:
        self._count(f"press “{button}”")
        self.page.get_by_role("button", name=button, exact=True).first.click()

    def enter(self, field: str, text: str) -> None:
        self._count(f"enter {field}")
        self.page.get_by_label(field, exact=True).fill(text)

    def choose(self, field: str, option: str) -> None:
        self._count(f"choose {field}: {option}")
        self.page.get_by_label(field, exact=True).select_option(label=option)

    def give(self, field: str, file: Path) -> None:
        self._count(f"give {field} the file {file.name}")
        self.page.get_by_label(field, exact=True).first.set_input_files(file)

    def expect(self, heading: str | re.Pattern[str], *, seconds: float = 30) -> None:
        expect(self.page.get_by_role("heading", level=1, name=heading)).to_be_visible(timeout=1_000 * seconds)


def own_ratings(movielens: Path, file: Path) -> Path:
    """Real ratings as a researcher may have them: one CSV with films by their title and headers of its own."""
    with (movielens / "movies.csv").open(newline="", encoding="utf-8") as lines:
        titles = {row["movieId"]: row["title"] for row in csv.DictReader(lines)}
    with (movielens / "ratings.csv").open(newline="", encoding="utf-8") as lines, file.open("w", newline="") as own:
        out = csv.writer(own)
        out.writerow(["viewer", "film", "stars"])
        out.writerows((row["userId"], titles[row["movieId"]], row["rating"]) for row in csv.DictReader(lines))
    return file


def first_study(researcher: Researcher, url: str, email: str, password: str, ratings: Path) -> None:
    page = researcher.page
    page.goto(url)
    researcher.follow("Sign in")
    researcher.enter("E-mail address", email)
    researcher.enter("Password", password)
    researcher.press("Sign in")
    researcher.expect("Home")
    researcher.follow("Import a dataset")
    researcher.give("Dataset", ratings)
    researcher.press("Continue to the columns")
    researcher.expect(re.compile("ratings"))
    researcher.press("Import")
    # Some titles are longer than an id may be: nothing is imported until the researcher decides.
    expect(page.get_by_text("Nothing was changed.")).to_be_visible(timeout=60_000)
    researcher.follow("Change columns and settings")
    researcher.choose("Invalid rows", "Exclude and count them")
    researcher.press("Import")
    # Different films share a title, so some viewers rated an item twice.
    expect(page.get_by_text("Remove the repeated ratings")).to_be_visible(timeout=60_000)
    researcher.follow("Change columns and settings")
    researcher.choose("Repeated ratings of an item", "Keep the last")
    researcher.press("Import")
    page.wait_for_url("**/catalog/*/1/", timeout=120_000)
    researcher.follow("Measure algorithms on this dataset")
    for name, n_left in (("CorNgr", 5), ("NNCosNgr", 4), ("AsySVD", 3)):
        researcher.press(f"Remove {name}")
        expect(page.get_by_role("button", name=re.compile("^Remove "))).to_have_count(n_left)
    researcher.press("Start run")
    expect(page.get_by_role("link", name="Create a study")).to_be_visible(timeout=300_000)
    researcher.follow("Create a study")
    researcher.enter("Title", "Which films would you watch?")
    researcher.enter("Link", "films-to-watch")
    researcher.press("Create study")
    researcher.follow("Launch…")
    researcher.press("Freeze the design and launch")
    expect(page.locator(".states")).to_contain_text("Live")


def test_a_first_study_is_launched_in_the_browser_alone(
    browser: Browser, movielens_small: Path, tmp_path: Path
) -> None:
    recording = Path(os.environ.get("PARALLAX_RECORDING") or tmp_path / "recording")
    recording.mkdir(parents=True, exist_ok=True)
    said = manage(tmp_path, "create_account", "researcher@example.org")
    password = said.split("Password (shown once): ")[1].split()[0]
    with serving(tmp_path) as url:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.tracing.start(screenshots=True, snapshots=True)
        page = context.new_page()
        page.set_default_timeout(20_000)
        researcher = Researcher(page)
        ratings = own_ratings(movielens_small, tmp_path / "film-ratings.csv")
        try:
            first_study(researcher, url, "researcher@example.org", password, ratings)
            link = page.locator("#participant-link").get_attribute("href")
            seconds = time.monotonic() - researcher.began
            conditions = page.locator(".progress-line li").count()
            assert link
            page.goto(link)  # as a participant finds it
            expect(page.get_by_role("button", name="Take part")).to_be_visible()
        finally:
            context.tracing.stop(path=recording / "first-study.zip")
            context.close()
            (recording / "first-study.json").write_text(json.dumps(researcher.acts, indent=1, ensure_ascii=False))
    assert conditions == 3
    assert len(researcher.acts) <= MOST_INTERACTIONS, researcher.acts
    assert seconds <= MOST_SECONDS
