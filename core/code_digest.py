"""The digest of the code that a process runs, to tell processes that were not restarted after an update."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = {"tests", "docs", "benchmarks"}


def current_code_digest() -> str:
    """SHA-256, in hex, over names and contents of the Python files of the product as they are on the disk now."""
    whole = hashlib.sha256()
    packages = sorted(file.parent for file in ROOT.glob("*/__init__.py") if file.parent.name not in ELSEWHERE)
    for package in packages:
        for file in sorted(package.rglob("*.py")):
            whole.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()


@cache
def code_digest() -> str:
    """The digest at the first call: at the start of a process, the code that it runs."""
    return current_code_digest()
