"""QR codes as inline SVG."""

from __future__ import annotations

import segno

QUIET_ZONE = 4  # modules around the symbol (ISO/IEC 18004, 9.1)


def qr_svg(text: str) -> str:
    """Return a QR code of `text` as an SVG element without a fixed size, black on white in every colour scheme.

    Error correction is at least level M (15%). Raises `segno.DataOverflowError` for texts beyond 2,331 bytes.

    Examples
    --------
    >>> qr_svg("https://example.org/s/films/")[:37]
    '<svg viewBox="0 0 37 37" class="qr"><'
    """
    code = segno.make(text, error="m", micro=False)
    picture: str = code.svg_inline(
        border=QUIET_ZONE, omitsize=True, dark="#000", light="#fff", svgclass="qr", lineclass=None
    )
    return picture
