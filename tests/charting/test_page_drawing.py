"""The runtime draws every chart in a real browser, under the strictest policy the pages use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from charting import render, runtime
from charting.theme import Spec, both_modes

pytestmark = pytest.mark.e2e
SCRIPT = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
document.addEventListener("DOMContentLoaded", async () => {
  const specs = await (await fetch("/specs.json")).json();
  try {
    for (const name in specs) {
      const place = document.createElement("figure");
      place.id = name;
      document.body.append(place);
      await window.vegaEmbed(place, specs[name], { ast: true, actions: false, renderer: "svg" });
    }
    document.documentElement.dataset.outcome = "drawn";
  } catch (error) {
    document.documentElement.dataset.outcome = String(error);
  }
});
"""


@pytest.fixture
def serve(serve_pages: Any) -> Any:
    """Serve a page that draws specifications under a policy; gives its address."""

    def start(specs: dict[str, Spec], style_sources: tuple[str, ...]) -> str:
        pages = {
            "/": (
                "text/html",
                '<!doctype html><html lang="en"><link rel="stylesheet" href="/page.css">'
                '<link rel="icon" href="data:,"><script src="/runtime.js"></script>'
                '<script src="/draw.js"></script><body>',
            ),
            "/page.css": ("text/css", "body, figure { margin: 0 } .vega-embed { width: 100% }"),
            "/runtime.js": ("text/javascript", (runtime.FOLDER / runtime.NAME).read_text()),
            "/draw.js": ("text/javascript", SCRIPT),
            "/specs.json": ("application/json", json.dumps(specs)),
        }
        address: str = serve_pages(pages, style_sources)
        return address

    return start


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of a headless browser at the width of a phone."""
    page = browser.new_page(viewport={"width": 390, "height": 800})
    # The policy forbids the evaluation that waiting for a function would need.
    page.wait_until_drawn = lambda: page.locator("html[data-outcome]").wait_for(state="attached")
    yield page
    page.close()


def outcome(page: Any) -> Any:
    return page.evaluate("[document.documentElement.dataset.outcome, window.violations]")


def test_charts_drawn_under_the_policy_of_the_pages(page: Any, serve: Any, all_drawings: Any) -> None:
    specs = {name: draw() for name, draw in all_drawings.items()}
    specs["dark"] = both_modes(specs["scatter"])["dark"]
    page.goto(serve(specs, render.STYLE_HASHES))
    page.wait_until_drawn()
    assert outcome(page) == ["drawn", []]
    assert page.locator("svg.marks").count() == len(specs)
    widths = page.evaluate("[...document.querySelectorAll('svg.marks')].map((svg) => svg.clientWidth)")
    assert widths == [390] * len(specs)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("#bars svg", has_text="PureSVD300").count() == 1


def test_chart_follows_the_window(page: Any, serve: Any, all_drawings: Any) -> None:
    page.goto(serve({"box_plot": all_drawings["box_plot"]()}, render.STYLE_HASHES))
    page.wait_until_drawn()
    assert page.get_by_text("n = 30", exact=True).count() == 0
    page.set_viewport_size({"width": 900, "height": 800})
    page.locator("svg.marks[width='900']").wait_for()
    assert page.get_by_text("n = 30", exact=True).count() == 7


def test_styles_are_exactly_the_ones_named(page: Any, serve: Any, all_drawings: Any) -> None:
    page.goto(serve({"bars": all_drawings["bars"]()}, ()))
    page.wait_until_drawn()
    assert outcome(page) == ["drawn", ["style-src-elem", "style-src-elem"]]
    digests = page.evaluate(
        """async () => Promise.all([...document.querySelectorAll("style")].map(async (style) => {
          const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style.textContent));
          return "'sha256-" + btoa(String.fromCharCode(...new Uint8Array(digest))) + "'";
        }))"""
    )
    assert sorted(digests) == sorted(render.STYLE_HASHES)
