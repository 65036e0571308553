"""Charts of what participants perceived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from analysis.charts.estimates import axis, means_of
from analysis.enums import variable_of
from charting import marks
from charting.theme import Spec
from inference import apa

Result = Mapping[str, Any]
MOST_STEPS = 11  # answers on more, such as on a slider, are drawn as a distribution


def _values(variable: Result) -> dict[str, list[float]]:
    per = variable["points_per_unit"]
    return {name: [point / per for point in variable["points"][name]] for name in variable["conditions"]}


def has_points(variable: Result) -> bool:
    """Whether the scores of single participants are there; they are erased with somebody's answers."""
    return bool(variable["points"])


def _letters(variable: Result) -> Mapping[str, str] | None:
    found: Mapping[str, str] = variable["orders"]["tukey"]["letters"]
    return found if variable["tests"]["tukey"]["is_defined"] else None


def box(variable: Result, title: str) -> Spec | None:
    """The paper's box plot of one variable, with every participant beside it."""
    if not variable["described"] or not has_points(variable):
        return None
    return marks.box_plot(
        _values(variable),
        title=title,
        y_title=axis(variable),
        domain=(variable["low"], variable["high"]),
        letters=_letters(variable),
    )


def is_in_steps(variable: Result) -> bool:
    """Whether a participant's value is one answer on a scale of few steps, not a mean or a share."""
    defined = variable_of(variable["key"], variable)
    return defined.in_steps and defined.high - defined.low < MOST_STEPS


def steps_of(variable: Result) -> tuple[list[int], dict[str, dict[int, int]]]:
    """The steps of a variable's scale, and how often each was chosen in each condition."""
    per = variable["points_per_unit"]
    steps = list(range(int(variable["low"]), int(variable["high"]) + 1))
    counts = {name: Counter(point // per for point in variable["points"][name]) for name in variable["conditions"]}
    return steps, {name: {step: own[step] for step in steps} for name, own in counts.items()}


def spread(variable: Result, title: str) -> Spec | None:
    """How values spread: a raincloud of means and shares, stacked bars of single answers in steps."""
    if not variable["described"]:
        return None
    if is_in_steps(variable):
        steps, counts = steps_of(variable)
        return marks.likert_bars(counts, steps=steps, title=title, x_title=axis(variable))
    return marks.raincloud(
        _values(variable),
        title=title,
        x_title=axis(variable),
        domain=(variable["low"], variable["high"]),
        letters=_letters(variable),
    )


def forest(variable: Result, title: str, coverage: str) -> Spec | None:
    """Every pairwise difference with its simultaneous interval, the larger mean first, the largest on top."""
    found = variable["tests"]["tukey"]
    if not found["is_defined"]:
        return None
    differences = []
    for pair in found["pairs"]:
        if None in (pair["p"], pair["ci_low"], pair["ci_high"]):
            continue
        names, ends = (pair["a"], pair["b"]), (pair["ci_low"], pair["ci_high"])
        if pair["difference"] < 0:
            names, ends = names[::-1], (-ends[1], -ends[0])
        p = apa.p_value(pair["p"]).removeprefix("p ")
        differences.append(marks.Difference(*names, abs(pair["difference"]), *ends, p, pair["is_significant"]))
    if not differences:
        return None
    name = variable_of(variable["key"], variable)
    return marks.forest(
        sorted(differences, key=lambda one: -one.value),
        title=title,
        x_title=f"Difference of means in {name.in_text}, with simultaneous {coverage} intervals",
        is_share=name.is_share,
        interval_name=f"simultaneous {coverage} interval",
    )


def hasse(variable: Result, title: str) -> Spec | None:
    """Who dominates whom, on the true scale; None where no order can be claimed."""
    order = variable["orders"]["tukey"]
    if order["is_empty"]:
        return None
    edges = [(above, below) for above, below in order["covers"]]
    return marks.hasse(means_of(variable), edges, title=title, y_title=axis(variable))
