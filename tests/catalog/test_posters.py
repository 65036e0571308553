"""Drawn posters: safe to stand inline, the same for the same key, and no title too long for them."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import vl_convert
from lxml import etree

from catalog.demo.works import demo_films
from catalog.posters import card_svg, poster_svg
from catalog.posters.lettering import CARD_TOP, TITLE_TOP
from catalog.posters.motifs import MOTIFS, PALETTES
from core.errors import ParameterError

pytestmark = pytest.mark.unit

SVG = "{http://www.w3.org/2000/svg}"
HARD_TITLES = [
    "M",
    "WALL-E",
    "The Lord of the Rings: The Fellowship of the Ring",
    "Dr. Strangelove or: How I Learned to Stop Worrying and Love the Bomb",
    "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch",
    "WWWWWWWWWWWWWWWWWWWWWWWW MMMMMMMMMM @@@@@@@@@@",
    "Night of the Day of the Dawn of the Son of the Bride of the Return of the Revenge of the Terror",
    "A very long title " * 40,
    "x" * 3000,
    "千と千尋の神隠し",
    "千" * 300,
    "도둑들",
    "Андрей Рублёв ЖЩШЮЖЩШЮЖЩШЮ",
    "जाने भी दो यारो",
    "جدایی نادر از سیمین",
    "ความรักครั้งสุดท้ายของผู้หญิงคนหนึ่ง",
    "👨‍👩‍👧‍👦" * 30,
    "e" + "\u0301" * 500 + " Z\u0335\u0336\u0337algo",
    "\u0bbe" * 200,
    "Tom & Jerry: <The \"Movie\"> 'now'",
    "</text><script>alert(1)</script>",
    "--> ]]> &amp; &#0;",
]


def drawn(title, year=1999, key="key", **options):
    return etree.fromstring(poster_svg(title, year, key, **options).encode())


def title_lines(root):
    return [text.text.strip("\u200f") for text in root.findall(f"{SVG}g/{SVG}text")]


@pytest.mark.parametrize("title", HARD_TITLES)
def test_poster_of_any_title_is_well_formed_and_inert(title):
    root = drawn(title, key=title)
    assert (root.tag, root.get("viewBox"), root.get("role")) == (f"{SVG}svg", "0 0 200 300", "img")
    for element in root.iter():
        assert element.tag in {SVG + name for name in ("svg", "rect", "circle", "path", "g", "text")}
        assert not {"style", "class", "id", "href"} & set(element.attrib)
        assert not any(name.startswith("on") or "url(" in value for name, value in element.attrib.items())


def test_poster_inerts_hold_for_every_motif():
    tags = {element.tag for number in range(200) for element in drawn("Heat", key=str(number)).iter()}
    assert tags <= {SVG + name for name in ("svg", "rect", "circle", "path", "g", "text")}


def test_poster_escapes_markup_and_keeps_it_as_text():
    root = drawn('<b>&"quoted"</b>')
    assert "".join(title_lines(root)) == '<b>&"quoted"</b>'
    assert root.get("aria-label") == 'Drawn poster of <b>&"quoted"</b>'


def test_poster_reads_the_label_it_is_given():
    assert drawn("Roma", label="Locandina disegnata di «Roma»").get("aria-label") == "Locandina disegnata di «Roma»"


@pytest.mark.parametrize("title", [film.title for film in demo_films().works[::8]] + HARD_TITLES[:5])
def test_poster_shows_every_letter_of_a_title_that_fits(title):
    assert "".join(title_lines(drawn(title))).replace(" ", "") == title.replace(" ", "")


def test_poster_of_endless_title_ends_in_an_ellipsis_but_reads_in_full():
    title = " ".join(["endless"] * 200)
    root = drawn(title)
    assert title_lines(root)[-1].endswith("…")
    assert root.get("aria-label") == f"Drawn poster of {title}"


def test_poster_of_short_title_is_set_larger_than_of_long_one():
    sizes = [int(drawn(title).find(f"{SVG}g").get("font-size")) for title in HARD_TITLES[1:4]]
    assert sizes[0] > sizes[1] > sizes[2] >= 8


@pytest.mark.parametrize("title", HARD_TITLES)
def test_card_holds_any_title_above_two_lines_of_facts(title):
    root = etree.fromstring(card_svg(title, 1999, "A very long name of an author " * 9).encode())
    assert {element.tag for element in root.iter()} == {SVG + name for name in ("svg", "rect", "g", "text")}
    words, facts = root.findall(f"{SVG}g")
    heights = [float(text.get("y")) for group in (words, facts) for text in group]
    assert heights == sorted(heights)
    assert heights[0] - 0.75 * int(words.get("font-size")) >= CARD_TOP - 0.1
    assert heights[-1] == 283
    assert [facts[0].text[:4], facts[-1].text[-1], len(facts)] == ["1999", "…", 2]


def test_card_has_the_same_look_for_every_item():
    cards = [card_svg(title, None, "") for title in ("Dune", "Heat")]
    assert cards[0].replace("Dune", "Heat") == cards[1]


@pytest.mark.parametrize("year", [1999, None])
@pytest.mark.parametrize("title", HARD_TITLES)
def test_poster_title_stands_below_the_motif_and_above_the_year(title, year):
    group = drawn(title, year).find(f"{SVG}g")
    size = int(group.get("font-size"))
    heights = [float(text.get("y")) for text in group]
    assert heights == sorted(heights)
    assert heights[0] - 0.75 * size >= TITLE_TOP - 0.1
    assert heights[-1] <= (263 if year else 283)


@pytest.mark.parametrize("title", HARD_TITLES)
def test_poster_title_leaves_no_ink_outside_its_margins(title):
    """Drawn with whatever fonts this machine has: nothing but paper left of 14, or right of 186, of 200."""
    root = drawn(title)
    for element in list(root):
        if element.tag not in {f"{SVG}g", f"{SVG}text"}:
            root.remove(element)
    for element in root.iter():
        if element.get("fill"):
            element.set("fill", "#000000")
    root.set("width", "200")
    root.set("height", "300")
    root.insert(0, etree.fromstring('<rect xmlns="http://www.w3.org/2000/svg" width="200" height="300" fill="#fff"/>'))
    ink = 255 - pixels(vl_convert.svg_to_png(etree.tostring(root).decode(), scale=1.0))[:, :, :3].max(axis=2).astype(
        int
    )
    assert ink.shape == (300, 200)
    assert ink.max() > 100  # the words are there
    assert ink[:, :14].max() == 0
    assert ink[:, 186:].max() == 0


def test_poster_same_key_same_drawing_in_another_process():
    """Python's own hash differs from process to process; the drawing must not."""
    script = "from catalog.posters import poster_svg; print(poster_svg('Amélie', 2001, 'demo:17'))"
    root = str(Path(__file__).parents[2])
    for hash_seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": hash_seed,
            "PYTHONPATH": root,
            "PYTHONIOENCODING": "utf-8",
        }
        run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True)
        assert run.stdout.decode().strip() == poster_svg("Amélie", 2001, "demo:17")


def test_poster_motif_follows_the_key_and_not_the_title():
    first, second = drawn("Alien", key="a"), drawn("Aliens", 1986, key="a")
    shapes = [[etree.tostring(e) for e in root if e.tag not in {f"{SVG}g", f"{SVG}text"}] for root in (first, second)]
    assert shapes[0] == shapes[1]
    assert poster_svg("Alien", 1979, "a") != poster_svg("Alien", 1979, "b")


def test_posters_of_a_catalogue_use_all_palettes_and_hardly_ever_repeat():
    posters = [drawn("Heat", key=f"demo:{number}") for number in range(500)]
    assert {root[-2].get("fill") for root in posters} == {palette.text for palette in PALETTES}
    assert len({etree.tostring(root) for root in posters}) > 490
    assert len(MOTIFS) >= 8
    assert len(PALETTES) >= 16


@pytest.mark.parametrize("palette", PALETTES, ids=lambda palette: palette.ground)
def test_palette_title_has_enough_contrast(palette):
    light, dark = sorted((luminance(palette.text), luminance(palette.ground)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("Matrix, The", "The Matrix"),
        ("Lord of the Rings: The Two Towers, The", "The Lord of the Rings: The Two Towers"),
        ("Beautiful Mind, A", "A Beautiful Mind"),
        ("Avventura, L'", "L'Avventura"),
        ("Vita è bella, La", "La Vita è bella"),
        ("I, Daniel Blake", "I, Daniel Blake"),
        ("Good Bye, Lenin!", "Good Bye, Lenin!"),
        ("The", "The"),
    ],
)
def test_poster_sets_a_trailing_article_first(stored, shown):
    assert drawn(stored).get("aria-label") == f"Drawn poster of {shown}"


def test_poster_without_year_prints_none():
    root = drawn("Alien", None)
    assert root.findall(f"{SVG}text") == []
    assert drawn("Alien", 1979).find(f"{SVG}text").text == "1979"


def test_poster_of_right_to_left_title_is_set_from_the_right():
    root = drawn("جدایی نادر از سیمین")
    assert {(text.get("x"), text.get("text-anchor")) for text in root.iter(f"{SVG}text")} == {("184", "end")}
    assert all(text.get("text-anchor") is None for text in drawn("1917").iter(f"{SVG}text"))


def test_poster_drops_what_xml_forbids():
    assert drawn("Al\x00i\ud800e\n\tn\ufffe\u202e").get("aria-label") == "Drawn poster of Al ie n"


@pytest.mark.parametrize("title", ["", "  \n", "\x00\ud800"])
def test_poster_of_nothing_is_refused(title):
    with pytest.raises(ParameterError, match="one character"):
        poster_svg(title, 1999, "key")


def luminance(colour):
    """Relative luminance as WCAG 2.2 defines it."""
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def pixels(png):
    """The pixels of an 8-bit RGBA, not interlaced PNG, shape (height, width, 4)."""
    at, data, width, height = 8, b"", 0, 0
    while at < len(png):
        length, kind = int.from_bytes(png[at : at + 4], "big"), png[at + 4 : at + 8]
        chunk = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height = int.from_bytes(chunk[:4], "big"), int.from_bytes(chunk[4:8], "big")
            assert chunk[8:] == b"\x08\x06\x00\x00\x00"
        elif kind == b"IDAT":
            data += chunk
        at += 12 + length
    raw, rows = zlib.decompress(data), [bytes(4 * width)]
    for y in range(height):
        start = y * (1 + 4 * width)
        rows.append(unfiltered(raw[start], raw[start + 1 : start + 1 + 4 * width], rows[-1]))
    return np.frombuffer(b"".join(rows[1:]), dtype=np.uint8).reshape(height, width, 4)


def unfiltered(kind, line, above):
    """One row of a PNG without its filter (PNG specification, section 9)."""
    if kind == 0:
        return line
    if kind == 2:
        return (
            ((np.frombuffer(line, np.uint8).astype(int) + np.frombuffer(above, np.uint8)) % 256)
            .astype(np.uint8)
            .tobytes()
        )
    row = bytearray(4)  # the pixel left of the first one
    for value, up, corner in zip(line, above, bytes(4) + above, strict=False):
        left = row[-4]
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + up) // 2
        else:
            guess = min((left, up, corner), key=lambda near: abs(left + up - corner - near))
        row.append((value + guess) % 256)
    return bytes(row[4:])
