"""What the page of a run shows: its state, and its results sorted and compared as the reader asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

from catalog.permissions import may_run
from evaluation import charts, exports, tables
from evaluation.enums import RUN_OPEN, RUN_STOPPED
from evaluation.metrics.definition import TASKS
from evaluation.metrics.registry import direction_of, metric
from evaluation.models import EvaluationRun, MetricResult
from evaluation.permissions import may_change
from evaluation.protocols.registry import protocol
from evaluation.run_spec import written
from evaluation.selectors.algorithm_pairs import order_comparison, overlaps
from evaluation.selectors.cases import candidate_range
from evaluation.selectors.paired_tests import PairedTests, chosen_on_development
from evaluation.selectors.results import COVERED_PROFILES, ModelRow, table_rows
from evaluation.selectors.run_comparison import Difference
from evaluation.selectors.runs import algorithms_of, failed_algorithms, failure_summary, metric_names, progress
from evaluation.selectors.user_groups import GroupLine, GroupTable
from evaluation.sorting import Sorting

Query = Mapping[str, str]
FILLED_SLOTS = "filled-slots"  # a share of slots without a score of the model, of no metric of the registry

NOTES = {  # by a part of the names of the columns that they explain
    "precision-raghavan": "Precision is that of Raghavan, Bollmann and Jung, not the precision of the list. It is "
    "close to 1 if most cases are relevant, and F then adds little to recall.",
    "mode=": "“Exact” is the mean of “sampled” over all draws of candidates.",
    "ties=served": "“As served” breaks ties by popularity, which also fills slots without a model score.",
}


def state_of(user: Any, run: EvaluationRun) -> dict[str, Any]:
    """What every page of a run says of its state, settings and provenance."""
    run_progress = progress(run)
    return {
        "run": run,
        "is_open": run.status in RUN_OPEN,
        "may_cancel": run.status in RUN_OPEN and may_change(user, run),
        "may_resume": run.status in RUN_STOPPED and may_change(user, run),
        "task": TASKS[run.task],
        "protocol": protocol(run.protocol["name"]),
        "split_words": tables.in_words(
            {key: value for key, value in run.split.items() if key not in ("name", "cases")}
        ),
        "reserved": f"{100 * run.reserve:g}%",
        "again": _settings_query(run),
        "may_collect": may_run(user, run.version),
        "progress": run_progress,
        "algorithms": list(algorithms_of(run)),
        "failed": list(failed_algorithms(run)),
        "failure_summary": failure_summary(run),
        "candidates": candidate_range(run),
        "took": tables.duration(run_progress.seconds),
        "left": None if run_progress.seconds_left is None else tables.duration(run_progress.seconds_left),
        "left_out": [(what, f"{n:,}") for what, n in run.left_out.items()],
        "counted": [(what, f"{n:,}") for what, n in run.counted.items()],
        "environment": ", ".join(f"{name} {version}" for name, version in sorted(run.environment.items())),
    }


def _settings_query(run: EvaluationRun) -> str:
    """The settings of a run as the query with which the form of a new run is filled in; empty with cases of a file."""
    if run.split["name"] == "file":
        return ""
    texts = {"algorithms": written([(each.algorithm, each.params) for each in algorithms_of(run)])}
    texts |= {"split": written(run.split), "protocol": written(run.protocol)}
    return urlencode({"dataset": run.version.dataset.name, **texts})


def results_of(run: EvaluationRun, query: Query) -> dict[str, Any]:
    """The results of a run as its page shows them: sorted and compared with a baseline as the query asks."""
    lengths = (0, *run.profile_lengths)
    heads = tables.columns(run.protocol, metric_names(run), run.metrics, n=None, is_given=run.split["name"] == "file")
    names = {key: head if "@" in head or "(" in head else head.capitalize() for key, head in heads.items()}
    by_length = [(length, table_rows(run, length)) for length in lengths]
    heads, not_shown = telling_columns([row for _, rows in by_length for row in rows], heads, query.get("sort", ""))
    rows = by_length[0][1]
    labels = [row.label for row in rows]
    drawn = [row for row in rows if row.is_drawn]
    main = next(iter(heads), "")
    baseline = query.get("baseline", "")
    baseline = baseline if baseline in labels else ""
    order = Sorting(query, ("label", *heads), {"label", *(key for key in heads if better_of(key) == "lower")})
    tables_by_length = [(length, _lines(each, heads, order, baseline)) for length, each in by_length]
    context: dict[str, Any] = {
        "heads": [order.head(key, names[key], averaged(run, key)) for key in heads],
        "not_shown": not_shown,
        "notes": [text for mark, text in NOTES.items() if any(mark in key for key in heads)],
        "label_head": order.head("label", "Algorithm"),
        "labels": labels,
        "baselines": [(label, label) for label in labels],
        "baseline": baseline,
        "lines": tables_by_length[0][1],
        "reused": [row.label for row in rows if row.was_reused],
        "shorter": tables_by_length[1:],
        "is_hits": run.protocol["name"] == "one-plus-random",
        "figures": exports.FIGURES.get(run.protocol["name"], ()),
        "not_drawn": [f"{row.label} ({row.scored:.1%})" for row in rows if not row.is_drawn],
        "choice": chosen_on_development(run),
    }
    context["curves"] = [(curve, f"chart-{curve.name}", charts.curve_of_run(curve)) for curve in exports.curves_of(run)]
    if main and better_of(main) != "neither":
        values = {row.label: row.cells[main].value for row in drawn if main in row.cells}
        name = f"{heads[main]} at {run.n}" if context["is_hits"] else heads[main]
        context["chart_main"] = charts.by_algorithm(values, name, is_lower_better=better_of(main) == "lower")
    context["order_comparison"] = comparison = order_comparison(run)
    context["order_summary"] = (
        "" if comparison is None else tables.order_summary(comparison.n_pairs, len(comparison.reversals))
    )
    context["overlaps"] = [(overlap.first, overlap.second, tables.share(overlap.share)) for overlap in overlaps(run)]
    if context["is_hits"]:
        recall, fallout = ({row.label: row.cells[name].by_n for row in rows} for name in ("recall", "fallout"))
        context |= {
            "chart_recall": charts.highest_by_n({each.label: recall[each.label] for each in drawn}, "Recall", n=run.n),
            "chart_fallout": charts.highest_by_n(
                {each.label: fallout[each.label] for each in drawn}, "Fallout", n=run.n
            ),
            "curve_heads": tuple(range(1, len(next(iter(recall.values()), ())) + 1)),
            "recall_lines": [(label, list(map(tables.share, values))) for label, values in recall.items()],
            "fallout_lines": [(label, list(map(tables.share, values))) for label, values in fallout.items()],
        }
    return context


def telling_columns(rows: Sequence[ModelRow], heads: Mapping[str, str], sort: str) -> tuple[dict[str, str], list[str]]:
    """Return the heads of the columns that differ between rows and from each other, and a phrase about each other one.

    The first column always stays, and the one that the table is sorted by.
    """
    shown: dict[str, str] = {}
    not_shown: list[str] = []
    seen: dict[tuple[str, ...], str] = {}
    for key, head in heads.items():
        cells = [row.cells.get(key, MetricResult(value=None)) for row in rows]
        texts = tuple(tables.cell(cell.value, cell.reason) for cell in cells)
        is_kept = not shown or key == sort.removeprefix("-")
        if texts in seen and not is_kept:
            not_shown.append(f"{head} (equals {seen[texts]})")
        elif len(rows) > 1 and len(set(texts)) == 1 and not is_kept:
            not_shown.append(f"{head} ({texts[0]} for all)")
        else:
            shown[key] = head
        seen.setdefault(texts, head)
    return shown, not_shown


def better_of(name: str) -> str:
    """Which direction of a metric is better, "higher", "lower" or "neither"; `name` is that of a column."""
    return "lower" if name == FILLED_SLOTS else direction_of(name)


def averaged(run: EvaluationRun, name: str) -> str:
    """Over what the values of a column are averaged."""
    if tables.aggregation(run.protocol):
        return "pooled"
    return "mean over users" if metric(name).definition.has_user_values else "over all lists"


def _lines(rows: Sequence[ModelRow], heads: dict[str, str], order: Sorting, baseline: str) -> list[dict[str, Any]]:
    """Format the rows of a table, sorted by printed values; those of a pinned baseline come first."""
    pinned = next((row for row in rows if row.label == baseline), None)
    unpinned = [row for row in rows if row is not pinned]
    key = order.key
    if key == "label":
        unpinned.sort(key=lambda row: row.label.casefold(), reverse=order.is_descending)
    elif key:
        values = {row.label: row.cells[key].value if key in row.cells else None for row in rows}
        unpinned.sort(key=lambda row: order.sort_key(values[row.label]))
    return [_line(row, heads, pinned) for row in ([pinned, *unpinned] if pinned else unpinned)]


def _line(row: ModelRow, heads: dict[str, str], pinned: ModelRow | None) -> dict[str, Any]:
    """Format an algorithm's row for the page; runs of earlier versions have fewer metrics."""
    cells = [row.cells.get(name, MetricResult(value=None)) for name in heads]
    against = [None if pinned is None or pinned is row else pinned.cells.get(name) for name in heads]
    remarked = [*cells, *filter(None, [row.cells.get(COVERED_PROFILES)])]
    return {
        "label": row.label,
        "is_baseline": row is pinned,
        "cells": [
            {
                "text": tables.cell(cell.value, cell.reason),
                "difference": "" if baseline is None else tables.difference(cell.value, baseline.value),
            }
            for cell, baseline in zip(cells, against, strict=True)
        ],
        "remarks": [
            *(["not servable"] if row.coverage else []),
            *sorted({cell.reason for cell in remarked if cell.reason and cell.value is not None}),
        ],
        "fit_seconds": tables.seconds(row.fit_seconds),
        "score_seconds": tables.seconds(row.score_seconds),
        "was_reused": row.was_reused,
        "remark": row.remark,
        "model_id": row.model_id,
    }


def tests_shown(run: EvaluationRun, results: Sequence[PairedTests], query: Query) -> list[dict[str, Any]]:
    """The paired tests of the chosen metric, or all, in the order of the chosen column."""
    metric = query.get("metric", "")
    chosen = [result for result in results if result.metric == metric] or list(results)
    shown = []
    for result in chosen:
        first = {"label", "a", "b", "p", *(["value"] if result.is_lower_better else ())}
        order = Sorting(query, ("label", "value", "users", "a", "b", "p"), first)
        values = {"label": attrgetter("label"), "value": attrgetter("value"), "users": attrgetter("n_users")}
        pairs = {key: attrgetter(key) for key in ("a", "b", "p")}
        sorted_result = replace(
            result,
            lines=tuple(order.arranged(result.lines, values)),
            pairs=tuple(order.arranged(result.pairs, pairs)),
        )
        names = {"label": "Algorithm", "value": "Value", "users": "Users", "a": "A", "b": "B", "p": "p adjusted"}
        value = ", ".join(filter(None, ("Value", tables.aggregation(run.protocol))))
        heads = {key: order.head(key, name) for key, name in {**names, "value": value}.items()}
        line = tables.pairwise_lines([sorted_result])[0]
        if order.key in values:
            line["order"] = f"Sorted by {names[order.key].lower()}"
        shown.append({**line, "heads": heads, "has_sorted_pairs": order.key in pairs})
    return shown


def groups_shown(groups: Sequence[GroupTable], query: Query) -> list[dict[str, Any]]:
    """The tables of the chosen division of users, or all, in the order of the chosen column."""
    chosen = [table for table in groups if table.key == query.get("division", "")] or list(groups)
    shown = []
    for table in chosen:
        index_of = {f"group-{index}": index for index in range(len(table.names))}
        lower = index_of if better_of(table.metric) == "lower" else ()
        order = Sorting(query, ("label", *index_of, "difference", "ratio"), {"label", *lower})
        values: dict[str, Callable[[GroupLine], Any]] = {
            "label": attrgetter("label"),
            "difference": lambda line: line.gap.value if line.gap else None,
            "ratio": lambda line: line.ratio.value if line.ratio else None,
            **{key: partial(_mean, index) for key, index in index_of.items()},
        }
        ordered = replace(table, lines=tuple(order.arranged(table.lines, values)))
        pairs = zip(index_of, table.names, table.n_users, strict=False)
        heads = [order.head(key, name.capitalize(), f"{n:,} users") for key, name, n in pairs]
        heads_of_columns = {"label": "Algorithm", "difference": "Difference", "ratio": "Ratio"}
        extra = {f"{key}_head": order.head(key, name) for key, name in heads_of_columns.items()}
        shown.append({**tables.group_lines([ordered])[0], "heads": heads, **extra})
    return shown


def _mean(index: int, line: GroupLine) -> float | None:
    return line.means[index]


def differences_shown(differences: Sequence[Difference], query: Query) -> dict[str, Any]:
    """The differences between two runs in the order of the chosen column, and the heads of the columns."""
    names = {"label": "Algorithm", "metric": "Metric", "a": "A", "b": "B", "difference": "A − B"}
    names |= {"users": "Users", "p": "p"}
    order = Sorting(query, tuple(names), ("label", "metric", "p"))
    values = {key: attrgetter({"users": "n_users", "p": "p_adjusted"}.get(key, key)) for key in names}
    heads = {key: order.head(key, name) for key, name in names.items()}
    return {"lines": tables.difference_lines(order.arranged(differences, values)), "heads": heads}
