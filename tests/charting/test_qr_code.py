"""QR codes: the symbol that the standard asks for, in a drawing that needs no style and no script."""

from __future__ import annotations

import re

import pytest
import segno

from charting.qr_code import QUIET_ZONE, qr_svg

LINK = "https://example.org/s/films/"


def cells(svg: str) -> set[tuple[int, int]]:
    """The dark modules of a drawing, by column and row within the quiet zone."""
    path = re.findall(r'<path stroke="#000" d="([^"]+)"', svg)[0]
    x, y, dark = 0.0, 0.0, set()
    for command, numbers in re.findall(r"([Mmh])([-\d. ]+)", path):
        first, *rest = map(float, re.findall(r"-?[\d.]+", numbers))
        if command == "h":
            dark |= {(int(x) + place - QUIET_ZONE, int(y) - QUIET_ZONE) for place in range(int(first))}
            x += first
        else:
            x, y = (first, rest[0]) if command == "M" else (x + first, y + rest[0])
    return dark


@pytest.mark.parametrize("text", [LINK, f"{LINK}?as={'x' * 200}"])
def test_the_drawing_has_every_dark_module_within_its_quiet_zone(text: str) -> None:
    svg = qr_svg(text)
    matrix = segno.make(text, error="m", micro=False).matrix
    assert cells(svg) == {
        (column, row) for row, line in enumerate(matrix) for column, is_dark in enumerate(line) if is_dark
    }
    side = len(matrix) + 2 * QUIET_ZONE
    assert f'viewBox="0 0 {side} {side}"' in svg
    assert "style=" not in svg
    assert "<script" not in svg


def test_a_text_that_no_symbol_holds_is_refused() -> None:
    with pytest.raises(segno.DataOverflowError):
        qr_svg("x" * 3000)
