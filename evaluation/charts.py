"""Chart specifications for the results of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from charting import marks
from charting.frame import number
from charting.marks import curves, rates
from charting.theme import Spec, both_modes
from evaluation.metrics.curves import trapezoid
from evaluation.protocols.observation_curves import CurveKind
from recommenders.size_selection import Choice

SCORE_DECIMALS = 4  # scores of sizes of one algorithm differ little

LOG_FROM = 10.0  # ratio of the largest to the smallest parameter from which its axis is logarithmic
FALSE_ALARM_RATE = 0.1
Values = Mapping[str, Sequence[float | None]]
Estimate = tuple[float, float, float]
Points = NDArray[np.float64]
Line = tuple[ArrayLike, ArrayLike]


def score_by_size(name: str, choice: Choice) -> dict[str, Spec]:
    """Draw the score of each size in a model size selection, in light and dark. `name`: that of the algorithm."""
    scores = {size.value: number(size.score, SCORE_DECIMALS, is_share=False) for size in choice.sizes}
    return both_modes(
        curves(
            {name: [size.score for size in choice.sizes]},
            title=f"{name} is chosen with {choice.parameter}={choice.chosen}, at {scores[choice.chosen]}",
            y_title=choice.criterion,
            n_values=list(scores),
            x_title=choice.parameter,
            at_n=choice.chosen,
            is_share=False,
            is_from_zero=False,
            decimals=SCORE_DECIMALS,
            description=f"{choice.criterion}, by {choice.parameter}: "
            + ", ".join(f"{size} {score}" for size, score in scores.items())
            + ".",
        )
    )


def tuning_trace(
    trials: Sequence[tuple[float, Estimate]],
    *,
    title: str,
    x_title: str,
    metric: str,
    chosen: int,
    best_so_far: Sequence[float] | None = None,
    is_share: bool = True,
) -> dict[str, Spec]:
    """Draw the trials of a search, in light and dark: estimates by the value of the only parameter, or, with
    `best_so_far`, in the order of the trials.
    """
    values = [at for at, _ in trials]
    is_wide = best_so_far is None and values[0] > 0 and values[-1] / values[0] >= LOG_FROM
    return both_modes(
        marks.trace(
            trials,
            title=title,
            x_title=x_title,
            y_title=f"{metric} on the development users, with 95% CIs",
            chosen=chosen,
            line=best_so_far,
            is_log=is_wide,
            decimals=SCORE_DECIMALS,
            is_share=is_share,
        )
    )


def reference_lines(references: Mapping[str, Line]) -> dict[str, Line]:
    """Label the reference lines; the chance line is computed, not a run of the algorithm Random."""
    return {"chance, exactly" if name == "random" else name: line for name, line in references.items()}


def highest_by_n(values: Values, metric: str, *, n: int) -> dict[str, Spec] | None:
    """Draw a metric against list length, in light and dark; None if there is nothing to draw.

    `values` has each algorithm's values at 1, 2, 3, …; the title names the algorithm with the highest value at `n`.
    """
    lines = complete(values)
    if not lines:
        return None
    highest = max(lines, key=lambda label: lines[label][n - 1])
    value = number(lines[highest][n - 1], 3, is_share=True)
    title = f"{highest} has the highest {metric.lower()}, {value} in a list of {n}"
    return both_modes(curves(lines, title=title, y_title=metric, at_n=n, emphasised=(highest,)))


def by_algorithm(values: Mapping[str, float | None], metric: str, *, is_lower_better: bool) -> dict[str, Spec] | None:
    """Draw a metric as a bar per algorithm, best first, in light and dark; None if there is nothing to compare."""
    known = {label: value for label, value in values.items() if value is not None}
    if not known:
        return None
    ordered = sorted(known, key=lambda label: known[label], reverse=not is_lower_better)
    is_share = all(0 <= value <= 1 for value in known.values())
    best, word = ordered[0], "lowest" if is_lower_better else "highest"
    title = f"{best} has the {word} {metric}, {number(known[best], 3, is_share=is_share)}"
    bars_of = {label: (known[label],) * 3 for label in ordered}
    x_title = f"{metric[:1].upper()}{metric[1:]}"
    return both_modes(marks.bars({metric: bars_of}, title=title, x_title=x_title, decimals=3, is_share=is_share))


@dataclass(frozen=True)
class RunCurve:
    """A curve of a run: lines of the algorithms, reference lines, and the number of excluded users."""

    name: str
    kind: CurveKind
    lines: dict[str, Line]
    references: dict[str, Line]
    n_left_out: int | None  # excluded users, if the curve is a mean over users


def curve_of_run(curve: RunCurve) -> dict[str, Spec]:
    """Draw a curve of a run, in light and dark: one line per algorithm, and muted reference lines."""
    kind = curve.kind
    points = {label: (np.asarray(x), np.asarray(y)) for label, (x, y) in curve.lines.items()}
    # The statement about the best algorithm in the title, and the number it is based on.
    findings: dict[str, tuple[str, Callable[[Points, Points], float]]] = {
        "croc": ("has the largest area by CROC", trapezoid),
        "groc": ("has the largest area by GROC", trapezoid),
        "mean-roc": (
            f"has the highest mean hit rate at a false-alarm rate of {FALSE_ALARM_RATE:.1f}".replace("0.", "."),
            lambda x, y: float(np.interp(FALSE_ALARM_RATE, x, y)),
        ),
        "eleven-points": ("has the highest precision over all recalls", lambda x, y: float(y.mean())),
        "precision-recall": ("has the highest average precision", trapezoid),
        # Among lists of which at least half is good.
        "notes": (
            "has the highest recall with at least half of the list good",
            lambda x, y: float(y[x <= 0.5].max(initial=0.0)),
        ),
    }
    finding, summary = findings[curve.name]
    values = {label: summary(x, y) for label, (x, y) in points.items()}
    best = max(values, key=lambda label: values[label])
    title = f"{best} {finding}, {number(values[best], 3, is_share=True)}"
    if not kind.is_roc:
        lines = {label: (x.tolist(), y.tolist()) for label, (x, y) in points.items()}
        return both_modes(
            marks.plane(lines, title=title, x_title=kind.x_title, y_title=kind.y_title, emphasised=(best,))
        )
    read_against = reference_lines(curve.references)
    return both_modes(
        rates(
            {**curve.lines, **read_against},
            title=title,
            x_title=kind.x_title,
            y_title=kind.y_title,
            emphasised=(best,),
            quiet=tuple(read_against),
        )
    )


def complete(values: Values) -> dict[str, list[float]]:
    """Exclude algorithms without a value at some list length."""
    return {label: [value for value in line if value is not None] for label, line in values.items() if None not in line}


@dataclass(frozen=True)
class Bar:
    """A bar on a shared axis, in percent of the width, for pages that draw bars in HTML."""

    x: float
    width: float
    zero: float
    is_against: bool


def bars(values: Sequence[float]) -> list[Bar]:
    """Lay out bars for signed values on one axis that is filled entirely.

    Examples
    --------
    >>> [(bar.x, bar.width, bar.zero) for bar in bars([3.0, -1.0])]
    [(25.0, 75.0, 25.0), (0.0, 25.0, 25.0)]
    >>> [(bar.x, bar.width) for bar in bars([2.0, 1.0])]
    [(0.0, 100.0), (0.0, 50.0)]
    """
    lowest, highest = min((0.0, *values)), max((0.0, *values))
    share = 100.0 / ((highest - lowest) or 1.0)
    zero = -lowest * share
    return [
        Bar(
            x=round(zero + min(value, 0.0) * share, 2),
            width=round(abs(value) * share, 2),
            zero=round(zero, 2),
            is_against=value < 0,
        )
        for value in values
    ]
