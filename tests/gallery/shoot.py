"""Take a picture of every page in every state: `python -m tests.gallery.shoot FOLDER [--only TEXT] [--docs]`.

Pages of participants in two languages, the console and the public pages, at four widths, light and dark, on an
installation of the demo that is made once in FOLDER/demo. FOLDER/index.html shows all pictures. With --docs, only the
pages in the documentation's pictures, which are written anew.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

if TYPE_CHECKING:
    from tests.gallery.pages import Installation

ROOT = Path(__file__).parents[2]
WIDTHS = (320, 390, 768, 1280)
SCHEMES = ("light", "dark")
LANGUAGES = ("en", "it")
PORT = int(os.environ.get("PORT", "8471"))
CHROMIUM = shutil.which("chromium")
# Pictures in docs/images by the page they show: its upper part, as wide as on a desk.
DOCUMENTED = {
    "rate": "participant-en-rate",
    "report": "public-sample-report",
    "columns": "console-catalog-step-columns",
    "new-study": "console-studies-new",
    "questions": "console-studies-questionnaire-draft",
    "launch": "console-studies-launch-draft",
    "accounts": "console-accounts-researchers",
    "api": "console-api-docs",
}
DOCUMENTED_SIZE = (1280, 800)


@dataclass(frozen=True)
class PageToOpen:
    """A page by the name of its pictures: where it is, what is done on it first, and who looks at it."""

    name: str
    path: str
    do: Callable[[Any], None] | None = None
    is_signed_in: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="only pages whose name contains this")
    parser.add_argument("--docs", action="store_true", help="take the pages of docs/images, and write it")
    asked = parser.parse_args()
    if CHROMIUM is None:
        sys.exit("Chromium is not installed (apt-get install chromium).")
    pictures = asked.folder / "pages"
    pictures.mkdir(parents=True, exist_ok=True)
    with installation(asked.folder / "demo") as var:
        made = demo_installation()
        pages = pages_to_open(made, asked.only)
        if asked.docs:
            pages = [page for page in pages if page.name in DOCUMENTED.values()]
        with served(var) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            researcher = signed_in(browser, url, made.owner)
            missing: list[str] = []
            for page in pages:
                shoot(opened(browser, url, page, researcher, missing), pictures / page.name)
                print(f"  {page.name}", flush=True)
            browser.close()
        said = (var / "logs" / "web.log").read_text(encoding="utf-8").splitlines()[-40:]
    write_index(asked.folder)
    if asked.docs:
        write_documented(pictures)
    print(f"{len(list(pictures.iterdir()))} pictures: {asked.folder / 'index.html'}")
    if missing:
        sys.exit("\n".join(["Style sheets, scripts or images were not answered:", *missing, "The site's log:", *said]))


def shoot(page: Page, stem: Path) -> None:
    """Take a picture of an open page at every width, light and dark, and close it."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.screenshot(path=f"{stem}-{width}-{scheme}.png", full_page=True)
    page.close()


@contextmanager
def installation(demo: Path) -> Iterator[Path]:
    """A copy of the demo's installation, which is made first where there is none; Django is set up on it."""
    environment = {**os.environ, "PARALLAX_VAR": str(demo.resolve())}
    subprocess.run(
        [sys.executable, "manage.py", "demo", "--exit", "--port", str(PORT)], cwd=ROOT, env=environment, check=True
    )
    with tempfile.TemporaryDirectory() as copy:
        var = Path(copy) / "var"
        shutil.copytree(demo, var)
        os.environ |= {"PARALLAX_VAR": str(var), "DJANGO_SETTINGS_MODULE": "parallax.settings"}
        # Playwright's loop runs in this thread; the database is only used between its calls.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
        import django

        django.setup()
        yield var


@contextmanager
def served(var: Path) -> Iterator[str]:
    """The site on this installation, for as long as pictures are taken."""
    url = f"http://127.0.0.1:{PORT}"
    command = [sys.executable, "manage.py", "up", "--port", str(PORT)]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PARALLAX_VAR": str(var)})
    try:
        for _attempt in range(120):
            try:
                if httpx.get(f"{url}/ready/").status_code == httpx.codes.OK:
                    break
            except httpx.TransportError:
                pass
            time.sleep(0.5)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)


def pages_to_open(made: Installation, only: str) -> list[PageToOpen]:
    """Every page in every state. Made before the site is served, so that no worker takes part in what is made."""
    from tests.e2e.states import states
    from tests.gallery.pages import console_pages

    found = [
        PageToOpen(f"participant-{language}-{re.sub('[^a-z0-9]+', '-', name)}", state.path, state.do)
        for language in LANGUAGES
        if not only.startswith(("console", "public"))
        for name, state in states(language, made.run).items()
    ]
    report = made.report.get_absolute_url()
    public = {"front": "/", "sample-report": report, "sign-in": "/account/sign-in/", "not-found": "/nowhere/"}
    found += [PageToOpen(f"public-{name}", path) for name, path in public.items()]
    found += [PageToOpen(f"console-{name}", path, is_signed_in=True) for name, path in console_pages(made).items()]
    return [page for page in found if only in page.name]


def opened(browser: Browser, url: str, asked: PageToOpen, researcher: BrowserContext, missing: list[str]) -> Page:
    """The page as it is pictured; what it could not load is added to `missing`."""
    context = researcher if asked.is_signed_in else browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.on(
        "response",
        lambda it: missing.append(f"{asked.name}: {it.status} {it.url}") if is_lost(it.status, it.url) else None,
    )
    # A browser aborts what it no longer needs: the picture of the other theme, a message of a page that is left.
    page.on(
        "requestfailed",
        lambda it: None if it.failure == "net::ERR_ABORTED" else missing.append(f"{asked.name}: {it.failure} {it.url}"),
    )
    page.set_viewport_size({"width": 1280, "height": 900})
    settled(page, url + asked.path)
    if asked.do:
        asked.do(page)
    return page


def is_lost(status: int, url: str) -> bool:
    return "/static/" in url and status >= httpx.codes.BAD_REQUEST


def settled(page: Page, address: str) -> None:
    """Open an address and wait until its pictures and charts are there; live pages never rest, so not for ever."""
    page.goto(address, timeout=120_000)
    page.locator("#redrawing").wait_for(state="detached", timeout=120_000)  # a report of an older version of the code
    page.wait_for_load_state("load")
    page.wait_for_function(
        "document.querySelectorAll('figure[data-chart]').length === "
        "document.querySelectorAll('figure[data-chart] .chart-drawing svg').length",
        timeout=60_000,
    )


def demo_installation() -> Installation:
    """The demo's study and report, and a draft of the same run."""
    from analysis.models import Report
    from jobs.models import JobStatus
    from studies.models import Study
    from tests.factories.studies import make_study
    from tests.gallery.pages import Installation
    from tests.gallery.subjects import subjects_of

    study = Study.objects.get(slug="demo")
    owner = study.memberships.get(role="owner").researcher
    request = study.jobs.create(
        kind="report", owner=owner, status=JobStatus.RUNNING, activity="Testing perceived accuracy"
    )
    draft = make_study(slug="draft", run=study.run, status="draft", owner=owner)
    report = Report.objects.filter(study=study).latest("pk")
    return Installation(owner, study.run, (study, draft), report, request, subjects_of(study, owner))


def signed_in(browser: Browser, url: str, researcher: Any) -> BrowserContext:
    from django.test import Client

    client = Client(SERVER_NAME="localhost")
    client.force_login(researcher, backend="django.contrib.auth.backends.ModelBackend")
    context = browser.new_context(reduced_motion="reduce")
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}])
    return context


def write_documented(pictures: Path) -> None:
    """The documentation's pictures, cut from those of the gallery."""
    for name, page in DOCUMENTED.items():
        picture = Image.open(pictures / f"{page}-{DOCUMENTED_SIZE[0]}-light.png").convert("RGB")
        upper = picture.crop((0, 0, *DOCUMENTED_SIZE)).quantize(256, dither=Image.Dither.NONE)
        upper.save(ROOT / "docs/images" / f"{name}.png", optimize=True)


def write_index(folder: Path) -> None:
    """One page with all pictures: a row a page, by width, light and dark."""
    by_page: dict[str, list[Path]] = {}
    for picture in sorted((folder / "pages").iterdir()):
        by_page.setdefault(picture.stem.rsplit("-", 2)[0], []).append(picture)
    rows = []
    for name, pictures in by_page.items():
        shown = "".join(
            f'<a href="pages/{p.name}"><img src="pages/{p.name}" alt="{escape(p.stem)}" loading="lazy"></a>'
            for p in sorted(pictures, key=lambda p: (p.stem.rsplit("-", 1)[1], int(p.stem.rsplit("-", 2)[1])))
        )
        rows.append(f"<h2>{escape(name)}</h2><div>{shown}</div>")
    style = "img { height: 22rem; border: 1px solid #999; margin: .25rem; } body { font-family: sans-serif; }"
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Every page</title><style>{style}</style>'
    (folder / "index.html").write_text(f"{head}<h1>Every page</h1>{''.join(rows)}", encoding="utf-8")


if __name__ == "__main__":
    main()
