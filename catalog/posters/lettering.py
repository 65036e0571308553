"""Text of the generated posters: titles are cleaned, wrapped and fitted without knowing the reader's fonts."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from xml.sax.saxutils import escape  # writes, and parses nothing  # nosec B406

WIDTH = 200
MARGIN = 16
SERIF = "Charter, 'Bitstream Charter', 'Source Serif 4', Cambria, Georgia, serif"
SANS = "Inter, system-ui, 'Segoe UI', Roboto, sans-serif"
YEAR_SIZE = 11
YEAR_BASELINE = 283
LINE_HEIGHT = 1.1
TITLE_TOP = 196  # nothing of the title stands above it: that is where the motif ends
TITLE_SIZES = (30, 26, 23, 20, 18, 16, 14, 13, 12, 11, 10, 9, 8)
CARD_TOP = 44  # nothing of the title stands above it: pages show a button there
CARD_TITLE_HEIGHTS = (68, 210)  # pages that show pictures 16:9 cut the card 112 from its top: long titles go further
CARD_TITLE_SIZES = TITLE_SIZES[6:]  # of long titles
FACTS_SIZE = 12
CAPITAL_HEIGHT = 0.75  # of the size
WORD_BREAK_SIZE = 13  # a word is cut only when it does not fit a line at this size
MOST_CHARACTERS = 600  # more than the smallest size has room for, so that what is cut off never shows
LONGEST_CLUSTER = 12  # characters stacked on one another, beyond which a line may break between them
ZERO_WIDTH_JOINER = "\u200d"
JOINERS = ("\u200c", ZERO_WIDTH_JOINER)
LATIN_ENDS = "\u0250"
RIGHT_TO_LEFT_MARK = "\u200f"


def printable(text: str) -> str:
    """On one line, single-spaced, composed, without what XML forbids or what turns the text around."""
    spaced = (" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in text)
    shown = (
        char
        for char in unicodedata.normalize("NFC", "".join(spaced))
        if char in JOINERS or (unicodedata.category(char) not in {"Cs", "Cf"} and ord(char) & 0xFFFE != 0xFFFE)
    )
    return " ".join("".join(shown).split())


def lettering(title: str, year: int | None, colour: str) -> str:
    """The title, and the year where there is one, as text elements below `TITLE_TOP`."""
    last = YEAR_BASELINE - 20 if year is not None else YEAR_BASELINE
    size, lines = _set_title(title, last - TITLE_TOP)
    side, _mark = _side_and_mark(title)
    title_group = _lines(title, lines, size, last, f'font-family="{SERIF}" font-weight="700" fill="{colour}"')
    if year is None:
        return title_group
    return title_group + (
        f'<text {side} y="{YEAR_BASELINE}" font-family="{SANS}" font-size="{YEAR_SIZE}" letter-spacing="1"'
        f' fill="{colour}">{year}</text>'
    )


def card_lettering(title: str, facts: str, colour: str) -> str:
    """The title from `CARD_TOP`, and at the bottom facts of at most two lines."""
    size, lines = _set_title(title, CARD_TITLE_HEIGHTS[0])
    if size < CARD_TITLE_SIZES[0]:
        size, lines = _set_title(title, CARD_TITLE_HEIGHTS[1], CARD_TITLE_SIZES)
    last = CARD_TOP + size * (CAPITAL_HEIGHT + LINE_HEIGHT * (len(lines) - 1))
    room = (WIDTH - 2 * MARGIN) / FACTS_SIZE
    few = _wrap(_pieces(facts, room), room)
    few = few if len(few) < 3 else [few[0], f"{few[1]}…"]
    return _lines(title, lines, size, last, f'font-family="{SERIF}" font-weight="700" fill="{colour}"') + _lines(
        facts, few, FACTS_SIZE, YEAR_BASELINE, f'font-family="{SANS}" fill="{colour}"'
    )


def _side_and_mark(text: str) -> tuple[str, str]:
    """Where the lines of a text begin, and the mark around each."""
    strong = (kind for kind in map(unicodedata.bidirectional, text) if kind in {"L", "R", "AL"})
    if next(strong, "L") != "L":  # the first letter with a direction runs from the right
        return f'x="{WIDTH - MARGIN}" text-anchor="end"', RIGHT_TO_LEFT_MARK
    return f'x="{MARGIN}"', ""


def _lines(text: str, lines: list[str], size: float, last: float, look: str) -> str:
    side, mark = _side_and_mark(text)
    words = "".join(
        f'<text {side} y="{last - (len(lines) - 1 - row) * size * LINE_HEIGHT:.1f}">{mark}{escape(line)}{mark}</text>'
        for row, line in enumerate(lines)
    )
    return f'<g {look} font-size="{size}">{words}</g>'


def _set_title(title: str, height: float, sizes: Sequence[int] = TITLE_SIZES) -> tuple[int, list[str]]:
    """The largest size, and its lines, at which the title fits into the height."""
    title = title[:MOST_CHARACTERS]
    for size in sizes:
        room = (WIDTH - 2 * MARGIN) / size
        most = 1 + int((height / size - CAPITAL_HEIGHT) / LINE_HEIGHT)
        pieces = _pieces(title, room if size <= WORD_BREAK_SIZE else math.inf)
        if max(map(_ems, pieces)) > room:
            continue
        lines = _wrap(pieces, room)
        if len(lines) <= most:
            return size, _balance(pieces, room, len(lines))
    lines = lines[:most]
    while _ems(lines[-1] + "…") > room:
        lines[-1] = "".join(_clusters(lines[-1])[:-1])
    lines[-1] = lines[-1].rstrip() + "…"
    return size, lines


def _wrap(pieces: list[str], room: float) -> list[str]:
    """Lines filled one after the other; a piece brings the space before it, which a line's start drops."""
    lines = [""]
    for piece in pieces:
        if lines[-1] and _ems(lines[-1] + piece) > room:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return lines


def _balance(pieces: list[str], room: float, count: int) -> list[str]:
    """The same number of lines, but as even in length as they go."""
    narrow, wide = max(map(_ems, pieces)), room
    for _ in range(12):
        middle = (narrow + wide) / 2
        if len(_wrap(pieces, middle)) <= count:
            wide = middle
        else:
            narrow = middle
    return _wrap(pieces, wide)


def _pieces(title: str, room: float) -> list[str]:
    """Pieces that may form a line: words, single wide characters, and equal parts of words that are too long."""
    pieces: list[str] = []
    for index, word in enumerate(title.split(" ")):
        whole = _ems(word)
        even = whole / math.ceil(whole / (0.95 * room)) if whole > room else room  # 0.95: no last letter alone
        parts, width_used = [""], 0.0
        for cluster in _clusters(word):
            wide, width = unicodedata.east_asian_width(cluster[0]) in "WF", _ems(cluster)
            if parts[-1] and (wide or width_used >= even or width_used + width > room):
                parts.append("")
                width_used = 0.0
            parts[-1] += cluster
            width_used += width
        pieces.extend((" " if index and not number else "") + part for number, part in enumerate(parts))
    return pieces


def _clusters(text: str) -> list[str]:
    """Characters with the marks and joiners that belong to them."""
    clusters: list[str] = []
    for char in text:
        joins = char in JOINERS or unicodedata.category(char)[0] == "M"
        is_open = bool(clusters) and len(clusters[-1]) < LONGEST_CLUSTER
        if is_open and (joins or clusters[-1][-1] == ZERO_WIDTH_JOINER):
            clusters[-1] += char
        else:
            clusters.append(char)
    return clusters


def _ems(text: str) -> float:
    """Width at size 1: at least what the named fonts, and a wide substitute such as DejaVu Serif, take."""
    return sum(map(_em, text))


@lru_cache(maxsize=4096)
def _em(char: str) -> float:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.02
    if char in " .,:;'’‘|!·":
        return 0.40
    if char in "ijlftrI()-[]/\\":
        return 0.48
    if char in "mwMW@%&—…ŒœÆæ":
        return 1.08
    if char in "0123456789" or (char.islower() and char < LATIN_ENDS):
        return 0.71
    if char < LATIN_ENDS:
        return 0.86 if char.isupper() else 1.05
    return 1.30 if char.isupper() else 1.05
