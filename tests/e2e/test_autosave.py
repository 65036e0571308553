"""Autosave in a browser: saved after typing, honest about errors, lost connections and the changes of others."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, expect

from studies.design.services.design import change_design
from studies.enums import Role
from studies.models import Study
from studies.team.services.members import add_member
from tests.e2e.test_console_accessibility import signed_in
from tests.factories.accounts import UserFactory
from tests.factories.studies import make_study

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_a_stage_saves_itself_and_says_so_when_it_cannot(live_server: Any, browser: Browser) -> None:
    study = make_study(status="draft")
    ada = UserFactory(name="Ada")
    add_member(study=study, email=ada.email, role=Role.OWNER)
    context = browser.new_context(viewport={"width": 390, "height": 844})
    signed_in(context, live_server.url, study.memberships.order_by("pk")[0].researcher)
    page = context.new_page()
    page.goto(live_server.url + reverse("studies:plan", args=[study.slug]), timeout=60_000)
    status, hypothesis = page.locator("#save-status"), page.get_by_label("Hypothesis", exact=True)
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") == 390

    def stored() -> str:
        return str(Study.objects.get(pk=study.pk).settings.get("hypothesis", ""))

    hypothesis.fill("Recall ranks them.")
    expect(status).to_have_text("Saved")
    assert stored() == "Recall ranks them."
    expect(page.locator("#rail")).to_contain_text("Plan, complete")

    page.get_by_text("Tests and effects", exact=True).click()
    effect = page.locator("#id_effect")
    effect.fill("0")
    expect(status).to_contain_text("Not saved: Ensure this value is greater than or equal to 0.01")
    expect(effect).to_have_attribute("aria-invalid", "true")
    expect(effect).to_have_value("0")
    assert Study.objects.get(pk=study.pk).settings["effect"] == 0.25
    effect.fill("0.3")
    expect(status).to_have_text("Saved")
    expect(effect).not_to_have_attribute("aria-invalid", "true")

    context.set_offline(True)
    hypothesis.fill("Fallout ranks them.")
    expect(status).to_have_text("Not saved: offline, trying again")
    context.set_offline(False)
    expect(status).to_have_text("Saved")
    assert stored() == "Fallout ranks them."

    change_design(study=study, actor=ada, settings={"hypothesis": "Hers."})
    hypothesis.fill("Mine.")
    expect(page.locator("#conflict")).to_contain_text("Ada changed “Hypothesis”")
    expect(status).to_contain_text("Not saved")
    assert stored() == "Hers."
    page.get_by_role("button", name="Keep mine").click()
    expect(status).to_have_text("Saved")
    assert stored() == "Mine."

    change_design(study=study, actor=ada, settings={"hypothesis": "Hers again."})
    hypothesis.fill("Mine again.")
    page.get_by_role("button", name="Use Ada’s").click()
    expect(hypothesis).to_have_value("Hers again.")
    expect(status).to_have_text("Saved")
    page.get_by_role("button", name="Next").click()
    page.wait_for_url("**/launch/")
