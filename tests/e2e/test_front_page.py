"""The front page's three ratings in a browser: in place by keyboard, whole without scripts, no barrier."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from catalog.services import DEMO_NAME
from tests.e2e.test_accessibility import SIDEWAYS, violations_of_look, with_axe
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
LOOKS = ((390, "light"), (390, "dark"), (1280, "light"))


@pytest.mark.parametrize("has_scripts", [True, False])
def test_three_ratings_show_two_lists(live_server: Any, browser: Browser, has_scripts: bool) -> None:
    version = make_version(name=DEMO_NAME)
    version.is_synthetic = True
    version.save()
    make_study(slug="demo", run=make_run_at("succeeded", version=version, algorithms="toppop,corngr,random"))
    context = browser.new_context(java_script_enabled=has_scripts, reduced_motion="reduce")
    page = context.new_page()
    page.goto(live_server.url)
    for number in range(3):
        page.locator("#taste fieldset").nth(number).locator("input").first.focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#taste fieldset").nth(number).locator("input").nth(1)).to_be_checked()
    button = page.get_by_role("button", name="Show two lists")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".two-lists li")).to_have_count(6)
    assert page.locator("#taste input:checked").count() == 3
    if has_scripts:
        expect(button).to_be_focused()
        assert page.url.rstrip("/") == live_server.url
        with_axe(page)
        assert [problem for look in LOOKS for problem in violations_of_look(page, *look, LOOKS)] == []
        page.set_viewport_size({"width": 320, "height": 800})
        assert not page.evaluate(SIDEWAYS)
        stars = page.locator("#taste .stars label").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().width)"
        )
        assert min(stars) >= 40
    context.close()
