"""The figures of an experiment, drawn from the results of its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from charting import marks
from charting.marks import curves, rates
from charting.theme import Spec
from evaluation.charts import Estimate, complete, reference_lines
from evaluation.experiments.schema import Figure, Quantity
from evaluation.selectors import experiments as selectors
from evaluation.selectors.experiments import ExperimentResults


def drawn_figure(figure: Figure, results: ExperimentResults) -> Spec | None:
    """Draw a figure of an experiment; None if there is nothing to draw."""
    draw = {"bars": _bars, "lengths": _lengths, "precision-recall": _precision_recall}.get(figure.kind, _hit_curves)
    return draw(figure, results)


def _bars(figure: Figure, results: ExperimentResults) -> Spec | None:
    name = selectors.measured_name(results.experiment, Quantity(figure.run, figure.metric))
    whole = selectors.estimates(results, figure.run, name)
    if not whole:
        return None
    series: dict[str, Mapping[str, Estimate]] = {"whole profiles": whole}
    for length in results.experiment.runs[figure.run].profile_lengths[:1]:
        shorter = selectors.estimates(results, figure.run, name, length)
        if set(shorter) == set(whole):
            series["short profiles"] = {label: shorter[label] for label in whole}
    decimals, is_share = 3 if figure.is_share else 2, figure.is_share
    return marks.bars(series, title=figure.title, x_title=figure.metric, decimals=decimals, is_share=is_share)


def _lengths(figure: Figure, results: ExperimentResults) -> Spec | None:
    name = selectors.measured_name(results.experiment, Quantity(figure.run, figure.metric))
    cells = {label: row.cells[name] for label, row in results.rows(figure.run).items() if name in row.cells}
    lines = complete({label: cell.by_n for label, cell in cells.items() if cell.by_n})
    n = results.experiment.runs[figure.run].n
    return curves(lines, title=figure.title, y_title=figure.metric, at_n=n) if lines else None


def _precision_recall(figure: Figure, results: ExperimentResults) -> Spec | None:
    lengths, lines = figure.lengths or (), {}
    of_kinds = [[Quantity(figure.run, f"{kind}@{length}") for length in lengths] for kind in ("recall", "precision")]
    numbers = selectors.numbers_at(results, [quantity for quantities in of_kinds for quantity in quantities])
    for name in results.experiment.names_in(figure.run):
        axes: tuple[Any, ...] = tuple([numbers[quantity, name] for quantity in quantities] for quantities in of_kinds)
        if not any(None in axis for axis in axes):
            lines[name] = axes
    if not lines:
        return None
    labels = [f"n = {length}" for length in lengths]
    return marks.plane(lines, title=figure.title, x_title="Recall", y_title="Precision", point_labels=labels)


def _hit_curves(figure: Figure, results: ExperimentResults) -> Spec | None:
    lines = selectors.curve_points(results, figure.run, figure.kind)
    if not lines:
        return None
    references = {}
    for line in ("omniscient", "random"):
        # These depend only on the users and their test items, so any algorithm's will do. GROC has none.
        for points in list(selectors.curve_points(results, figure.run, line).values())[:1]:
            references[line] = points
    read_against = reference_lines(references)
    return rates({**lines, **read_against}, title=figure.title, quiet=tuple(read_against))
