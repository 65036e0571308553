"""Two tabs of one participant, one of them older than what is stored; and ratings by Enter and over a bad line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Route, expect

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
    form.locator("input[value='4']").focus()
    page.keyboard.press("Space")
    expect(page.locator("#tray .count")).to_have_text("1 of 5")
    with page.expect_response("**/rate/*/") as sent:
        page.keyboard.press("Enter")
    assert sent.value.request.post_data is not None
    assert "rating=4" in sent.value.request.post_data
    expect(page.locator("#tray .count")).to_have_text("1 of 5")
    assert ProfileRating.objects.get(item_id=pk).rating == 4

    def cut(route: Route) -> None:
        route.abort()

    page.route("**/rate/*/", cut)
    form.locator(".take-back").click()
    expect(page.locator("#unsaved")).to_be_visible()
    page.unroute("**/rate/*/", cut)
    expect(page.locator("#tray .count")).to_have_text("0 of 5", timeout=10_000)
    expect(page.locator("#unsaved")).to_have_count(0)
    assert not ProfileRating.objects.exists()


def test_a_form_sent_as_a_page_stops_what_was_on_its_way_by_itself(live_server: Any, context: BrowserContext) -> None:
    person = Person(make_study(per_condition=3)).to("overall")
    page = context.new_page()
    page.goto(f"{live_server.url}{person.base}overall/")
    parts: list[Route] = []
    pages: list[Route] = []
    page.route("**/overall/", lambda route: (parts if "hx-request" in route.request.headers else pages).append(route))
    page.locator("input[name=satisfaction][value='4']").check()
    page.locator("#comment").fill("On its way")
    page.locator("#continue").click(no_wait_after=True)
    for _ in range(40):
        if pages:
            break
        page.wait_for_timeout(50)
    assert (len(parts), len(pages)) == (1, 1)
    with suppress(Error):  # nobody waits for it any more
        parts[0].fulfill(status=204, headers={"HX-Redirect": f"{person.base}?late"})
    pages[0].continue_()
    page.wait_for_url("**/thanks/")
    assert len(parts) == 1, "nothing more was sent beside the page"
    assert stored(0, satisfaction=4, comment="On its way")()
