"""The flow stage: pages as cards, and the switch between one list and several, saved as it is made."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, expect

from tests.e2e.test_accessibility import SIDEWAYS, violations, with_axe
from tests.e2e.test_console_accessibility import signed_in
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_draft_is_switched_to_lists_in_turn_and_back(live_server: Any, browser: Browser, width: int) -> None:
    study = make_study(
        run=make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4"), status="draft", per_condition=36
    )
    context = browser.new_context(viewport={"width": width, "height": 844})
    signed_in(context, live_server.url, study.memberships.get().researcher)
    page = context.new_page()
    page.goto(live_server.url + reverse("studies:flow", args=[study.slug]), timeout=60_000)
    expect(page.get_by_label("Leave out items of earlier lists")).to_be_hidden()
    page.get_by_label("Each condition’s list in turn").check()
    expect(page.locator("#save-status")).to_have_text("Saved")
    expect(page.get_by_role("heading", name="For each of 3 lists")).to_be_visible()
    expect(page.locator(".loop li")).to_have_count(3)
    expect(page.get_by_label("Leave out items of earlier lists")).to_be_checked()
    assert study.sequences.count() == 6
    with_axe(page)
    assert violations(page) == []
    assert page.evaluate(SIDEWAYS) is False
    page.get_by_label("One list").check()
    expect(page.locator(".loop")).to_have_count(0)
    assert study.sequences.count() == 0
    context.close()
