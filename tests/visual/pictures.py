"""Pictures of the gallery's components that are the same on every machine with the same Chromium."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Locator, Page

from parallax.design.pages import PAGES

ROOT = Path(__file__).parents[2]
WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")
# Letters and colours follow neither the machine's settings of fonts nor those of its screen.
FONTS = Path(__file__).parent / "fonts.conf"
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-lcd-text", "--force-color-profile=srgb",
    "--force-device-scale-factor=1", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
# The frame of a page: pictured once, on this page.
FRAMES = {"participant": {"frame": "header.frame", "foot": "footer.foot"}, "controls": {"sidebar": "header.sidebar"}}
# What the pointer or the keyboard is on: the page, the control, and whether it is focused or hovered.
POINTED = {
    "participant": {"go": "#buttons .go", "button": "#buttons .button", "tick": "#consent input"},
    "ratings": {"star": "[id='5-stars'] input[type=radio]"},
    "controls": {"go": "#buttons .go", "button": "#buttons .button", "link": "#buttons a:not(.button, .go)"},
    "studies": {"tab": "#headers .tabs a:nth-child(2)"},
}
# Symbols that the project's font lacks, what else has letters of the system, and what moves by itself.
REPLACED = """
:root { --sans: "Source Serif 4"; --mono: "Source Serif 4"; }
svg text { font-family: "Source Serif 4" !important; }
img[src^="data:"] { object-position: -9999px 0; background: var(--edge) !important; }
.choose[aria-pressed="true"]::before, .thumbs .done::after { content: "v" !important; }
tr.highlighted > th::before { content: "> " !important; }
audio, .seconds, progress:indeterminate { visibility: hidden; }
"""
SHOWN_ALONE = """(key) => {
  for (const section of document.querySelectorAll(".design-section")) section.hidden = section.id !== key;
  document.activeElement.blur();
  window.scrollTo(0, 0);
}"""


def pinned_fonts() -> str:
    """Rules by which every text is set in the project's own font, in any weight."""
    faces = (ROOT / "static" / "css" / "fonts.css").read_text(encoding="utf-8").replace("../fonts/", "/static/fonts/")
    any_weight = faces.replace("font-weight: 600", "font-weight: 100 900").replace("swap", "block")
    return any_weight + any_weight.replace('"Source Serif 4"', "Inter") + REPLACED


def opened_browser(browser: Browser, path: str) -> Browser:
    """A Chromium of its own, as its arguments decide how letters are drawn."""
    environment: dict[str, str | float | bool] = {**os.environ, "FONTCONFIG_FILE": str(FONTS)}
    return browser.browser_type.launch(executable_path=path, args=list(ARGUMENTS), env=environment)


def context_of(chromium: Browser, scheme: str) -> BrowserContext:
    """Pages in one theme; their policy is set aside, so that the fonts can be pinned."""
    return chromium.new_context(
        viewport={"width": 1280, "height": 900}, color_scheme=scheme, locale="en-GB", timezone_id="UTC",  # type: ignore[arg-type]
        reduced_motion="reduce", device_scale_factor=1, bypass_csp=True,
    )  # fmt: skip


def open_page(page: Page, address: str, width: int, style: str = "") -> None:
    """Open a page of the gallery at a width, and wait for its charts and letters."""
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address, timeout=60_000)
    page.add_style_tag(content=pinned_fonts() + style)
    page.evaluate("document.fonts.ready.then(() => true)")
    page.wait_for_function(
        "document.querySelectorAll('figure[data-chart]').length === "
        "document.querySelectorAll('figure[data-chart] .chart-drawing svg').length",
        timeout=60_000,
    )
    page.wait_for_load_state("networkidle")


def take_pictures(page: Page, key: str, stem: str, folder: Path) -> Iterator[Path]:
    """Take the pictures of an open page: its sections, parts of its frame, and controls that are focused or hovered."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, selector in FRAMES.get(key, {}).items():
        page.evaluate(SHOWN_ALONE, "")
        yield _take(page.locator(selector), folder / f"{key}-{name}-{stem}.png")
    for section in PAGES[key].sections():
        page.evaluate(SHOWN_ALONE, section.key)
        yield _take(page.locator(f".design-section[id='{section.key}']"), folder / f"{key}-{section.key}-{stem}.png")
    for name, selector in POINTED.get(key, {}).items():
        yield from _pointed(page, selector, folder, f"{key}-{name}", stem)


def _pointed(page: Page, selector: str, folder: Path, name: str, stem: str) -> Iterator[Path]:
    control = page.locator(selector).first
    section = control.locator("xpath=ancestor::section[contains(@class, 'design-section')]").get_attribute("id")
    page.evaluate(SHOWN_ALONE, section)
    row = control.locator("xpath=ancestor::*[self::p or self::nav or self::fieldset][1]")
    page.keyboard.press("Shift")  # the focus is then shown as one of the keyboard
    control.focus()
    yield _take(row, folder / f"{name}-focus-{stem}.png")
    page.evaluate(SHOWN_ALONE, section)
    page.mouse.move(0, 0)
    control.locator("xpath=ancestor-or-self::*[self::label or self::a or self::button][1]").hover()
    yield _take(row, folder / f"{name}-hover-{stem}.png")
    page.mouse.move(0, 0)


def _take(part: Locator, path: Path) -> Path:
    part.screenshot(path=path, animations="disabled", caret="hide")
    return path


def version_of(chromium: Browser) -> str:
    """Chromium's version, such as 156.0.8078.108."""
    return re.sub(r"^\D+/", "", chromium.version)


def fonts_of(page: Page, selector: str) -> set[str]:
    """The fonts in which the texts of some elements and of all within them are drawn; of the system and of the page."""
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
    within = ", ".join(f"{part.strip()}, {part.strip()} *:not(audio)" for part in selector.split(","))
    nodes = session.send("DOM.querySelectorAll", {"nodeId": root, "selector": within})["nodeIds"]
    fonts: set[str] = set()
    for node in nodes:
        for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]:
            fonts.add(font["familyName"] if font["isCustomFont"] else f"{font['familyName']}, of the system")
    return fonts
