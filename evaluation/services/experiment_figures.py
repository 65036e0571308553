"""The figures of an experiment: which numbers of its runs each one draws."""

from __future__ import annotations

from collections.abc import Callable

from charting.theme import Spec
from evaluation import charts
from evaluation.experiments.schema import Figure, Place
from evaluation.selectors import experiments as selectors
from evaluation.selectors.experiments import Measured


def drawn_figure(figure: Figure, measured: Measured) -> Spec | None:
    """Draw a figure of an experiment; None where there is nothing to draw."""
    draw: dict[str, Callable[[Figure, Measured], Spec | None]] = {
        "bars": _bars,
        "lengths": _lengths,
        "precision-recall": _precision_recall,
        "croc": _hit_curves,
        "groc": _hit_curves,
    }
    return draw[figure.kind](figure, measured)


def _bars(figure: Figure, measured: Measured) -> Spec | None:
    plan = measured.experiment.runs[figure.run]
    name = selectors.measured_name(plan, figure.metric)
    beside: dict[str, tuple[float, float, float]] = {}
    if plan.profile_lengths:
        beside = selectors.estimates(measured, figure.run, name, plan.profile_lengths[0])
    whole = selectors.estimates(measured, figure.run, name)
    return charts.measured_bars(whole, beside, title=figure.title, metric=figure.metric, is_share=figure.is_share)


def _lengths(figure: Figure, measured: Measured) -> Spec | None:
    name = selectors.measured_name(measured.experiment.runs[figure.run], figure.metric)
    values = selectors.by_length(measured, figure.run, name)
    n = measured.experiment.runs[figure.run].n
    return charts.by_length(values, title=figure.title, metric=figure.metric, n=n)


def _precision_recall(figure: Figure, measured: Measured) -> Spec | None:
    lines = {}
    for kind in ("precision", "recall"):
        places = [Place(figure.run, f"{kind}@{length}") for length in figure.lengths]
        numbers = selectors.numbers_at(measured, places)
        names = measured.experiment.runs[figure.run].contenders
        lines[kind] = {name: [numbers[place, name] for place in places] for name in names}
    return charts.precision_recall(lines["precision"], lines["recall"], title=figure.title, lengths=figure.lengths)


def _hit_curves(figure: Figure, measured: Measured) -> Spec | None:
    lines = selectors.curve_points(measured, figure.run, figure.kind)
    references = {}
    for line in ("omniscient", "random"):
        # These depend on the people and their test items alone: any algorithm's will do. GROC has none.
        for points in selectors.curve_points(measured, figure.run, line).values():
            references[line] = points
            break
    return charts.hit_curves(lines, references, title=figure.title)
