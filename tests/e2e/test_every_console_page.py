"""Every page of the console, found from the URL configuration: no barrier that axe-core finds, nothing that scrolls
sideways, a first view of at most 500 kB, and no tab of a study higher than three screens.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.staticfiles import finders
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page, expect

from analysis.services import build_report
from studies.enums import Mode, NoticeKind
from studies.models import Study
from studies.team.services.notices import notify_owners
from tests.e2e.test_accessibility import SIDEWAYS, WIDTHS, violations_of_look, with_axe
from tests.e2e.test_console_accessibility import STUDY_TABS, drawn, signed_in
from tests.factories.analysis import plant
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.gallery.pages import Installation, console_pages
from tests.gallery.small import small_installation

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

LOOKS = ((390, "light"), (1280, "light"), (1280, "dark"))
MOST_BYTES = 500_000
SCREEN = 900
ALGORITHMS = "toppop,corngr,puresvd:factors=4,random,nncosngr,lsa:factors=4,puresvd:factors=8"


@pytest.fixture
def installation(transactional_db: None) -> Installation:
    return small_installation()


@pytest.mark.core
def test_no_kind_of_page_has_a_barrier_or_scrolls_sideways(
    live_server: Any, browser: Browser, installation: Installation
) -> None:
    """Each address once, wide and in the light, by a browser that keeps scripts as a researcher's does."""
    pages = console_pages(installation)
    for name in [name for name in pages if name.endswith("-live")]:
        pages.pop(f"{name.removesuffix('-live')}-draft", None)
    context = browser.new_context(viewport={"width": 1280, "height": SCREEN}, reduced_motion="reduce")
    signed_in(context, live_server.url, installation.owner)
    page = context.new_page()
    found: list[str] = []
    for name, path in pages.items():
        page.set_viewport_size({"width": 1280, "height": SCREEN})
        page.goto(live_server.url + path, timeout=60_000)
        drawn(page)
        found += [f"{name} ({path}) {problem}" for problem in barriers_of(page, ((1280, "light"),))]
    context.close()
    assert not found, "\n".join(found)
    assert len(pages) > 50


@pytest.mark.core
def test_unread_notices_do_not_scroll_a_phone_sideways(live_server: Any, browser: Browser) -> None:
    study = make_study()
    notify_owners(study=study, kind=NoticeKind.FAULT, key="export:1", text="The export failed.")
    context = browser.new_context(viewport={"width": 390, "height": SCREEN}, reduced_motion="reduce")
    signed_in(context, live_server.url, study.memberships.get().researcher)
    page = context.new_page()
    page.goto(live_server.url + reverse("studies:list"))
    expect(page.locator(".unread .state")).to_contain_text("1")
    assert not page.evaluate(SIDEWAYS)
    context.close()


def test_no_page_has_a_barrier_scrolls_sideways_or_is_heavy(
    live_server: Any, browser: Browser, installation: Installation
) -> None:
    found: list[str] = []
    pages = console_pages(installation)
    for name, path in pages.items():
        context = browser.new_context(viewport={"width": 1280, "height": SCREEN}, reduced_motion="reduce")
        signed_in(context, live_server.url, installation.owner)
        found += [f"{name} ({path}) {problem}" for problem in problems_of(context, live_server.url + path)]
        context.close()
    assert not found, "\n".join(found)
    assert len(pages) > 50


def problems_of(context: BrowserContext, address: str) -> Iterator[str]:
    """Open the page with an empty cache, and yield what is wrong with it."""
    page = context.new_page()
    sent: list[Any] = []
    page.on("requestfinished", lambda request: sent.append(request))
    page.goto(address, timeout=60_000)
    drawn(page)
    sizes = {request.url: bytes_sent(request) for request in list(sent)}
    if (total := sum(sizes.values())) > MOST_BYTES:
        yield f"takes {total} bytes, the most of it {max(sizes, key=sizes.__getitem__)}"
    yield from barriers_of(page, LOOKS)


def barriers_of(page: Page, looks: tuple[tuple[int, str], ...]) -> Iterator[str]:
    """Yield what is wrong with an open page."""
    if page.locator("h1").count() != 1:
        yield "has not one main heading"
    with_axe(page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": SCREEN})
        if page.evaluate(SIDEWAYS):
            yield f"at {width}: the page scrolls sideways"
    for width, scheme in looks:
        yield from violations_of_look(page, width, scheme, looks)


def bytes_sent(request: Any) -> int:
    """Bytes of the body as the proxy of docker-compose.yml sends it: static files are compressed on the way."""
    path = urlsplit(request.url).path
    file = finders.find(path.removeprefix("/static/")) if path.startswith("/static/") else None
    if file and file.endswith((".js", ".css", ".svg")):
        return len(gzip.compress(Path(file).read_bytes()))
    return int(request.sizes()["responseBodySize"])


@pytest.fixture
def demo_sized(transactional_db: None) -> Study:
    """Seven algorithms with thirty participants each, as in the demo, and a report."""
    study = make_study(run=make_run_at("succeeded", algorithms=ALGORITHMS))
    labels = study.conditions.values_list("label", flat=True)
    plant(study, {label: [1 + place % 5 for place in range(30)] for label in labels}, mode=Mode.SIMULATED)
    build_report(study=study, mode=Mode.SIMULATED, made_by=study.memberships.get().researcher)
    return study


def test_no_tab_of_a_study_is_higher_than_three_screens(live_server: Any, browser: Browser, demo_sized: Study) -> None:
    owner = demo_sized.memberships.get().researcher
    draft = make_study(slug="draft", run=demo_sized.run, status="draft", owner=owner)
    context = browser.new_context(viewport={"width": 1280, "height": SCREEN})
    signed_in(context, live_server.url, owner)
    page = context.new_page()
    heights = {}
    for study in (demo_sized, draft):
        addresses = {tab: reverse(f"studies:{tab}", args=[study.slug]) for tab in STUDY_TABS}
        addresses["report"] = f"{reverse('analysis:list')}?study={study.slug}"
        for tab, path in addresses.items():
            page.goto(live_server.url + path, timeout=60_000)
            drawn(page)
            heights[f"{tab} of {study.slug}"] = page.evaluate("document.documentElement.scrollHeight")
    context.close()
    assert {tab: height for tab, height in heights.items() if height > 3 * SCREEN} == {}
