"""The page, the document and the slow files of a report, cached in the database until the code that draws changes."""

from __future__ import annotations

import functools
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from analysis.exports.code import drawing_version
from analysis.exports.document import Document, document_from, document_of
from analysis.exports.formats import Listing
from analysis.models import Drawing, Report
from analysis.package import files_of, offers_of
from core.provenance import digest_of

DOCUMENT, PAGE = "document", "page"


@dataclass(frozen=True)
class Page:
    """A report on a page of the console: its body, the rendered list of its files, and that list as data."""

    body: SafeString
    offers: SafeString
    files: tuple[Listing, ...]


def version_of(report: Report) -> str:
    """The version of the drawings of a report: of the code that draws, and of a Bayesian analysis that has ended."""
    analysis = report.analysis
    if analysis is None or (analysis.results is None and not analysis.error):
        return drawing_version()
    return digest_of([drawing_version(), analysis.results, analysis.error])


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
    content = cached(
        report, DOCUMENT, lambda: json.dumps(document_of(report).as_plain(), ensure_ascii=False).encode()
    )  # fmt: skip
    return document_from(json.loads(content), report)


def page_of(report: Report) -> Page:
    """The report as a page, rendered once."""
    body, offers, files = json.loads(cached(report, PAGE, functools.partial(_page, report)))
    return Page(
        body=mark_safe(body),  # noqa: S308 -- rendered from our own templates
        offers=mark_safe(offers),  # noqa: S308 -- as above
        files=tuple(Listing(*file) for file in files),
    )


def _page(report: Report) -> bytes:
    document = cached_document(report)
    files = list(files_of(report, lambda: document).values())
    body = render_to_string("analysis/parts/_body.html", {"document": document})
    offers = render_to_string("analysis/parts/_files.html", {"offers": offers_of(files), "report": report})
    listings = [[file.name, file.title, file.group] for file in files]
    return json.dumps([body, offers, listings], ensure_ascii=False).encode()
