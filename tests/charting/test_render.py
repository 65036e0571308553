"""Charts as files: the same bytes everywhere, legible to eyes and to screen readers."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from charting import render

pytestmark = pytest.mark.integration
SVG = "{http://www.w3.org/2000/svg}"
DIGEST_OF_A_CHART = """
import hashlib, json
from charting import render
from charting.marks import curves
spec = curves({"TopPop": [.1, .2], "LSA": [.0, .1]}, title="TopPop finds more", y_title="Recall")
print(json.dumps(spec))
print(hashlib.sha256(render.svg(spec).encode()).hexdigest(), hashlib.sha256(render.png(spec, ppi=72)).hexdigest())
"""


@pytest.mark.slow
def test_svg_same_bytes_whatever_was_drawn_before(all_drawings: Any) -> None:
    specs = {name: draw() for name, draw in all_drawings.items()}
    forward = {name: render.svg(spec) for name, spec in specs.items()}
    assert {name: render.svg(specs[name]) for name in reversed(specs)} == forward


@pytest.mark.slow
def test_files_same_bytes_in_another_process() -> None:
    runs = {
        subprocess.run([sys.executable, "-c", DIGEST_OF_A_CHART], capture_output=True, check=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 1


def test_svg_same_bytes_when_drawn_in_a_child_process(monkeypatch: pytest.MonkeyPatch, draw: Any) -> None:
    here = render.svg(draw())
    monkeypatch.setattr(render, "_is_apart", False)  # put back after the test
    render.draw_in_child_processes()
    assert render.svg(draw()) == here


def test_svg_says_title_and_description_to_screen_readers(all_drawings: Any) -> None:
    spec = all_drawings["scatter"]()
    spec["usermeta"] |= {"title": "A & B", "description": "x < y"}
    root = ElementTree.fromstring(render.svg(spec))  # noqa: S314 - our own drawing
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert (title.text, description.text) == ("A & B", "x < y")
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"


def test_svg_words_come_from_the_chart_by_default(draw: Any) -> None:
    spec = draw()
    root = ElementTree.fromstring(render.svg(spec))  # noqa: S314 - our own drawing
    assert root.findtext(f"{SVG}title") == spec["usermeta"]["title"]
    assert root.findtext(f"{SVG}desc") == spec["usermeta"]["description"]


def test_svg_identifiers_differ_between_charts(all_drawings: Any) -> None:
    identifiers = [
        identifier for each in all_drawings.values() for identifier in re.findall(r'\bid="([^"]+)"', render.svg(each()))
    ]
    assert len(identifiers) >= 2 * len(all_drawings)
    assert len(set(identifiers)) == len(identifiers)


def test_svg_references_are_renamed_with_what_they_name() -> None:
    picture = '<clipPath id="clip7"/><g clip-path="url(#clip7)"/><g clip-path="url(#clip9)"/>'
    assert render._with_identifiers_of(picture, "m") == (
        '<clipPath id="m-1"/><g clip-path="url(#m-1)"/><g clip-path="url(#m-2)"/>'
    )


def test_svg_names_the_bundled_typeface_first(draw: Any) -> None:
    # A family found nowhere would be drawn as nothing at all.
    families = set(re.findall(r'font-family="([^"]+)"', render.svg(draw())))
    assert families == {render.FILE_FONT.replace('"', "&quot;")}


def test_svg_ground_is_white(all_drawings: Any) -> None:
    assert 'fill="#ffffff"' in render.svg(all_drawings["bars"]())


def test_png_has_the_pixels_that_its_resolution_asks_for(all_drawings: Any) -> None:
    picture = render.png(all_drawings["bars"](), ppi=300)
    assert picture.startswith(b"\x89PNG\r\n")
    assert struct.unpack(">I", picture[16:20])[0] == render.FILE_WIDTH * 300 // 72


def test_png_same_bytes_twice(draw: Any) -> None:
    spec = draw()
    assert render.png(spec, ppi=72) == render.png(spec, ppi=72)


def test_pdf_is_one(all_drawings: Any) -> None:
    picture = render.svg_as_pdf(render.svg(all_drawings["box_plot"]()))
    assert picture.startswith(b"%PDF-")
    assert b"/Font" in picture


def test_import_leaves_the_drawing_libraries_unloaded() -> None:
    code = "import sys, charting.marks, charting.render; print({'vl_convert', 'pandas'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert answer.stdout.strip() == "set()"
