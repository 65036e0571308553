"""What the pages' script tells of them: time in sight alone, nothing lost by a reload, a dead line or a hidden tab."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from studies.data.exports.export_files import write_export
from studies.models import Event, Participant
from tests.e2e import clicker
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


def until(page: Page, is_so: Callable[[], bool], what: str = "an event") -> None:
    clicker.until(is_so, page, what)


def told(page_name: str, kind: str = "page_left") -> list[Event]:
    return list(Event.objects.filter(kind=kind, page=page_name).exclude(key="").order_by("pk"))


def turn(page: Page, state: str) -> None:
    """Bring the tab out of sight or back: headless Chromium hides none by itself."""
    page.evaluate(
        """state => {
            Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def waiting(page: Page) -> int:
    return int(page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('parallax.told.')).length"))


def test_time_in_sight_is_told_once_through_hiding_reloads_and_a_dead_line(live_server: Any, browser: Browser) -> None:
    study = make_study(per_condition=5)
    context = browser.new_context()
    page = context.new_page()
    others: list[str] = []
    page.on("request", lambda request: others.append(request.url))
    page.goto(f"{live_server.url}/s/{study.slug}/")
    do = clicker.Pointer(page)
    do.consent()
    until(page, lambda: len(told("about", "page_shown")) == 1)
    shown = told("about", "page_shown")[0]
    assert abs((shown.client_at - shown.at).total_seconds()) < 30

    # Out of sight for a while: that time is not the participant's.
    page.wait_for_timeout(600)
    turn(page, "hidden")
    until(page, lambda: len(told("about")) == 1)
    assert 0.5 <= told("about")[0].seconds <= 30
    page.wait_for_timeout(1500)
    turn(page, "visible")

    # The line is dead: what happens meanwhile is kept, through a reload of the page too.
    context.route("**/events/", lambda route: route.abort())
    do.fill_in_about()
    page.reload()
    do.fill_in_about()
    do.leave_about()
    until(page, lambda: waiting(page) >= 4)  # left, shown again, left, shown
    assert len(told("about", "page_shown")) == 1
    before = set(Event.objects.exclude(key="").values_list("key", flat=True))
    context.unroute("**/events/")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    until(page, lambda: waiting(page) == 0)
    after = list(Event.objects.exclude(key="").values_list("key", flat=True))
    assert len(after) == len(set(after))
    assert before < set(after)
    assert len(told("about", "page_shown")) == 2
    assert len(told("rate", "page_shown")) == 1
    in_sight, hidden = (sum(getattr(e, name) for e in told("about")) for name in ("seconds", "hidden_seconds"))
    assert len(told("about")) == 3
    assert 1.4 <= hidden <= 30
    views = list(Event.objects.filter(kind="page_view", page="about"))
    assert len(views) == 2
    whole = (told("rate", "page_shown")[0].client_at - shown.client_at).total_seconds()
    assert 0.5 <= in_sight <= whole - hidden + 0.5

    # Offline, as a phone in a tunnel: the page stays usable, and what it noted comes when the line does.
    context.set_offline(True)
    turn(page, "hidden")
    turn(page, "visible")
    until(page, lambda: waiting(page) >= 1)
    assert told("rate") == []
    context.set_offline(False)
    until(page, lambda: waiting(page) == 0)
    assert len(told("rate")) == 1
    # A search says when the browser made it.
    page.locator("#search").fill("film 1")
    until(page, lambda: Event.objects.filter(kind="search").exists())
    assert Event.objects.filter(kind="search").latest("pk").client_at is not None
    assert [url for url in others if not url.startswith(live_server.url)] == []
    context.close()


def test_events_of_a_killed_page_are_told_by_the_next_and_exported(
    live_server: Any, browser: Browser, tmp_path: Path
) -> None:
    study = make_study(per_condition=5)
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{live_server.url}/s/{study.slug}/")
    do = clicker.Pointer(page)
    do.consent()
    until(page, lambda: len(told("about", "page_shown")) == 1)
    # As after a crash: what was last noted of the page is old, and nobody ended it.
    code = Participant.objects.get().code
    page.evaluate(
        """code => localStorage.setItem(`parallax.open.${code}.aaaaaaaaaaaa`, JSON.stringify({
            id: "aaaaaaaaaaaa", kind: "page_left", page: "about", rank: 0, view: "bbbbbbbbbbbb",
            at: Date.now() - 60000, seconds: 12.5, hidden_seconds: 0 }))""",
        code,
    )
    do.fill_in_about()
    do.leave_about()
    until(page, lambda: Event.objects.filter(key="aaaaaaaaaaaa").exists())
    write_export(study, "events", tmp_path)
    rows = list(csv.DictReader((tmp_path / f"study-{study.slug}_events_data.csv").read_text().splitlines()))
    (row,) = [row for row in rows if row["event.dwell_seconds"] == "12.5"]
    assert (row["event.kind"], row["event.source"], row["event.page"]) == ("page_left", "browser", "about")
    assert row["event.time_client_utc"].endswith("Z")
    write_export(study, "pages", tmp_path)
    about = next(r for r in csv.DictReader((tmp_path / f"study-{study.slug}_pages_data.csv").read_text().splitlines())
                 if r["page_name"] == "about")  # fmt: skip
    assert float(about["dwell_seconds"]) >= 12.5
    assert about["n_views"] == "1"
    medians = list(csv.DictReader((tmp_path / f"study-{study.slug}_page-medians_data.csv").read_text().splitlines()))
    assert [row["page_name"] for row in medians] == ["about", "rate", "recommendations", "items", "overall"]
    assert "median_seconds" in (tmp_path / f"study-{study.slug}_page-medians_codebook.csv").read_text()
    context.close()
