"""Participants choose items in Chromium: with the keyboard, on the sheet, and without the script."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from studies.models import ProfileRating, Study
from tests.e2e.clicker import all_sent
from tests.e2e.states import participant_at
from tests.factories.studies import make_study, make_usage_run

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def study() -> Study:
    return make_study(run=make_usage_run())


def opened(study: Study, browser: Browser, live_server: Any, **options: Any) -> Page:
    page = browser.new_context(viewport={"width": 390, "height": 844}, **options).new_page()
    page.goto(f"{live_server.url}{participant_at('rate', study).base}rate/")
    return page


def told(page: Page, text: str) -> None:
    expect(page.locator("#count b")).to_have_text(text)


def test_the_keyboard_chooses_and_removes_and_keeps_its_place(study: Study, browser: Browser, live_server: Any) -> None:
    page = opened(study, browser, live_server)
    page.locator("#grid summary").nth(2).focus()
    page.keyboard.press("Enter")
    button = page.locator(".choose").nth(2)
    name = button.get_attribute("id")
    expect(button).to_be_focused()
    page.evaluate("document.getElementById('count').isTheSame = true")
    for key, pressed, count in (
        ("Enter", "true", "1 of 5"),
        ("Space", "false", "0 of 5"),
    ):
        page.keyboard.press(key)
        expect(button).to_have_attribute("aria-pressed", pressed)
        told(page, count)
        assert page.evaluate("document.activeElement.id") == name
        all_sent(page)
        assert ProfileRating.objects.count() == (pressed == "true")
    assert page.evaluate("document.getElementById('count').isTheSame")  # or nothing would be announced
    title = page.locator("#grid .poster-title").nth(2).text_content()
    expect(page.get_by_role("button", name=f"I’ve watched it {title}", pressed=False)).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("#grid summary").nth(2)).to_be_focused()


def test_the_sheet_and_the_card_show_the_same(study: Study, browser: Browser, live_server: Any) -> None:
    page = opened(study, browser, live_server)
    page.locator("#grid summary").first.click()
    page.locator("#grid [data-opens-sheet]").first.click()
    page.locator("#sheet .choose").click()
    expect(page.locator("#sheet .choose")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    button = page.locator("#grid .choose").first
    expect(button).to_have_attribute("aria-pressed", "true")
    if not button.is_visible():
        page.locator("#grid summary").first.click()
    button.click()
    told(page, "0 of 5")


def test_without_the_script_five_are_chosen_and_the_list_is_made(
    study: Study, browser: Browser, live_server: Any
) -> None:
    page = opened(study, browser, live_server, java_script_enabled=False)
    for number in range(5):
        page.locator("#grid summary").nth(number).click()
        with page.expect_navigation():
            page.locator(".choose").nth(number).click()
    assert page.locator(".choose[aria-pressed=true]").count() == 5
    page.locator("#continue").click()
    expect(page).to_have_url(re.compile("/recommendations/$"))
