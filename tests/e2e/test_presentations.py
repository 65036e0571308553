"""A study of 2 recommenders × 2 explanations in Chromium, and every layout at the widths of a phone and a desk."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from studies.design.services.launch import launch_study
from studies.models import Participant, RecommendedItem
from tests.e2e.clicker import Pointer
from tests.e2e.test_accessibility import BROKEN_WORDS, SIDEWAYS, violations, with_axe
from tests.factories.walking import Person
from tests.studies.test_explanations import crossed_study
from tests.studies.test_factors import TEXTS
from tests.studies.test_list_presentations import shown_as

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

WIDTHS = (320, 390, 1280)
HEIGHTS = """() => [...document.querySelectorAll('.shelf .film')].map((film) => film.getBoundingClientRect().height)"""


def test_a_walk_meets_the_stored_explanation_on_both_pages(live_server: Any, browser: Browser) -> None:
    study = crossed_study("PureSVD4", "CorNgr", texts=TEXTS)
    launch_study(study=study)
    for _number in range(2):
        context = browser.new_context(viewport={"width": 390, "height": 844})
        page = context.new_page()
        page.goto(f"{live_server.url}/s/{study.slug}/")
        texts: dict[str, list[str]] = {}

        def look(do: Pointer, is_there: Any, texts: dict[str, list[str]] = texts) -> None:
            step = str(do.page.locator("body").get_attribute("data-step"))
            texts.setdefault(step, []).extend(do.page.locator(".explanation").all_inner_texts())
            is_there()

        Pointer(page, look).walk()
        participant = Participant.objects.latest("pk")
        slots = RecommendedItem.objects.filter(recommendation_list__participant=participant).order_by("rank")
        stored = [slot.explanation.get("en", "") for slot in slots]
        assert texts["recommendations"] == texts["item"] == stored
        assert participant.status == "completed"
        context.close()


def test_explained_and_plain_lists_take_the_same_space(live_server: Any, browser: Browser) -> None:
    study = crossed_study("PureSVD4", "CorNgr", texts=TEXTS)
    launch_study(study=study)
    heights: dict[int, dict[str, list[float]]] = {}
    for _number in range(4):
        person = Person(study).to("recommendations")
        for width in WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto(f"{live_server.url}{person.base}recommendations/")
            heights.setdefault(width, {})[person.me.condition.levels["text"]] = page.evaluate(HEIGHTS)
            page.close()
    for width, by_level in heights.items():
        assert by_level["plain"] == pytest.approx(by_level["explained"], abs=24), width  # titles differ in lines


def test_layouts_have_no_barrier_at_any_width(live_server: Any, browser: Browser) -> None:
    rows = {"layout": "carousel", "carousel_by": "genre"}
    study = crossed_study("PureSVD4", "TopPop", texts=shown_as(("grid", {"layout": "grid"}), ("rows", rows)))
    launch_study(study=study)
    item = study.dataset_version.items.order_by("index")
    item.filter(index__in=range(5, 40, 4)).update(title="An exceptionally long title of a film about nothing at all")
    found: list[str] = []
    for _number in range(4):
        person = Person(study).to("recommendations")
        page = browser.new_page(reduced_motion="reduce")
        page.goto(f"{live_server.url}{person.base}recommendations/")
        with_axe(page)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            where = f"{person.me.condition.label} at {width}"
            found += [f"{where}: {problem}" for problem in violations(page)]
            found += [f"{where}: {word!r} is broken" for word in page.evaluate(BROKEN_WORDS)]
            if page.evaluate(SIDEWAYS):
                found.append(f"{where}: the page scrolls sideways")
        _reach_every_item(page)
        page.close()
    assert found == []


def _reach_every_item(page: Page) -> None:
    """Every item's details are reached by Tab alone, and each is in view then."""
    links = page.locator("#main a.poster")
    n = links.count()
    page.locator("#main").focus()
    reached = set()
    for _press in range(3 * n + 3):
        page.keyboard.press("Tab")
        address = page.evaluate("document.activeElement.matches('a.poster') ? document.activeElement.pathname : ''")
        if address:
            box = page.evaluate("(({left, right}) => [left, right])(document.activeElement.getBoundingClientRect())")
            assert -1 <= box[0] < box[1] <= page.viewport_size["width"] + 1, address  # type: ignore[index]
            reached.add(address)
    assert len(reached) == n


def test_grids_and_carousels_work_without_scripts(live_server: Any, browser: Browser) -> None:
    rows = {"layout": "carousel", "carousel_by": "genre"}
    study = crossed_study("PureSVD4", "TopPop", texts=shown_as(("grid", {"layout": "grid"}), ("rows", rows)))
    launch_study(study=study)
    for _number in range(2):
        person = Person(study).to("recommendations")
        context = browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
        page = context.new_page()
        page.goto(f"{live_server.url}{person.base}recommendations/")
        page.locator("a.poster").first.click()
        page.wait_for_url("**/details/**")
        page.go_back()
        page.locator("#continue").click()
        page.wait_for_url("**/items/1/1/")
        context.close()
