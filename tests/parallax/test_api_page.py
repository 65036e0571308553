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
    page.get_by_role("link", name="Open /api/v1/studies/").click()  # by the session
    expect(page.locator("body")).to_contain_text(study.slug)
    assert (said, elsewhere) == ([], [])
    context.close()


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
