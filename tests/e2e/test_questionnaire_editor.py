"""The questionnaire's editor in Chromium: order by drag, touch and keys, rows, undo and the live preview."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from studies.enums import Role
from studies.models import Study
from tests.factories.questionnaires import every_kind, make_study_asking

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PATIENCE = 30_000  # milliseconds, for what the server answers
TALLEST = 2700  # pixels of a tab at 1280: three screens


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make_study_asking(every_kind(), status="draft")


@pytest.fixture
def page(live_server: Any, browser: Browser, study: Study) -> Iterator[Page]:
    """The list of questions, opened by the owner; no script may fail on the way."""
    client = Client()
    owner = study.memberships.get(role=Role.OWNER).researcher
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    context.set_default_timeout(90_000)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{live_server.url}/studies/{study.slug}/questionnaire/")
    yield page
    context.close()
    assert problems == []


def order(study: Study) -> list[str]:
    study.refresh_from_db()
    return [question["key"] for question in study.questionnaire["after"]]


def shown(page: Page) -> list[str]:
    return page.eval_on_selector_all("[data-block=after] > li", "lines => lines.map((line) => line.dataset.key)")


def middle(page: Page, selector: str) -> tuple[float, float]:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_questions_are_ordered_by_drag_and_by_keys(page: Page, study: Study) -> None:
    assert page.evaluate("document.documentElement.scrollHeight") <= TALLEST
    before = order(study)
    status = page.locator("#order-status")
    page.locator("[data-key=mood]").scroll_into_view_if_needed()
    page.mouse.move(*middle(page, "[data-key=mood] [data-drag]"))
    page.mouse.down()
    x, y = middle(page, "[data-key=devices]")
    page.mouse.move(x, y - 10, steps=5)
    page.mouse.up()
    expect(status).to_contain_text("is now question 3 of", timeout=PATIENCE)
    moved = [key for key in before if key != "mood"]
    moved.insert(2, "mood")
    assert shown(page) == order(study) == moved

    up = page.locator("[data-key=mood] [data-move=up]")
    up.focus()
    page.keyboard.press("Enter")
    expect(status).to_contain_text("is now question 2 of", timeout=PATIENCE)
    expect(up).to_be_focused()
    assert order(study)[1] == "mood"
    page.keyboard.press("Enter")
    expect(status).to_contain_text("is now question 1 of", timeout=PATIENCE)
    expect(page.locator("[data-key=mood] [data-move=down]")).to_be_focused()  # the other one is disabled now

    refused = shown(page)
    page.locator("[data-key=streams] [data-move=down]").click()  # the next question depends on it
    expect(status).to_contain_text("does not come before it", timeout=PATIENCE)
    assert shown(page) == order(study) == refused

    page.mouse.move(*middle(page, "[data-key=mood] [data-drag]"))
    page.mouse.down()
    page.mouse.move(*middle(page, "[data-key=hours]"), steps=5)
    assert shown(page) != refused
    page.keyboard.press("Escape")
    page.mouse.up()
    assert shown(page) == order(study) == refused


def test_rows_change_at_once_and_the_preview_follows(page: Page, study: Study) -> None:
    page.locator("[data-key=devices] a").click()
    preview = page.frame_locator("iframe[name=preview]")
    expect(preview.get_by_text("On a phone")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("iframe[name=preview]")).to_have_js_property("offsetWidth", 390)
    page.get_by_role("button", name="Add choice").click()
    expect(page.locator("[name=line4-key]")).to_be_focused()
    page.keyboard.type("train")
    page.locator("[name=line4-text_en]").fill("On a train")
    page.locator("[name=line4-text_it]").fill("In treno")
    expect(preview.get_by_text("On a train")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Move choice 5 up").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Move choice 4 up")).to_be_focused()
    page.get_by_role("button", name="Remove choice 1").click()
    expect(preview.get_by_text("On a phone")).to_have_count(0, timeout=PATIENCE)
    page.locator("#preview-language").select_option("it")
    expect(preview.get_by_text("In treno")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("The question is saved.")).to_be_visible()
    study.refresh_from_db()
    devices = next(q for q in study.questionnaire["after"] if q["key"] == "devices")
    assert [choice["value"] for choice in devices["choices"]] == ["cinema", "tv", "train", "nowhere"]
    assert devices["choices"][2]["label"] == {"en": "On a train", "it": "In treno"}
    page.go_back()  # one step back is the form, however often the preview changed
    expect(page.get_by_role("heading", name="Several choices")).to_be_visible()


def test_a_deletion_is_undone(page: Page, study: Study) -> None:
    before = order(study)
    page.get_by_role("button", name="Delete why").click()
    expect(page.get_by_text("Deleted “Why did it please you?”.")).to_be_visible()
    assert order(study) != before
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("as it was before")).to_be_visible()
    assert order(study) == before
