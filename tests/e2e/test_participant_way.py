"""A participant walks the whole study in Chromium, with a reload and a back press at each step."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, ConsoleMessage, expect

from studies.enums import ParticipantStatus
from studies.models import Participant, ProfileRating, Response
from tests.e2e.clicker import Keyboard, Pointer
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.slow]

STEPS = {"about", "rate", "recommendations", "item", "overall", "thanks"}


def unsettle(do: Pointer, still_there: Callable[[], None]) -> None:
    """Reload, go back, come again: what was given has to be there each time."""
    page, url = do.page, do.page.url
    still_there()
    page.reload()
    still_there()
    page.go_back()
    assert page.locator("body").get_attribute("data-step") in STEPS
    page.goto(url)
    assert page.url == url
    still_there()
    if page.locator("body").get_attribute("data-step") == "rate":
        open_details(do)


def open_details(do: Pointer) -> None:
    """Details open over the page and give the place back."""
    page = do.page
    link = page.locator("#grid [data-opens-sheet]").first
    page.locator("#grid summary").first.focus()
    page.keyboard.press("Enter")
    if isinstance(do, Keyboard):
        link.focus()
        page.keyboard.press("Enter")
    else:
        link.click()
    expect(page.locator("#sheet")).to_be_visible()
    expect(page.locator("#sheet h2")).to_contain_text("Film")
    page.keyboard.press("Escape")
    expect(page.locator("#sheet")).to_be_hidden()
    expect(link).to_be_focused()


@pytest.mark.parametrize(
    ("hands", "width"),
    [
        pytest.param(Pointer, 390, marks=pytest.mark.core),
        pytest.param(Keyboard, 1280, marks=pytest.mark.core),
    ],
)
def test_the_whole_way_with_a_reload_and_a_back_press_at_each_step(
    live_server, browser: Browser, hands: type[Pointer], width: int
) -> None:  # type: ignore[no-untyped-def]
    study = make_study(per_condition=3)
    context = browser.new_context(viewport={"width": width, "height": 844}, has_touch=False)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if _is_problem(message) else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request", lambda request: None if request.url.startswith(live_server.url) else problems.append(request.url)
    )
    page.goto(f"{live_server.url}/s/{study.slug}/")
    page.reload()
    assert Participant.objects.count() == 0
    do = hands(page, unsettle)
    do.walk()
    thanks(do)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "the page scrolls sideways"
    assert problems == []
    context.close()


def _is_problem(message: ConsoleMessage) -> bool:
    return message.type in {"error", "warning"}


def thanks(do: Pointer) -> None:
    participant = Participant.objects.get()
    code = do.page.locator("#completion-code")
    unsettle(do, lambda: expect(code).to_have_text(participant.completion_code))
    assert re.fullmatch(r"[A-Z0-9]{8}", participant.completion_code)
    assert participant.status == ParticipantStatus.COMPLETED
    answers = {(r.rank, r.question): r.value for r in Response.objects.filter(participant=participant)}
    per_item = {1: 4, 2: 2, 3: 4, 4: 2, 5: 4}
    assert {rank: sum(key[0] == rank for key in answers) for rank in per_item} == per_item
    assert answers[(0, "satisfaction")] == 4
    assert answers[(0, "comment")] == "Quite good"
    assert (answers[(1, "rating")], answers[(3, "rating")], answers[(5, "rating")]) == (1, 3, 5)
    assert sorted(ProfileRating.objects.values_list("rating", flat=True)) == [1, 2, 3, 4, 5]
