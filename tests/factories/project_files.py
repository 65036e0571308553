"""The files of the project, found in a source archive as in a clone: all but what `.gitignore` names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def project_files(root: Path = ROOT) -> list[str]:
    """Paths relative to the folder, sorted. Patterns apply to names, and with a slash in front to the folder itself."""
    patterns = [line.rstrip("/") for line in (root / ".gitignore").read_text().split()]
    here = [".git", *(pattern.lstrip("/") for pattern in patterns)]
    anywhere = [pattern for pattern in patterns if not pattern.startswith("/")]

    def found(folder: Path, ignored: list[str]) -> Iterator[str]:
        for entry in os.scandir(folder):
            if any(fnmatch(entry.name, pattern) for pattern in ignored):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from found(Path(entry.path), anywhere)
            else:
                yield str(Path(entry.path).relative_to(root))

    return sorted(found(root, here))
