"""One poster: a motif seen through a window, the title set below it, and the year.

The SVG is self-contained: no script, style, identifier or reference, presentation attributes only, so that it
may stand inline many times on a page whose policy allows nothing inline, or be served as a file.
"""

from __future__ import annotations

from xml.sax.saxutils import quoteattr  # writes, and parses nothing  # nosec B406

from catalog.posters.lettering import card_lettering, lettering, printable
from catalog.posters.motifs import MOTIFS, PALETTES, Draw
from catalog.titles import natural
from core.errors import ParameterError

WIDTH = 200
HEIGHT = 300
CARD_GROUND, CARD_TEXT = "#efece5", "#1b1e25"

# The hole in the ground through which the motif is seen, as the path of a hole.
WINDOWS = (
    "M-1 -1H201V188H-1Z",  # to the edges
    "M16 16H184V188H16Z",  # framed
    "M16 188V100A84 84 0 0 1 184 100V188Z",  # arched
    "M100 18A84 84 0 0 1 100 186A84 84 0 0 1 100 18Z",  # round
    "M-1 -1H201V150L-1 188Z",  # slanted
    "M16 16H184V104A84 84 0 0 1 16 104Z",  # shield
)


def poster_svg(title: str, year: int | None, key: str, *, label: str | None = None) -> str:
    """Draw the poster of an item. Returns one ``svg`` element with the view box ``0 0 200 300``. Raises ParameterError
    when the title has no character that can be shown.

    An article behind a comma at the end of the title ("Matrix, The") moves to the front. Any script and any length: it
    is wrapped and set smaller until it fits, and what still does not fit ends in an ellipsis. The same key, such as the
    item's identifier in its dataset, gives the same drawing. Screen readers say `label`, by default "Drawn poster of"
    and the title.

    Examples
    --------
    >>> poster_svg("Matrix, The", 1999, "movielens:2571").startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    True
    >>> poster_svg("Alien", 1979, "a") == poster_svg("Alien", 1979, "a")
    True
    """
    shown = _shown(title)
    draw = Draw(key)
    palette = PALETTES[draw.pick(len(PALETTES))]
    motif = MOTIFS[draw.pick(len(MOTIFS))]
    window = WINDOWS[draw.pick(len(WINDOWS))]
    read = printable(label) if label is not None else f"Drawn poster of {shown}"
    return (
        f"{_opening(read)}"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{palette.field}"/>'
        f"{motif(draw, palette)}"
        f'<path fill="{palette.ground}" fill-rule="evenodd" d="M-1 -1H201V301H-1Z{window}"/>'
        f"{lettering(shown, year, palette.text)}</svg>"
    )


def card_svg(title: str, year: int | None, author: str) -> str:
    """Draw a plain card with the title, the author and the year of an item, the same look for all items. Returns an
    ``svg`` element as `poster_svg` does, and raises the same error.

    Examples
    --------
    >>> 'aria-label="Dune"' in card_svg("Dune", 1965, "Frank Herbert")
    True
    """
    shown = _shown(title)
    facts = " · ".join(filter(None, (str(year or ""), printable(author))))
    return (
        f"{_opening(shown)}"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{CARD_GROUND}"/>'
        f"{card_lettering(shown, facts, CARD_TEXT)}</svg>"
    )


def _shown(title: str) -> str:
    shown = natural(printable(title))
    if not shown:
        raise ParameterError(f"The title {title!r} shows nothing; a poster needs at least one character.")
    return shown


def _opening(label: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f" aria-label={quoteattr(label)}>"
    )
