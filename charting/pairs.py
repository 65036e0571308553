"""The figures of the verdict, which no grammar of charts draws: the grid of pairs and the two ranked lists.

One glyph: its left half is the metric, its right half the participants. A filled half separates the pair; halves that
slipped point in opposite directions. Position and shape alone suffice without colours.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from textwrap import wrap
from typing import Any

from charting.frame import NARROW, PICTURE
from charting.labels import CHARACTER_WIDTH
from charting.theme import LIGHT, TEXT_SIZE, Spec

KINDS = ("agree", "contradict", "participants only", "offline only", "undecided")
FONT = '"Liberation Sans", Arial, Helvetica, sans-serif'
_OBJECTIVE_FILLED = ("agree", "contradict", "offline only")
_PERCEIVED_FILLED = ("agree", "contradict", "participants only")
_TOP = 58  # title, headings and scales of ranks
_MANY = 9  # algorithms; with more, rows are lower
_LONGEST = 15  # characters of a line of a name
_SIDES = ("objective", "perceived")
_LINE = 14  # height of a line of a name


@dataclass(frozen=True)
class Difference:
    """The difference of a pair on one side: as printed, its value and its limits."""

    words: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class GridCell:
    """One pair of the grid with what both sides say; a difference is None where the pair was not tested."""

    first: str
    second: str
    kind: str
    says: str
    objective: Difference | None = None
    perceived: Difference | None = None


@dataclass(frozen=True)
class Ranked:
    """An algorithm in a ranked list: its value as printed, and the best and worst rank that it may have."""

    name: str
    value: str
    best: int
    worst: int


@dataclass
class _Svg:
    width: int
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, **look: Any) -> None:
        attributes = "".join(f' {key.rstrip("_").replace("_", "-")}="{value}"' for key, value in look.items())
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{attributes}>{words}</text>')

    def name(self, x: float, y: float, lines: Sequence[str], **look: Any) -> None:
        """The lines of a name, around the height `y`."""
        first, *rest = lines
        below = "".join(f'<tspan x="{x:g}" dy="{_LINE}">{line}</tspan>' for line in rest)
        self.text(x, y - len(rest) * _LINE / 2, f"{first}{below}", **look)

    def finished(self, height: float, mark: str) -> str:
        """The picture, its mark of simulated data at the upper right; on a phone, at the lower right."""
        if mark:
            is_narrow = self.width < NARROW
            height += 18 if is_narrow else 0
            y = height - 5 if is_narrow else 15
            self.text(self.width, y, escape(mark), text_anchor="end", fill=LIGHT.quiet, font_size=12)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{height:g}" '
            f'viewBox="0 0 {self.width} {height:g}" font-family=\'{FONT}\' font-size="13" fill="{LIGHT.ink}">'
            f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(self.parts)}</svg>'
        )


def pairs_grid(names: Sequence[str], values: Mapping[str, str], cells: Sequence[GridCell], *, title: str) -> Spec:
    """Describe the half matrix of all pairs: algorithms in the metric's order with their values, and a glyph each pair.

    Examples
    --------
    >>> spec = pairs_grid(["LSA", "TopPop"], {"LSA": ".2", "TopPop": ".1"},
    ...                   [GridCell("LSA", "TopPop", "agree", "Agree.")], title="1 of 1 pairs agrees")
    >>> spec["usermeta"]["description"]
    'Grid of pairs. Agree: LSA and TopPop.'
    """
    of_kind = {kind: [f"{cell.first} and {cell.second}" for cell in cells if cell.kind == kind] for kind in KINDS}
    pairs = " ".join(
        f"{kind.capitalize()}: {', '.join(names_of_kind)}." for kind, names_of_kind in of_kind.items() if names_of_kind
    )
    data = {"names": list(names), "values": dict(values), "cells": [asdict(cell) for cell in cells]}
    return _spec("grid", data, title, f"Grid of pairs. {pairs}")


def ranked_lists(
    objective: Sequence[Ranked],
    perceived: Sequence[Ranked],
    *,
    title: str,
    sides: tuple[str, str],
    reversed_pairs: Collection[tuple[str, str]] = (),
) -> Spec:
    """Describe two ranked lists of the same algorithms, the metric's and the participants', best first.

    `sides` are the names of both, as headings. Bars span the ranks of a confidence set within their own row. Lines are
    grey, but for `reversed_pairs`, which both sides order significantly and in opposite directions; the first of each
    pair is higher by the metric.
    """
    summary = "; ".join(
        f"{side}: {', '.join(f'{row.name} {row.best} to {row.worst}' for row in rows)}"
        for side, rows in zip(sides, (objective, perceived), strict=True)
    )
    data = {
        "objective": [asdict(row) for row in objective],
        "perceived": [asdict(row) for row in perceived],
        "reversed": [list(pair) for pair in reversed_pairs],
        "sides": list(sides),
    }
    return _spec("lists", data, title, f"Ranked lists with the ranks of each confidence set. {summary}.")


def plain_lists(spec: Spec) -> Spec:
    """Ranked lists of `ranked_lists` without confidence sets: names, values, and lines that can be followed on a phone.

    Examples
    --------
    >>> rows = [Ranked("LSA", ".2", 1, 2), Ranked("TopPop", ".1", 1, 2)]
    >>> spec = plain_lists(ranked_lists(rows, rows[::-1], title="None", sides=("recall", "accuracy")))
    >>> spec["usermeta"]["description"]
    'Two rankings, best first. recall: LSA, TopPop; accuracy: TopPop, LSA.'
    """
    data = spec["data"]
    orders = (", ".join(row["name"] for row in data[side]) for side in ("objective", "perceived"))
    summary = "; ".join(f"{heading}: {order}" for heading, order in zip(data["sides"], orders, strict=True))
    metadata = {**spec["usermeta"], "description": f"Two rankings, best first. {summary}."}
    return {**spec, "data": {**data, "is_plain": True}, "usermeta": metadata}


def picture(spec: Spec, width: int) -> str:
    """Draw a specification of this module as an SVG element of `width` pixels: the same bytes each time."""
    draw = _grid if spec[PICTURE] == "grid" else _lists
    return draw(spec["data"], spec["title"]["text"], width, spec["mark"])


def _spec(kind: str, data: dict[str, Any], title: str, description: str) -> Spec:
    usermeta = {"title": title, "description": description, "mode": "light"}
    return {PICTURE: kind, "title": {"text": title}, "data": data, "mark": "", "usermeta": usermeta}


def _row(k: int) -> int:
    return 28 if k > _MANY else 34


def _lines_of(name: str, room: float, size: int) -> list[str]:
    """A name in lines that fit into this many pixels, in text of this size: labels that differ at their ends stay
    apart.

    Examples
    --------
    >>> _lines_of("PureSVD50 + MMR 0.3", 134, 13), _lines_of("TopPop", 86, 13)
    (['PureSVD50 + MMR', '0.3'], ['TopPop'])
    """
    fitting = int(room / (CHARACTER_WIDTH * size / TEXT_SIZE))
    return [escape(line) for line in wrap(name, min(_LONGEST, fitting), break_on_hyphens=False)]


def _titled(svg: _Svg, words: str) -> None:
    svg.text(0, 16, escape(words), font_size=17, font_weight=600, class_="title")


def _glyph(kind: str, x: float, y: float, r: float) -> str:
    slip = 0.4 * r if kind == "contradict" else 0
    halves = []
    for sign, sweep, colour, filled in (
        (-1, 0, LIGHT.objective, kind in _OBJECTIVE_FILLED),
        (1, 1, LIGHT.perceived, kind in _PERCEIVED_FILLED),
    ):
        top = y - r + sign * slip
        look = f'fill="{colour}"' if filled else f'fill="none" stroke="{LIGHT.quiet}" stroke-opacity=".7"'
        d = f"M{x + sign * 0.6:g} {top:g}A{r:g} {r:g} 0 0 {sweep} {x + sign * 0.6:g} {top + 2 * r:g}Z"
        halves.append(f'<path d="{d}" {look}/>')
    return "".join(halves)


def _grid(data: Mapping[str, Any], title: str, width: int, mark: str) -> str:
    names, k = data["names"], len(data["names"])
    is_narrow = width < NARROW
    size = min(42.0, (width - 80) / max(k - 1, 1)) if is_narrow else float(_row(k))
    lines_of = {name: _lines_of(name, width - number * size - 8, 14) for number, name in enumerate(names)}
    height = max(size, 28.0, 4.0 + _LINE * max(map(len, lines_of.values())))
    svg = _Svg(width)
    _titled(svg, title)
    column = {name: number for number, name in enumerate(names)}
    for cell in data["cells"]:
        i, j = sorted((column[cell["first"]], column[cell["second"]]))
        svg.parts.append(_cell(cell, (j, i), (i * size, _TOP + j * height), (size, height)))
    for number, name in enumerate(names):
        value = "" if is_narrow else f'<tspan dx="6" fill="{LIGHT.objective}">{escape(data["values"][name])}</tspan>'
        *above, last = lines_of[name]
        look = {"data_algorithms": escape(name), "font_size": 14}
        svg.name(number * size + 8, _TOP + number * height + height / 2 + 5, [*above, f"{last}{value}"], **look)
    # The counts beneath the grid are its legend too.
    top, step = _TOP + k * height + 10, width / len(KINDS)
    for number, kind in enumerate(KINDS):
        n, x = sum(cell["kind"] == kind for cell in data["cells"]), number * step
        svg.parts.append(_glyph(kind, x + 11, top + 14, 9))
        svg.text(x + 28, top + 20, str(n), font_size=18, font_weight=600, fill=LIGHT.ink if n else LIGHT.quiet)
        lines = kind.split() if is_narrow else [kind]
        for line, word in enumerate(lines):
            svg.text(x, top + 41 + 14 * line, word, fill=LIGHT.quiet, font_size=11 if len(lines) > 1 else 12)
    return svg.finished(top + (60 if is_narrow else 46), mark)


def _cell(cell: Mapping[str, Any], at: tuple[int, int], corner: tuple[float, float], size: tuple[float, float]) -> str:
    """One cell with its ground, its glyph, and what a page opens."""
    (x, y), (w, h), kind = corner, size, cell["kind"]
    ground = ""
    if kind == "contradict":
        ground = (
            f'<rect x="{x + 1.5:g}" y="{y + 1.5:g}" width="{w - 3:g}" height="{h - 3:g}" rx="6" fill-opacity=".14"/>'
        )
    elif kind == "agree":
        ground = "".join(
            f'<rect x="{x + left:g}" y="{y + 1.5:g}" width="{w / 2 - 1.5:g}" height="{h - 3:g}" fill="{wash}"/>'
            for left, wash in ((1.5, LIGHT.objective_wash), (w / 2, LIGHT.perceived_wash))
        )
    sides = "".join(
        f' data-{side}="{escape(" | ".join(str(part) for part in cell[side].values()))}"'
        for side in ("objective", "perceived")
        if cell[side] is not None
    )
    differences = "; ".join(cell[side]["words"] for side in ("objective", "perceived") if cell[side] is not None)
    summary = f"{cell['first']} and {cell['second']}: {kind}. {cell['says']} {differences}"
    return (
        f'<g class="cell" data-at="{at[0]},{at[1]}" data-kind="{kind}" data-says="{escape(cell["says"])}"'
        f' data-first="{escape(cell["first"])}" data-second="{escape(cell["second"])}"{sides}>'
        f"<title>{escape(summary)}</title>"
        f'<rect class="hit" x="{x + 1:g}" y="{y + 1:g}" width="{w - 2:g}" height="{h - 2:g}" rx="6" fill="none" '
        f'pointer-events="all"/>{ground}{_glyph(kind, x + w / 2, y + h / 2, 0.28 * min(w, h))}</g>'
    )


def _lists(data: Mapping[str, Any], title: str, width: int, mark: str) -> str:
    k, is_narrow = len(data["objective"]), width < NARROW
    is_plain = data.get("is_plain", False)
    names, strip = (86, 34) if is_narrow else (134, 63)
    room = names - (0 if is_narrow else 8 * max(len(line["value"]) for side in _SIDES for line in data[side]))
    lines_of = {line["name"]: _lines_of(line["name"], room, 13) for line in data["objective"]}
    row = max(_row(k), 6 + _LINE * max(map(len, lines_of.values())))
    left = names + 12 + (0 if is_plain else strip + 8)
    svg = _Svg(width)
    _titled(svg, title)
    heights = {
        side: {line["name"]: _TOP + number * row + row / 2 for number, line in enumerate(data[side])} for side in _SIDES
    }
    _lines(svg, data["reversed"], heights, (left, width - left))
    for side, heading in zip(_SIDES, data["sides"], strict=True):
        is_left = side == "objective"
        colour, interval = (
            (LIGHT.objective, LIGHT.objective_interval) if is_left else (LIGHT.perceived, LIGHT.perceived_interval)
        )
        at_name, at_strip, dot = (
            (names, names + 8, left) if is_left else (width - names, width - left + 12, width - left)
        )
        edge, anchor = (0, "start") if is_left else (width, "end")
        svg.text(edge, 34, escape(heading), text_anchor=anchor, fill=colour, font_size=12)
        for at, side_of_text, word in ((0, "start", "1"), (strip / 2, "middle", "rank"), (strip, "end", str(k))):
            if not is_plain and (word != "rank" or not is_narrow):
                svg.text(at_strip + at, 50, word, text_anchor=side_of_text, fill=LIGHT.quiet, font_size=11)
        for line in data[side]:
            y, step = heights[side][line["name"]], strip / k
            low, high = at_strip + (line["best"] - 0.9) * step, at_strip + (line["worst"] - 0.1) * step
            ranks = (
                f'<path d="M{at_strip} {y:g}h{strip}" stroke="{LIGHT.line}"/>'
                f'<path d="M{low:g} {y:g}H{high:g}" stroke="{interval}" stroke-width="8"/>'
            )
            svg.parts.append(
                f'<g data-algorithms="{escape(line["name"])}">{"" if is_plain else ranks}'
                f'<circle cx="{dot}" cy="{y:g}" r="4" fill="{colour}"/>'
            )
            value = "" if is_narrow else f'<tspan fill="{colour}">{escape(line["value"])}</tspan>'
            first, *middle, last = ["", *lines_of[line["name"]]] if is_left else [*lines_of[line["name"]], ""]
            lines = [*middle, f"{last} {value}"] if is_left else [f"{value} {first}", *middle]
            svg.name(at_name, y + 4.5, [each.strip() for each in lines], text_anchor="end" if is_left else "start")
            svg.parts.append("</g>")
    return svg.finished(_TOP + k * row + 10, mark)


def _lines(
    svg: _Svg,
    reversed_pairs: Sequence[Sequence[str]],
    heights: Mapping[str, Mapping[str, float]],
    ends: tuple[int, int],
) -> None:
    """One line an algorithm; a slipped glyph stands where the lines of a reversed pair cross."""
    left, right = ends
    heavy = {name for pair in reversed_pairs for name in pair}
    if heavy:
        svg.parts.append(
            f'<defs><linearGradient id="gradient_1" gradientUnits="userSpaceOnUse" x1="{left}" x2="{right}">'
            f'<stop stop-color="{LIGHT.objective}"/><stop offset="1" stop-color="{LIGHT.perceived}"/>'
            "</linearGradient></defs>"
        )
    for name, start in heights["objective"].items():
        look = 'stroke="url(#gradient_1)" stroke-width="2.5"'
        if name not in heavy:
            look = f'stroke="{LIGHT.quiet}" stroke-opacity=".45" stroke-width="1.25"'
        path = f"M{left} {start:g}L{right} {heights['perceived'][name]:g}"
        svg.parts.append(f'<path data-algorithms="{escape(name)}" d="{path}" {look}/>')
    for a, b in reversed_pairs:
        (a0, a1), (b0, b1) = ((heights["objective"][name], heights["perceived"][name]) for name in (a, b))
        share = (b0 - a0) / ((b0 - a0) + (a1 - b1))
        x, y = left + share * (right - left), a0 + share * (a1 - a0)
        svg.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="11" fill="{LIGHT.paper}"/>{_glyph("contradict", x, y, 7)}')
