"""The repetitions of a report's run, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.models import EvaluationRun
from evaluation.reported_kinds import tested_kinds
from evaluation.selectors.repeats import repeated_values, repeats_of, results_digest
from evaluation.selectors.results import reported_metrics


@dataclass(frozen=True)
class RepeatedMeasure:
    """What users add to a metric's hits, shape (n_repeats, n_users, n_conditions), and their cases, shape (n_repeats,
    n_users).
    """

    kind: str
    profile_length: int
    hits: NDArray[np.float64]
    cases: NDArray[np.float64]


@dataclass(frozen=True)
class Repetitions:
    """The run of a report and its repetitions; `digests` are of the inputs and the results of each."""

    seeds: tuple[int, ...]
    conditions: tuple[str, ...]
    measures: tuple[RepeatedMeasure, ...]
    digests: tuple[tuple[str, str], ...]


def repetitions_of(run: EvaluationRun, conditions: tuple[str, ...], positions: Sequence[int]) -> Repetitions | None:
    """Read the repetitions of a run for a study's conditions at all profile lengths; None where it has none."""
    repeats = repeats_of(run)
    if not repeats:
        return None
    runs, columns, names = [run, *repeats], list(positions), reported_metrics(run)
    measures = []
    for length in (0, *run.profile_lengths):
        for kind in tested_kinds(run.protocol):
            if kind not in names:
                continue
            values = repeated_values(runs, names[kind], length)
            measures.append(RepeatedMeasure(kind, length, values.hits[:, :, columns], values.cases))
    return Repetitions(
        seeds=tuple(each.seed for each in runs),
        conditions=conditions,
        measures=tuple(measures),
        digests=tuple((each.inputs_hash, results_digest(each)) for each in runs),
    )
