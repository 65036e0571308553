"""Jackknife values for the tests of claims: the metrics of a run without each of twenty groups of its test users.

The groups are the same for every algorithm, so that the difference between two algorithms has its own standard error
for any metric: a mean over users, a ratio of sums, or the area under a pooled curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import artefacts
from core.provenance import rng_for
from evaluation.models import EvaluationRun, RunAlgorithm
from evaluation.protocols.blocks import MAX_SCORES, measured_arrays
from evaluation.protocols.outcomes import of_users
from evaluation.selectors.cases import RunCases, cases_of, training_rows
from evaluation.selectors.results import model_rows
from evaluation.selectors.runs import measured_algorithms
from evaluation.services.coverage import compared_users
from evaluation.services.measurement import measure_users
from evaluation.services.numerics import numeric_threads
from evaluation.services.optional_inputs import profile_rows
from evaluation.services.reduction import TrainingSides, outcomes_of, training_sides
from evaluation.services.serving import opened_model

GROUPS = 20

Values = Mapping[str, NDArray[np.float64]]  # by metric: the value without each group, NaN if undefined
Groups = Sequence[NDArray[np.int64]]


def values_without_groups(run: EvaluationRun, profile_length: int = 0) -> tuple[Values, ...]:
    """Compute every metric of every algorithm without each group of test users, in the order of the algorithms.

    Empty for runs with folds, whose models are not independent, and for runs with too few test users to group.
    """
    if run.folds:
        return ()
    run_cases = cases_of(run)
    users = np.unique(run_cases.cases.users).astype(np.int64)
    if run_cases.development is not None:
        users = np.setdiff1d(users, run_cases.development)
    if (compared := compared_users(run, run_cases, profile_length)) is not None:
        users = np.intersect1d(users, compared)
    if len(users) < GROUPS:
        return ()
    shuffled = rng_for(run.seed, "groups of test users").permutation(users)
    groups = [np.sort(group) for group in np.array_split(shuffled, GROUPS)]
    sides = training_sides(run, [run_cases])
    if run.protocol["name"] == "unconstrained":
        with numeric_threads(run.threads):
            return tuple(
                _without_groups_of_pool(
                    run, algorithm, groups, run_cases=run_cases, sides=sides, profile_length=profile_length
                )
                for algorithm in measured_algorithms(run)
            )
    return tuple(
        _without_groups(run, algorithm, row.users_digest, groups, run_cases=run_cases, sides=sides)
        for algorithm, row in zip(measured_algorithms(run), model_rows(run, profile_length), strict=True)
    )


def _without_groups(
    run: EvaluationRun,
    algorithm: RunAlgorithm,
    digest: str,
    groups: Groups,
    *,
    run_cases: RunCases,
    sides: TrainingSides,
) -> Values:
    arrays = measured_arrays(artefacts.load("results", digest).arrays)
    users = np.concatenate(groups)
    rows = []
    for group in groups:
        rest = of_users(run_cases.cases, arrays, np.setdiff1d(users, group))
        measured = outcomes_of(run, *rest, sides.of_scores(algorithm.algorithm), are_curves_kept=False)
        rows.append({result.metric: result.value for result in measured.values})
    return _columns(rows)


def _without_groups_of_pool(
    run: EvaluationRun,
    algorithm: RunAlgorithm,
    groups: Groups,
    *,
    run_cases: RunCases,
    sides: TrainingSides,
    profile_length: int,
) -> Values:
    # One list over all pairs is stored as counts by score, so each group is scored again.
    if algorithm.model is None:
        return {}
    model, profiled = opened_model(algorithm.model.digest), run_cases.profiled
    ratings = profile_rows(type(model), training_rows(run_cases.profiles_digest), run.version, profiled)
    measure = partial(
        measure_users, run, model=model, ratings=ratings, profiled=profiled, profile_length=profile_length
    )
    pools = [measure(run_cases.cases.of_users(group)[0], group) for group in groups]
    if sum(len(pool["scores"]) for pool in pools) > MAX_SCORES:
        return {}
    scores = np.unique(np.concatenate([pool["scores"] for pool in pools]))
    positions = [np.searchsorted(scores, pool["scores"]) for pool in pools]
    total = {name: np.zeros(len(scores), dtype=np.int64) for name in ("n_relevant", "n_others")}
    for pool, rows_of_pool in zip(pools, positions, strict=True):
        for name, counts in total.items():
            counts[rows_of_pool] += pool[name]
    rows = []
    for pool, rows_of_pool in zip(pools, positions, strict=True):
        rest = {name: counts.copy() for name, counts in total.items()}
        for name, counts in rest.items():
            counts[rows_of_pool] -= pool[name]
        present = np.flatnonzero(rest["n_relevant"] + rest["n_others"])[::-1]  # in descending order of scores
        arrays = {"scores": scores[present], **{name: counts[present] for name, counts in rest.items()}}
        measured = outcomes_of(run, run_cases.cases, arrays, sides.of_scores(algorithm.algorithm))
        rows.append({result.metric: result.value for result in measured.values})
    return _columns(rows)


def _columns(rows: Sequence[Mapping[str, Any]]) -> Values:
    return {
        name: np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)
        for name in rows[0]
    }
