"""The version of the code that draws reports: drawings of another version are drawn again."""

from __future__ import annotations

import functools
import hashlib
from importlib import metadata
from pathlib import Path

from django.conf import settings

from core.provenance import digest_of

FOLDERS = ("analysis", "charting", "documents", "inference", "templates/analysis", "static/css")
SUFFIXES = (".py", ".html", ".typ", ".css")
LIBRARIES = ("vl-convert-python", "typst", "django")


@functools.cache
def drawing_version() -> str:
    """Digest of everything that shapes a page or a file of a report, computed once per process."""
    base = Path(settings.BASE_DIR)
    paths = sorted(path for folder in FOLDERS for path in (base / folder).rglob("*") if path.suffix in SUFFIXES)
    files = [[path.relative_to(base).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()] for path in paths]
    return digest_of([files, [[name, metadata.version(name)] for name in LIBRARIES]])
