"""Two tabs of one participant, one of them older than what is stored; and ratings by Enter and over a bad line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from studies.models import ProfileRating
from tests.e2e.clicker import stored, until
from tests.factories.studies import make_study
from tests.factories.walking import Person

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 390, "height": 844}, locale="en-GB")
    yield made
    made.close()


def give(page: Page, satisfaction: int) -> None:
    page.locator(f"input[name=satisfaction][value='{satisfaction}']").check()
    until(stored(0, satisfaction=satisfaction), page, f"satisfaction {satisfaction}")


def test_an_older_tab_takes_nothing_back_and_what_is_changed_back_is_stored(
    live_server: Any, context: BrowserContext
) -> None:
    person = Person(make_study(per_condition=3)).to("overall")
    older, newer = context.new_page(), context.new_page()
    for page in (older, newer):
        page.goto(f"{live_server.url}{person.base}overall/")
    give(older, 3)
    older.reload()  # drawn with 3, to which it comes back below
    newer.locator("#comment").fill("Written in the other tab")
    newer.locator("#comment").blur()
    until(stored(0, comment="Written in the other tab"), newer, "the comment")
    give(newer, 4)
    # A star on the older tab sends its whole form: the empty comment there was never touched.
    for satisfaction in (5, 3, 5):
        give(older, satisfaction)
    assert stored(0, comment="Written in the other tab")()
    # In the newer tab 4 still shows. It was stored from there before, and is pressed on with untouched.
    newer.locator("#continue").click()
    newer.wait_for_url("**/thanks/")
    assert stored(0, satisfaction=5, comment="Written in the other tab")()


def test_enter_on_a_star_keeps_it_and_a_rating_taken_back_over_a_bad_line_is_taken_back(
    live_server: Any, context: BrowserContext
) -> None:
    person = Person(make_study(per_condition=3)).to("rate")
    page = context.new_page()
    page.goto(f"{live_server.url}{person.base}rate/")
    form = page.locator("#grid form.rating").first
    pk = int(str(form.get_attribute("id")).removeprefix("rating-"))
    page.locator("#grid summary").first.focus()
    page.keyboard.press("Enter")
    form.locator("input[value='4']").focus()
    page.keyboard.press("Space")
    expect(page.locator("#count b")).to_have_text("1 of 5")
    with page.expect_response("**/rate/*/") as sent:
        page.keyboard.press("Enter")
    assert sent.value.request.post_data is not None
    assert "rating=4" in sent.value.request.post_data
    expect(page.locator("#count b")).to_have_text("1 of 5")
    assert ProfileRating.objects.get(item_id=pk).rating == 4

    def cut(route: Route) -> None:
        route.abort()

    page.route("**/rate/*/", cut)
    page.locator("#grid summary").first.click()
    form.locator(".take-back").click()
    expect(page.locator("#connection")).to_be_visible()
    page.unroute("**/rate/*/", cut)
    expect(page.locator("#count b")).to_have_text("0 of 5")
    until(lambda: not ProfileRating.objects.exists(), page, "the rating taken back")
    expect(page.locator("#connection")).to_be_hidden()
    assert not ProfileRating.objects.exists()
