"""A drawn chart answers to pointer and keyboard alike, and no barrier is found on it."""

from __future__ import annotations

import html
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest

from charting import render, runtime
from charting.theme import both_modes

pytestmark = pytest.mark.e2e
(AXE,) = Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")
STATIC = Path(__file__).parents[2] / "static"
PAGE = (
    '<!doctype html><html lang="en"><head><title>Charts</title><meta name="viewport" content="width=device-width">'
    '<link rel="icon" href="data:,"><link rel="stylesheet" href="/tokens.css"><link rel="stylesheet" href="/base.css">'
    '<script src="/charts.js" data-runtime="/runtime.js" defer></script></head>'
    "<body><main><h1>Charts</h1>{figures}</main></body></html>"
)
FIGURE = (
    '<figure class="chart" id="{name}" data-chart="spec-{name}"><script type="application/json" id="spec-{name}">'
    "{specs}</script><details><summary>The numbers of {name}</summary><p>1</p></details></figure>"
)


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of a headless browser as wide as a phone."""
    page = browser.new_page(viewport={"width": 390, "height": 800})
    yield page
    page.close()


@pytest.fixture(scope="module")
def address(serve_pages: Any, all_drawings: Any) -> str:
    """Where a page with every chart on it is served."""
    figures = "".join(
        FIGURE.format(name=html.escape(name), specs=json.dumps(both_modes(draw())).replace("<", "\\u003c"))
        for name, draw in all_drawings.items()
    )
    pages = {
        "/": ("text/html", PAGE.format(figures=figures)),
        "/tokens.css": ("text/css", (STATIC / "css/tokens.css").read_text()),
        "/base.css": ("text/css", (STATIC / "css/base.css").read_text()),
        "/charts.js": ("text/javascript", (STATIC / "js/charts.js").read_text()),
        "/runtime.js": ("text/javascript", (runtime.FOLDER / runtime.NAME).read_text()),
    }
    served: str = serve_pages(pages, render.STYLE_HASHES)
    return served


@pytest.fixture
def drawn(page: Any, address: str, all_drawings: Any) -> Any:
    """The page, drawn by the pages' own script."""
    page.goto(address)
    for name in all_drawings:
        page.locator(f"#{name} svg.marks").wait_for()
        page.locator(f"#{name} .chart-drawing[role=application]").wait_for()
    return page


def said(page: Any, name: str) -> str:
    text: str = page.locator(f"#{name} .chart-said").inner_text()
    return text


def test_keyboard_reads_every_chart_and_its_table_is_the_next_stop(drawn: Any, all_drawings: Any) -> None:
    for name in all_drawings:
        drawn.locator(f"#{name} .chart-drawing").focus()
        assert said(drawn, name) == ""
        heard = []
        for key in ("ArrowRight", "ArrowRight", "End", "ArrowRight", "Home", "ArrowLeft"):
            drawn.keyboard.press(key)
            heard.append(said(drawn, name))
        first, second, last, beyond, home, before = heard
        assert first == home == before, name
        assert first.rsplit("(", 1)[1].startswith("1 of "), name
        assert last == beyond, name
        n = int(last.rsplit("(", 1)[1].split(" of ")[0])
        assert last.endswith(f"({n} of {n})"), name
        assert (n > 1) == (second != first), name
        assert drawn.locator(f"#{name} .chart-ring").is_visible()
        drawn.keyboard.press("Escape")
        assert said(drawn, name) == ""
        assert not drawn.locator(f"#{name} .chart-ring").is_visible()
        drawn.keyboard.press("Tab")
        assert drawn.evaluate("document.activeElement.textContent") == f"The numbers of {name}"


def test_values_are_the_datas_own_and_the_ring_stands_on_the_mark(drawn: Any) -> None:
    drawn.locator("#forest .chart-drawing").focus()
    drawn.keyboard.press("ArrowDown")
    drawn.keyboard.press("ArrowDown")
    assert said(drawn, "forest") == (
        "TopPop − AsySVD, difference 0.37, simultaneous 95% CI [−0.08, 0.82], p = .031, "
        "verdict not significant (2 of 21)"
    )
    drawn.locator("#forest .chart-ring").scroll_into_view_if_needed()
    ring = drawn.locator("#forest .chart-ring").bounding_box()
    middle = [ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2]
    met = drawn.evaluate("([x, y]) => document.elementFromPoint(x, y).getAttribute('aria-label')", middle)
    assert "TopPop − AsySVD" in met
    drawn.keyboard.press("Tab")  # leaving by Tab ends the reading too
    assert said(drawn, "forest") == ""


def test_pointer_meets_the_same_words(drawn: Any) -> None:
    drawn.locator("#matrix .chart-drawing").focus()
    drawn.keyboard.press("ArrowRight")
    ring = drawn.locator("#matrix .chart-ring").bounding_box()
    drawn.mouse.move(ring["x"] + 12, ring["y"] + 10)
    tip = drawn.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    assert tip.locator("td.value").all_inner_texts()[:2] == ["Recall at 5", "Perceived accuracy"]
    assert said(drawn, "matrix").startswith("Recall at 5, measure Perceived accuracy")


def test_no_barrier_and_nothing_sideways(drawn: Any) -> None:
    drawn.evaluate(AXE.read_text(encoding="utf-8"))
    drawn.locator("#forest .chart-drawing").focus()
    drawn.keyboard.press("ArrowDown")
    for scheme, width in itertools.product(("light", "dark"), (320, 1280)):
        drawn.emulate_media(color_scheme=scheme)
        drawn.set_viewport_size({"width": width, "height": 900})
        result = json.loads(drawn.evaluate("async () => JSON.stringify(await axe.run())"))
        found = [f"{v['id']}: {node['html'][:120]}" for v in result["violations"] for node in v["nodes"]]
        assert found == [], (scheme, width)
        assert drawn.evaluate("document.documentElement.scrollWidth") == width


def test_without_the_runtime_the_figure_says_what_to_do(page: Any, address: str) -> None:
    page.route("**/runtime.js", lambda route: route.fulfill(status=404, body="Not found"))
    page.goto(address)
    page.locator("#forest .chart-drawing").filter(has_text="make install").wait_for()
    assert page.locator("#forest details summary").is_visible()
