"""How texts are read from pages and compared with the approved ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import approval
from tests.page_text import text_of_page

PAGE = """<!doctype html><title>Two
  words</title><header>Not shown</header>
<main><h1>A <em>fine</em> page</h1><p hidden>No</p>
<p aria-hidden="true">→</p><p>Text with a <a href="/x">link</a>,<br>and more.</p>
<p role="alert">Wrong.</p>
<ul><li>One <b>thing</b></li><li><p>Another</p><p>of two blocks</p></li></ul>
<form><input type="hidden" value="secret"><label>Age <input name="age" value="3"></label>
<label><input type="radio" checked> Yes</label><label><input type="checkbox"> Box</label>
<select><option>a</option><option>b</option></select><button aria-label="Close"><svg></svg></button></form>
<table><tr><th>A</th><td>1
 2</td></tr></table><img alt=""><img alt="A hill"><script>no()</script></main><footer><p>Foot</p></footer>"""
LINES = [
    "Title: Two words", "", "# A fine page", "Text with a <link>, and more.", "! Wrong.", "- One thing", "- Another",
    "of two blocks", "Age [3]", "(x) Yes", "[ ] Box", "[a | b] [Close]", "A | 1 2", "(picture: A hill)", "Foot",
]  # fmt: skip


def test_a_page_is_read_as_lines() -> None:
    assert text_of_page(PAGE).splitlines() == LINES


def test_long_lists_are_shortened() -> None:
    page = f"<main><ul>{''.join(f'<li>{n}</li>' for n in range(9))}</ul></main>"
    assert text_of_page(page).splitlines()[2:] == ["- 0", "- 1", "… 7 more"]


def test_what_differs_between_runs_is_masked() -> None:
    text = "On 2 May 2030, 12:00 UTC and 2030-05-02T12:00:00Z, run 17 of researcher4@x.org: /i/aB3_-aB3_-aB3_-aB3_-/"
    assert approval.without_variable(text, {r"\bOn\b": "At"}) == (
        "At DATE UTC and DATE, run N of researcherN@x.org: /i/KEY/"
    )


def test_a_changed_or_new_text_fails_until_it_is_approved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARALLAX_APPROVE", raising=False)
    monkeypatch.setattr(approval, "FOLDER", tmp_path)
    with pytest.raises(AssertionError):
        approval.assert_approved("pages/new", "a")
    monkeypatch.setenv("PARALLAX_APPROVE", "1")
    approval.assert_approved("pages/new", "a")
    monkeypatch.delenv("PARALLAX_APPROVE")
    approval.assert_approved("pages/new", "a")
    with pytest.raises(AssertionError):
        approval.assert_approved("pages/new", "b")
