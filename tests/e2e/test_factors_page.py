"""A study of 2 explanations × 3 kinds of re-ranking, designed, checked and launched on a phone by its pages alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from studies.design.services.conditions import choose_conditions
from studies.enums import StudyStatus
from studies.models import Study
from tests.e2e.test_accessibility import SIDEWAYS, violations, with_axe
from tests.e2e.test_console_accessibility import signed_in
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

ALGORITHMS = "puresvd:factors=4,toppop,puresvd:factors=4|mmr:strength=0.3,puresvd:factors=4|popularity:strength=0.5"


@pytest.fixture
def draft(transactional_db: None) -> Study:
    """A draft on two plain recommenders of a run that also measured re-ranked ones."""
    study = make_study(run=make_run_at("succeeded", algorithms=ALGORITHMS), status="draft", per_condition=3)
    digests = list(study.conditions.order_by("position").values_list("model_digest", flat=True))
    return choose_conditions(study=study, digests=digests[:2])


def opened(browser: Browser, url: str, study: Study, width: int, *, has_scripts: bool = True) -> Page:
    context = browser.new_context(viewport={"width": width, "height": 844}, java_script_enabled=has_scripts)
    signed_in(context, url, study.memberships.get().researcher)
    page = context.new_page()
    page.goto(url + reverse("studies:conditions", args=[study.slug]), timeout=60_000)
    return page


def add(page: Page, factor: str, level: str) -> None:
    row = page.get_by_role("group", name=factor)
    row.get_by_text("+ Add").click()
    row.get_by_role("button", name=level, exact=True).click()
    expect(row.get_by_role("button", name=f"Remove {level}")).to_be_visible()


def labels_of(study: Study) -> list[str]:
    return list(study.conditions.order_by("position").values_list("label", flat=True))


PRODUCT = [
    f"PureSVD4{dose} · {shown}" for dose in ("", " + MMR 0.3", " + Popularity 0.5") for shown in ("plain", "explained")
]


def test_a_two_by_three_study_is_designed_and_launched_on_a_phone(
    live_server: Any, browser: Browser, draft: Study
) -> None:
    page = opened(browser, live_server.url, draft, 390)
    row = page.get_by_role("group", name="Recommender")
    page.get_by_role("button", name="Remove List of 5").click()
    expect(page.locator("#rows-presentation .errorlist")).to_contain_text("Add a level of presentation.")
    add(page, "Presentation", "List of 5")
    expect(page.locator("#save-status")).to_have_text("Saved")
    add(page, "Post-processing", "MMR 0.3")
    expect(page.locator("#rows-doses .errorlist")).to_contain_text("No run measured: TopPop, MMR 0.3.")
    assert labels_of(draft) == ["PureSVD4", "TopPop"]  # a product with a missing cell is not stored
    row.get_by_role("button", name="Remove TopPop").click()
    expect(page.locator("#save-status")).to_have_text("Saved")
    add(page, "Post-processing", "Popularity 0.5")
    add(page, "Presentation", "Explained")
    expect(page.locator("#total")).to_contain_text("6 conditions, 18 participants")
    assert labels_of(draft) == PRODUCT
    target = page.get_by_label("Target of PureSVD4 · explained")
    target.fill("none")
    expect(page.locator("#save-status")).to_contain_text("Not saved: Enter a whole number.")
    target.fill("4")
    expect(page.locator("#save-status")).to_have_text("Saved")
    page.reload()
    expect(page.locator("#total")).to_contain_text("19 participants")
    assert page.locator(".items .new").count() > 0
    page.get_by_role("link", name="Next profile").click()
    expect(page).to_have_url(f"{live_server.url}{reverse('studies:conditions', args=[draft.slug])}?profile=1#lists")
    page.set_viewport_size({"width": 320, "height": 800})
    with_axe(page)
    assert violations(page) == []
    assert not page.evaluate(SIDEWAYS)
    page.set_viewport_size({"width": 390, "height": 844})

    for language in ("English", "Italian"):
        page.get_by_text("Texts of explanations", exact=True).click()
        page.get_by_label(f"Fallback text, {language}").fill("Many people like it.")
        expect(page.locator("#save-status")).to_have_text("Saved")
        page.reload()
    page.goto(f"{live_server.url}{reverse('studies:launch', args=[draft.slug])}", timeout=60_000)
    expect(page.locator("#needed")).to_have_count(0)
    page.get_by_role("button", name="Launch study").click()
    page.wait_for_url(f"**/studies/{draft.slug}/")
    draft.refresh_from_db()
    assert (draft.status, labels_of(draft)) == (StudyStatus.LIVE, PRODUCT)
    page.goto(f"{live_server.url}{reverse('studies:conditions', args=[draft.slug])}", timeout=60_000)
    expect(page.get_by_role("button", name="Remove Explained")).to_have_count(0)
    expect(page.get_by_label("Target of PureSVD4 · explained")).to_be_disabled()


def test_levels_are_added_and_removed_without_scripts(live_server: Any, browser: Browser, draft: Study) -> None:
    page = opened(browser, live_server.url, draft, 1280, has_scripts=False)
    add(page, "Presentation", "Grid")
    expect(page.locator("#save-status")).to_have_text("Not saved yet")
    assert labels_of(draft) == ["PureSVD4", "TopPop"]
    page.get_by_role("button", name="Remove List of 5").click()
    add(page, "Presentation", "Shuffled")
    page.get_by_label("Target of TopPop").fill("5")
    page.get_by_label("Target of TopPop").press("Enter")
    expect(page.locator("#save-status")).to_have_text("Saved")
    assert labels_of(draft) == ["PureSVD4 · grid", "PureSVD4 · shuffled", "TopPop · grid", "TopPop · shuffled"]
