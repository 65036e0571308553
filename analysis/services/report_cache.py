"""The page, the document and the slow files of a report, cached in the database until the code that draws changes."""

from __future__ import annotations

import functools
import hashlib
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from analysis.files.choices import Choices, choices_of
from analysis.files.document import SUPPLEMENT, Content, Document, document_from, document_of, pair_of
from analysis.files.listing import Listing, files_of, offers_of
from analysis.models import Drawing, Report
from analysis.results.codec import decode, encode
from core.provenance import digest_of
from documents.html import section_html
from jobs.queue import enqueue_on_commit

DOCUMENT, PAGE = "document", "page"
DRAW_PAGES_TASK = "analysis.draw_pages"
# What shapes a drawing: drawings by another version of it are drawn again.
FOLDERS = ("analysis", "charting", "documents", "inference", "templates/analysis", "static/css")
SUFFIXES = (".py", ".html", ".typ", ".css")
LIBRARIES = ("vl-convert-python", "typst", "django")


@dataclass(frozen=True)
class ChapterLink:
    """A chapter in the table of contents, with the keys and titles of its sections."""

    key: str
    title: str
    about: str
    side: str
    sections: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Page:
    """A report on pages of the console: the rendered summary, the list of its chapters, and its files."""

    body: str
    offers: str
    files: tuple[Listing, ...]
    chapters: tuple[ChapterLink, ...]
    choices: Choices


@functools.cache
def drawing_version() -> str:
    """Digest of everything that shapes a page or a file of a report, computed once per process."""
    base = Path(settings.BASE_DIR)
    paths = sorted(path for folder in FOLDERS for path in (base / folder).rglob("*") if path.suffix in SUFFIXES)
    files = [[path.relative_to(base).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()] for path in paths]
    return digest_of([files, [[name, metadata.version(name)] for name in LIBRARIES]])


def version_of(report: Report) -> str:
    """The version of the drawings of a report: of the code that draws, and of a Bayesian analysis that has ended."""
    error = report.analysis.error if report.analysis is not None else ""
    if report.bayesian is None and not error:
        return drawing_version()
    return digest_of([drawing_version(), report.bayesian, error])


def is_cached(report: Report, name: str) -> bool:
    """Whether `cached` would return it without drawing."""
    return Drawing.objects.filter(report=report, name=name, version=version_of(report)).exists()


def cached(report: Report, name: str, create: Callable[[], bytes]) -> bytes:
    """The content cached under this name, or else what `create` returns, which is cached from now on.

    Two processes that create the same at once both store it: the same results and code give the same bytes.
    """
    version = version_of(report)
    packed = Drawing.objects.filter(report=report, name=name, version=version).values_list("content", flat=True).first()
    if packed is not None:
        return zlib.decompress(packed)
    content = create()
    Drawing.objects.update_or_create(
        report=report, name=name, defaults={"version": version, "content": zlib.compress(content)}
    )
    return content


def cached_document(report: Report) -> Document:
    """The report as a document, arranged once."""
    content = cached(report, DOCUMENT, lambda: _as_json(Content, document_of(report)))
    return document_from(json.loads(content), report)


def page_of(report: Report) -> Page:
    """The first page of a report, rendered once."""
    page = decode(Page, json.loads(cached(report, PAGE, functools.partial(_page, report))))
    # Rendered from our own templates.
    return replace(page, body=mark_safe(page.body), offers=mark_safe(page.offers))  # noqa: S308


def chapter_of(report: Report, key: str) -> SafeString:
    """The sections of a chapter, rendered once."""
    body = cached(report, f"{PAGE}-{key}", functools.partial(_chapter, report, key)).decode()
    return mark_safe(body)  # noqa: S308 -- rendered from our own templates


def draw_pages(report: Report) -> None:
    """Render every page of a report, so that a web process only reads them."""
    for link in page_of(report).chapters:
        chapter_of(report, link.key)


def is_outdated(report: Report, name: str) -> bool:
    """Whether a page was drawn for another version: by older code, or before the Bayesian analysis ended."""
    versions = set(Drawing.objects.filter(report=report, name=name).values_list("version", flat=True))
    return bool(versions) and version_of(report) not in versions


def request_pages(report: Report) -> None:
    """Have a worker draw the pages; drawing takes seconds, during which a web process would answer no request."""
    enqueue_on_commit(DRAW_PAGES_TASK, report_id=report.pk)


def pair_body(report: Report, *, measure: str, metric: str, length: int) -> SafeString:
    """One measure with one metric, rendered once; empty where the report has no such pair."""

    def create() -> bytes:
        section = pair_of(report, measure=measure, metric=metric, length=length)
        return b"" if section is None else section_html(section).encode()

    body = cached(report, f"{PAGE}-pair-{measure}-{metric}-{length}", create).decode()
    return mark_safe(body)  # noqa: S308 -- rendered and escaped there


def _chapter(report: Report, key: str) -> bytes:
    document = cached_document(report)
    if key == SUPPLEMENT:
        return render_to_string("analysis/parts/_supplement.html", {"document": document}).encode()
    sections = next((chapter.sections for chapter in document.chapters if chapter.key == key), ())
    return render_to_string("analysis/parts/_chapter.html", {"document": document, "sections": sections}).encode()


def _page(report: Report) -> bytes:
    document = cached_document(report)
    files = list(files_of(report, lambda: document).values())
    page = Page(
        body=render_to_string("analysis/parts/_summary.html", {"document": document}),
        offers=render_to_string("analysis/parts/_files.html", {"offers": offers_of(files), "report": report}),
        files=tuple(Listing(file.name, file.title, file.group) for file in files),
        chapters=tuple(
            ChapterLink(each.key, each.title, each.about, each.side, tuple((of.key, of.title) for of in each.sections))
            for each in document.chapters
        ),
        choices=choices_of(report.read_results()),
    )
    return _as_json(Page, page)


def _as_json(hint: Any, value: Any) -> bytes:
    return json.dumps(encode(hint, value), ensure_ascii=False).encode()
