"""Charts in a browser: a highlighted algorithm, choices in place, and files of every chart."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from analysis.models import Report
from analysis.services import build_report
from tests.e2e.test_console_accessibility import drawn, signed_in, unfolded
from tests.factories.analysis import plant, report_page
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def report(transactional_db: None) -> Report:
    study = make_study(run=make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4"))
    plant(study, {"TopPop": [4, 5, 4, 5, 4], "CorNgr": [2, 1, 2, 1, 1], "PureSVD4": [2, 1, 1, 2, 2]})
    return build_report(study=study, made_by=study.memberships.get().researcher)


@pytest.fixture
def page(live_server: Any, browser: Browser, report: Report) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    signed_in(context, live_server.url, report.study.memberships.get().researcher)
    page = context.new_page()
    page.goto(
        live_server.url + report_page(report, "chapter", "supplement"),
        timeout=60_000,
    )
    unfolded(page)
    drawn(page)
    return page


def test_highlight_by_keyboard_dims_the_others_in_every_chart(page: Page) -> None:
    page.focus("#highlight")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(".chart-drawing .dimmed")
    assert page.input_value("#highlight") == "TopPop"
    assert "highlight=TopPop" in page.url
    dimmed = page.eval_on_selector_all(".chart-drawing text.dimmed", "all => all.map((one) => one.textContent)")
    assert dimmed
    assert not any(text == "TopPop" for text in dimmed)
    assert "TopPop" in page.eval_on_selector_all("text.lit", "all => all.map((one) => one.textContent)")
    assert page.locator("tr.highlighted").count()
    assert page.locator(".role-title text.dimmed, .role-title-text text.dimmed").count() == 0
    page.select_option("#highlight", "")
    assert page.locator(".dimmed, tr.highlighted").count() == 0
    assert "highlight" not in page.url


def test_the_opened_pair_of_a_small_grid_covers_nothing_of_the_picture(page: Page, report: Report) -> None:
    page.goto(page.url.partition("/reports/")[0] + report.get_absolute_url())
    figure = page.locator("figure:has(.cell)")
    figure.locator(".pair .names").wait_for()
    drawing, opened = figure.locator(".drawn svg:visible").first.bounding_box(), figure.locator(".pair").bounding_box()
    assert drawing is not None
    assert opened is not None
    assert opened["y"] >= drawing["y"] + drawing["height"]


def test_choices_change_the_chapter_in_place(page: Page) -> None:
    page.evaluate("window.stayed = true")
    page.select_option("[name=measure]", "fon")
    expect(page.locator("section[id^=variable-]")).to_have_count(1)
    drawn(page)
    assert "measure=fon" in page.url
    assert page.evaluate("window.stayed") is True


def test_every_chart_is_saved_as_svg_png_and_csv(page: Page, tmp_path: Path) -> None:
    assert page.locator("figure[data-chart]").count() == page.locator(".chart-files").count() > 0
    contents = {}
    for form in ("SVG", "PNG", "CSV"):
        with page.expect_download() as download:
            page.locator("#box-fon .chart-files button", has_text=form).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        assert path.name == f"box-fon.{form.lower()}"
        contents[form] = path.read_bytes()
    assert contents["SVG"].startswith(b"<svg")
    assert b"TopPop" in contents["SVG"]
    assert contents["PNG"].startswith(b"\x89PNG")
    rows = list(csv.reader(contents["CSV"].decode().splitlines()))
    assert "TopPop" in [row[0] for row in rows]
    assert page.locator(".chart-offscreen").count() == 0
