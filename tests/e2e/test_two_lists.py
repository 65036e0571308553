"""Two lists side by side in Chromium: by touch on a phone, by keys, without a connection and without a script."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from studies.design.services.launch import launch_study
from studies.enums import ParticipantStatus
from studies.models import Participant, Study
from tests.e2e.clicker import Keyboard, Pointer, until
from tests.e2e.test_accessibility import BROKEN_WORDS, SIDEWAYS, violations, with_axe
from tests.e2e.test_lost_connection import ready
from tests.factories.walking import Person
from tests.studies.test_templates import TWO, created, films

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
ABOUT = {"age": "33", "gender": "woman", "items_per_month": "3_to_5"}
KEYS = ("overall", "variety", "novelty", "taste", "choose")
SMALL = """() => [...document.querySelectorAll('.preference .row')]
  .filter((row) => row.getBoundingClientRect().height < 44).length"""
IN_SIGHT = """() => [...document.querySelectorAll('.lists section')].map((list) => list.getBoundingClientRect())
  .filter((box) => box.top < innerHeight && box.bottom > 0 && box.left >= 0 && box.right <= innerWidth).length"""


@pytest.fixture
def study() -> Study:
    study = created("two-lists", films(TWO))
    launch_study(study=study)
    study.refresh_from_db()
    return study


def given() -> dict[str, Any]:
    return dict(Participant.objects.get().responses.filter(question__in=KEYS).values_list("question", "value"))


@pytest.mark.parametrize(("hands", "width", "has_touch"), [(Pointer, 390, True), (Keyboard, 1280, False)])
def test_two_lists_are_compared_with_a_reload_and_going_back(
    study: Study, live_server: Any, browser: Browser, hands: type[Pointer], width: int, has_touch: bool
) -> None:
    person = Person(study, answers=ABOUT).to("recommendations")
    context = browser.new_context(viewport={"width": width, "height": 844}, has_touch=has_touch)
    page = context.new_page()
    page.goto(f"{live_server.url}{person.base}recommendations/")
    do = hands(page)
    expect(page.locator(".lists h2")).to_have_text(["List A", "List B"])
    do.go_on("compare")
    do.press("#continue")
    expect(page.locator(".problem")).to_have_count(5)
    for number, key in enumerate(KEYS[:3]):
        do.answer(**{key: str(number - 2)})
        until(lambda key=key: key in given(), page, key)
        assert page.evaluate(IN_SIGHT) == 2
    page.reload()
    expect(page.locator("#variety--1")).to_be_checked()
    for number, key in enumerate(KEYS[3:], start=3):
        do.answer(**{key: str(number - 2)})
    assert page.evaluate(SMALL) == 0
    do.go_on("after")
    assert given() == dict(zip(KEYS, range(-2, 3), strict=True))
    page.go_back()
    page.wait_for_url("**/compare/")
    do.answer(overall="2")
    do.go_on("after")
    do.go_on("thanks")
    assert given()["overall"] == 2
    assert person.me.status == ParticipantStatus.COMPLETED
    context.close()


def test_lists_are_compared_without_a_connection(study: Study, live_server: Any, browser: Browser) -> None:
    person = Person(study, answers=ABOUT).to("compare")
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(f"{live_server.url}{person.base}compare/")
    ready(page, f"{live_server.url}{person.base}after/")
    context.set_offline(True)
    do = Pointer(page)
    do.answer(**dict.fromkeys(KEYS, "-1"))
    do.go_on("after")
    assert given() == {}
    context.set_offline(False)
    until(lambda: given() == dict.fromkeys(KEYS, -1), page, "what was answered without a connection")
    context.close()


def test_without_a_script_it_is_a_form(study: Study, live_server: Any, browser: Browser) -> None:
    person = Person(study, answers=ABOUT).to("compare")
    context = browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}{person.base}compare/")
    Pointer(page).answer(overall="0")
    page.locator("#continue").click()
    expect(page.locator(".problem")).to_have_count(4)
    expect(page.locator("#overall-0")).to_be_checked()
    Pointer(page).answer(**dict.fromkeys(KEYS[1:], "1"))
    page.locator("#continue").click()
    page.wait_for_url("**/after/")
    assert given() == {"overall": 0, **dict.fromkeys(KEYS[1:], 1)}
    context.close()


def test_no_page_of_two_lists_has_a_barrier(study: Study, live_server: Any, browser: Browser) -> None:
    person = Person(study, answers=ABOUT).to("compare")
    page, found = browser.new_page(reduced_motion="reduce"), []
    for name in ("recommendations", "compare"):
        for language in ("en", "it", "de"):
            page.goto(f"{live_server.url}{person.base}{name}/?lang={language}")
            with_axe(page)
            for width in (320, 390, 1280):
                page.set_viewport_size({"width": width, "height": 844})
                where = f"{name} in {language} at {width}"
                found += [f"{where}: {problem}" for problem in violations(page)]
                found += [f"{where}: {word!r} is broken" for word in page.evaluate(BROKEN_WORDS)]
                found += [f"{where}: scrolls sideways"] * bool(page.evaluate(SIDEWAYS))
    assert found == []
