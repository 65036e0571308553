from __future__ import annotations

import pytest

from core.templatetags.code_marks import with_code


@pytest.mark.unit
@pytest.mark.parametrize(
    ("message", "html"),
    [
        ("Run `make install`, then `make up`.", "Run <code>make install</code>, then <code>make up</code>."),
        ("`<b>` & more", "<code>&lt;b&gt;</code> &amp; more"),
        ("One ` alone", "One ` alone"),
        ("", ""),
    ],
)
def test_what_stands_between_backticks_is_code_and_all_is_escaped(message: str, html: str) -> None:
    assert with_code(message) == html
