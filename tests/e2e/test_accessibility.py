"""Every page a participant can meet: no barrier that axe-core finds, nothing cut off, nothing that moves."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.states import states

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

(AXE,) = Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")
WIDTHS = (320, 390, 768, 1280)
# Colours do not depend on the width, nor a layout on the colours: one width in the dark will do. Italian and
# German texts are longer, and have the same elements in the same colours.
LOOKS = {
    "en": ((320, "light"), (390, "light"), (390, "dark"), (1280, "light")),
    "it": ((390, "light"),),
    "de": ((390, "dark"),),
}
VIOLATIONS = """async (options) => (await axe.run(document, options)).violations.flatMap((one) =>
  one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 160)}`))"""
ALL_RULES = {"resultTypes": ["violations"]}
# In the other scheme nothing but colours differs.
OF_COLOURS = {**ALL_RULES, "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
# What a narrow screen may scroll sideways by itself is meant to; the page is not.
SIDEWAYS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
CUT_OFF = """() => [...document.querySelectorAll('main *, .tray *, header *, footer *')].filter((part) => {
  const style = getComputedStyle(part);
  if (!part.offsetParent || part.closest('.vh, .shelf, .filters, .slots, select, textarea')) return false;
  const box = part.getBoundingClientRect();
  const hides = ['hidden', 'clip'].includes(style.overflowX) && part.scrollWidth > part.clientWidth + 1;
  return hides || (box.width > 1 && (box.right > innerWidth + 1 || box.left < -1));
}).map((part) => part.outerHTML.slice(0, 120))"""

# Words on two lines. Addresses may break, and so may a word as wide as most of the page.
BROKEN_WORDS = r"""() => {
  const found = [], range = document.createRange();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode, part = text.parentElement;
    if (!part.checkVisibility() || part.closest('.vh, .address, script, select, textarea, noscript')) continue;
    for (const word of text.data.matchAll(/[^\s\-–—·]+/g)) {
      if (/@|:\/\//.test(word[0])) continue;
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = [...range.getClientRects()].filter((line) => line.width > 0);
      const width = lines.reduce((sum, line) => sum + line.width, 0);
      const isBroken = new Set(lines.map((line) => Math.round(line.top))).size > 1;
      if (isBroken && width < 0.75 * innerWidth) found.push(word[0]);
    }
  }
  return found;
}"""


def violations(page: Page, options: dict[str, Any] = ALL_RULES) -> list[str]:
    """What axe-core has against the page as it is now."""
    found: list[str] = page.evaluate(VIOLATIONS, options)
    return found


def violations_of_look(page: Page, width: int, scheme: str, looks: Iterable[tuple[int, str]]) -> list[str]:
    """The same at a width and in a scheme; in the dark by the rules of colours, where the light is one of the looks."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    is_second = scheme == "dark" and (width, "light") in looks
    found = violations(page, OF_COLOURS if is_second else ALL_RULES)
    return [f"at {width}, {scheme}: {problem}" for problem in found]


def with_axe(page: Page) -> None:
    # By the debugger, as a browser's extension would: the pages' policy admits no script from elsewhere.
    page.evaluate(AXE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", LOOKS)
def test_no_page_has_a_violation_or_loses_text_at_any_width(live_server: Any, browser: Browser, language: str) -> None:
    """First with text of twice the size, then as it is, in light and dark."""
    found: list[str] = []
    looked_at = 0
    for name, state in states(language).items():
        context = browser.new_context(locale="fr-FR", viewport={"width": 390, "height": 900}, reduced_motion="reduce")
        page = context.new_page()
        page.goto(live_server.url + state.path)
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        if state.do:
            state.do(page)
            page.evaluate("document.documentElement.style.fontSize = '200%'")
        assert page.locator("html").get_attribute("lang") == language, name
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            where = f"{name} at {width}, twice the size"
            if page.evaluate(SIDEWAYS):
                found.append(f"{where}: the page scrolls sideways")
            found += [f"{where}: {part}" for part in page.evaluate(CUT_OFF)]
            found += [f"{where}: {word!r} is broken" for word in page.evaluate(BROKEN_WORDS)]
        moving = page.evaluate("document.getAnimations().length")
        if moving:
            found.append(f"{name}: {moving} animations though less motion was asked for")
        page.evaluate("document.documentElement.style.fontSize = ''")
        with_axe(page)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if page.evaluate(SIDEWAYS):
                found.append(f"{name} at {width}: the page scrolls sideways")
        for width, scheme in LOOKS[language]:
            found += [f"{name} {problem}" for problem in violations_of_look(page, width, scheme, LOOKS[language])]
            looked_at += 1
        context.close()
    assert not found, "\n".join(found)
    assert looked_at >= len(LOOKS[language]) * 34


def test_the_looking_itself_sees_planted_barriers(live_server: Any, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 900})
    page = context.new_page()
    page.goto(f"{live_server.url}/s/no-such-study/")
    with_axe(page)
    assert violations(page) == []
    page.evaluate("""() => {
      document.querySelector('h1').outerHTML = '<h4>Pale</h4><img src="/static/icon.svg">';
      Object.assign(document.querySelector('h4').style, {color: '#bbb', background: '#fff'});
      document.documentElement.removeAttribute('lang');
    }""")
    rules = {problem.partition(":")[0] for problem in violations(page)}
    assert {"image-alt", "color-contrast", "html-has-lang", "page-has-heading-one"} <= rules
    page.evaluate("document.querySelector('main').style.width = '2000px'")
    assert page.evaluate(SIDEWAYS)
    assert page.evaluate(CUT_OFF)
    context.close()


def test_a_long_word_for_close_covers_no_title(live_server: Any, browser: Browser) -> None:
    sheet = states("en")["details in the sheet"]
    assert sheet.do is not None
    covered = []
    for width in WIDTHS:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(live_server.url + sheet.path)
        sheet.do(page)
        is_covered = page.evaluate(
            """() => {
              const button = document.querySelector('#sheet .close button');
              const heading = document.querySelector('#sheet h2');
              button.textContent = 'Fenster schließen';
              heading.firstChild.textContent = 'Before Sunrise and after ';
              const text = document.createRange();
              text.selectNodeContents(heading);
              const over = button.getBoundingClientRect();
              return [...text.getClientRects()].some((line) =>
                line.left < over.right && line.right > over.left && line.top < over.bottom && line.bottom > over.top);
            }"""
        )
        page.close()
        if is_covered:
            covered.append(width)
    assert covered == []
