"""What participants see and do on single pages in Chromium, at a phone's width and a desk's."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from studies.models import Study
from tests.e2e.clicker import all_sent
from tests.e2e.states import participant_at
from tests.factories.studies import make_study, make_usage_run

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.slow]

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
BUDGET, OF_SCRIPTS = 110_000, 30_000  # compressed bytes of a page without its posters and clips, and of its scripts
TOPS = """() => [...document.querySelectorAll('#grid > li')].map(
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
    expect(phone.locator("#grid > li[data-item]")).to_have_count(24)
    phone.get_by_role("radio", name="Western").focus()
    phone.keyboard.press("Space")
    expect(phone.locator("#results [role=status]")).to_have_text("10 results")
    phone.keyboard.press("Tab")
    phone.keyboard.type("1980")
    expect(phone).to_have_url(re.compile("genre=Western&decade=1980"))
    facts = phone.locator("#grid small").all_text_contents()
    assert facts
    assert all(re.match(r"\s*198\d\s+Western", line) for line in facts)
    phone.reload()
    expect(phone.get_by_role("radio", name="Western")).to_be_checked()


def test_filters_work_without_the_script(study: Study, live_server: Any, browser: Browser) -> None:
    page = browser.new_context(viewport=PHONE, java_script_enabled=False).new_page()  # type: ignore[arg-type]
    page.goto(live_server.url + participant_at("rate", study).base)
    page.locator("label:has(input[value=Western])").click()
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#grid > li[data-item]")).to_have_count(10)
    page.context.close()


@pytest.mark.parametrize("viewport", [PHONE, DESK])
def test_the_sixth_rating_asks_which_one_makes_room_and_no_card_moves(
    study: Study, live_server: Any, browser: Browser, viewport: Any
) -> None:
    person = participant_at("rated", study)
    page = browser.new_context(viewport=viewport).new_page()
    page.goto(live_server.url + person.base)
    expect(page.get_by_role("button", name="See your recommendations")).to_be_in_viewport(ratio=1)
    pk = page.locator("#grid > li[data-item]:not(.rated)").first.get_attribute("data-item")
    card = page.locator(f"#film-{pk}")
    card.locator("summary").click()
    before = page.evaluate(TOPS)
    card.locator("label").nth(1).click()
    title = card.locator(".poster-title").text_content()
    expect(page.locator("#line")).to_have_text(f"You have 5. Which one makes room for {title}?")
    assert page.evaluate(TOPS)[: len(before)] == before  # the list may go on meanwhile
    page.get_by_role("button", name="Keep all").click()
    expect(page.locator("#grid details[open]")).to_have_count(0)
    expect(card).not_to_have_class(re.compile("rated"))
    assert sorted(person.me.profile.values_list("rating", flat=True)) == [1, 2, 3, 4, 5]
    card.locator("summary").click()
    card.locator("label").nth(1).click()
    gone = page.locator("#slots a").first.get_attribute("data-item")
    page.locator("#slots a").first.click()
    expect(card).to_have_class(re.compile("rated"))
    expect(page.get_by_role("button", name="See your recommendations")).to_be_enabled()
    all_sent(page)
    assert person.me.profile.filter(item_id=pk, rating=2).exists()
    assert not person.me.profile.filter(item_id=gone).exists()
    assert person.me.profile.count() == 5
    page.context.close()


def test_a_slot_reopens_its_film_and_the_list_goes_on_by_itself(study: Study, live_server: Any, phone: Page) -> None:
    person = participant_at("rate", study)
    item = study.dataset_version.items.order_by("index")[0]
    person.post(f"rate/{item.pk}/", {"rating": "4"})
    phone.goto(live_server.url + person.base)
    cards = phone.locator("#grid > li[data-item]")
    expect(cards).to_have_count(24)
    phone.mouse.wheel(0, 4000)
    expect(cards).to_have_count(40)
    phone.locator("#slots a").first.click()
    form = phone.locator(f"#rating-{item.pk}")
    expect(form.locator("input[value='4']")).to_be_checked()
    expect(form).to_be_in_viewport(ratio=1)
    phone.keyboard.press("2")
    all_sent(phone)
    assert person.me.profile.get().rating == 2
    phone.keyboard.press("Escape")
    expect(phone.locator(f"#film-{item.pk} summary")).to_be_focused()


def test_a_search_without_results_shows_it_and_one_link_clears_it(study: Study, live_server: Any, phone: Page) -> None:
    phone.goto(live_server.url + participant_at("rate", study).base)
    phone.locator("#search").fill("zzzzqqqq")
    expect(phone.locator(".none h2")).to_have_text("Nothing matches “zzzzqqqq”")
    phone.get_by_role("link", name="Clear the search").click()
    expect(phone.locator("#grid > li[data-item]")).to_have_count(24)


def test_after_the_last_rating_continue_is_near(study: Study, live_server: Any, phone: Page) -> None:
    phone.goto(live_server.url + participant_at("rate", study).base)
    stars = phone.locator("#grid .rating")
    for number in range(5):
        phone.locator("#grid summary").nth(number).focus()
        phone.keyboard.press("Enter")
        expect(stars.nth(number).locator("input[value='1']")).to_be_focused()
        phone.keyboard.press("3")
        expect(phone.locator("#count b")).to_have_text(f"{number + 1} of 5")
        if number < 4:
            expect(stars.nth(number).locator(".to-continue")).to_be_hidden()
    before = phone.evaluate(TOPS)
    for _stop in range(2):
        phone.keyboard.press("Tab")
    link = phone.get_by_role("link", name="Skip to Continue").and_(phone.locator(":focus"))
    expect(link).to_be_in_viewport(ratio=1)
    assert phone.evaluate(TOPS) == before
    phone.keyboard.press("Enter")
    expect(phone.locator("#continue")).to_be_focused()


def test_after_the_last_choice_continue_is_near(live_server: Any, phone: Page) -> None:
    phone.goto(live_server.url + participant_at("rated", make_study(run=make_usage_run())).base)
    phone.locator("#grid .rated summary").first.focus()
    phone.keyboard.press("Enter")
    for _stop in range(3):
        if phone.evaluate("!document.activeElement.matches('.to-continue')"):
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
    sizes: dict[str, tuple[str, int]] = {}
    page.on("requestfinished", lambda request: sizes.update({request.url: (request.resource_type, _weight(request))}))
    page.goto(live_server.url + participant_at(step, study).base)
    page.wait_for_timeout(1000)  # the events that the page sends after itself
    page.context.close()
    assert 10_000 < sum(size for _kind, size in sizes.values()) <= BUDGET
    assert 10_000 < sum(size for kind, size in sizes.values() if kind == "script") <= OF_SCRIPTS


def _weight(request: Any) -> int:
    """What is transferred for a request behind the proxy, which compresses; 0 for posters and clips."""
    response = request.response()
    if request.resource_type in ("image", "media") or response is None:
        return 0
    return len(gzip.compress(response.body()))
