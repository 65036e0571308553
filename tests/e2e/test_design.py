"""The gallery of components in Chromium: no barrier that axe-core finds, at most three screens, a chosen theme."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext

from parallax.design.pages import PAGES
from tests.e2e.test_accessibility import SIDEWAYS, WIDTHS, violations_of_look, with_axe
from tests.e2e.test_console_accessibility import LOOKS, drawn, signed_in
from tests.factories.accounts import UserFactory

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SCREEN = 900
REPEATED = "landmark-unique"  # a component is shown in several states, with one name
LIGHT_PAPER, DARK_PAPER = "rgb(251, 250, 247)", "rgb(20, 22, 27)"


@pytest.fixture
def context(live_server: Any, browser: Browser) -> Iterator[BrowserContext]:
    """A browser in which an administrator is signed in."""
    context = browser.new_context(viewport={"width": 1280, "height": SCREEN}, reduced_motion="reduce")
    signed_in(context, live_server.url, UserFactory(is_superuser=True, is_staff=True))
    yield context
    context.close()


@pytest.mark.parametrize("key", PAGES)
def test_a_page_has_no_barrier_and_at_most_three_screens(live_server: Any, context: BrowserContext, key: str) -> None:
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(live_server.url + reverse("design:page", args=[key]), timeout=60_000)
    drawn(page)
    height = page.evaluate("document.documentElement.scrollHeight")
    if height > 3 * SCREEN:
        problems.append(f"{height} pixels high")
    if page.locator("h1").count() != 1:
        problems.append("has not one main heading")
    with_axe(page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": SCREEN})
        if page.evaluate(SIDEWAYS):
            problems.append(f"at {width}: the page scrolls sideways")
    for width, scheme in LOOKS:
        found = violations_of_look(page, width, scheme, LOOKS)
        problems += [problem for problem in found if not problem.partition(": ")[2].startswith(REPEATED)]
    assert problems == [], "\n".join(problems)


def test_a_chosen_theme_holds_against_the_devices_own(live_server: Any, context: BrowserContext) -> None:
    page = context.new_page()
    fills = "[...document.querySelectorAll('.chart-drawing svg [fill]')].map((mark) => mark.getAttribute('fill'))"
    for device in ("light", "dark"):
        page.emulate_media(color_scheme=device)  # type: ignore[arg-type]
        page.goto(f"{live_server.url}{reverse('design:page', args=['comparisons'])}")
        for link, paper, perceived in (("Dark", DARK_PAPER, "#f2955c"), ("Light", LIGHT_PAPER, "#b4490f")):
            page.get_by_role("navigation", name="Theme").get_by_role("link", name=link, exact=True).click()
            drawn(page)
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
            assert perceived in page.evaluate(fills)


def test_specimens_lead_nowhere(live_server: Any, context: BrowserContext) -> None:
    page = context.new_page()
    asked: list[str] = []
    page.clock.install()
    page.goto(live_server.url + reverse("design:page", args=["jobs"]))
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#imports").get_by_role("button", name="Cancel").first.click()
    page.locator("#imports").get_by_role("link", name="Upload another file").first.click()
    page.clock.run_for(10_000)  # the specimens' own intervals take up to two seconds
    assert [url for url in asked if not url.endswith(reverse("studies:notice-count"))] == []
