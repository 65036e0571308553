"""Repetitions of a run with other splits and training seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.provenance import derived_seed, digest_of
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun
from evaluation.run_spec import RunSpec
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import UserValues, model_rows, user_values
from evaluation.selectors.runs import algorithms_of, measured_algorithms

MOST_REPEATS = 50


def repeat_seed(run: EvaluationRun, number: int) -> int:
    """Return the seed of a repetition; the run itself is number 1.

    Examples
    --------
    >>> repeat_seed(EvaluationRun(seed=7), 1)
    7
    """
    return run.seed if number == 1 else derived_seed(run.seed, "repeat", number)


def repeats_of(run: EvaluationRun) -> list[EvaluationRun]:
    """Return the succeeded repetitions of a run in their order, without the run itself.

    They have all its inputs but the seed, and results of the same algorithms.
    """
    numbers = {repeat_seed(run, number): number for number in range(2, MOST_REPEATS + 1)}
    succeeded = EvaluationRun.objects.comparable_in(run.project_id).filter(
        version=run.version, status=RunStatus.SUCCEEDED, seed__in=numbers, n=run.n, threads=run.threads
    )
    repeats: dict[int, EvaluationRun] = {}
    for repeat in succeeded.order_by("pk"):
        if is_same_but_for_seed(run, repeat) and _measured(run) == _measured(repeat):
            repeats.setdefault(numbers[repeat.seed], repeat)
    return [repeats[number] for number in sorted(repeats)]


def is_same_but_for_seed(run: EvaluationRun, repeat: EvaluationRun) -> bool:
    """Whether two runs have the same inputs, whatever their seeds."""
    names = {"version_id", *RunSpec.model_fields} - {"algorithms", "seed"}
    if any(getattr(run, name) != getattr(repeat, name) for name in names):
        return False
    first, second = (
        [(algorithm.algorithm, algorithm.params) for algorithm in algorithms_of(which)] for which in (run, repeat)
    )
    return first == second


def _measured(run: EvaluationRun) -> list[int]:
    return list(measured_algorithms(run).values_list("position", flat=True))


@dataclass(frozen=True)
class RepeatedValues:
    """A metric by user in every repetition, as sums: what each user adds to the hits, and how many cases there are.

    `hits` has shape (n_repeats, n_users, n_algorithms), `cases` shape (n_repeats, n_users), 0 for users without cases.
    """

    hits: NDArray[np.float64]
    cases: NDArray[np.float64]
    labels: tuple[str, ...]


def repeated_values(runs: Sequence[EvaluationRun], metric: str, profile_length: int = 0) -> RepeatedValues:
    """Return a metric of the same algorithms in several runs; raises as `user_values`.

    Users with one value each, of protocols without recall of single items, have one case. A user without a value of
    some algorithm has no case.
    """
    measured = [user_values(run, metric, profile_length) for run in runs]
    counts = [_case_counts(run, metric, values) for run, values in zip(runs, measured, strict=True)]
    users = np.unique(np.concatenate([values.user_ids for values in measured]))
    cases = np.zeros((len(runs), len(users)))
    hits = np.zeros((len(runs), len(users), len(measured[0].labels)))
    for number, (values, count) in enumerate(zip(measured, counts, strict=True)):
        rows = np.searchsorted(users, values.user_ids)
        complete = np.where(np.isnan(values.values).any(axis=1), 0, count)
        cases[number, rows] = complete
        hits[number, rows] = np.nan_to_num(values.values) * complete[:, None]
    return RepeatedValues(hits=hits, cases=cases, labels=measured[0].labels)


def _case_counts(run: EvaluationRun, metric: str, values: UserValues) -> NDArray[np.int64]:
    if run.protocol["name"] != "one-plus-random":
        return np.ones(len(values.user_ids), dtype=np.int64)
    cases = cases_of(run).cases
    is_kind = cases.is_relevant if metric.partition("@")[0] == "recall" else ~cases.is_relevant
    owners = np.searchsorted(values.user_ids, cases.users[is_kind])
    return np.bincount(owners, minlength=len(values.user_ids)).astype(np.int64)


def results_digest(run: EvaluationRun) -> str:
    """Return a digest of all results of a run by user."""
    lengths = (0, *run.profile_lengths)
    return digest_of([[row.users_digest for row in model_rows(run, length)] for length in lengths])
