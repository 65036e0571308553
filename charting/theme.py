"""The look of every chart: paper and ink, and two colours that carry meaning.

`PERCEIVED` (warm) is what people said, `OBJECTIVE` (cool) is what the data said; nothing else wears the two.
In greyscale they are nearly one tone, so every line also has its own label.
Colours are written ``#rrggbb``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

Spec = dict[str, Any]
"""A Vega-Lite specification: JSON values only, its data inline."""

Side = Literal["perceived", "objective", "neutral"]
"""Which of the two meanings a chart shows; ``neutral`` for catalogues and counts, which have neither."""


@dataclasses.dataclass(frozen=True)
class Palette:
    """Colours of one mode by meaning, as ``#rrggbb``: the values of the design tokens. All differ, so one mode can be
    exchanged for the other colour by colour.
    """

    paper: str
    ink: str
    quiet: str
    line: str
    neutral_wash: str
    perceived: str
    perceived_wash: str
    perceived_interval: str
    objective: str
    objective_wash: str
    objective_interval: str


LIGHT = Palette(
    paper="#fbfaf7",
    ink="#1b1e25",
    quiet="#5b6270",
    line="#e3dfd6",
    neutral_wash="#efece5",
    perceived="#b4490f",
    perceived_wash="#fbeee4",
    perceived_interval="#e4c1ad",
    objective="#23579f",
    objective_wash="#e8eff9",
    objective_interval="#b6c6db",
)
DARK = Palette(
    paper="#14161b",
    ink="#eceae4",
    quiet="#a5abb8",
    line="#30343e",
    neutral_wash="#24272f",
    perceived="#f2955c",
    perceived_wash="#38251a",
    perceived_interval="#8e5c3f",
    objective="#86b4f2",
    objective_wash="#1b2a41",
    objective_interval="#58759c",
)
PERCEIVED = LIGHT.perceived
OBJECTIVE = LIGHT.objective

SANS = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif'
SERIF = '"Source Serif 4", Charter, "Bitstream Charter", Cambria, Georgia, serif'
"""Font stacks of the pages. Files use another one: see `charting.render`."""

TEXT_SIZE = 12
SMALL_TEXT_SIZE = 11
TITLE_SIZE = 17
SUBTITLE_SIZE = 13

_PLACES_WITHOUT_COLOURS = frozenset({"data", "datasets", "usermeta"})


def colour_of(side: Side) -> str:
    """The light-mode colour of a side.

    Examples
    --------
    >>> colour_of("objective")
    '#23579f'
    """
    return LIGHT.ink if side == "neutral" else str(getattr(LIGHT, side))


def wash_colour(side: Side) -> str:
    """The light-mode wash, the pale ground of a side's boxes and second bars.

    Examples
    --------
    >>> wash_colour("perceived")
    '#fbeee4'
    """
    return str(getattr(LIGHT, f"{side}_wash"))


def config() -> Spec:
    """The Vega-Lite configuration that all charts share, in light colours; a new one at each call.

    Examples
    --------
    >>> config()["view"]
    {'stroke': None}
    """
    return {
        "font": SANS,
        "view": {"stroke": None},
        "axis": {
            "domain": False,
            "ticks": False,
            "grid": False,
            "gridColor": LIGHT.line,
            "tickColor": LIGHT.line,
            "domainColor": LIGHT.quiet,
            "labelColor": LIGHT.quiet,
            "labelFontSize": TEXT_SIZE,
            "labelPadding": 6,
            "labelSeparation": 4,
            "titleColor": LIGHT.quiet,
            "titleFontSize": TEXT_SIZE,
            "titleFontWeight": "normal",
            "titlePadding": 8,
        },
        "legend": {
            "labelColor": LIGHT.ink,
            "labelFontSize": TEXT_SIZE,
            "titleColor": LIGHT.quiet,
            "titleFontWeight": "normal",
            "symbolStrokeWidth": 1.5,
            "symbolSize": 110,
        },
        "title": {
            "anchor": "start",
            "frame": "bounds",
            "color": LIGHT.ink,
            "font": SERIF,
            "fontSize": TITLE_SIZE,
            "fontWeight": 600,
            "lineHeight": 22,
            "subtitleColor": LIGHT.quiet,
            "subtitleFontSize": SUBTITLE_SIZE,
            "subtitleLineHeight": 17,
            "subtitlePadding": 5,
            "offset": 14,
        },
        "text": {"color": LIGHT.ink, "fontSize": TEXT_SIZE},
        "rule": {"color": LIGHT.ink},
    }


def both_modes(spec: Spec) -> dict[str, Spec]:
    """A specification of `charting.marks` in both modes, for a page that follows ``prefers-color-scheme``: "light" as
    it is, and "dark" a copy in which colours are exchanged one for one; data, sizes and words stay.

    Examples
    --------
    >>> spec = {"usermeta": {"mode": "light"}, "mark": {"type": "bar", "color": "#23579f"}}
    >>> both_modes(spec)["dark"]["mark"]["color"]
    '#86b4f2'
    """
    exchanged = dict(zip(dataclasses.astuple(LIGHT), dataclasses.astuple(DARK), strict=True))
    return {"light": spec, "dark": {**_recoloured(spec, exchanged), "usermeta": {**spec["usermeta"], "mode": "dark"}}}


def _recoloured(value: Any, exchanged: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: inner if key in _PLACES_WITHOUT_COLOURS else _recoloured(inner, exchanged)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_recoloured(inner, exchanged) for inner in value]
    return exchanged.get(value, value) if isinstance(value, str) else value
