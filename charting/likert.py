"""Stacked bars of answers in steps: how many chose each step, a bar a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from charting.frame import Width, finished, layered, number, rows, when_narrow
from charting.keys import Entry, key, width_of_names
from charting.lines import line_axis, line_scale
from charting.positions import positions
from charting.theme import LIGHT, SMALL_TEXT_SIZE, Side, Spec, colour_of
from core.errors import DataError, ParameterError

if TYPE_CHECKING:
    import altair as alt

_ROW = 38
_EDGES = (-0.34, 0.34)
_NAMED_ON_A_PHONE = 0.11  # least share whose percentage fits into its piece
_NAMED_ON_A_DESK = 0.05
_DARKEST = 0.5  # but for the last step: words in ink stay legible on it, on light and on dark paper
_MOST_STEPS = 11


def likert_bars(
    counts: Mapping[str, Mapping[int, int]],
    *,
    steps: Sequence[int],
    title: str,
    x_title: str,
    ends: tuple[str, str] = ("", ""),
    side: Side = "perceived",
    description: str | None = None,
    width: Width = None,
    height: int | None = None,
) -> Spec:
    """Draw the share of each answer as stacked bars, the lowest step at the left, with each share printed.

    Steps differ in darkness, have rims, stand in their order and carry their percentage, so they are told apart without
    colour. The mean stands at the right. `steps` are all steps of the scale; `ends` is what the lowest and the highest
    are called in the key. A condition without any answer keeps its place and says so. Raises DataError for no answer at
    all, a count below 0 or a step that the scale does not have, and ParameterError unless the steps are ascending and 2
    to 11.

    Examples
    --------
    >>> spec = likert_bars({"LSA": {4: 1, 5: 3}}, steps=[1, 2, 3, 4, 5], title="Most are content",
    ...                    x_title="Satisfaction, 1 to 5")
    >>> spec["usermeta"]["description"]
    'Stacked bar chart, Satisfaction, 1 to 5. LSA, n = 4, M = 4.75: 1 0%, 2 0%, 3 0%, 4 25%, 5 75%.'
    """
    scale = list(steps)
    if not 2 <= len(scale) <= _MOST_STEPS or scale != sorted(set(scale)):
        raise ParameterError(f"A scale has 2 to {_MOST_STEPS} steps in order; got {scale}.")
    for name, own in counts.items():
        strange = sorted(set(own) - set(scale))
        if strange:
            raise DataError(f"Condition {name} has answers that the scale does not have: {strange}.")
        if min(own.values(), default=0) < 0:
            raise DataError(f"Condition {name} has a count below 0.")
    totals = {name: sum(own.values()) for name, own in counts.items()}
    if not any(totals.values()):
        raise DataError(f"No condition has an answer to {x_title} to draw.")
    means = {
        name: sum(step * n for step, n in own.items()) / totals[name] for name, own in counts.items() if totals[name]
    }
    summary = " ".join(
        f"{name}, n = {totals[name]}, M = {number(means[name], 2)}: "
        + ", ".join(f"{step} {_percent(own.get(step, 0) / totals[name])}" for step in scale)
        + "."
        if totals[name]
        else f"{name}: no answers."
        for name, own in counts.items()
    )
    return finished(
        _layers(counts, scale, totals, means, ends=ends, side=side),
        title=title,
        subtitle=x_title,
        description=description or f"Stacked bar chart, {x_title}. {summary}",
        side=side,
        width=width,
        height=height or _ROW * len(counts),
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


def _layers(
    counts: Mapping[str, Mapping[int, int]],
    scale: list[int],
    totals: Mapping[str, int],
    means: Mapping[str, float],
    *,
    ends: tuple[str, str],
    side: Side,
) -> Spec:
    import altair as alt

    colour, opacities = colour_of(side), shades(len(scale))
    names = list(counts)
    x_scale = alt.Scale(domain=[0, 1], nice=False, zero=True)
    y_scale = line_scale(len(names))
    x_axis = alt.Axis(title=None, grid=False, values=[0, 0.25, 0.5, 0.75, 1], format=".0%", labelFlush=True)
    y_axis = line_axis([f"{name}\nn = {totals[name]}" for name in names], labelOffset=-7)
    along, row_at = positions(x_scale, x_axis, y_scale, y_axis)
    tooltip = [
        alt.Tooltip("condition:N"),
        alt.Tooltip("answer:N"),
        alt.Tooltip("n:Q", title="participants"),
        alt.Tooltip("percent:N", title="share"),
    ]
    layers: list[alt.Chart] = []
    looks: list[dict[str, Any]] = [
        {"fill": colour, "fillOpacity": opacity, "stroke": colour, "strokeWidth": 0.8, "strokeOpacity": 1}
        for opacity in opacities
    ]
    pieces = _pieces(counts, scale, totals, ends)
    for step, look in zip(scale, looks, strict=True):
        own = [piece for piece in pieces if piece["step"] == step]
        if not own:
            continue
        bars = alt.Chart(rows(own))
        layers.append(
            bars.mark_rect(**look).encode(
                x=along("start"), x2=alt.X2("end"), y=row_at("upper"), y2=alt.Y2("lower"), tooltip=tooltip
            )
        )
        words = when_narrow("datum.short", "datum.long")
        layers.append(
            bars.mark_text(
                baseline="middle",
                fontSize=SMALL_TEXT_SIZE,
                color=LIGHT.paper if look["fillOpacity"] == 1.0 else LIGHT.ink,
                text=alt.ExprRef(words),
            ).encode(x=along("middle"), y=row_at("row"))
        )
    line = alt.Chart(
        rows({"row": row, "mean": f"M = {number(means[name], 2)}"} for row, name in enumerate(names) if name in means)
    )
    layers.append(
        line.mark_text(align="left", baseline="middle", fontSize=SMALL_TEXT_SIZE).encode(
            x=alt.XValue(alt.ExprRef("width + 6")), y=row_at("row"), text=alt.Text("mean:N")
        )
    )
    silent = [{"row": row, "middle": 0.5} for row, name in enumerate(names) if name not in means]
    if silent:
        layers.append(
            alt.Chart(rows(silent))
            .mark_text(color=LIGHT.quiet, fontStyle="italic", fontSize=SMALL_TEXT_SIZE, text="no answers")
            .encode(x=along("middle"), y=row_at("row"))
        )
    entries = [Entry(word, look) for word, look in zip(_key_words(scale, ends), looks, strict=True)]
    layers += key(entries, left=-width_of_names(names), above=16)
    return layered(layers)


def _key_words(scale: Sequence[int], ends: tuple[str, str]) -> list[str]:
    return [
        f"{step} {ends[0]}".strip()
        if step == scale[0]
        else f"{step} {ends[1]}".strip()
        if step == scale[-1]
        else str(step)
        for step in scale
    ]


def _pieces(
    counts: Mapping[str, Mapping[int, int]], scale: Sequence[int], totals: Mapping[str, int], ends: tuple[str, str]
) -> list[dict[str, Any]]:
    words = dict(zip(scale, _key_words(scale, ends), strict=True))
    pieces: list[dict[str, Any]] = []
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
                    "answer": words[step],
                    "n": n,
                    "percent": percent,
                    "start": start,
                    "end": before / totals[name],
                    "middle": start + share / 2,
                    "row": row,
                    "upper": row + _EDGES[0],
                    "lower": row + _EDGES[1],
                    "long": percent if share >= _NAMED_ON_A_DESK else "",
                    "short": percent.removesuffix(" %") if share >= _NAMED_ON_A_PHONE else "",
                }
            )
    return pieces
