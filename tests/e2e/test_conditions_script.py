"""The script of participants' pages evaluates conditions on answers as the server does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).resolve().parents[2]


def test_conditions_hold_in_the_browser_as_on_the_server(browser: Browser) -> None:
    page = browser.new_page()
    cases = json.loads((ROOT / "tests/data/conditions.json").read_text())
    page.add_script_tag(path=ROOT / "static/js/conditions.js")
    results = page.evaluate(
        "cases => cases.map(({ script, controls }) => "
        "window.parallaxConditions.holds(script, name => controls[name] ?? []))",
        cases,
    )
    page.close()
    assert results == [case["holds"] for case in cases]
