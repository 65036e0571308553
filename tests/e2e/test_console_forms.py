"""Forms of the console in a browser: rows in place and without scripts, a live count, and focus on what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from evaluation.models import EvaluationRun
from studies.models import Study
from tests.e2e.test_console_accessibility import look_at, signed_in, unfolded
from tests.factories.catalog import make_version
from tests.factories.studies import make_study

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def draft(transactional_db: None) -> Study:
    make_version(name="tiny", n_items=40)
    return make_study(status="draft")


def opened(browser: Browser, url: str, study: Study, *, has_scripts: bool = True) -> Any:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, java_script_enabled=has_scripts)
    signed_in(context, url, study.memberships.get().researcher)
    return context


def test_run_is_put_together_in_place(live_server: Any, browser: Browser, draft: Study) -> None:
    page: Page = opened(browser, live_server.url, draft).new_page()
    page.goto(live_server.url + reverse("evaluation:new"), timeout=60_000)
    page.get_by_label("Dataset", exact=True).select_option("tiny")
    expect(page.locator("[name=shown]")).to_have_value("tiny")  # the form of the dataset has arrived
    expect(page.locator(".run-kinds + p")).to_contain_text("candidates instead of 1,000")
    count = page.locator("#case-count")
    expect(count).to_contain_text("Test users")
    before = count.inner_text()
    handle = page.get_by_role("slider", name="Liked from")
    expect(handle).to_have_attribute("aria-valuetext", "5 to 5")
    handle.press("ArrowLeft")
    expect(handle).to_have_attribute("aria-valuetext", "4 to 5")
    expect(count).not_to_have_text(before)
    page.get_by_role("radio", name="Custom").check()
    page.evaluate("window.isSame = true")
    for group in ("Data split", "Algorithms", "Repeats"):
        page.locator(".custom summary", has_text=group).click()
    page.get_by_label("Algorithm to add").select_option("ials")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("heading", name="iALS")).to_be_focused()
    page.get_by_role("button", name="Remove TopPop").click()
    expect(page.get_by_role("heading", name="TopPop")).to_have_count(0)
    factors = page.locator("[name=row3-factors]")
    page.locator("#split-holdout").check()
    expect(page.locator("[name=split-holdout-share]")).to_be_visible()
    assert page.evaluate("window.isSame")
    factors.fill("0")
    page.get_by_role("button", name="Start run").click()
    expect(page.locator("[name=row3-factors]")).to_be_focused()
    expect(page.locator("#id_row3-factors_error")).to_have_text(
        "Factors: Ensure this value is greater than or equal to 1."
    )
    expect(page.get_by_role("alert").get_by_role("link", name="Factors")).to_be_visible()


def test_run_and_quota_are_put_together_without_scripts(live_server: Any, browser: Browser, draft: Study) -> None:
    page: Page = opened(browser, live_server.url, draft, has_scripts=False).new_page()
    page.goto(live_server.url + reverse("evaluation:new"), timeout=60_000)
    page.get_by_label("Dataset", exact=True).select_option("tiny")
    page.get_by_role("button", name="Count test cases").click()
    page.get_by_role("radio", name="Custom").check()
    page.locator(".custom summary", has_text="Algorithms").click()
    for name in ("NNCosNgr", "PureSVD"):
        button = page.get_by_role("button", name=f"Remove {name}")
        button.click()
        expect(button).to_have_count(0)
    page.get_by_label("Algorithm to add").select_option("random")
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator("[name=protocol-one-plus-random-negatives]").fill("10")
    page.get_by_role("button", name="Count test cases").click()
    expect(page.locator("#case-count")).to_contain_text("Candidates per case")
    page.get_by_role("button", name="Start run").click()
    run = EvaluationRun.objects.order_by("-pk").first()
    assert run is not None
    assert list(run.algorithms.values_list("label", flat=True)) == ["TopPop", "Random"]
    page.goto(live_server.url + reverse("studies:sample", args=[draft.slug]), timeout=60_000)
    page.locator("summary").get_by_text("Strata and quotas", exact=True).click()
    for number, gender in enumerate(("woman", "man")):
        page.get_by_role("button", name="Add limit").click()
        page.locator(f"[name=quotas{number}-most]").fill("9")
        page.locator(f"[name=quotas{number}-question]").select_option("gender")
        page.locator(f"[name=quotas{number}-answers]").fill(gender)
    page.get_by_role("button", name="Save", exact=True).click()
    draft.refresh_from_db()
    assert [(quota["most"], quota["where"][0]["values"]) for quota in draft.settings["quotas"]] == [
        (9, ["woman"]),
        (9, ["man"]),
    ]


def test_forms_have_no_barrier(live_server: Any, browser: Browser, draft: Study) -> None:
    def refused_run(page: Page) -> None:
        page.get_by_role("radio", name="Custom").check()
        page.locator(".custom summary", has_text="Repeats").click()
        page.locator("[name=seed]").evaluate("field => { field.type = 'text'; field.value = 'x'; }")
        page.get_by_role("button", name="Start run").click()
        page.wait_for_selector(".problems")

    def refused_sample(page: Page) -> None:
        page.locator("summary").get_by_text("Strata and quotas", exact=True).click()
        page.get_by_role("button", name="Add limit").click()
        page.locator("[name=quotas0-most]").fill("5")
        expect(page.locator("#save-status")).to_contain_text("Not saved: Choose the question")
        expect(page.locator("[name=quotas0-question]")).to_have_attribute("aria-invalid", "true")

    sample = reverse("studies:sample", args=[draft.slug])
    pages = {
        "new run": (reverse("evaluation:new"), None),
        "new run, custom": (f"{reverse('evaluation:new')}?split=holdout", unfolded),
        "new run, refused": (reverse("evaluation:new"), refused_run),
        "participants, refused": (sample, refused_sample),
        "new study": (reverse("studies:new"), None),
    }
    look_at(opened(browser, live_server.url, draft), live_server.url, pages)
