"""The page of a choice in Chromium: by touch on a phone, by keys at a desk, in every layout, and without a script."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from studies.design.services.launch import launch_study
from studies.models import Participant
from tests.e2e.clicker import Keyboard, Pointer, stored, until
from tests.e2e.test_accessibility import BROKEN_WORDS, SIDEWAYS, violations, with_axe
from tests.e2e.test_lost_connection import ready
from tests.factories.walking import Person
from tests.studies.test_choice_pages import CHOICE, FLOW, ITEMS, LIST, OVERALL
from tests.studies.test_explanations import crossed_study
from tests.studies.test_list_presentations import shown_as
from tests.studies.test_own_flows import ABOUT, RATE, THANKS, make

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SMALL = "() => [...document.querySelectorAll('.pick')].filter((e) => e.getBoundingClientRect().height < 44).length"


@pytest.mark.parametrize(("hands", "width", "has_touch"), [(Pointer, 390, True), (Keyboard, 1280, False)])
def test_an_item_is_picked_and_another_after_a_reload_and_coming_back(
    live_server: Any, browser: Browser, hands: type[Pointer], width: int, has_touch: bool
) -> None:
    study = make(FLOW)
    person = Person(study).to("pick")
    context = browser.new_context(viewport={"width": width, "height": 844}, has_touch=has_touch)
    page = context.new_page()
    page.goto(f"{live_server.url}{person.base}pick/")
    do = hands(page)
    do.press("#continue")
    expect(page.locator(".problem")).to_have_text("Please answer this question.")
    expect(page.locator("#chosen-1")).to_be_focused()
    do.answer(chosen="2")
    until(stored(0, chosen="2"), page, "the item")
    expect(page.locator(".problem")).to_have_count(0)
    page.reload()
    expect(page.locator("#chosen-2")).to_be_checked()
    page.locator(".film a.poster").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#sheet")).to_be_visible()
    page.keyboard.press("Escape")
    do.go_on("overall")
    page.go_back()
    page.wait_for_url("**/pick/")
    expect(page.locator("#chosen-2")).to_be_checked()
    do.answer(chosen="none")
    until(stored(0, chosen="none"), page, "none")
    # Without a connection the page is left all the same, and the answer arrives later.
    ready(page, f"{live_server.url}{person.base}overall/")
    context.set_offline(True)
    do.answer(chosen="5")
    do.press("#continue")
    page.wait_for_url("**/overall/")
    assert not stored(0, chosen="5")()
    context.set_offline(False)
    until(stored(0, chosen="5"), page, "what was answered without a connection")
    context.close()


def test_without_a_script_it_is_a_form(live_server: Any, browser: Browser) -> None:
    person = Person(make(FLOW)).to("pick")
    context = browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}{person.base}pick/")
    page.locator("#continue").click()
    expect(page.locator("#problem-chosen")).to_be_visible()
    page.locator("label.pick").nth(1).click()
    page.locator("#continue").click()
    page.wait_for_url("**/overall/")
    assert Participant.objects.get().responses.get(question="chosen").value == "2"
    context.close()


def test_no_layout_has_a_barrier_at_any_width(live_server: Any, browser: Browser) -> None:
    rows = {"layout": "carousel", "carousel_by": "genre"}
    levels = (("plain", {}), ("grid", {"layout": "grid"}), ("rows", rows))
    study = crossed_study("PureSVD4", "TopPop", texts=shown_as(*levels))
    pages = {"pages": [LIST, CHOICE, ITEMS, OVERALL]}
    study.settings = {**study.settings, "flow": [ABOUT, RATE, {"lists": pages}, THANKS]}
    study.save()
    launch_study(study=study)
    study.dataset_version.items.filter(index__gt=4).update(title="An exceptionally long title of a film about nothing")
    found, seen = [], set()
    while len(seen) < 3:
        person = Person(study).to("pick")
        layout = person.me.condition.shown.layout
        if layout in seen:
            continue
        seen.add(layout)
        page = browser.new_page(reduced_motion="reduce")
        page.goto(f"{live_server.url}{person.base}pick/")
        with_axe(page)
        for width in (320, 390, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            where = f"{layout} at {width}"
            found += [f"{where}: {problem}" for problem in violations(page)]
            found += [f"{where}: {word!r} is broken" for word in page.evaluate(BROKEN_WORDS)]
            found += [f"{where}: a button is too small"] * page.evaluate(SMALL)
            found += [f"{where}: scrolls sideways"] * bool(page.evaluate(SIDEWAYS))
        page.close()
    assert found == []
