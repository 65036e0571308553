"""The page of the REST API in a browser, from its own files alone, and the examples of the documentation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from accounts.services import create_account, create_token
from studies.enums import Role
from studies.models import Study, StudyMembership
from studies.monitoring.services.blinding import open_outcomes
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]
DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "api.md"
SIDEWAYS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture
def study(transactional_db: None) -> Study:
    owner, _password = create_account(email="ada@example.org", password="correct horse battery")
    study = make_study(owner=owner)
    completed(study)
    open_outcomes(study=study, reason="A test.")
    return study


def test_page_shows_operations_and_objects_from_its_own_files_alone(
    live_server: Any, browser: Browser, study: Study
) -> None:
    assert StudyMembership.objects.get(study=study).role == Role.OWNER
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    said: list[str] = []
    elsewhere: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda fault: said.append(str(fault)))
    page.on(
        "request",
        lambda asked: None if re.match(rf"data:|{live_server.url}", asked.url) else elsewhere.append(asked.url),
    )
    page.goto(live_server.url + "/account/sign-in/")
    page.fill("[name=username]", "ada@example.org")
    page.fill("[name=password]", "correct horse battery")
    page.click("button.go")
    page.goto(live_server.url + "/account/")
    page.click("text=access tokens")
    page.click("text=REST API")
    operation = page.locator("#study_answers")
    operation.locator("summary").click()
    expect(operation.get_by_role("row", name="table")).to_contain_text("wide")
    operation.get_by_role("link", name="Answers", exact=True).click()
    expect(page.locator("#object-Answers").get_by_text("contains_simulated")).to_be_visible()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert not page.evaluate(SIDEWAYS), width
    page.locator("#studies summary").click()
    page.locator("#studies").get_by_role("button", name="Send").click()  # by the session
    expect(page.locator("#studies output")).to_contain_text(study.slug)
    job = study.jobs.create(kind="simulation", owner=StudyMembership.objects.get(study=study).researcher)
    cancel = page.locator("#job_cancel")
    cancel.locator("summary").click()
    cancel.get_by_label("id").fill(str(job.pk))
    cancel.get_by_role("button", name="Send").click()
    expect(cancel.locator("output")).to_contain_text("204")
    assert not page.evaluate(SIDEWAYS)
    assert (said, elsewhere) == ([], [])
    context.close()


def test_visitors_read_the_page_and_send_requests_with_a_token(
    live_server: Any, browser: Browser, study: Study
) -> None:
    _token, text = create_token(owner=study.memberships.get().researcher, name="page", scope="read write")
    page = browser.new_page(viewport={"width": 390, "height": 900})
    faults: list[str] = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.goto(f"{live_server.url}/api/v1/docs/")
    outcome = page.locator("#study")
    outcome.locator("summary").click()
    outcome.get_by_label("slug").fill(study.slug)
    outcome.get_by_role("button", name="Send").click()
    expect(outcome.locator("output")).to_contain_text("401")
    page.get_by_label("Access token").fill(text)
    outcome.get_by_role("button", name="Send").click()
    expect(outcome.locator("output")).to_contain_text(study.design_hash)
    webhook = page.locator("#webhook_create")
    webhook.locator("summary").click()
    webhook.get_by_label("Body").fill('{"address": "https://93.184.215.14/", "events": ["study.full"]}')
    webhook.get_by_role("button", name="Send").click()
    expect(webhook.locator("output")).to_contain_text("whsec_")
    (created,) = study.memberships.get().researcher.webhooks.all()
    change = page.locator("#webhook_change")
    change.locator("summary").click()
    change.get_by_label("id", exact=True).fill(str(created.pk))
    change.get_by_label("If-Match").fill("*")
    change.get_by_label("Body").fill('{"is_on": false}')
    change.get_by_role("button", name="Send").click()
    expect(change.locator("output")).to_contain_text('"is_on": false')
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert not page.evaluate(SIDEWAYS), width
    assert faults == []
    page.close()


@pytest.mark.parametrize("language", ["python", "r"])
def test_the_examples_of_the_documentation_run(
    live_server: Any, study: Study, tmp_path: Path, language: str, request: pytest.FixtureRequest
) -> None:
    command = sys.executable if language == "python" else request.getfixturevalue("rscript")
    (example,) = re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
    (tmp_path / "example").write_text(example, encoding="utf-8")
    _token, text = create_token(owner=study.memberships.get().researcher, name="example")
    environment = {**os.environ, "PARALLAX": f"{live_server.url}/api/v1", "TOKEN": text}
    done = subprocess.run(
        [command, str(tmp_path / "example")], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    (person,) = study.participants.all()
    assert person.condition is not None
    assert re.search(rf"{person.condition.label}\s+1(\.0)?$", done.stdout, re.M), done.stdout
    if language == "python":
        assert re.search(r"metric\s+recall\s+fallout", done.stdout)
