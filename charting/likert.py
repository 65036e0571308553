"""Stacked bars of answers in steps: how many chose each step, a bar a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

from charting.frame import finished, number, when_narrow
from charting.labels import draw_key, width_of_names
from charting.plots import LINE_HEIGHT, Plot, Rows, at, expression, lines, numbers, tip
from charting.theme import LIGHT, PERCEIVED, SMALL_TEXT_SIZE, Spec
from core.errors import DataError

_ROW = 38
_CHARACTERS = 24  # of a line of a name: a question beside its bar leaves room for the bar
_EDGES = (-0.34, 0.34)
_NAMED_ON_A_DESK = 0.05  # least share whose percentage fits into its piece
_PERCENTAGE, _ON_A_PHONE = 26, 280  # pixels of a percentage, and of names with bars
_DARKEST = 0.5  # but for the last step: words in ink stay legible on it, on light and on dark paper


def likert_bars(
    counts: Mapping[str, Mapping[int, int]],
    *,
    steps: Sequence[int],
    title: str,
    x_title: str,
) -> Spec:
    """Draw the share of each answer as stacked bars, the lowest step at the left, with each share printed.

    Steps differ in darkness, have rims, stand in their order and carry their percentage, so they differ without
    colour. The mean stands at the right. `steps` are all steps of the scale, ascending, 2 to 11. A condition without
    any answer keeps its place and says so. Raises DataError for no answer at all.

    Examples
    --------
    >>> spec = likert_bars({"LSA": {4: 1, 5: 3}}, steps=[1, 2, 3, 4, 5], title="Most are content",
    ...                    x_title="Satisfaction, 1 to 5")
    >>> spec["usermeta"]["description"]
    'Stacked bar chart, Satisfaction, 1 to 5. LSA, n = 4, M = 4.75: 1 0%, 2 0%, 3 0%, 4 25%, 5 75%.'
    """
    scale = list(steps)
    totals = {name: sum(own.values()) for name, own in counts.items()}
    if not any(totals.values()):
        raise DataError(f"No condition has an answer to {x_title} to draw.")
    means = {
        name: sum(step * n for step, n in own.items()) / totals[name] for name, own in counts.items() if totals[name]
    }
    summary = " ".join(
        f"{name}, n = {totals[name]}, M = {number(means[name], 2)}: "
        + ", ".join(f"{number(step, 0)} {_percent(own.get(step, 0) / totals[name])}" for step in scale)
        + "."
        if totals[name]
        else f"{name}: no answers."
        for name, own in counts.items()
    )
    names = list(counts)
    broken = [wrap(name, _CHARACTERS, break_long_words=False) for name in names]
    plot = Plot(
        numbers(0, 1, grid=False, values=[0, 0.25, 0.5, 0.75, 1], format=".0%", labelFlush=True),
        lines(["\n".join([*own, f"n = {totals[name]}"]) for name, own in zip(names, broken, strict=True)]),
    )
    looks = [
        {"fill": PERCEIVED, "fillOpacity": opacity, "stroke": PERCEIVED, "strokeWidth": 0.8, "strokeOpacity": 1}
        for opacity in shades(len(scale))
    ]
    room = width_of_names([line for own in broken for line in own])
    pieces = _pieces(counts, scale, totals, _PERCENTAGE / (_ON_A_PHONE - room))
    _draw_pieces(plot, pieces, dict(zip(scale, looks, strict=True)))
    labels = [{"row": row, "mean": f"M = {number(means[name], 2)}"} for row, name in enumerate(names) if name in means]
    words = {"type": "text", "baseline": "middle", "fontSize": SMALL_TEXT_SIZE}
    plot.draw(labels, {**words, "align": "left"}, x=at("width + 6"), y="row", text="mean")
    no_progress = [{"row": row, "middle": 0.5} for row, name in enumerate(names) if name not in means]
    quiet = {"color": LIGHT.quiet, "fontStyle": "italic", "text": "no answers"}
    plot.draw(no_progress, words | quiet, x="middle", y="row")
    entries = dict(zip((number(step, 0) for step in scale), looks, strict=True))
    draw_key(plot, entries, left=-room, above=16)
    return finished(
        plot.spec(),
        title=title,
        subtitle=x_title,
        description=f"Stacked bar chart, {x_title}. {summary}",
        side="perceived",
        height=(_ROW + LINE_HEIGHT * (max(map(len, broken)) - 1)) * len(counts),
        reading="down",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def shades(steps: int) -> list[float]:
    """How opaque each of two or more steps' pieces is, ascending, the last one fully, the others at most 0.5, so that
    words in ink are legible on them.

    Examples
    --------
    >>> shades(5)
    [0.05, 0.2, 0.35, 0.5, 1.0]
    """
    between = max(steps - 2, 1)
    return [round(0.05 + (_DARKEST - 0.05) * step / between, 3) for step in range(steps - 1)] + [1.0]


def _draw_pieces(plot: Plot, pieces: Rows, looks: Mapping[int, Spec]) -> None:
    tooltip = [tip("condition"), tip("answer"), tip("n", "participants", number=""), tip("percent", "share")]
    words = {
        "type": "text",
        "baseline": "middle",
        "fontSize": SMALL_TEXT_SIZE,
        "text": expression(when_narrow("datum.short", "datum.long")),
    }
    for step, look in looks.items():
        own = [piece for piece in pieces if piece["step"] == step]
        bar = {"type": "rect", **look}
        plot.draw(own, bar, x="start", x2="end", y="upper", y2="lower", tooltip=tooltip)
        ink = LIGHT.paper if look["fillOpacity"] == 1.0 else LIGHT.ink
        plot.draw(own, {**words, "color": ink}, x="middle", y="row")


def _pieces(
    counts: Mapping[str, Mapping[int, int]], scale: Sequence[int], totals: Mapping[str, int], named_on_a_phone: float
) -> Rows:
    pieces: Rows = []
    for row, (name, own) in enumerate(counts.items()):
        before = 0
        for step in scale:
            n = own.get(step, 0)
            if not n:
                continue
            share = n / totals[name]
            start = before / totals[name]
            before += n
            percent = _percent(share)
            pieces.append(
                {
                    "condition": name,
                    "step": step,
                    "answer": number(step, 0),
                    "n": n,
                    "percent": percent,
                    "start": start,
                    "end": before / totals[name],
                    "middle": start + share / 2,
                    "row": row,
                    "upper": row + _EDGES[0],
                    "lower": row + _EDGES[1],
                    "long": percent if share >= _NAMED_ON_A_DESK else "",
                    "short": percent if share >= named_on_a_phone else "",
                }
            )
    return pieces
