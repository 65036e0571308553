"""The colours and the abstract motifs of the generated posters, each over the square from 0 to 200."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import NamedTuple

SIDE = 200


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


class Draw:
    """A supply of numbers that depend on the key alone, on any machine and in any version."""

    def __init__(self, key: str) -> None:
        self._key = key.encode("utf-8", "surrogatepass")
        self._taken = 0

    def unit(self) -> float:
        """The next number in [0, 1)."""
        block = hashlib.blake2b(self._key, digest_size=8, salt=self._taken.to_bytes(4, "big")).digest()
        self._taken += 1
        return int.from_bytes(block, "big") / 2**64

    def pick(self, count: int) -> int:
        """The next whole number from 0 to count - 1."""
        return int(self.unit() * count)

    def within(self, low: float, high: float) -> float:
        """The next number from low to high."""
        return low + (high - low) * self.unit()


def _circle(x: float, y: float, radius: float, fill: str, opacity: float = 1.0) -> str:
    attribute = f' opacity="{opacity:g}"' if opacity < 1 else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}"{attribute}/>'


def _path(d: str, fill: str, opacity: float = 1.0) -> str:
    attribute = f' opacity="{opacity:g}"' if opacity < 1 else ""
    return f'<path d="{d}" fill="{fill}"{attribute}/>'


def _sunset(draw: Draw, colours: Palette) -> str:
    x, y, radius = draw.within(80, 120), draw.within(96, 112), draw.within(58, 70)
    bands = "".join(
        f'<rect x="0" y="{y + radius * (0.05 + 0.24 * n):.1f}" width="{SIDE}" height="{2.5 + 2.6 * n:.1f}"'
        f' fill="{colours.field}"/>'
        for n in range(4)
    )
    return _circle(x, y, radius, colours.first) + bands


def _mountains(draw: Draw, colours: Palette) -> str:
    parts = [_circle(draw.within(60, 150), draw.within(58, 80), draw.within(20, 30), colours.second)]
    ranges = ((colours.third, 0.75), (colours.first, 0.9), (colours.ground, 1.0))
    for row, (fill, opacity) in enumerate(ranges):
        base, x, points = 108 + 30 * row, -40.0 + draw.within(0, 30), ["M-60 210"]
        while x < 260:
            points.append(f"L{x:.0f} {base - draw.within(0, 42):.0f}")
            x += draw.within(26, 40)
            points.append(f"L{x:.0f} {base + draw.within(14, 36):.0f}")
            x += draw.within(26, 40)
        parts.append(_path("".join(points) + "L280 210Z", fill, opacity))
    return "".join(parts)


def _arches(draw: Draw, colours: Palette) -> str:
    x, fills = draw.within(88, 112), (colours.third, colours.first, colours.second, colours.ground)
    return "".join(
        _path(f"M{x - half:.1f} 210V{y}A{half} {half} 0 0 1 {x + half:.1f} {y}V210Z", fill)
        for half, y, fill in zip((72, 54, 36, 18), (114, 121, 128, 135), fills, strict=True)
    )


def _skyline(draw: Draw, colours: Palette) -> str:
    parts = [_circle(draw.within(50, 150), draw.within(56, 76), draw.within(24, 34), colours.second)]
    for fill, low, high, opacity in ((colours.third, 70, 130, 0.7), (colours.ground, 110, 160, 1.0)):
        x = -6.0
        while x < 206:
            wide, top = draw.within(18, 34), draw.within(low, high)
            parts.append(_path(f"M{x:.0f} 210V{top:.0f}H{x + wide:.0f}V210Z", fill, opacity))
            if fill == colours.ground:
                rows = [top + 8 + 11 * n for n in range(7) if draw.unit() < 0.6]
                parts.extend(_path(f"M{x + 5:.0f} {y:.0f}h4v5h-4Z", colours.first) for y in rows)
            x += wide
    return "".join(parts)


def _rings(draw: Draw, colours: Palette) -> str:
    x, y, turn = 100.0, 104.0, draw.within(0, 2 * math.pi)
    fills = (colours.first, colours.field, colours.second, colours.field, colours.third, colours.ground)
    parts = []
    for row, fill in enumerate(fills):
        parts.append(_circle(x, y, 84 - 14.5 * row, fill))
        x, y = x + 4.5 * math.cos(turn), y + 4.5 * math.sin(turn)
    return "".join(parts)


def _tiles(draw: Draw, colours: Palette) -> str:
    parts, fills = [], (colours.first, colours.second, colours.third, colours.ground)
    side = 50
    for row in range(4):
        for column in range(4):
            x, y = column * side, row * side
            parts.append(_path(f"M{x} {y}h{side}v{side}h-{side}Z", fills[draw.pick(4)], 0.35))
            fill = fills[draw.pick(3)]
            parts.append(
                (
                    _path(f"M{x} {y}h{side}a{side} {side} 0 0 1 -{side} {side}Z", fill),
                    _path(f"M{x + side} {y}v{side}a{side} {side} 0 0 1 -{side} -{side}Z", fill),
                    _path(f"M{x + side} {y + side}h-{side}a{side} {side} 0 0 1 {side} -{side}Z", fill),
                    _path(f"M{x} {y + side}v-{side}a{side} {side} 0 0 1 {side} {side}Z", fill),
                    _circle(x + side / 2, y + side / 2, side * 0.36, fill),
                )[draw.pick(5)]
            )
    return "".join(parts)


def _rays(draw: Draw, colours: Palette) -> str:
    x, y, count = draw.within(70, 130), draw.within(150, 176), 11
    turn, parts = draw.within(0, 0.3), []
    for n in range(0, 2 * count, 2):
        a, b = (math.pi * (n + step + turn) / count for step in (0, 1))
        near = f"{x + 260 * math.cos(a):.1f} {y - 260 * math.sin(a):.1f}"
        far = f"{x + 260 * math.cos(b):.1f} {y - 260 * math.sin(b):.1f}"
        parts.append(_path(f"M{x:.1f} {y:.1f}L{near}L{far}Z", colours.third, 0.55))
    return "".join(parts) + _circle(x, y, 46, colours.first) + _circle(x, y, 28, colours.second)


def _waves(draw: Draw, colours: Palette) -> str:
    parts = [_circle(draw.within(62, 138), draw.within(66, 84), draw.within(28, 38), colours.first)]
    fills = ((colours.second, 0.85), (colours.third, 0.9), (colours.first, 0.45), (colours.ground, 0.9))
    for row, (fill, opacity) in enumerate(fills):
        y, shift, swell = 104 + 26 * row, draw.within(-80, 0), draw.within(9, 15)
        crests = "".join(f"q20 {-swell * sign:.1f} 40 0" for sign in (1, -1, 1, -1, 1, -1, 1, -1))
        parts.append(_path(f"M{shift:.1f} {y}{crests}V210H{shift:.1f}Z", fill, opacity))
    return "".join(parts)


def _overlap(draw: Draw, colours: Palette) -> str:
    turn, reach = draw.within(0, 2 * math.pi), draw.within(26, 36)
    return "".join(
        _circle(
            100 + reach * math.cos(turn + n * 2 * math.pi / 3),
            104 + reach * math.sin(turn + n * 2 * math.pi / 3),
            50,
            fill,
            0.82,
        )
        for n, fill in enumerate((colours.first, colours.third, colours.second))
    )


def _halftone(draw: Draw, colours: Palette) -> str:
    x, y, parts = draw.within(40, 160), draw.within(40, 150), []
    for row in range(12):
        for column in range(12):
            cx, cy = 4 + 17.5 * column, 4 + 17.5 * row
            radius = 8.6 * math.exp(-(((cx - x) ** 2 + (cy - y) ** 2) / 9000))
            if radius > 0.8:
                fill = colours.second if (row + column) % 7 == 0 else colours.first
                parts.append(_circle(cx, cy, radius, fill))
    return "".join(parts)


def _stairs(draw: Draw, colours: Palette) -> str:
    steps, mirrored = 6, draw.pick(2)
    parts = [_circle(56 if mirrored else 144, 56, draw.within(24, 32), colours.first)]
    for n in range(steps):
        left, top = 18 + 28 * n, 186 - 20 * n
        x = SIDE - left - 28 if mirrored else left
        parts.append(_path(f"M{x} 210V{top}h29V210Z", colours.second if n % 2 else colours.third))
    return "".join(parts)


def _petals(draw: Draw, colours: Palette) -> str:
    count, turn = (6, 8, 10)[draw.pick(3)], draw.within(0, 180)
    leaf = "M100 104C{a} 76 {a} 44 100 20C{b} 44 {b} 76 100 104Z"
    a, b = (134, 66) if count == 6 else (126, 74)
    leaves = "".join(
        f'<path d="{leaf.format(a=a, b=b)}" fill="{(colours.first, colours.third)[n % 2]}" opacity="0.88"'
        f' transform="rotate({turn + 360 * n / count:.1f} 100 104)"/>'
        for n in range(count)
    )
    return leaves + _circle(100, 104, 17, colours.second) + _circle(100, 104, 7, colours.ground)


_SCENES = (_sunset, _mountains, _arches, _skyline)
_PATTERNS = (_rings, _tiles, _rays, _waves, _overlap, _halftone, _stairs, _petals)
MOTIFS: tuple[Callable[[Draw, Palette], str], ...] = (*_SCENES, *_PATTERNS)
