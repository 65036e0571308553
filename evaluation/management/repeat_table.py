"""Lines of a command about a run and its repetitions."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.registry import metric as named_metric
from evaluation.models import EvaluationRun
from evaluation.selectors.repeats import repeated_values, repeats_of
from evaluation.selectors.results import metrics_by_user
from evaluation.tables import share
from inference.repeats import RepeatedRatios, repeated_ratios
from inference.results import Undefined

RECALL, FALLOUT = "recall", "fallout"
HEADS = ("algorithm", "value", "SE", "95% CI", "SD of repetitions", "ranks")


def repeat_lines(run: EvaluationRun) -> list[str]:
    """Format the pooled values of a run and its repetitions, a table for each metric with values by user."""
    runs = [run, *repeats_of(run)]
    lines: list[str] = []
    for metric in metrics_by_user(run):
        values = repeated_values(runs, metric)
        pooled = repeated_ratios(values.hits, values.cases)
        if isinstance(pooled, Undefined):
            lines.append(f"{metric}: {pooled.reason}")
            continue
        lines += [
            f"{metric} over {len(runs)} repetitions, {pooled.n_users:,} users:",
            *_table(metric, pooled, values.labels),
        ]
    if lines:
        lines.append(
            "Intervals are for other users, splits and seeds of this dataset: users are clusters over all repetitions, "
            "and repetitions are clusters over all users."
        )
    return lines


def _table(metric: str, pooled: RepeatedRatios, labels: tuple[str, ...]) -> list[str]:
    # One plus random names its metrics without the length of the list.
    is_lower_better = metric == FALLOUT or (metric != RECALL and named_metric(metric).definition.direction == "lower")
    sign = -1 if is_lower_better else 1
    better = sign * pooled.by_repetition
    ranks = 1 + (better[:, None, :] > better[:, :, None]).sum(axis=2)  # equal values share the better rank
    rows = [HEADS]
    for position, label in enumerate(labels):
        estimate = pooled.estimate(np.eye(len(labels))[position])
        low, high = int(ranks[:, position].min()), int(ranks[:, position].max())
        rows.append(
            (
                label,
                share(estimate.value),
                share(estimate.se),
                f"[{share(estimate.interval.low)}, {share(estimate.interval.high)}]",
                share(float(pooled.by_repetition[:, position].std(ddof=1))),
                f"{low}" if low == high else f"{low} to {high}",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))])
        for name, *cells in rows
    ]
