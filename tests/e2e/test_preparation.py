"""The page on which a participant waits for the list of a remote recommender, in Chromium with and without a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from studies.design.services.launch import launch_study
from studies.models import Study
from tests.e2e.test_accessibility import BROKEN_WORDS, SIDEWAYS, violations, with_axe
from tests.studies import test_preparing
from tests.studies.test_preparing import pass_preparation_time, served, waiting_person, work

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
draft, hosts, items = test_preparing.draft, test_preparing.hosts, test_preparing.items


@pytest.mark.parametrize("has_script", [True, False])
def test_page_goes_on_by_itself(
    live_server: Any, browser: Browser, draft: Study, items: Path, *, has_script: bool
) -> None:
    draft.settings = {**draft.settings, "preparation_seconds": 20}
    draft.save()
    with served(draft, items):
        launch_study(study=draft)
        person, _participant = waiting_person(draft)
        context = browser.new_context(java_script_enabled=has_script, viewport={"width": 390, "height": 844})
        page = context.new_page()
        page.goto(f"{live_server.url}{person.base}rate/")
        expect(page.get_by_role("heading", name="Preparing your list")).to_be_visible()
        if has_script:
            with_axe(page)
            for width in (320, 390, 1280):
                page.set_viewport_size({"width": width, "height": 844})
                assert violations(page) == []
                assert page.evaluate(BROKEN_WORDS) == []
                assert not page.evaluate(SIDEWAYS)
        work()
        pass_preparation_time()
        expect(page.get_by_role("heading", name="Your recommendations")).to_be_visible(timeout=20_000)
        context.close()
