"""The forest plot: pairwise differences with their simultaneous intervals. Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from charting.estimates import checked_estimate, interval_text
from charting.frame import finished, number, when_narrow
from charting.plots import Plot, Rows, at, expression, lines, numbers, share_labels, tip
from charting.theme import LIGHT, PERCEIVED, SMALL_TEXT_SIZE, Spec
from core.errors import DataError

_ROW = 23
_DECIMALS = 2


class Difference(NamedTuple):
    """A difference ``a - b`` with its interval, its adjusted p as text, and whether it is significant.

    With an empty `b` it is one value that `a` names.
    """

    a: str
    b: str
    value: float
    low: float
    high: float
    p: str
    is_significant: bool


def forest(
    differences: Sequence[Difference],
    *,
    title: str,
    x_title: str,
    is_share: bool = False,
    interval_name: str = "simultaneous 95% CI",
) -> Spec:
    """Forest plot of pairwise differences, one row per pair in the order given, with a line at zero.

    Significant differences have a filled symbol, a heavy interval and bold text; the others are hollow and light.
    `x_title` also says what a value above 0 means; `interval_name` is what tooltips call the interval.

    Examples
    --------
    >>> spec = forest([Difference("TopPop", "LSA", 0.5, 0.1, 0.9, "= .004", True)],
    ...               title="TopPop and LSA differ", x_title="Difference in perceived accuracy")
    >>> spec["usermeta"]["description"]
    'Forest plot, Difference in perceived accuracy. TopPop − LSA: 0.50 [0.10, 0.90], p = .004, significant.'
    """
    if not differences:
        raise DataError("There is no difference to draw.")
    rows = [_row(index, difference, is_share=is_share) for index, difference in enumerate(differences)]
    low, high = min(0.0, *(row["low"] for row in rows)), max(0.0, *(row["high"] for row in rows))
    margin = 0.04 * (high - low) or 1.0
    plot = Plot(
        numbers(
            low - margin, high + margin, grid=True, tickCount=5, labelFlush=False, **share_labels(is_share=is_share)
        ),
        lines([row["pair"] for row in rows], labelFontSize=SMALL_TEXT_SIZE, labelLimit=400),
    )
    zero = {"type": "rule", "color": LIGHT.quiet, "strokeWidth": 1.2, "strokeDash": [4, 3], "aria": False}
    plot.draw([{"value": 0}], zero, x="value")
    for is_significant in (True, False):
        own = [row for row in rows if row["is_significant"] is is_significant]
        _draw_differences(plot, own, is_significant=is_significant, interval_name=interval_name)
    summary = " ".join(f"{row['pair']}: {row['numbers']}, p {row['p']}, {row['verdict']}." for row in rows)
    return finished(
        plot.spec(),
        title=title,
        subtitle=x_title,
        description=f"Forest plot, {x_title}. {summary}",
        side="perceived",
        height=_ROW * len(rows),
        reading="down",
    )


def _row(index: int, difference: Difference, *, is_share: bool) -> Spec:
    pair = f"{difference.a} − {difference.b}" if difference.b else difference.a
    estimate = checked_estimate(difference[2:5], what=f"difference {pair}")
    value = number(estimate.value, _DECIMALS, is_share=is_share)
    interval = interval_text(estimate, _DECIMALS, is_share=is_share)
    return {
        "pair": pair,
        "row": index,
        **estimate._asdict(),
        "numbers": f"{value} {interval}",
        "value_text": value,
        "interval": interval,
        "p": difference.p,
        "is_significant": difference.is_significant,
        "verdict": "significant" if difference.is_significant else "not significant",
    }


def _draw_differences(plot: Plot, rows: Rows, *, is_significant: bool, interval_name: str) -> None:
    rule, fill, size = (2.6, PERCEIVED, 74) if is_significant else (1.1, LIGHT.paper, 54)
    interval = {"type": "rule", "color": PERCEIVED, "strokeWidth": rule, "aria": False}
    plot.draw(rows, interval, x="low", x2="high", y="row")
    point = {"type": "point", "shape": "circle", "filled": True, "fill": fill, "size": size}
    tooltip = [tip("pair"), tip("value_text", "difference"), tip("interval", interval_name), tip("p"), tip("verdict")]
    rim = {"stroke": PERCEIVED, "strokeWidth": 1.4, "opacity": 1}
    plot.draw(rows, point | rim, x="value", y="row", tooltip=tooltip)
    words = {
        "type": "text",
        "align": "left",
        "baseline": "middle",
        "fontSize": SMALL_TEXT_SIZE,
        "fontWeight": 600 if is_significant else "normal",
        "text": expression(when_narrow("datum.value_text", "datum.numbers")),
    }
    plot.draw(rows, words, x=at("width + 6"), y="row")
