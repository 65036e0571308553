"""The tutorial of the first study, followed to its last line: the demo is started, and all else clicked in a browser.

The ratings are MovieLens as a researcher may have them, with the two faults that the tutorial deals with.
`PARALLAX_RECORDING` names a folder to keep `first-study.json`, the interactions and when they were, and
`first-study.zip`, the recording that `playwright show-trace` plays.
"""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.tutorial.reader import PATIENCE, Reader
from tests.tutorial.steps import Act, Commands, Step, Stop, steps
from tests.tutorial.terminal import ROOT, Terminal

TUTORIAL = ROOT / "docs" / "tutorials" / "first-study.md"
VALUES = {"Title": "Which films would you watch?", "Participants per condition": "3"}
LINK = "which-films-would-you-watch"
MOST_INTERACTIONS = 40
pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def own_ratings(movielens: Path, file: Path) -> Path:
    """One CSV with films by their title and headers of its own: some titles are too long for an id, and some are those
    of two films, so that a viewer rated one "item" twice.
    """
    with (movielens / "movies.csv").open(newline="", encoding="utf-8") as lines:
        titles = {row["movieId"]: row["title"] for row in csv.DictReader(lines)}
    with (movielens / "ratings.csv").open(newline="", encoding="utf-8") as lines, file.open("w", newline="") as own:
        out = csv.writer(own)
        out.writerow(["viewer", "film", "stars"])
        out.writerows((row["userId"], titles[row["movieId"]], row["rating"]) for row in csv.DictReader(lines))
    return file


def open_printed_links(page: Page, printed: str) -> None:
    """What `make demo QUICK=1` prints: three algorithms with ten participants each, the links in their order, and last
    how to sign in, which the console asks for.
    """
    assert "30 of 30 simulated participants completed" in printed
    table = printed.split("\nalgorithm   n ")[1].split("\n\n")[0].splitlines()[1:]
    assert [line.split()[:2] for line in table] == [["TopPop", "10"], ["PureSVD10", "10"], ["LSA", "10"]]
    # Each process is started once, and files that nobody has asked for are not drawn.
    assert "starting 2 for this run" not in printed
    assert "Writing figures" not in printed
    assert "Warning" not in printed
    links = re.findall(r"^  \d\. (.+?)  +(http://127\.0\.0\.1:\d+)(/\S+)$", printed, re.MULTILINE)
    assert [(name, path) for name, _site, path in links] == [
        ("sample report", "/reports/studies/demo-quick/1/"),
        ("take part", "/s/demo-quick/"),
        ("console", "/studies/demo-quick/"),
    ]
    for _name, site, path in links:
        page.goto(site + path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    address, password = re.findall(r"as (\S+), password (\S+)$", printed.strip())[0]
    page.get_by_label("E-mail address", exact=True).fill(address)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("main").get_by_role("button", name="Sign in", exact=True).click()


def test_the_first_study_is_launched_simulated_and_reported(
    browser: Browser, movielens_small: Path, tmp_path: Path
) -> None:
    """As written, but for the quick demo, three participants a condition, and a free port."""
    ratings = own_ratings(movielens_small, tmp_path / "film-ratings.csv")
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.tracing.start(screenshots=True, snapshots=True)
    page = context.new_page()
    page.set_default_timeout(20_000)
    reader = Reader(page, VALUES, ratings)
    commands: list[Step] = []
    conditions = 0
    recording = Path(os.environ.get("PARALLAX_RECORDING") or tmp_path / "recording")
    recording.mkdir(parents=True, exist_ok=True)
    try:
        with Terminal(tmp_path, QUICK="1") as terminal:
            for step in steps(TUTORIAL):
                if isinstance(step, Act):
                    reader.do(step)
                elif isinstance(step, Stop):
                    page.wait_for_url("**/reports/studies/*/1/", timeout=PATIENCE)
                    assert "Simulated participants" in page.locator("main").inner_text()
                    page.goto(f"{terminal.url}studies/{LINK}/")
                    conditions = page.locator(".progress-line li").count()
                    page.goto(str(page.locator("#participant-link").get_attribute("href")))  # as a participant finds it
                    expect(page.get_by_role("button", name="Take part")).to_be_visible()
                    terminal.do(step)
                else:
                    commands.append(step)
                    terminal.do(step)
                    open_printed_links(page, terminal.output)
    finally:
        context.tracing.stop(path=recording / "first-study.zip")
        context.close()
        (recording / "first-study.json").write_text(json.dumps(reader.acts, indent=1, ensure_ascii=False))
    assert commands == [Commands(("make demo",), fails=False)], "everything after it is done in the browser"
    assert conditions == 3
    assert 20 <= len(reader.acts) <= MOST_INTERACTIONS, reader.acts
