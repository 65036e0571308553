"""The documentation site in a browser: read from the file system, without barriers that axe-core finds."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.conftest import _missing
from tests.e2e.test_accessibility import violations, with_axe

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = (
    "index.html",
    "reference/metrics.html",
    "reference/commands.html",
    "explanation/architecture.html",
    "search.html",
)
pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site that `make docs` has built before, if `PARALLAX_BUILT_DOCS` names its folder; else it is built."""
    if built := os.environ.get("PARALLAX_BUILT_DOCS"):
        return Path(built)
    if importlib.util.find_spec("sphinx") is None:
        _missing("Sphinx is not installed (make docs)", "PARALLAX_REQUIRE_TOOLS")
    folder = tmp_path_factory.mktemp("site")
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    environment = {**kept, "PARALLAX_VAR": str(folder / "var"), "DJANGO_SETTINGS_MODULE": "parallax.settings"}
    build = ["-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs/_site", "-d", str(folder / "cache"), "docs"]
    for command in (["manage.py", "migrate", "--no-input", "-v", "0"], [*build, str(folder / "site")]):
        done = subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return folder / "site"


def test_every_page_of_the_site_is_accessible(site: Path, browser: Browser) -> None:
    names = [file.relative_to(site).as_posix() for file in sorted(site.rglob("*.html"))]
    assert len(names) > 60
    found = {}
    for width, scheme, pages in ((1280, "light", names), (390, "dark", SAMPLE)):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        for name in pages:
            page.goto(f"file://{site / name}")
            with_axe(page)
            found[f"{name} at {width}, {scheme}"] = violations(page)
        page.close()
    assert {name: rules for name, rules in found.items() if rules} == {}


def test_search_and_formulas_work_without_a_server(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(f"file://{site / 'search.html'}?q=fallout")
    expect(page.locator("#search-results li").first).to_be_visible()
    page.goto(f"file://{site / 'reference' / 'metrics.html'}")
    assert page.locator("math").count() > 30
    page.close()
