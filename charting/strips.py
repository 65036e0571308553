"""The strip of ranks: how probable each rank is for each algorithm, a cell a rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from charting.estimates import checked_number
from charting.frame import finished
from charting.plots import Plot, Rows, columns, lines, tip
from charting.theme import LIGHT, SMALL_TEXT_SIZE, Side, Spec, colour_of
from core.errors import DataError

_ROW = 27
_DARKEST = 0.5  # words in ink stay legible on it, on light and on dark paper


def rank_strip(
    probabilities: Mapping[str, Sequence[float]],
    *,
    title: str,
    subtitle: str,
    side: Side,
) -> Spec:
    """Draw the probability of each rank as a strip of cells, darker where more probable, each with its number.

    `probabilities` are those of the ranks 1, 2, … of each algorithm; `subtitle` says which ranking, and what was
    resampled. Raises DataError for rows of unequal length, a number outside [0, 1], or a row that does not sum to 1.

    Examples
    --------
    >>> spec = rank_strip({"TopPop": [0.9, 0.1], "LSA": [0.1, 0.9]}, title="TopPop leads", subtitle="Ranks",
    ...                   side="perceived")
    >>> spec["usermeta"]["description"]
    'Probability of each rank, Ranks. TopPop: rank 1 90%, rank 2 10%. LSA: rank 1 10%, rank 2 90%.'
    """
    cells = _cells(probabilities)
    summary = " ".join(
        f"{name}: {_listed(cell for cell in cells if cell['algorithm'] == name and cell['p'])}."
        for name in probabilities
    )
    n_ranks = max(cell["rank"] for cell in cells)
    ranks = columns(
        n_ranks, orient="top", labelExpr="datum.value == 0 ? 'rank 1' : datum.value + 1", labelOverlap=False
    )
    plot = Plot(ranks, lines(list(probabilities)))
    plot.draw(
        cells,
        {"type": "rect", "fill": colour_of(side), "stroke": LIGHT.line, "strokeWidth": 1},
        x="left",
        x2="right",
        y="upper",
        y2="lower",
        fillOpacity={"field": "shade", "type": "quantitative", "scale": None},
        tooltip=[tip("algorithm"), tip("rank", number=""), tip("percent", "probability")],
    )
    text = {"type": "text", "baseline": "middle", "fontSize": SMALL_TEXT_SIZE}
    plot.draw(cells, text, x="middle", y="row", text="shown")
    return finished(
        plot.spec(),
        title=title,
        subtitle=subtitle,
        description=f"Probability of each rank, {subtitle}. {summary}",
        side=side,
        height=_ROW * len(probabilities),
        reading="down",
    )


def _listed(cells: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(f"rank {cell['rank']} {cell['percent']}" for cell in cells)


def _cells(probabilities: Mapping[str, Sequence[float]]) -> Rows:
    if not probabilities:
        raise DataError("There is no ranking to draw.")
    lengths = {len(row) for row in probabilities.values()}
    if len(lengths) != 1 or not min(lengths):
        raise DataError("Every algorithm needs a probability for each rank.")
    cells: Rows = []
    for row, (name, own) in enumerate(probabilities.items()):
        checked = [checked_number(p, what=f"the probability of a rank of {name}") for p in own]
        if min(checked) < -1e-9 or abs(sum(checked) - 1) > 1e-6:
            raise DataError(f"The probabilities of the ranks of {name} do not sum to 1.")
        for index, p in enumerate(checked):
            cells.append(
                {
                    "algorithm": name,
                    "rank": index + 1,
                    "p": p,
                    "percent": _percent(p),
                    "shown": "" if p == 0 else _percent(p).removesuffix("%"),
                    "shade": round(_DARKEST * p, 4),
                    "left": index - 0.47,
                    "right": index + 0.47,
                    "middle": index,
                    "upper": row - 0.46,
                    "lower": row + 0.46,
                    "row": row,
                }
            )
    return cells


def _percent(p: float) -> str:
    if 0 < p < 0.005:
        return "< 1%"
    if 0.995 <= p < 1:
        return "> 99%"
    return f"{100 * p:.0f}%"
