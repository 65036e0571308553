"""Ratings on other scales than five stars in Chromium: by keyboard, by finger, without the script, on every width."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from studies.models import ProfileRating, Study
from tests.e2e.clicker import until
from tests.e2e.states import participant_at
from tests.e2e.test_accessibility import CUT_OFF, SIDEWAYS, WIDTHS, violations, with_axe
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.slow]

SMALLEST_TARGET = 24  # CSS pixels, WCAG 2.2, 2.5.8
TARGETS = """() => [...document.querySelectorAll('#grid details[open] form.rating label')].map((label) => {
  const box = label.getBoundingClientRect();
  return Math.min(box.width, box.height);
})"""


def study_on(scale: str) -> Study:
    settings = {"elicitation_scale": scale, "ratings_asked": 2, "ratings_most": 4}
    return make_study(slug=f"on-{scale}", settings=settings)


def opened(study: Study, browser: Browser, live_server: Any, **options: Any) -> Page:
    page = browser.new_context(viewport={"width": 390, "height": 844}, **options).new_page()
    page.goto(f"{live_server.url}{participant_at('rate', study).base}rate/")
    return page


@pytest.mark.parametrize("scale", ["7-points", "10-points", "half-stars"])
def test_every_width_has_room_for_a_finger_and_no_violation(browser: Browser, live_server: Any, scale: str) -> None:
    page = opened(study_on(scale), browser, live_server)
    page.locator("#grid summary").first.click()
    page.locator("#grid form.rating").first.locator("label").nth(6).click()
    expect(page.locator("#count b")).to_have_text("1 of at least 2")
    with_axe(page)
    page.wait_for_timeout(300)  # the card turns back
    page.locator("#grid summary").nth(1).click()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert not page.evaluate(SIDEWAYS), width
        assert page.evaluate(CUT_OFF) == [], width
        assert min(page.evaluate(TARGETS)) >= SMALLEST_TARGET, width
        assert violations(page) == [], width


def test_the_keyboard_goes_by_half_steps_that_are_read_out(browser: Browser, live_server: Any) -> None:
    page = opened(study_on("half-stars"), browser, live_server)
    form = page.locator("#grid form.rating").first
    page.locator("#grid summary").first.focus()
    page.keyboard.press("Enter")
    form.get_by_role("radio", name="3 of 5", exact=True).focus()
    page.keyboard.press("Space")
    expect(page.locator("#count b")).to_have_text("1 of at least 2")
    page.keyboard.press("ArrowRight")
    expect(form.get_by_role("radio", name="3.5 of 5", exact=True)).to_be_checked()
    until(lambda: ProfileRating.objects.filter(rating=7).exists(), page, "half a star")


def test_without_the_script_ratings_are_saved_up_to_the_most(browser: Browser, live_server: Any) -> None:
    page = opened(study_on("10-points"), browser, live_server, java_script_enabled=False)
    for number, count in enumerate(["1 of at least 2", "2 of at most 4", "3 of at most 4", "4 of at most 4"]):
        form = page.locator("#grid form.rating").nth(number)
        page.locator("#grid summary").nth(number).click()
        form.locator("label").nth(9 - number).click()
        form.get_by_role("button", name="Save").click()
        expect(page.locator("#count b")).to_have_text(count)
    assert sorted(ProfileRating.objects.values_list("rating", flat=True)) == [7, 8, 9, 10]
    form = page.locator("#grid form.rating").nth(4)
    page.locator("#grid summary").nth(4).click()
    form.locator("label").first.click()
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_have_text("You have already rated 4. To rate another, clear a rating first.")
