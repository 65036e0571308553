"""What is drawn from a report, kept beside it: drawn once, and again only by other code."""

from __future__ import annotations

import functools
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from analysis.exports.code import drawing_version
from analysis.exports.document import Document, document_of
from analysis.exports.formats import Listing
from analysis.exports.plain import document_from, plain_of
from analysis.models import Drawing, Report
from analysis.package import files_of, offers_of

DOCUMENT, PAGE = "document", "page"


@dataclass(frozen=True)
class Page:
    """A report on a page of the console: its body, the list of its files as it stands there, and that list as data."""

    body: SafeString
    offers: SafeString
    files: tuple[Listing, ...]


def is_kept(report: Report, name: str) -> bool:
    """Whether `kept` would give it without drawing."""
    return Drawing.objects.filter(report=report, name=name, version=drawing_version()).exists()


def kept(report: Report, name: str, make: Callable[[], bytes]) -> bytes:
    """What is kept under this name, or else what `make` gives, which is kept from now on.

    Two who make the same at once both keep it: the same results and code give the same bytes.
    """
    version = drawing_version()
    found = Drawing.objects.filter(report=report, name=name, version=version).values_list("content", flat=True).first()
    if found is not None:
        return zlib.decompress(found)
    made = make()
    Drawing.objects.update_or_create(
        report=report, name=name, defaults={"version": version, "content": zlib.compress(made)}
    )
    return made


def document_kept(report: Report) -> Document:
    """The report as a document, arranged once."""
    found = kept(report, DOCUMENT, lambda: json.dumps(plain_of(document_of(report)), ensure_ascii=False).encode())
    return document_from(json.loads(found), report)


def page_of(report: Report) -> Page:
    """The report as a page, drawn once."""
    body, offers, files = json.loads(kept(report, PAGE, functools.partial(_page, report)))
    return Page(
        body=mark_safe(body),  # noqa: S308 -- drawn by our own templates
        offers=mark_safe(offers),  # noqa: S308 -- as above
        files=tuple(Listing(*file) for file in files),
    )


def _page(report: Report) -> bytes:
    document = document_kept(report)
    files = list(files_of(report, lambda: document).values())
    body = render_to_string("analysis/parts/_body.html", {"document": document})
    offers = render_to_string("analysis/parts/_files.html", {"offers": offers_of(files), "report": report})
    return json.dumps([body, offers, [[one.name, one.title, one.group] for one in files]], ensure_ascii=False).encode()
