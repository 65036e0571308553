"""Exports of runs: a JSON document, tables as CSV and records, and figures."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from catalog.selectors.ratings import user_ids_of
from charting.render import svg
from core import artefacts
from evaluation import charts
from evaluation.charts import RunCurve
from evaluation.models import EvaluationRun
from evaluation.protocols.observation_curves import GROC, KINDS, PRECISION_RECALL
from evaluation.selectors.algorithm_pairs import order_comparison, overlaps
from evaluation.selectors.cases import candidate_range, cases_of
from evaluation.selectors.results import case_counts, metrics_by_user, table_rows, user_values
from evaluation.selectors.run_comparison import Comparison
from evaluation.selectors.runs import failed_algorithms, metric_names
from evaluation.selectors.user_groups import group_tables, grouped_metrics

# The names in exports of the metrics of one-plus-random.
HIT_COLUMNS = {"recall": "recall", "fallout": "fallout", "precision": "precision-raghavan", "f_measure": "f"}
FORMULA = ("=", "+", "@", "\t", "\r")
POOLED = {"groc": GROC, "precision-recall": PRECISION_RECALL}
FIGURES = {
    "one-plus-random": ("recall", "fallout"),
    "test-observations": tuple(KINDS),
    "unconstrained": tuple(POOLED),
}


def run_document(run: EvaluationRun, *, has_cases: bool = False) -> dict[str, Any]:
    """Return a finished run's inputs, hashes, counts and results, by algorithm and profile length.

    With `has_cases`, each algorithm at whole profiles has the numbers of candidates `above` and `tied` for each case.
    Raises ParallaxError when the run has no results.
    """
    n_cases = (run.n_relevant or 0) + (run.n_irrelevant or 0)
    g = run.protocol.get("g")
    algorithms = _rows(run, 0)
    if has_cases:
        for row, (above, tied) in zip(algorithms, case_counts(run), strict=False):  # external scores come last
            row |= {"above": above.tolist(), "tied": tied.tolist()}
    shared, candidates = overlaps(run), candidate_range(run)
    folds = [
        {"label": fold["label"], "cases_hash": fold["cases"], "training_hash": cases_of(run, at).training_digest}
        for at, fold in enumerate(run.folds)
    ]
    failed = [
        {"key": algorithm.algorithm, "label": algorithm.label, "params": algorithm.params, "reason": algorithm.error}
        for algorithm in failed_algorithms(run)
    ]
    return {
        "run": run.pk,
        "dataset": run.version.dataset.name,
        "dataset_version": run.version.number,
        "dataset_hash": run.version.content_hash,
        "inputs_hash": run.inputs_hash,
        "cases_hash": run.cases_digest,
        "training_hash": "" if run.folds else cases_of(run).training_digest,
        **({"folds": folds} if folds else {}),
        "split": run.split,
        "protocol": run.protocol,
        "task": run.task,
        "metrics": metric_names(run),
        "comments": run.comments,
        "reserve": run.reserve,
        "seed": run.seed,
        "n": run.n,
        "threads": run.threads,
        "g": g if g is not None else (run.n_relevant or 0) / n_cases if n_cases else None,
        "n_relevant": run.n_relevant,
        "n_irrelevant": run.n_irrelevant,
        **({"candidates": {"fewest": candidates.fewest, "most": candidates.most}} if candidates else {}),
        "left_out": run.left_out,
        "counted": run.counted,
        "environment": run.environment,
        "algorithms": algorithms,
        **({"failed": failed} if failed else {}),
        "at_profile_length": {str(length): _rows(run, length) for length in run.profile_lengths},
        **({"overlap": [asdict(overlap) for overlap in shared]} if shared else {}),
        **_rank_reversals(run),
    }


def _rows(run: EvaluationRun, profile_length: int) -> list[dict[str, Any]]:
    models = table_rows(run, profile_length)
    rows = [
        {
            "key": row.algorithm,
            "label": row.label,
            "params": dict(row.params),
            "model_hash": row.model_hash,
            "recipe": row.recipe,
            **({"fold_hashes": list(row.fold_hashes)} if row.fold_hashes else {}),
            "was_reused": row.was_reused,
            "fit_seconds": row.fit_seconds,
            "score_seconds": row.score_seconds,
            "users_hash": row.users_digest,
            **({"origin": "external", "is_servable": False, "coverage": row.coverage} if row.coverage else {}),
            "values": {
                name: {"value": cell.value, "reason": cell.reason, "by_n": list(cell.by_n)}
                for name, cell in row.cells.items()
            },
        }
        for row in models
    ]
    if run.protocol["name"] == "one-plus-random":
        for line, row in zip(rows, models, strict=True):
            cells = {name: row.cells[stored] for name, stored in HIT_COLUMNS.items()}
            line |= {name: cell.value for name, cell in cells.items()}
            lengths = list(range(1, len(row.cells["recall"].by_n) + 1))
            line["by_n"] = {"n": lengths, **{name: list(cell.by_n) for name, cell in cells.items()}}
    return rows


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison of two runs with differing settings and every test."""
    return {
        "runs": [
            {"run": run.pk, "dataset": run.version.dataset.name, "inputs_hash": run.inputs_hash}
            for run in (comparison.a, comparison.b)
        ],
        "settings_that_differ": {name: list(pair) for name, pair in comparison.settings.items()},
        "has_same_cases": comparison.has_same_cases,
        "test": "sign test by user, two-sided",
        "correction": comparison.correction,
        "differences": [asdict(difference) for difference in comparison.differences],
        "only_in_a": list(comparison.only_a),
        "only_in_b": list(comparison.only_b),
        "metrics_of_one_run_alone": list(comparison.not_compared),
    }


def user_rows(run: EvaluationRun) -> Iterator[list[Any]]:
    """Yield a run's values by user as table rows: one per user, metric, algorithm and profile length."""
    yield ["user", "metric", "algorithm", "profile_length", "value"]
    ids = user_ids_of(run.version)
    for length in (0, *run.profile_lengths):
        for metric in metrics_by_user(run):
            by_user = user_values(run, metric, length, rows=table_rows(run, length))
            for user, values in zip(by_user.user_ids, by_user.values.tolist(), strict=True):
                for label, value in zip(by_user.labels, values, strict=True):
                    if value == value:  # not NaN
                        yield [ids[user], metric, label, length or "whole", repr(value)]


def metric_rows(run: EvaluationRun) -> Iterator[list[Any]]:
    """Yield a run's metrics as table rows: one per algorithm, profile length, metric and list length.

    A failed algorithm has one row with the metric "failed" and the reason as its remark. Remarks of external scores
    name their coverage.
    """
    yield ["algorithm", "profile_length", "metric", "n", "value", "remark"]
    for length in (0, *run.profile_lengths):
        for row in table_rows(run, length):
            for name, cell in row.cells.items():
                remark = "; ".join(filter(None, [row.remark, cell.reason]))
                if not cell.by_n:
                    yield [row.label, length or "whole", name, "", _text(cell.value), remark]
                for n, value in enumerate(cell.by_n, start=1):
                    yield [row.label, length or "whole", name, n, _text(value), remark]
    for algorithm in failed_algorithms(run):
        yield [algorithm.label, "whole", "failed", "", "", algorithm.error]


def group_rows(run: EvaluationRun) -> Iterator[list[Any]]:
    """Yield a run's metrics by group of users as table rows: the mean of each group, then the difference and the ratio
    of the groups with the highest and the lowest mean, with 95% bootstrap CIs.
    """
    yield ["grouping", "metric", "algorithm", "statistic", "group", "n_users", "value", "low", "high"]
    for metric in grouped_metrics(run):
        for grouped in group_tables(run, metric):
            for line in grouped.lines:
                start = [grouped.key, metric, line.label]
                for name, n_users, mean in zip(grouped.names, grouped.n_users, line.means, strict=True):
                    yield [*start, "mean", name, n_users, _text(mean), "", ""]
                for statistic, sign, interval in (("difference", "-", line.gap), ("ratio", "/", line.ratio)):
                    if interval is not None:
                        first, second = (line.highest, line.lowest) if sign == "-" else (line.lowest, line.highest)
                        ends = [_text(interval.value), _text(interval.low), _text(interval.high)]
                        yield [*start, statistic, f"{first} {sign} {second}", interval.n_users, *ends]


def curve_rows(run: EvaluationRun) -> Iterator[list[Any]]:
    """Yield a run's curves as table rows: one per algorithm, profile length, curve and point."""
    yield ["algorithm", "profile_length", "curve", "x", "y"]
    if run.protocol["name"] == "one-plus-random":
        for length in (0, *run.profile_lengths):
            for row in table_rows(run, length):
                for name, stored in HIT_COLUMNS.items():
                    for n, value in enumerate(row.cells[stored].by_n, start=1):
                        yield [row.label, length or "whole", f"{name} by n", n, _text(value)]
    for curve in curves_of(run):
        for label, (across, up) in curve.lines.items():
            for x, y in np.column_stack([across, up]).tolist():
                yield [label, "whole", curve.name, repr(x), repr(y)]


TYPES = {
    **dict.fromkeys(("n", "profile_length"), "integer"),
    **dict.fromkeys(("rating", "value", "x", "y"), "number"),
}  # of the columns that are not text


def records_of(rows: Iterable[list[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as JSON records, with null for missing numbers and for the whole profile."""
    names: list[str] = []
    for row in rows:
        if names:
            yield {name: _number(cell) if name in TYPES else cell for name, cell in zip(names, row, strict=True)}
        else:
            names = row


def record_texts(head: Mapping[str, Any], key: str, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Write a JSON object piecewise: the entries of `head`, and under `key` a list with one record per line."""
    yield json.dumps(head, ensure_ascii=False)[:-1] + (", " if head else "") + f"{json.dumps(key)}: ["
    comma = ""
    for record in records:
        yield f"{comma}\n{json.dumps(record, ensure_ascii=False)}"
        comma = ","
    yield "\n]}\n"


def _number(cell: Any) -> int | float | None:
    if cell in ("", "whole"):
        return None
    return cell if isinstance(cell, int) else float(cell)


def _text(value: float | None) -> str:
    return "" if value is None else repr(value)


def csv_lines(rows: Iterable[list[Any]]) -> Iterator[str]:
    """Write rows as CSV lines; cells that a spreadsheet would read as a formula are escaped."""
    for row in rows:
        line = io.StringIO()
        csv.writer(line).writerow(
            [f"'{cell}" if isinstance(cell, str) and cell[:1] in FORMULA else cell for cell in row]
        )
        yield line.getvalue()


def _rank_reversals(run: EvaluationRun) -> dict[str, Any]:
    comparison = order_comparison(run)
    if comparison is None:
        return {}
    return {
        "other_order": {
            "run": comparison.run.pk,
            "protocol": comparison.run.protocol["name"],
            "by": f"recall@{comparison.n}",
            "n_pairs": comparison.n_pairs,
            "turned": [asdict(reversal) for reversal in comparison.reversals],
        }
    }


def curves_of(run: EvaluationRun) -> list[RunCurve]:
    """Return the curves of test observations, or of one list over all pairs, that any algorithm has."""
    kinds = {"test-observations": KINDS, "unconstrained": POOLED}.get(run.protocol["name"], {})
    arrays_by_label = (
        {row.label: artefacts.load("results", row.users_digest).arrays for row in table_rows(run)} if kinds else {}
    )
    run_curves = []
    for name, kind in kinds.items():
        has = {label: arrays for label, arrays in arrays_by_label.items() if f"{name}_x" in arrays}
        if has:
            first = next(iter(has.values()))  # the reference lines are the same for all algorithms
            run_curves.append(
                RunCurve(
                    name,
                    kind,
                    {label: (arrays[f"{name}_x"], arrays[f"{name}_y"]) for label, arrays in has.items()},
                    {line: (first[f"{line}_x"], first[f"{line}_y"]) for line in kind.lines},
                    int(first[f"{name}_people"][1]) if f"{name}_people" in first else None,
                )
            )
    return run_curves


def figure(run: EvaluationRun, name: str) -> str | None:
    """Draw a figure of the run as SVG; None if there is no such figure or nothing to draw."""
    if name not in FIGURES.get(run.protocol["name"], ()):
        return None
    if run.protocol["name"] == "one-plus-random":
        values = {row.label: row.cells[name].by_n for row in table_rows(run) if row.is_drawn}
        spec = charts.highest_by_n(values, name.capitalize(), n=run.n)
    else:
        spec = next((charts.curve_of_run(curve) for curve in curves_of(run) if curve.name == name), None)
    return None if spec is None else svg(spec["light"])
