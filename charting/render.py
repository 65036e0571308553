"""Charts as files (SVG, PNG, PDF).

Fonts. The library that draws files carries one typeface, Liberation Sans, and takes others from the machine;
a family that is nowhere is drawn as nothing at all. Files therefore name Liberation Sans first, whatever the
pages use: the same bytes on every machine, with or without fonts installed. A sign that this typeface lacks
(for example ≻ or Chinese) comes from whatever the machine has, and is an empty box where it has none.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape  # writes, and parses nothing  # nosec B406

from charting import pairs
from charting.frame import PICTURE, sized
from charting.theme import LIGHT, Spec

FILE_FONT = '"Liberation Sans", Arial, Helvetica, sans-serif'
FILE_WIDTH = 560
"""Width in pixels of a file made from a chart that otherwise follows its page."""

DRAWING_SECONDS = 60

STYLE_HASHES: tuple[str, ...] = (
    "'sha256-9uoGUaZm3j6W7+Fh2wfvjI8P7zXcclRw5tVUu3qKZa0='",
    "'sha256-MmUum7+PiN7Rz79EUMm0OmUFWjCx6NZ97rdjoIbTnAg='",
)
"""The two style elements that the runtime inserts (embedding, tooltip), as sources of ``style-src``, quotes
included. They belong to the pinned version of vl-convert-python; a test in a browser tells when they change."""

_IDENTIFIER = re.compile(r'(\bid="|url\(#|href="#)((?:clip|gradient_)\d+)')


_is_apart = False


def draw_in_child_processes() -> None:
    """Leave the drawing of files to child processes from now on: the library keeps 100 MB of a process that used it,
    and holds up its threads. For web processes, which draw rarely.
    """
    global _is_apart
    _is_apart = True


def svg(spec: Spec, *, width: int = FILE_WIDTH) -> str:
    """Draw a chart as an SVG file: the same specification gives the same bytes.

    The SVG element has the chart's words as ``<title>`` and ``<desc>``, text kept as text, on white.
    Identifiers in it carry the chart's digest, so that several charts can stand in one HTML page. `width` is in pixels.
    """
    if PICTURE in spec:
        picture = pairs.picture(spec, width)
    else:
        visible = sized(spec, width)
        # Without the layers that only a pointer meets, and in the typeface of files.
        visible["layer"] = [layer for layer in visible["layer"] if layer["mark"].get("opacity") != 0]
        look = {**spec["config"], "font": FILE_FONT, "title": {**spec["config"]["title"], "font": FILE_FONT}}
        picture = _svg_of({**visible, "background": "#ffffff", "config": look})
    title, description = spec["usermeta"]["title"], spec["usermeta"]["description"]
    mark = "c" + hashlib.sha256(f"{title}\n{description}\n{picture}".encode()).hexdigest()[:10]
    picture = _with_identifiers_of(picture, mark)
    opening, rest = picture.split(">", 1)
    return (
        f'{opening} role="img" aria-labelledby="{mark}-title {mark}-desc"><title id="{mark}-title">{escape(title)}'
        f'</title><desc id="{mark}-desc">{escape(description)}</desc>{rest}'
    )


def inline_svg(spec: Spec, *, width: int = FILE_WIDTH) -> str:
    """Draw a chart for a page, whose colours it follows, light or dark."""
    return with_page_colours(svg(spec, width=width))


def with_page_colours(picture: str) -> str:
    """A light drawing of `svg` whose colours follow the page."""
    for name, colour in dataclasses.asdict(LIGHT).items():
        picture = picture.replace(f'"{colour}"', f'"var(--{name.replace("_", "-")})"')
    # A white background would be visible on a dark page.
    return picture.replace('fill="#ffffff"', 'fill="none"', 1)


def png(spec: Spec, *, ppi: int = 300) -> bytes:
    """Draw a chart as a PNG file: the same specification gives the same bytes; 72 pixels are an inch."""
    return svg_as_png(svg(spec), ppi=ppi)


def svg_as_png(picture: str, *, ppi: int = 300) -> bytes:
    """Turn a drawing of `svg` into a PNG file of `ppi` dots per inch."""
    import vl_convert

    image: bytes = vl_convert.svg_to_png(picture, scale=1, ppi=ppi)
    return image


def svg_as_pdf(picture: str) -> bytes:
    """Turn a drawing of `svg` into a PDF file of one page, without drawing the chart again."""
    import vl_convert

    document: bytes = vl_convert.svg_to_pdf(picture)
    return document


def _svg_of(spec: Spec) -> str:
    if _is_apart:
        return subprocess.run(
            [sys.executable, "-m", "charting.render"],
            cwd=Path(__file__).parents[1],
            input=json.dumps(spec),
            capture_output=True,
            text=True,
            check=True,
            timeout=DRAWING_SECONDS,
        ).stdout
    import vl_convert

    picture: str = vl_convert.vegalite_to_svg(spec)
    return picture


def _with_identifiers_of(picture: str, mark: str) -> str:
    """Renumber the identifiers inside a picture: the library numbers them per process."""
    names: dict[str, str] = {}

    def renumbered(match: re.Match[str]) -> str:
        name = names.setdefault(match.group(2), f"{mark}-{len(names) + 1}")
        return f"{match.group(1)}{name}"

    return _IDENTIFIER.sub(renumbered, picture)


if __name__ == "__main__":
    sys.stdout.write(_svg_of(json.load(sys.stdin)))
