"""The documentation site in a browser: read from the file system, without barriers that axe-core finds."""

from __future__ import annotations

import html
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from tests.conftest import _missing
from tests.e2e.test_accessibility import violations, with_axe
from tests.parallax.newcomer_questions import QUESTIONS

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
    names.remove("reference/python.html")  # made as statistical-tests.html is, which takes a minute
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


def test_the_first_page_that_the_search_finds_answers_a_newcomers_question(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    wrong = []
    for question, pages, words in QUESTIONS:
        page.goto(f"file://{site / 'search.html'}?{urlencode({'q': question})}")
        address = page.locator("#search-results li a").first.get_attribute("href") or ""
        name = address.partition("#")[0].partition("?")[0]
        answer = (site / name).read_text(encoding="utf-8")
        text = " ".join(re.sub(r"<[^>]+>", "", answer).split()).lower()
        if name.replace(".html", ".md") not in pages or words.lower() not in html.unescape(text):
            wrong.append((question, address))
    page.close()
    assert wrong == []


def test_pages_link_to_their_source_where_a_setting_names_it(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("README.md", "faq.md", "troubleshooting.md"):
        (tmp_path / "docs" / name).write_text(f"# {name}\n")
    addresses = {
        "PARALLAX_DOCS_SOURCE": "https://github.com/a/b/",
        "PARALLAX_DOCS_ISSUES": "https://example.org/faults",
    }
    for given, n in ((addresses, 1), ({}, 0)):
        built = tmp_path / f"built-{n}"
        build = [sys.executable, "-m", "sphinx", "-q", "-E", "-c", "docs/_site", str(tmp_path / "docs"), str(built)]
        subprocess.run(build, cwd=ROOT, env={**os.environ, **given}, capture_output=True, text=True, check=True)
        page = (built / "faq.html").read_text()
        assert page.count('href="https://github.com/a/b/edit/main/docs/faq.md"') == n
        assert page.count('href="https://example.org/faults"') == n
