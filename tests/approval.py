"""Sentences that someone has read and approved: a text file of `tests/approved` for each screen, page or letter.

`make approve` writes them anew; read the difference before committing it. Other tests of a page assert what was decided
(a status, a redirect, a row), and no wording.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from django.core.mail import EmailMessage

from tests.page_text import text_of_page

FOLDER = Path(__file__).parent / "approved"

# Different in every run, and no matter of wording.
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_VARIABLE = (
    (rf"\b\d{{1,2}} {_MONTH} \d{{4}}(?:,? \d{{2}}:\d{{2}})?", "DATE"),
    (rf"\b{_MONTH} \d{{1,2}}, \d{{4}}(?:, [\d:]+ [ap]\.?m\.?|, midnight|, noon)?", "DATE"),
    (r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?", "DATE"),
    (r"\b[0-9a-f]{12,}\b", "DIGEST"),
    (r"(?<![\w-])(?=[\w-]*[A-Z])(?=[\w-]*[a-z])(?=[\w-]*\d)[\w-]{20,}(?![\w-])", "KEY"),
    (r"\b([Rr]esearcher ?)\d+\b", r"\1N"),
    (r"\b([Rr]un |[Rr]eport |[Jj]ob )\d+\b", r"\1N"),
)


def assert_approved(name: str, text: str) -> None:
    """Compare a text with the approved one, or write it where `PARALLAX_APPROVE` is set.

    A name may begin with a folder, as in `letters/invitation`.
    """
    file = FOLDER / f"{name}.txt"
    if os.environ.get("PARALLAX_APPROVE"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.exists(), f"No approved text {name}: run `make approve`, and read it."
    approved = file.read_text(encoding="utf-8")
    changes = difflib.unified_diff(approved.splitlines(), text.splitlines(), "approved", "now", lineterm="")
    assert text == approved, "\n".join([f"{name} differs: if it is meant, run `make approve`.", *changes])


def approved_name(name: str) -> str:
    """The name of a state as part of a file's name."""
    return "-".join(re.findall(r"\w+", name.lower()))


def assert_page_approved(name: str, content: str, variable: Mapping[str, str] | None = None) -> None:
    """Compare the visible text of a page's title and main area with the approved one.

    `variable` maps patterns of what else differs between two runs to what is written in its place.
    """
    assert_approved(name, without_variable(text_of_page(content), variable))


def assert_letter_approved(name: str, letter: EmailMessage, variable: Mapping[str, str] | None = None) -> None:
    """Compare the subject and body of an e-mail with the approved ones."""
    text = f"Subject: {letter.subject}\n\n{str(letter.body).strip()}\n"
    assert_approved(name, without_variable(text, variable))


def assert_refusals_approved(
    name: str, refusals: Iterable[tuple[str, str]], variable: Mapping[str, str] | None = None
) -> None:
    """Compare a table of inputs and what a reader says of each with the approved one."""
    blocks = (f"{given.strip()}\n  → {refusal.strip()}\n" for given, refusal in refusals)
    assert_approved(name, without_variable("\n".join(blocks), variable))


def without_variable(text: str, variable: Mapping[str, str] | None = None) -> str:
    """Put a word in place of dates, digests, keys and numbers that a run's order decides."""
    for pattern, word in (variable or {}).items():
        text = re.sub(pattern, word, text)
    for pattern, word in _VARIABLE:
        text = re.sub(pattern, word, text)
    return text
