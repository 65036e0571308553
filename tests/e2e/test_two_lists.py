"""Two lists side by side in Chromium: both in sight, answers that are changed, and no barrier.

`test_template_walks` walks them whole.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from studies.design.services.launch import launch_study
from studies.enums import ParticipantStatus
from studies.models import Participant, Study
from tests.e2e.clicker import Keyboard, Pointer, until
from tests.e2e.test_accessibility import BROKEN_WORDS, SIDEWAYS, violations, with_axe
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
def test_both_lists_are_in_sight_while_they_are_compared_and_answers_can_be_changed(
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
