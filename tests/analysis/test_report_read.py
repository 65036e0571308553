"""A whole report in a real browser: no barrier, nothing cut off, every chart read by keyboard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.test import Client

from analysis.files.document import KEYS
from analysis.services import build_report
from studies.models import Study, StudyMembership
from tests.factories.analysis import report_page

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
(AXE,) = Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")


def test_report_is_read_by_everybody(live_server: Any, browser: Any, client: Client, planted: Study) -> None:
    report = build_report(study=planted)
    client.force_login(StudyMembership.objects.get(study=planted).researcher)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_cookies(
        [{"name": name, "value": cookie.value, "url": live_server.url} for name, cookie in client.cookies.items()]
    )
    context.set_default_timeout(120_000)  # the charts of a whole report, on a busy machine
    page = context.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    addresses = [
        report.get_absolute_url(),
        *(report_page(report, "chapter", key) for key in KEYS),
    ]
    assert sum(_read(page, live_server.url + address) for address in addresses) >= 15
    assert refused == []
    context.close()


def _read(page: Any, address: str) -> int:
    """Go through the charts of a page by keyboard, and look at it with axe; return how many charts there are."""
    page.goto(address)
    page.evaluate("for (const fold of document.querySelectorAll('details:has([data-chart])')) fold.open = true")
    charts = page.locator("[data-chart]")
    for place in range(charts.count()):
        charts.nth(place).locator(".chart-drawing[role=application]").wait_for()
    for place in range(charts.count()):
        chart = charts.nth(place)
        chart.locator(".chart-drawing").focus()
        page.keyboard.press("ArrowRight")
        said = chart.locator(".chart-said").inner_text()
        assert "(1 of " in said, chart.get_attribute("id")
        assert "undefined" not in said
        assert "NaN" not in said
        reached = []
        for _ in range(4):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.textContent"))
        assert reached == ["SVG", "PNG", "CSV", "Data of this figure"]
    for width, scheme in ((1280, "light"), (390, "dark"), (340, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = json.loads(page.evaluate("async () => JSON.stringify(await axe.run())"))
        assert [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found["violations"]] == [], (
            address,
            width,
            scheme,
        )
    return int(charts.count())
