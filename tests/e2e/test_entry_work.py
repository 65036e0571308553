"""The proof of work before entry in Chromium: solved while the text is read, and what replaces it without scripts."""

from __future__ import annotations

import time
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from studies.enums import ProofOfWork, WithoutScript
from studies.models import Participant, Study
from studies.recruitment.services.recruitment import set_limits
from tests.e2e.test_accessibility import violations, with_axe
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.slow]

MOST_SECONDS = 2.0


@pytest.fixture
def study() -> Study:
    study = make_study(per_condition=3)
    set_limits(study=study, proof_of_work=ProofOfWork.ALWAYS, without_script=WithoutScript.SUM)
    return study


def tick_all(page: Page) -> None:
    for box in page.locator("input[name=box]").all():
        box.check()


def test_a_browser_solves_it_while_the_text_is_read(live_server: Any, browser: Browser, study: Study) -> None:
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    page.goto(f"{live_server.url}/s/{study.slug}/", wait_until="domcontentloaded")
    loaded = time.monotonic()
    page.wait_for_function("document.querySelector('[name=work_answer]').value !== ''")
    seconds = time.monotonic() - loaded
    assert seconds < MOST_SECONDS
    expect(page.locator("#sum-answer")).to_be_hidden()
    tick_all(page)
    page.locator("button[value=yes]").click()
    expect(page.locator("body")).to_have_attribute("data-step", "about")
    assert Participant.objects.count() == 1


def test_a_button_pressed_early_waits_for_it(live_server: Any, browser: Browser, study: Study) -> None:
    page = browser.new_context().new_page()
    # A device on which each digest takes a while.
    page.add_init_script(
        "const digest = crypto.subtle.digest.bind(crypto.subtle);"
        "crypto.subtle.digest = async (...all) => { "
        "await new Promise((go) => setTimeout(go, 100)); return digest(...all); };"
    )
    page.goto(f"{live_server.url}/s/{study.slug}/")
    tick_all(page)
    page.locator("button[value=yes]").click()
    expect(page.locator("[data-work-status]")).to_contain_text("One moment, please")
    expect(page.locator("body")).to_have_attribute("data-step", "about", timeout=30_000)
    assert Participant.objects.count() == 1


@pytest.mark.parametrize("language", ["en", "de", "it"])
def test_without_scripts_a_question_is_answered(
    live_server: Any, browser: Browser, study: Study, language: str
) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{live_server.url}/s/{study.slug}/?lang={language}")
    label = page.locator("label[for=sum-answer]").inner_text()
    numbers = [int(word) for word in label.rstrip("?").split() if word.isdigit()]
    tick_all(page)
    page.locator("button[value=yes]").click()
    expect(page.locator(".problem")).to_be_visible()
    page.locator("#sum-answer").fill(str(sum(numbers)))
    page.locator("button[value=yes]").click()
    expect(page.locator("body")).to_have_attribute("data-step", "about")


@pytest.mark.parametrize("instead", list(WithoutScript))
def test_what_replaces_it_is_accessible(live_server: Any, browser: Browser, study: Study, instead: str) -> None:
    set_limits(study=study, proof_of_work=ProofOfWork.ALWAYS, without_script=instead)
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    page.add_init_script("Object.defineProperty(crypto, 'subtle', { value: undefined })")  # as on a page without HTTPS
    page.goto(f"{live_server.url}/s/{study.slug}/")
    expect(page.locator("[data-without-script]")).to_be_visible()
    with_axe(page)
    assert violations(page) == []
