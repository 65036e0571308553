"""Every component of the gallery looks as in its stored picture. `make baselines` takes new ones."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser

from parallax.design.pages import PAGES
from tests.e2e.test_console_accessibility import signed_in
from tests.factories.accounts import UserFactory
from tests.visual.comparison import difference, optimised
from tests.visual.pictures import (
    FRAMES,
    ROOT,
    SCHEMES,
    WIDTHS,
    context_of,
    fonts_of,
    open_page,
    opened_browser,
    take_pictures,
    version_of,
)

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

BASELINES = Path(__file__).parent / "baselines"
VERSION = BASELINES / "chromium.txt"
FOUND = ROOT / "var" / "visual"  # what differs, with its baseline
IS_WRITING = os.environ.get("PARALLAX_WRITE_BASELINES", "") not in {"", "0"}
MOST_BYTES = 3_000_000
# Deliberate changes of the style, and a component of which each has to be noticed.
CHANGES = {
    "a shift of two pixels": ("#buttons .go { position: relative; left: 2px; }", "controls-buttons"),
    "another colour": (":root { --bad: light-dark(#a32635, #f0888b); }", "controls-messages"),
    "another space": (":root { --g4: 1.1rem; }", "controls-buttons"),
}


@pytest.fixture(scope="module")
def chromium(browser: Browser, chromium_path: str) -> Iterator[Browser]:
    opened = opened_browser(browser, chromium_path)
    yield opened
    opened.close()


def pictures(chromium: Browser, url: str, key: str, folder: Path, *, looks: Any = None, style: str = "") -> list[Path]:
    """Take the pictures of a page in every look, or in some."""
    taken: list[Path] = []
    researcher = UserFactory(name="A. Researcher", is_superuser=True, is_staff=True)
    for scheme in SCHEMES:
        context = context_of(chromium, scheme)
        signed_in(context, url, researcher)
        page = context.new_page()
        for width in WIDTHS:
            if looks is None or (width, scheme) in looks:
                open_page(page, url + reverse("design:page", args=[key]), width, style)
                taken += take_pictures(page, key, f"{width}-{scheme}", folder)
        context.close()
    return taken


def compared(taken: list[Path], version: str, target: Path = FOUND) -> list[str]:
    """What differs from its baseline, in words; the pictures are then in `target`."""
    found = []
    for picture in taken:
        for old in target.glob(f"{picture.stem}*.png"):
            old.unlink()
        baseline = BASELINES / picture.name
        if not baseline.exists():
            found.append(f"{picture.name} has no baseline.")
            continue
        if (differs := difference(picture, baseline)) is None:
            continue
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, target / picture.name)
        shutil.copy(baseline, target / f"{picture.stem}.baseline.png")
        differs.marked.save(target / f"{picture.stem}.difference.png")
        found.append(f"{picture.name} {differs.reason}.")
    if found:
        stored = VERSION.read_text(encoding="utf-8").strip()
        found.append(f"Pictures, baselines and differences are in {target}. If the change is meant: make baselines")
        if stored != version:
            found.append(f"The baselines were taken with Chromium {stored}, these pictures with {version}.")
    return found


@pytest.mark.parametrize("key", PAGES)
def test_components_look_as_in_their_baselines(chromium: Browser, live_server: Any, tmp_path: Path, key: str) -> None:
    taken = pictures(chromium, live_server.url, key, tmp_path)
    if IS_WRITING:
        for old in BASELINES.glob(f"{key}-*.png"):
            old.unlink()
        for picture in taken:
            optimised(picture, BASELINES / picture.name)
        VERSION.write_text(f"{version_of(chromium)}\n", encoding="utf-8")
    found = compared(taken, version_of(chromium))
    assert found == [], "\n".join(found)
    assert {path.name for path in BASELINES.glob(f"{key}-*.png")} == {path.name for path in taken}


@pytest.mark.parametrize("change", CHANGES)
def test_a_deliberate_change_is_noticed(chromium: Browser, live_server: Any, tmp_path: Path, change: str) -> None:
    style, component = CHANGES[change]
    look = (1280, "light")
    taken = pictures(chromium, live_server.url, "controls", tmp_path / "taken", looks={look}, style=style)
    found = compared(taken, "0.0", tmp_path / "found")
    assert any(line.startswith(f"{component}-1280-light.png ") for line in found)
    kept = {path.name for path in (tmp_path / "found").iterdir()}
    assert kept >= {f"{component}-1280-light{part}.png" for part in ("", ".baseline", ".difference")}
    assert found[-2].startswith(f"Pictures, baselines and differences are in {tmp_path / 'found'}.")
    stored = VERSION.read_text(encoding="utf-8").strip()
    assert found[-1] == f"The baselines were taken with Chromium {stored}, these pictures with 0.0."


@pytest.mark.parametrize("key", PAGES)
def test_every_text_is_set_in_the_projects_own_font(chromium: Browser, live_server: Any, key: str) -> None:
    context = context_of(chromium, "light")
    signed_in(context, live_server.url, UserFactory(is_superuser=True, is_staff=True))
    page = context.new_page()
    open_page(page, live_server.url + reverse("design:page", args=[key]), 1280)
    fonts = fonts_of(page, f".design-section, {', '.join(FRAMES.get(key, {'': 'h1'}).values())}")
    context.close()
    assert fonts
    assert {font for font in fonts if font not in {"Source Serif 4 SemiBold", "Source Serif 4"}} == set()


def test_the_baselines_are_small_and_of_pages_that_exist() -> None:
    assert {path.name.partition("-")[0] for path in BASELINES.glob("*.png")} == set(PAGES)
    assert sum(path.stat().st_size for path in BASELINES.iterdir()) < MOST_BYTES
