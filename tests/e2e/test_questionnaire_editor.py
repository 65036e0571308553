"""The stage of the questions in Chromium: one of them open in place, autosaved, with its rows, and the live preview."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from studies.design.services.questionnaires import save_question
from studies.enums import Role
from studies.models import Study
from studies.team.services.members import add_member
from tests.e2e.test_console_accessibility import signed_in
from tests.factories.accounts import UserFactory
from tests.factories.questionnaires import every_kind, make_study_asking
from tests.factories.studies import make_study

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

TWO_SCREENS = 1600  # pixels at 1280 × 800


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make_study_asking(every_kind(), status="draft")


@pytest.fixture
def page(live_server: Any, browser: Browser, study: Study) -> Iterator[Page]:
    """The list of questions, opened by the owner; no script may fail on the way."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    signed_in(context, live_server.url, study.memberships.order_by("pk")[0].researcher)
    context.set_default_timeout(90_000)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{live_server.url}/studies/{study.slug}/questionnaire/")
    yield page
    context.close()
    assert problems == []


def question(study: Study, key: str) -> dict[str, Any]:
    study.refresh_from_db()
    return next(
        q for block in study.questionnaire.values() if isinstance(block, list) for q in block if q["key"] == key
    )


def order(study: Study) -> list[str]:
    study.refresh_from_db()
    return [question["key"] for question in study.questionnaire["after"]]


def test_a_question_opens_by_the_keyboard_saves_itself_and_closes(page: Page, study: Study) -> None:
    row, text, status = page.locator("#id_row_trust_a"), page.locator("#id_text_en"), page.locator("#save-status")
    row.focus()
    page.keyboard.press("Enter")
    expect(text).to_be_focused()
    preview = page.frame_locator("iframe.phone")
    text.fill("I rely on them.")
    expect(preview.get_by_text("I rely on them.")).to_be_visible()
    expect(preview.locator("#connection")).to_be_hidden()
    expect(status).to_have_text("Saved")
    assert question(study, "trust_a")["text"]["en"] == "I rely on them."

    page.locator("#id_text_it").fill("")
    expect(status).to_have_text("Saved")
    expect(page.locator("#id_translations")).to_contain_text("1 missing")
    page.locator("#id_text_it").fill("Mi fido.")
    page.get_by_role("button", name="Italian").click()
    expect(preview.get_by_text("Mi fido.")).to_be_visible()

    page.locator("#id_maximum").fill("70")
    expect(status).to_contain_text("Not saved: The question 'trust_a' needs 2 to 11 points")
    expect(preview.get_by_text("needs 2 to 11 points")).to_be_visible()
    page.locator("#id_maximum").fill("5")
    text.fill("I count on them.")
    page.keyboard.press("Escape")  # what was typed is stored on the way
    expect(row).to_be_focused()
    expect(row).to_contain_text("I count on them.")
    assert question(study, "trust_a")["text"] == {"en": "I count on them.", "it": "Mi fido."}


def test_rows_change_at_once_and_the_preview_follows(page: Page, study: Study) -> None:
    page.locator("#id_row_devices").click()
    preview = page.frame_locator("iframe.phone")
    expect(preview.get_by_text("On a phone")).to_be_visible()
    page.get_by_role("button", name="Add choice").click()
    expect(page.locator("[name=line4-key]")).to_be_focused()
    page.keyboard.type("train")
    page.locator("[name=line4-text_en]").fill("On a train")
    page.locator("[name=line4-text_it]").fill("In treno")
    expect(preview.get_by_text("On a train")).to_be_visible()
    page.get_by_role("button", name="Move choice 5 up").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Move choice 4 up")).to_be_focused()
    page.get_by_role("button", name="Remove choice 1").click()
    expect(preview.get_by_text("On a phone")).to_have_count(0)
    expect(page.locator("#save-status")).to_have_text("Saved")
    devices = question(study, "devices")
    assert [choice["value"] for choice in devices["choices"]] == ["cinema", "tv", "train", "nowhere"]
    assert devices["choices"][2]["label"] == {"en": "On a train", "it": "In treno"}

    ada = UserFactory(name="Ada")
    add_member(study=study, email=ada.email, role=Role.OWNER)
    theirs = {**devices, "choices": devices["choices"][1:]}
    save_question(study=study, block="after", question=theirs, actor=ada)
    page.locator("#id_text_en").fill("Where, then?")
    expect(page.locator("#conflict")).to_contain_text("Ada changed “Choices”")
    expect(page.locator("[name$=-key]:visible")).to_have_count(3)
    expect(page.locator("#save-status")).to_have_text("Saved")
    assert question(study, "devices") == {**theirs, "text": {**devices["text"], "en": "Where, then?"}}
    page.go_back()  # one step back is the list, however often the preview changed
    expect(page.locator("#id_row_devices")).to_be_visible()


def test_questions_are_added_moved_and_deleted(page: Page, study: Study) -> None:
    page.get_by_text("Add question").click()
    page.get_by_role("button", name="Short text").click()
    expect(page.locator("#id_text_en")).to_be_focused()
    expect(page.locator("#save-status")).to_have_text("Not saved yet")
    page.keyboard.type("Anything else?")
    expect(page.locator("#save-status")).to_have_text("Saved")
    assert order(study)[-1] == "q_1"
    page.locator("#id_more").click()
    page.get_by_role("button", name="Move up").click()
    expect(page.locator("#id_more")).to_be_focused()
    assert order(study)[-2] == "q_1"
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Move up")).to_be_hidden()
    page.locator("#id_more").click()
    before = order(study)
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted “Anything else?”.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("as it was before")).to_be_visible()
    assert order(study) == before

    page.get_by_text("Add question").click()
    page.get_by_role("button", name="Attention check").click()
    expect(page.locator("#save-status")).to_have_text("Saved")
    expect(page.frame_locator("iframe.phone").get_by_text("Please select “Agree”.")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_shipped_questions_take_two_screens_and_do_not_scroll_sideways(
    live_server: Any, browser: Browser, transactional_db: None, width: int
) -> None:
    shipped = make_study(status="draft")
    context = browser.new_context(viewport={"width": width, "height": 800})
    signed_in(context, live_server.url, shipped.memberships.get().researcher)
    page = context.new_page()
    for query in ("", "?question=rating", "?question=gender"):
        page.goto(f"{live_server.url}/studies/{shipped.slug}/questionnaire/{query}", timeout=60_000)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        if not query and width == 1280:
            assert page.evaluate("document.documentElement.scrollHeight") <= TWO_SCREENS
    context.close()
