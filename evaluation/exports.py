"""A run as one JSON document: every number, with the hashes of what it came from."""

from __future__ import annotations

from typing import Any

from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import curves, table


def run_document(run: EvaluationRun) -> dict[str, Any]:
    """Give a finished run's inputs, hashes, counts and results, by algorithm and profile length.

    Raises
    ------
    ParallaxError
        The run has no results.
    """
    n_cases = (run.n_relevant or 0) + (run.n_irrelevant or 0)
    given = run.protocol["g"]
    return {
        "run": run.pk,
        "dataset": run.version.dataset.name,
        "dataset_version": run.version.number,
        "dataset_hash": run.version.content_hash,
        "inputs_hash": run.inputs_hash,
        "cases_hash": run.cases_digest,
        "training_hash": cases_of(run).training_digest,
        "split": run.split,
        "protocol": run.protocol,
        "reserve": run.reserve,
        "seed": run.seed,
        "n": run.n,
        "threads": run.threads,
        "g": given if given is not None else (run.n_relevant or 0) / n_cases if n_cases else None,
        "n_relevant": run.n_relevant,
        "n_irrelevant": run.n_irrelevant,
        "left_out": run.left_out,
        "counted": run.counted,
        "environment": run.environment,
        "algorithms": _rows(run, 0),
        "at_profile_length": {str(length): _rows(run, length) for length in run.profile_lengths},
    }


def _rows(run: EvaluationRun, profile_length: int) -> list[dict[str, Any]]:
    return [
        {
            "key": row.algorithm,
            "label": row.label,
            "params": dict(row.params),
            "model_hash": row.model_hash,
            "recipe": row.recipe,
            "was_reused": row.was_reused,
            "recall": row.recall,
            "fallout": row.fallout,
            "precision": row.precision,
            "f_measure": row.f_measure,
            "fit_seconds": row.fit_seconds,
            "score_seconds": row.score_seconds,
            "users_hash": row.users_digest,
            "by_n": {
                "n": list(curve.n),
                "recall": list(curve.recall),
                "fallout": list(curve.fallout),
                "precision": list(curve.precision),
                "f_measure": list(curve.f_measure),
            },
        }
        for row, curve in zip(table(run, profile_length), curves(run, profile_length), strict=True)
    ]
