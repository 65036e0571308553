"""Charts of what participants perceived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from analysis.charts.estimates import axis, means_of
from analysis.results.perceived import PerceivedVariable
from charting import marks
from charting.theme import Spec
from inference import apa
from inference.results import Pair, Undefined

MOST_STEPS = 11  # answers on more, such as on a slider, are drawn as a distribution


def _values(variable: PerceivedVariable) -> dict[str, list[float]]:
    per = variable.points_per_unit
    return {name: [point / per for point in variable.points[name]] for name in variable.conditions}


def has_points(variable: PerceivedVariable) -> bool:
    """Whether the scores of single participants are stored; they are erased with a participant's answers."""
    return bool(variable.points)


def _letters(variable: PerceivedVariable) -> Mapping[str, str] | None:
    return None if isinstance(variable.tests.games_howell, Undefined) else variable.orders.games_howell.letters


def box(variable: PerceivedVariable, title: str) -> Spec | None:
    """The paper's box plot of one variable, the highest mean first, with a point for every participant."""
    if not variable.described or not has_points(variable):
        return None
    values, means = _values(variable), means_of(variable)
    return marks.box_plot(
        {name: values[name] for name in sorted(values, key=lambda name: -means[name][0] if name in means else 0)},
        title=title,
        y_title=axis(variable),
        domain=(variable.low, variable.high),
        letters=_letters(variable),
    )


def is_in_steps(variable: PerceivedVariable) -> bool:
    """Whether a participant's value is one answer on a scale of few steps, not a mean or a share."""
    defined = variable.variable
    return defined.in_steps and defined.high - defined.low < MOST_STEPS


def steps_of(variable: PerceivedVariable) -> tuple[list[int], dict[str, dict[int, int]]]:
    """The steps of a variable's scale, and how often each was chosen in each condition."""
    per = variable.points_per_unit
    steps = list(range(int(variable.low), int(variable.high) + 1))
    counts = {name: Counter(point // per for point in variable.points[name]) for name in variable.conditions}
    return steps, {name: {step: answers[step] for step in steps} for name, answers in counts.items()}


def spread(variable: PerceivedVariable, title: str) -> Spec | None:
    """The distribution of values: a raincloud of means and shares, stacked bars of single answers in steps."""
    if not variable.described:
        return None
    if is_in_steps(variable):
        steps, counts = steps_of(variable)
        return marks.likert_bars(counts, steps=steps, title=title, x_title=axis(variable))
    return marks.raincloud(
        _values(variable),
        title=title,
        x_title=axis(variable),
        domain=(variable.low, variable.high),
        letters=_letters(variable),
    )


def forest(variable: PerceivedVariable, title: str, coverage: str) -> Spec | None:
    """Every pairwise difference with its simultaneous interval, the larger mean first, the largest on top."""
    tests, defined = variable.tests.games_howell, variable.variable
    pairs = () if isinstance(tests, Undefined) else tests.pairs
    differences = [difference for pair in pairs if (difference := _difference(pair)) is not None]
    if not differences:
        return None
    return marks.forest(
        sorted(differences, key=lambda difference: -difference.value),
        title=title,
        x_title=f"Difference of means in {defined.in_text}, with simultaneous {coverage} intervals",
        is_share=defined.is_share,
        interval_name=f"simultaneous {coverage} interval",
    )


def _difference(pair: Pair) -> marks.Difference | None:
    """A pair with the larger mean first; None where it was not tested."""
    if pair.p is None or pair.ci_low is None or pair.ci_high is None:
        return None
    names, limits = (pair.a, pair.b), (pair.ci_low, pair.ci_high)
    if pair.difference < 0:
        names, limits = (pair.b, pair.a), (-pair.ci_high, -pair.ci_low)
    return marks.Difference(
        *names, abs(pair.difference), *limits, apa.p_value(pair.p).removeprefix("p "), pair.is_significant
    )


def hasse(variable: PerceivedVariable, title: str) -> Spec | None:
    """The dominance relation with the means; None where no order can be claimed."""
    order = variable.orders.games_howell
    if order.is_empty:
        return None
    is_share = variable.variable.is_share
    return marks.hasse(means_of(variable), list(order.covers), title=title, y_title=axis(variable), is_share=is_share)
