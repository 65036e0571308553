"""A run as one JSON document: every number, with the hashes of what it came from."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from catalog.selectors.ratings import user_ids_of
from charting.render import svg
from core import artefacts
from evaluation import charts
from evaluation.models import EvaluationRun
from evaluation.protocols.observation_curves import GROC, KINDS, PRECISION_RECALL, Drawn
from evaluation.selectors.candidates import candidate_range
from evaluation.selectors.cases import cases_of
from evaluation.selectors.comparing import Comparison
from evaluation.selectors.lists import overlaps
from evaluation.selectors.orders import other_order
from evaluation.selectors.results import case_counts, curves, metrics_by_user, model_rows, table, user_values
from evaluation.selectors.runs import failed_algorithms, metric_names

FORMULA = ("=", "+", "@", "\t", "\r")
POOLED = {"groc": GROC, "precision-recall": PRECISION_RECALL}
FIGURES = {
    "one-plus-random": ("recall", "fallout"),
    "test-observations": tuple(KINDS),
    "unconstrained": tuple(POOLED),
}


def run_document(run: EvaluationRun, *, has_cases: bool = False) -> dict[str, Any]:
    """Give a finished run's inputs, hashes, counts and results, by algorithm and profile length.

    With `has_cases`, each algorithm at whole profiles has the candidates `above` and `tied` with each case.

    Raises
    ------
    ParallaxError
        The run has no results.
    """
    n_cases = (run.n_relevant or 0) + (run.n_irrelevant or 0)
    given = run.protocol.get("g")
    algorithms = _rows(run, 0)
    if has_cases:
        for row, (above, tied) in zip(algorithms, case_counts(run), strict=True):
            row |= {"above": above.tolist(), "tied": tied.tolist()}
    shared, candidates = overlaps(run), candidate_range(run)
    return {
        "run": run.pk,
        "dataset": run.version.dataset.name,
        "dataset_version": run.version.number,
        "dataset_hash": run.version.content_hash,
        "inputs_hash": run.inputs_hash,
        "cases_hash": run.cases_digest,
        "training_hash": "" if run.folds else cases_of(run).training_digest,
        **({"folds": _folds(run)} if run.folds else {}),
        "split": run.split,
        "protocol": run.protocol,
        "task": run.task,
        "metrics": metric_names(run),
        "comments": run.comments,
        "reserve": run.reserve,
        "seed": run.seed,
        "n": run.n,
        "threads": run.threads,
        "g": given if given is not None else (run.n_relevant or 0) / n_cases if n_cases else None,
        "n_relevant": run.n_relevant,
        "n_irrelevant": run.n_irrelevant,
        **({"candidates": {"fewest": candidates.fewest, "most": candidates.most}} if candidates else {}),
        "left_out": run.left_out,
        "counted": run.counted,
        "environment": run.environment,
        "algorithms": algorithms,
        **_failed(run),
        "at_profile_length": {str(length): _rows(run, length) for length in run.profile_lengths},
        **({"overlap": [asdict(one) for one in shared]} if shared else {}),
        **_other_order(run),
    }


def _failed(run: EvaluationRun) -> dict[str, Any]:
    """The algorithms that failed, each with the reason; nothing where none did."""
    failed = [
        {"key": one.algorithm, "label": one.label, "params": one.params, "reason": one.error}
        for one in failed_algorithms(run)
    ]
    return {"failed": failed} if failed else {}


def _folds(run: EvaluationRun) -> list[dict[str, str]]:
    return [
        {"label": fold["label"], "cases_hash": fold["cases"], "training_hash": cases_of(run, at).training_digest}
        for at, fold in enumerate(run.folds)
    ]


def _rows(run: EvaluationRun, profile_length: int) -> list[dict[str, Any]]:
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
            "values": {
                name: {"value": cell.value, "reason": cell.reason, "by_n": list(cell.by_n)}
                for name, cell in row.cells.items()
            },
        }
        for row in model_rows(run, profile_length)
    ]
    if run.protocol["name"] == "one-plus-random":
        for line, row, curve in zip(rows, table(run, profile_length), curves(run, profile_length), strict=True):
            line |= {
                "recall": row.recall,
                "fallout": row.fallout,
                "precision": row.precision,
                "f_measure": row.f_measure,
                "by_n": {
                    "n": list(curve.n),
                    "recall": list(curve.recall),
                    "fallout": list(curve.fallout),
                    "precision": list(curve.precision),
                    "f_measure": list(curve.f_measure),
                },
            }
    return rows


def comparison_document(found: Comparison) -> dict[str, Any]:
    """Give a comparison of two runs, with what differs between them and every test."""
    return {
        "runs": [
            {"run": run.pk, "dataset": run.version.dataset.name, "inputs_hash": run.inputs_hash}
            for run in (found.a, found.b)
        ],
        "settings_that_differ": {name: list(pair) for name, pair in found.settings.items()},
        "has_same_cases": found.has_same_cases,
        "test": "sign test by user, two-sided",
        "correction": found.correction,
        "differences": [asdict(one) for one in found.differences],
        "only_in_a": list(found.only_a),
        "only_in_b": list(found.only_b),
        "metrics_of_one_run_alone": list(found.not_compared),
    }


def user_rows(run: EvaluationRun) -> Iterator[list[Any]]:
    """Give a run's values by user as rows of a table: a line for each user, metric, algorithm and profile length."""
    yield ["user", "metric", "algorithm", "profile_length", "value"]
    ids = user_ids_of(run.version)
    for length in (0, *run.profile_lengths):
        for metric in metrics_by_user(run):
            found = user_values(run, metric, length)
            for user, values in zip(found.user_ids, found.values.tolist(), strict=True):
                for label, value in zip(found.labels, values, strict=True):
                    if value == value:  # NaN: the user has none
                        yield [ids[user], metric, label, length or "whole", repr(value)]


def metric_rows(run: EvaluationRun) -> Iterator[list[Any]]:
    """Give a run's metrics as rows of a table: a line for each algorithm, profile length and metric.

    An algorithm that failed has one line, of the metric "failed", with the reason as its remark.
    """
    yield ["algorithm", "profile_length", "metric", "n", "value", "remark"]
    for length in (0, *run.profile_lengths):
        for row in model_rows(run, length):
            for name, cell in row.cells.items():
                if not cell.by_n:
                    yield [row.label, length or "whole", name, "", _text(cell.value), cell.reason]
                for n, value in enumerate(cell.by_n, start=1):
                    yield [row.label, length or "whole", name, n, _text(value), cell.reason]
    for one in failed_algorithms(run):
        yield [one.label, "whole", "failed", "", "", one.error]


def curve_rows(run: EvaluationRun) -> Iterator[list[Any]]:
    """Give a run's curves as rows of a table: a line for each algorithm, profile length, curve and point."""
    yield ["algorithm", "profile_length", "curve", "x", "y"]
    if run.protocol["name"] == "one-plus-random":
        for length in (0, *run.profile_lengths):
            for line in curves(run, length):
                for name in ("recall", "fallout", "precision", "f_measure"):
                    for n, value in zip(line.n, getattr(line, name), strict=True):
                        yield [line.label, length or "whole", f"{name} by n", n, _text(value)]
    for curve in curves_of(run):
        for label, (across, up) in curve.lines.items():
            for x, y in np.column_stack([across, up]).tolist():
                yield [label, "whole", curve.name, repr(x), repr(y)]


NUMBERS = frozenset({"n", "value", "x", "y", "profile_length"})


def records_of(rows: Iterable[list[Any]]) -> Iterator[dict[str, Any]]:
    """Give the rows of a table as JSON holds them: null where there is no number, and for the whole profile."""
    names: list[str] = []
    for row in rows:
        if names:
            yield {name: _number(cell) if name in NUMBERS else cell for name, cell in zip(names, row, strict=True)}
        else:
            names = row


def record_texts(head: Mapping[str, Any], key: str, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Write one JSON object, a record at a time: the facts of `head`, and under `key` a list, a record a line."""
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
    """Write rows as CSV, line by line; a text that a spreadsheet would take for a formula is marked as text."""
    for row in rows:
        line = io.StringIO()
        csv.writer(line).writerow([f"'{one}" if isinstance(one, str) and one[:1] in FORMULA else one for one in row])
        yield line.getvalue()


def _other_order(run: EvaluationRun) -> dict[str, Any]:
    """Where the other of one plus random and full ranking orders the algorithms differently, if both were run."""
    found = other_order(run)
    if found is None:
        return {}
    return {
        "other_order": {
            "run": found.other.pk,
            "protocol": found.other.protocol["name"],
            "by": f"recall@{found.n}",
            "n_pairs": found.n_pairs,
            "turned": [asdict(one) for one in found.turned],
        }
    }


@dataclass(frozen=True)
class CurveOfRun:
    """One of a run's curves: its lines, those it is read against, and what is to be known of it."""

    name: str
    drawn: Drawn
    lines: dict[str, charts.Line]
    reading: dict[str, charts.Line]
    n_left_out: int | None  # people, where each has a curve of their own


def curves_of(run: EvaluationRun) -> list[CurveOfRun]:
    """Give the curves of test observations, or of one list over all pairs, that any algorithm has; else none."""
    kinds = {"test-observations": KINDS, "unconstrained": POOLED}.get(run.protocol["name"], {})
    kept = {row.label: artefacts.load("results", row.users_digest).arrays for row in model_rows(run)} if kinds else {}
    found = []
    for name, drawn in kinds.items():
        has = {label: arrays for label, arrays in kept.items() if f"{name}_x" in arrays}
        if has:
            first = next(iter(has.values()))  # the lines to read against are the same for all
            found.append(
                CurveOfRun(
                    name,
                    drawn,
                    {label: (arrays[f"{name}_x"], arrays[f"{name}_y"]) for label, arrays in has.items()},
                    {line: (first[f"{line}_x"], first[f"{line}_y"]) for line in drawn.lines},
                    int(first[f"{name}_people"][1]) if f"{name}_people" in first else None,
                )
            )
    return found


def figure(run: EvaluationRun, name: str) -> str | None:
    """Draw one of the run's figures as SVG; None where it has none of that name, or nothing to draw."""
    if name not in FIGURES.get(run.protocol["name"], ()):
        return None
    if run.protocol["name"] == "one-plus-random":
        draw = charts.recall_by_n if name == "recall" else charts.fallout_by_n
        drawn = draw({one.label: getattr(one, name) for one in curves(run)}, n=run.n)
    else:
        drawn = next((charts.curve_of_run(one) for one in curves_of(run) if one.name == name), None)
    return None if drawn is None else svg(drawn["light"])
