"""The figures of an experiment, drawn from the results of its runs."""

from __future__ import annotations

from collections.abc import Callable

from charting.theme import Spec
from evaluation import charts
from evaluation.experiments.schema import Figure, Quantity
from evaluation.selectors import experiments as selectors
from evaluation.selectors.experiments import ExperimentResults


def drawn_figure(figure: Figure, results: ExperimentResults) -> Spec | None:
    """Draw a figure of an experiment; None if there is nothing to draw."""
    draw: dict[str, Callable[[Figure, ExperimentResults], Spec | None]] = {
        "bars": _bars,
        "lengths": _lengths,
        "precision-recall": _precision_recall,
        "croc": _hit_curves,
        "groc": _hit_curves,
    }
    return draw[figure.kind](figure, results)


def _bars(figure: Figure, results: ExperimentResults) -> Spec | None:
    plan = results.experiment.runs[figure.run]
    name = selectors.measured_name(results.experiment, Quantity(figure.run, figure.metric))
    shorter: dict[str, tuple[float, float, float]] = {}
    if plan.profile_lengths:
        shorter = selectors.estimates(results, figure.run, name, plan.profile_lengths[0])
    whole = selectors.estimates(results, figure.run, name)
    return charts.measured_bars(whole, shorter, title=figure.title, metric=figure.metric, is_share=figure.is_share)


def _lengths(figure: Figure, results: ExperimentResults) -> Spec | None:
    name = selectors.measured_name(results.experiment, Quantity(figure.run, figure.metric))
    values = selectors.by_length(results, figure.run, name)
    n = results.experiment.runs[figure.run].n
    return charts.by_length(values, title=figure.title, metric=figure.metric, n=n)


def _precision_recall(figure: Figure, results: ExperimentResults) -> Spec | None:
    lines, lengths = {}, figure.lengths or ()
    for kind in ("precision", "recall"):
        quantities = [Quantity(figure.run, f"{kind}@{length}") for length in lengths]
        numbers = selectors.numbers_at(results, quantities)
        names = results.experiment.names_in(figure.run)
        lines[kind] = {name: [numbers[quantity, name] for quantity in quantities] for name in names}
    return charts.precision_recall(lines["precision"], lines["recall"], title=figure.title, lengths=lengths)


def _hit_curves(figure: Figure, results: ExperimentResults) -> Spec | None:
    lines = selectors.curve_points(results, figure.run, figure.kind)
    references = {}
    for line in ("omniscient", "random"):
        # These depend only on the users and their test items, so any algorithm's will do. GROC has none.
        for points in selectors.curve_points(results, figure.run, line).values():
            references[line] = points
            break
    return charts.hit_curves(lines, references, title=figure.title)
