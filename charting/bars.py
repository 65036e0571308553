"""Horizontal bars with intervals: a metric by algorithm. Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from charting.estimates import checked_estimates, interval_text
from charting.frame import finished, number
from charting.labels import draw_key, width_of_names
from charting.plots import Plot, Rows, lines, numbers, share_labels, tip
from charting.theme import LIGHT, SMALL_TEXT_SIZE, Side, Spec, colour_of, wash_colour

_ROW = {1: 30, 2: 46}
# Upper and lower edge of each bar around its row, in shares of a row.
_EDGES = {1: ((-0.3, 0.3),), 2: ((-0.36, -0.03), (0.03, 0.36))}


def bars(
    series: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    title: str,
    x_title: str,
    side: Side = "objective",
    decimals: int = 2,
    is_share: bool = True,
) -> Spec:
    """Draw a metric by algorithm as horizontal bars from zero, each with its interval and its number.

    One series fills its bars; a second (the same metric at the participants' profile length, say) is drawn below the
    first in outline, so greyscale tells them apart. `series` maps the name of each to estimates of the same algorithms.

    Examples
    --------
    >>> spec = bars({"as measured": {"PureSVD50": (0.29, 0.28, 0.30), "LSA": (0.01, 0.0, 0.02)}},
    ...             title="PureSVD50 finds most", x_title="Recall at 5")
    >>> spec["usermeta"]["description"]
    'Bar chart, Recall at 5, as measured. PureSVD50: .29 [.28, .30]. LSA: .01 [.00, .02].'
    """
    checked = {word: checked_estimates(values, what=f"{x_title} ({word})") for word, values in series.items()}
    first = next(iter(checked.values()))
    every = [estimate for values in checked.values() for estimate in values.values()]
    low = min(0.0, *(estimate.low for estimate in every))
    high = max(0.0, *(estimate.high for estimate in every))
    ticks: Spec = {"grid": True, "tickCount": 4, "format": f".{decimals}f", "labelFlush": False}
    plot = Plot(
        numbers(low, high if low < high else 1.0, **ticks, **share_labels(is_share=is_share)), lines(list(first))
    )
    colour = colour_of(side)
    looks: list[Spec] = [
        {"fill": colour, "stroke": colour, "strokeWidth": 1},
        {"fill": wash_colour(side), "stroke": colour, "strokeWidth": 1.2},
    ]
    sentences = []
    for look, (upper, lower), (word, values) in zip(looks, _EDGES[len(series)], checked.items(), strict=False):
        rows = [
            {
                "algorithm": name,
                "series": word,
                "start": 0,
                "value": values[name].value,
                "low": values[name].low,
                "high": values[name].high,
                "far": max(values[name].high, 0.0),
                "upper": round(row + upper, 6),
                "lower": round(row + lower, 6),
                "middle": round(row + (upper + lower) / 2, 6),
                "text": number(values[name].value, decimals, is_share=is_share),
                "interval": interval_text(values[name], decimals, is_share=is_share),
            }
            for row, name in enumerate(first)
        ]
        _draw_series(plot, rows, look)
        values_in_words = " ".join(f"{row['algorithm']}: {row['text']} {row['interval']}." for row in rows)
        sentences.append(f"{x_title}, {word}. {values_in_words}")
    if len(series) > 1:
        draw_key(plot, dict(zip(series, looks, strict=True)), left=-width_of_names(list(first)), above=16)
    return finished(
        plot.spec(),
        title=title,
        subtitle=x_title,
        description=f"Bar chart, {' '.join(sentences)}",
        side=side,
        height=_ROW[len(series)] * len(first),
        reading="down",
    )


def _draw_series(plot: Plot, rows: Rows, look: Spec) -> None:
    tooltip = [tip("algorithm"), tip("series", "measured"), tip("text", "value"), tip("interval", "95% CI")]
    plot.draw(rows, {"type": "rect", **look}, x="start", x2="value", y="upper", y2="lower", tooltip=tooltip)
    # The interval has a rim, or it would vanish on the bar it crosses.
    for rule in ({"color": LIGHT.paper, "strokeWidth": 4, "aria": False}, {"color": LIGHT.ink, "strokeWidth": 1.5}):
        plot.draw(rows, {"type": "rule", **rule}, x="low", x2="high", y="middle")
    text = {"type": "text", "align": "left", "baseline": "middle", "dx": 7, "fontSize": SMALL_TEXT_SIZE}
    plot.draw(rows, text, x="far", y="middle", text="text")
