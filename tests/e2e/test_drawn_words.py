"""Drawings in saved reports keep their words whole where the reader's typeface is wider than the measured one."""

from __future__ import annotations

import pytest
from django.conf import settings
from playwright.sync_api import Browser

from charting.marks import Difference, forest
from charting.render import svg
from tests.e2e.test_accessibility import SIDEWAYS

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

NAMES = [("PureSVD50 · explained", "NNCosNgr · explained"), ("NNCosNgr · explained", "NNCosNgr · plain")]
# Words that begin before what can be scrolled to, or end after it.
CUT = """() => {
  const drawn = document.querySelector('.drawn');
  const box = drawn.getBoundingClientRect();
  return [...drawn.querySelectorAll('text')].filter((text) => {
    const { left, right, width } = text.getBoundingClientRect();
    return width && (left < box.left || right - box.left > drawn.scrollWidth + 1);
  }).map((text) => text.textContent);
}"""


@pytest.mark.parametrize("width", [320, 390, 800, 1280])
def test_words_of_a_wider_typeface_are_not_cut(browser: Browser, width: int) -> None:
    differences = [Difference(a, b, -0.5, -0.77, -0.23, "< .001", True) for a, b in NAMES]
    drawn = svg(forest(differences, title="Differences", x_title="Difference of means"))
    styles = "".join(
        (settings.BASE_DIR / f"static/css/{name}.css").read_text() for name in ("tokens", "base", "report")
    )
    # The measured typeface, about as much wider as DejaVu Sans is.
    wide = ".report { --sans: 'Liberation Sans', Arial; } .drawn text { letter-spacing: .055em; }"
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_content(
        f'<style>{styles}{wide}</style><main class="report file"><div class="figures">'
        f'<figure class="chart"><div class="drawn">{drawn}</div></figure></div></main>'
    )
    assert page.evaluate(CUT) == []
    assert not page.evaluate(SIDEWAYS)
    page.evaluate("document.querySelector('.drawn').style.cssText = 'padding: 0; margin: 0'")
    assert page.evaluate(CUT) != []  # as they were before
    page.close()
