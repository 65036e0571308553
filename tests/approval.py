"""Sentences that someone has read and approved: text files of `tests/approved`, one per screen or chapter.

`make approve` writes them anew; read the difference before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "approved"


def assert_approved(name: str, text: str) -> None:
    """Compare a text with the approved one, or write it where `PARALLAX_APPROVE` is set."""
    file = FOLDER / f"{name}.txt"
    if os.environ.get("PARALLAX_APPROVE"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.exists(), f"No approved text {name}: run `make approve`, and read it."
    assert text == file.read_text(encoding="utf-8"), f"{name} differs: if it is meant, run `make approve`."
