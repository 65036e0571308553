"""Several lists one after the other in Chromium: from one to the next without a connection, and without a barrier.

`test_template_walks` walks them whole.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from studies.design.services.launch import launch_study
from studies.models import Participant, Study
from tests.e2e.clicker import Pointer, until
from tests.e2e.test_accessibility import BROKEN_WORDS, SIDEWAYS, violations, with_axe
from tests.e2e.test_lost_connection import ready
from tests.factories.walking import Person
from tests.studies.test_templates import ALGORITHMS, created, films

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
ABOUT = {"age": "33", "gender": "woman", "items_per_month": "3_to_5"}


@pytest.fixture
def study() -> Study:
    study = created("three-in-turn", films(ALGORITHMS["three-in-turn"]))
    launch_study(study=study)
    study.refresh_from_db()
    return study


def given(occasion: int, **answers: Any) -> dict[str, Any]:
    rows = Participant.objects.get().responses.filter(occasion=occasion, question__in=answers)
    return dict(rows.values_list("question", "value"))


def test_a_list_is_left_and_the_next_one_met_without_a_connection(
    study: Study, live_server: Any, browser: Browser
) -> None:
    person = Person(study, answers=ABOUT).to("overall")
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(f"{live_server.url}{person.base}overall/")
    ready(page, f"{live_server.url}{person.base}items/3/1/")
    context.set_offline(True)
    do = Pointer(page)
    do.answer(satisfaction="2")
    do.go_on("recommendations/2/0")
    expect(page.locator("h1")).to_have_text("List 2 of 3")
    do.go_on("items/2/1")
    do.answer(watched="yes")
    do.answer(rating="1")
    page.wait_for_url("**/items/2/2/")
    context.set_offline(False)
    until(lambda: given(2, rating=0) == {"rating": 1}, page, "the rating in the second list")
    assert given(1, satisfaction=0) == {"satisfaction": 2}
    until(lambda: (person.me.occasion, person.me.item_rank) == (2, 2), page, "where the participant is")
    context.close()


def barriers(page: Page, where: str) -> list[str]:
    found = [f"{where}: {problem}" for problem in violations(page)]
    found += [f"{where}: {word!r} is broken" for word in page.evaluate(BROKEN_WORDS)]
    return found + [f"{where}: scrolls sideways"] * bool(page.evaluate(SIDEWAYS))


def test_no_page_of_a_later_list_has_a_barrier(study: Study, live_server: Any, browser: Browser) -> None:
    person = Person(study, answers=ABOUT)
    for page_of in person.pages():
        if page_of.step == "overall" and person.me.occasion == 2:
            break
    page, found = browser.new_page(reduced_motion="reduce"), []
    for name in ("recommendations/2/0", "items/2/1", "overall/2/0"):
        for language in ("en", "de"):
            page.goto(f"{live_server.url}{person.base}{name}/?lang={language}")
            with_axe(page)
            for width in (320, 390, 1280):
                page.set_viewport_size({"width": width, "height": 844})
                found += barriers(page, f"{name} in {language} at {width}")
    assert found == []
