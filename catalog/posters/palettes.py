"""Colours of the generated posters."""

from __future__ import annotations

from typing import NamedTuple


class Palette(NamedTuple):
    """Colours of one poster, each ``#rrggbb``.

    `text` is used only on `ground`, with a contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3); `field` is the
    background of the motif, which uses the other colours.
    """

    ground: str
    text: str
    field: str
    first: str
    second: str
    third: str


PALETTES = (
    Palette("#14213d", "#f8f4e3", "#24385f", "#fca311", "#e9e4d4", "#6b87b8"),  # night, amber
    Palette("#f4ecdc", "#2b2118", "#ead9b5", "#c8553d", "#2f4858", "#f0a04b"),  # paper, rust
    Palette("#1b3a2f", "#f2efe2", "#2c5a47", "#e9c46a", "#e76f51", "#8ab17d"),  # forest
    Palette("#3b1c3e", "#fbeff2", "#5c2d60", "#f4a7b9", "#f7d08a", "#a765a8"),  # plum
    Palette("#7a1f1d", "#fff3e0", "#a5382b", "#ffd166", "#f6e7c8", "#4a0f12"),  # brick
    Palette("#0b3c49", "#f0f7f4", "#14606e", "#f2c14e", "#f78154", "#78c3b4"),  # teal
    Palette("#1b1b1f", "#f5f0e6", "#303036", "#ddd4c4", "#c8443c", "#8d8680"),  # ink
    Palette("#f2c14e", "#2d1e0f", "#f8dc92", "#b23a48", "#2d4739", "#e0702c"),  # mustard
    Palette("#dfeaf2", "#16324a", "#b7d2e6", "#1f5f8b", "#f0694a", "#ffffff"),  # sky
    Palette("#f6dfd8", "#4a1626", "#eebfaf", "#a4243b", "#5b3a57", "#f7b267"),  # rose
    Palette("#2f3320", "#f4f1de", "#4d5332", "#dcb884", "#c8676c", "#a3b18a"),  # olive
    Palette("#0d1f17", "#e8fff1", "#14402c", "#58d68d", "#c9f2d9", "#2a9158"),  # phosphor
    Palette("#201a3a", "#f3eefc", "#37306a", "#a294f5", "#ffb4a2", "#6457b8"),  # violet
    Palette("#e8dcc4", "#3a2a1a", "#d9c5a0", "#5f6b4e", "#bc6c25", "#2f3b20"),  # sand
    Palette("#1d3f91", "#ffffff", "#2b59c6", "#ffd23f", "#f4f4f4", "#ee4266"),  # cobalt
    Palette("#37474f", "#fdf6f0", "#53656f", "#ff8a65", "#ffd5c4", "#90a4ae"),  # slate
    Palette("#e3f1e7", "#12372a", "#bcdfc9", "#2d8a63", "#e4572e", "#17543d"),  # mint
    Palette("#1d090e", "#ffeeee", "#45121f", "#e63946", "#f3efe4", "#a8324a"),  # crimson
)
