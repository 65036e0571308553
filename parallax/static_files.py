"""Static files by names that hold a hash of their content, so that browsers may keep them for a year.

Nothing is collected or copied: the names are computed once a process, and files are found by either name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from os import PathLike
from pathlib import Path
from posixpath import splitext
from typing import Any

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.storage import StaticFilesStorage

HASHED = r"\.[0-9a-f]{12}(?=\.\w+$)"


@cache
def hashed_name(name: str) -> str:
    """Return `css/base.css` as `css/base.0123456789ab.css`; other names where there is no such file, or no need."""
    (stem, suffix), path = splitext(name), finders.find(name)
    if path is None or not suffix or name.startswith("built/"):
        return name
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]
    return f"{stem}.{digest}{suffix}"


class HashedStorage(StaticFilesStorage):
    """Addresses with hashed names; with DEBUG too, where the server starts anew after a change."""

    def url(self, name: str | None) -> str:
        return super().url(hashed_name(name) if name else name)

    def path(self, name: str | PathLike[str]) -> str:
        return str(finders.find(str(name)))


class HashedFinder(BaseFinder):
    """Finds a file by its hashed name, while the hash is that of its content."""

    def check(self, **_options: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **_deprecated: Any) -> Any:
        name = re.sub(HASHED, "", path)
        file = finders.find(name) if name != path and hashed_name(name) == path else None
        return file if file and not find_all else [file] if file else []

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, HashedStorage]]:
        storage = HashedStorage()
        for finder in finders.get_finders():
            if isinstance(finder, HashedFinder):
                continue
            for name, _storage in finder.list(ignore_patterns):
                if (hashed := hashed_name(name)) != name:
                    yield hashed, storage
