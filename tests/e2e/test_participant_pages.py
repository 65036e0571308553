"""What participants see and do on single pages in Chromium, at a phone's width and a desk's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from studies.models import Study
from tests.e2e.states import participant_at
from tests.factories.studies import make_study, make_usage_run

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.slow]

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
BUDGET = 150_000  # bytes of a page without its posters and clips
TOPS = """() => [...document.querySelectorAll('#grid .film')].map(
  (card) => Math.round(card.getBoundingClientRect().top + scrollY))"""


@pytest.fixture
def study() -> Study:
    return make_study(per_condition=20)


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    page = browser.new_context(viewport=PHONE).new_page()  # type: ignore[arg-type]
    yield page
    page.context.close()


@pytest.mark.parametrize("has_scripts", [True, False])
def test_consent_names_the_boxes_left_and_goes_to_the_first(
    study: Study, live_server: Any, browser: Browser, has_scripts: bool
) -> None:
    page = browser.new_context(viewport=PHONE, java_script_enabled=has_scripts).new_page()  # type: ignore[arg-type]
    page.goto(f"{live_server.url}/s/{study.slug}/?lang=en")
    page.locator("label:has(#box-1)").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Take part").click()
    expect(page.get_by_role("alert")).to_contain_text("To take part, please tick every box.")
    expect(page.locator("#box-1")).to_be_checked()
    expect(page.locator("#box-2")).to_be_focused()
    for part in (page.get_by_role("alert"), page.locator("#box-2")):
        expect(part).to_be_in_viewport(ratio=1)
    assert page.get_by_role("alert").get_by_role("link").evaluate_all("all => all.map((a) => a.hash)") == ["#box-2"]
    page.context.close()


def test_letters_for_an_age_stay_with_an_example_beside_them(study: Study, live_server: Any, phone: Page) -> None:
    phone.goto(live_server.url + participant_at("about", study).base)
    phone.locator("#age").fill("thirty")
    with phone.expect_response(re.compile("/about/")):
        phone.locator("#age").blur()
    with phone.expect_navigation():
        phone.locator("form.about button.go").click()
    expect(phone.locator("#age")).to_have_value("thirty")
    expect(phone.locator("#problem-age")).to_have_text("Enter your age in whole years, for example 34.")


def test_genre_and_decade_filter_together(study: Study, live_server: Any, phone: Page) -> None:
    phone.goto(live_server.url + participant_at("rate", study).base)
    expect(phone.locator("#grid .film")).to_have_count(24)
    phone.get_by_label("Genre", exact=True).focus()
    phone.keyboard.type("West")
    expect(phone.locator("#results [role=status]")).to_have_text("10 results")
    phone.keyboard.press("Tab")
    phone.keyboard.type("1980")
    expect(phone).to_have_url(re.compile("genre=Western&decade=1980"))
    facts = phone.locator("#grid .film > p").all_inner_texts()
    assert facts
    assert all(re.match(r"198\d\s+Western", line) for line in facts)
    phone.reload()
    expect(phone.get_by_label("Genre", exact=True)).to_have_value("Western")


def test_filters_work_without_the_script(study: Study, live_server: Any, browser: Browser) -> None:
    page = browser.new_context(viewport=PHONE, java_script_enabled=False).new_page()  # type: ignore[arg-type]
    page.goto(live_server.url + participant_at("rate", study).base)
    page.get_by_label("Genre", exact=True).select_option("Western")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#grid .film")).to_have_count(10)
    page.context.close()


@pytest.mark.parametrize("viewport", [PHONE, DESK])
def test_a_rating_too_many_is_refused_and_no_card_moves(
    study: Study, live_server: Any, browser: Browser, viewport: Any
) -> None:
    page = browser.new_context(viewport=viewport).new_page()
    page.goto(live_server.url + participant_at("rated", study).base)
    expect(page.locator("#grid .poster").first).to_contain_text("Details")
    expect(page.locator("#tray li.full img").first).to_be_in_viewport()
    form = page.locator("#grid .rating:not(:has(:checked))").first
    form.scroll_into_view_if_needed()
    page.evaluate("document.documentElement.scrollTop += 200")
    before = page.evaluate(TOPS)
    form.locator("label").nth(1).click()
    expect(page.locator("#tray").get_by_role("alert")).to_contain_text("already rated 5")
    expect(page.locator("#tray").get_by_role("alert")).to_be_in_viewport()
    assert page.evaluate(TOPS) == before
    page.context.close()


def test_the_notice_is_on_the_sheet_where_that_covers_the_tray(study: Study, live_server: Any, phone: Page) -> None:
    phone.goto(live_server.url + participant_at("rated", study).base)
    phone.locator("#grid .film:not(:has(:checked)) .poster").first.click()
    phone.locator("#sheet .rating label").nth(1).click()
    expect(phone.locator("#sheet").get_by_role("alert")).to_contain_text("already rated 5")


def test_after_the_last_rating_continue_is_near(study: Study, live_server: Any, phone: Page) -> None:
    phone.goto(live_server.url + participant_at("rate", study).base)
    stars = phone.locator("#grid .rating")
    for number in range(5):
        stars.nth(number).locator("input[value='3']").focus()
        phone.keyboard.press("Space")
        expect(phone.locator("#tray .count")).to_have_text(f"{number + 1} of 5")
        if number < 4:
            expect(stars.nth(number).locator(".to-continue")).to_be_hidden()
    before = phone.evaluate(TOPS)
    phone.keyboard.press("Tab")
    link = phone.get_by_role("link", name="Skip to Continue").and_(phone.locator(":focus"))
    expect(link).to_be_in_viewport(ratio=1)
    assert phone.evaluate(TOPS) == before
    phone.keyboard.press("Enter")
    expect(phone.locator("#continue")).to_be_focused()


def test_after_the_last_choice_continue_is_near(live_server: Any, phone: Page) -> None:
    phone.goto(live_server.url + participant_at("rated", make_study(run=make_usage_run())).base)
    phone.locator(".choose[aria-pressed=true]").first.focus()
    phone.keyboard.press("Tab")
    phone.keyboard.press("Enter")
    expect(phone.locator("#continue")).to_be_focused()


def test_details_are_on_the_page_where_the_questions_ask_about_them(
    study: Study, live_server: Any, phone: Page
) -> None:
    phone.goto(live_server.url + participant_at("item", study).base)
    described = phone.get_by_role("region", name="Details")
    expect(described).to_be_hidden()
    phone.locator("label:has(input[name=watched][value=no])").click()
    expect(described).to_contain_text("Director")
    heard = phone.locator("#question-heard")
    expect(heard).to_be_visible()
    assert described.bounding_box()["y"] < heard.bounding_box()["y"]  # type: ignore[index]
    phone.locator("label:has(input[name=watched][value=yes])").click()
    expect(described).to_be_hidden()


def test_keeping_the_answers_is_the_prominent_choice(study: Study, live_server: Any, phone: Page) -> None:
    person = participant_at("item", study)
    phone.goto(f"{live_server.url}{person.base}withdraw/")
    expect(phone.locator("main .go")).to_have_text("No, keep my answers")
    phone.keyboard.press("Tab")
    phone.locator("main .go").click()
    expect(phone).to_have_url(re.compile("/items/1/1/"))


@pytest.mark.parametrize("step", ["about", "rate", "rated", "recommendations", "item", "overall", "thanks"])
def test_no_page_is_heavier_than_its_budget(study: Study, live_server: Any, browser: Browser, step: str) -> None:
    page = browser.new_context(viewport=DESK).new_page()  # type: ignore[arg-type]
    sizes: list[int] = []
    page.on("requestfinished", lambda request: sizes.append(_weight(request)))
    page.goto(live_server.url + participant_at(step, study).base)
    page.wait_for_timeout(1000)  # the events that the page sends after itself
    page.context.close()
    assert 10_000 < sum(sizes) <= BUDGET


def _weight(request: Any) -> int:
    """What was transferred for a request, in bytes; 0 for posters and clips."""
    if request.resource_type in ("image", "media"):
        return 0
    sizes = request.sizes()
    return int(sizes["responseBodySize"]) + int(sizes["responseHeadersSize"])
