"""Fills a small file system."""

from __future__ import annotations

import contextlib
from pathlib import Path


def fill(folder: Path) -> None:
    """Write until nothing more fits."""
    with (folder / "filling").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (2**20, 2**12, 1):
            with contextlib.suppress(OSError):
                while file.write(b"x" * size) == size:
                    pass
