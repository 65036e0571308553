"""The metrics of a finished run without each of twenty groups of its test users: what claims are tested with.

The groups are the same for every algorithm, so that the difference of two algorithms has its own standard error,
whatever the metric: a mean over users, a quotient of sums, the area under a pooled curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import artefacts
from core.provenance import rng_for
from evaluation.models import EvaluationRun, RunAlgorithm
from evaluation.protocols.blocks import MOST_SCORES, Arrays, joined, measure_block, measured_alone
from evaluation.protocols.outcomes import of_users
from evaluation.selectors.cases import RunCases, cases_of, training_rows
from evaluation.selectors.results import model_rows
from evaluation.selectors.runs import algorithms_of, longest_list
from evaluation.services.numerics import numeric_threads
from evaluation.services.reducing import TrainingSides, outcomes_of, training_sides
from evaluation.services.runs import BLOCK_USERS
from evaluation.services.serving import opened_model
from evaluation.splitting.profile import cut_profiles
from recommenders.data import Profiles

GROUPS = 20

Values = Mapping[str, NDArray[np.float64]]  # by metric: without each group, NaN where there is no value
Groups = Sequence[NDArray[np.int64]]


def values_without_groups(run: EvaluationRun, profile_length: int = 0) -> tuple[Values, ...]:
    """Every metric of every algorithm without each group of test users, in the order of the run's algorithms.

    Empty for a run with folds, whose models are not independent, and for one with too few test users to group.
    """
    if run.folds:
        return ()
    found = cases_of(run)
    users = np.unique(found.cases.users).astype(np.int64)
    if found.development is not None:
        users = np.setdiff1d(users, found.development)
    if len(users) < GROUPS:
        return ()
    shuffled = rng_for(run.seed, "groups of test users").permutation(users)
    groups = [np.sort(group) for group in np.array_split(shuffled, GROUPS)]
    sides = training_sides(run, [found])
    if run.protocol["name"] == "unconstrained":
        with numeric_threads(run.threads):
            return tuple(
                _without_groups_of_pool(run, algorithm, groups, found, sides, profile_length)
                for algorithm in algorithms_of(run)
            )
    return tuple(
        _without_groups(run, algorithm, row.users_digest, users, groups, found, sides)
        for algorithm, row in zip(algorithms_of(run), model_rows(run, profile_length), strict=True)
    )


def _without_groups(
    run: EvaluationRun,
    algorithm: RunAlgorithm,
    digest: str,
    users: NDArray[np.int64],
    groups: Groups,
    found: RunCases,
    sides: TrainingSides,
) -> Values:
    arrays = measured_alone(artefacts.load("results", digest).arrays)
    rows = []
    for group in groups:
        rest = of_users(found.cases, arrays, np.setdiff1d(users, group))
        measured = outcomes_of(run, algorithm, *rest, sides, are_curves_kept=False)
        rows.append({one.metric: one.value for one in measured.values})
    return _columns(rows)


def _without_groups_of_pool(
    run: EvaluationRun,
    algorithm: RunAlgorithm,
    groups: Groups,
    found: RunCases,
    sides: TrainingSides,
    profile_length: int,
) -> Values:
    """One list over all pairs is kept as counts by score, without users: its model scores each group once more."""
    if algorithm.model is None:
        return {}
    pools = [_pool_of(run, algorithm.model.digest, group, found, profile_length) for group in groups]
    if sum(len(pool["scores"]) for pool in pools) > MOST_SCORES:
        return {}
    scores = np.unique(np.concatenate([pool["scores"] for pool in pools]))
    places = [np.searchsorted(scores, pool["scores"]) for pool in pools]
    total = {name: np.zeros(len(scores), dtype=np.int64) for name in ("n_relevant", "n_others")}
    for pool, place in zip(pools, places, strict=True):
        for name, counts in total.items():
            counts[place] += pool[name]
    rows = []
    for pool, place in zip(pools, places, strict=True):
        rest = {name: counts.copy() for name, counts in total.items()}
        for name, counts in rest.items():
            counts[place] -= pool[name]
        kept = np.flatnonzero(rest["n_relevant"] + rest["n_others"])[::-1]  # scores fall, each stands for some pair
        arrays = {"scores": scores[kept], **{name: counts[kept] for name, counts in rest.items()}}
        measured = outcomes_of(run, algorithm, found.cases, arrays, sides)
        rows.append({one.metric: one.value for one in measured.values})
    return _columns(rows)


def _pool_of(
    run: EvaluationRun, model_digest: str, users: NDArray[np.int64], found: RunCases, profile_length: int
) -> Arrays:
    """All pairs of some users, by score."""
    model, ratings = opened_model(model_digest), training_rows(found.profiles_digest)
    of_group = np.flatnonzero(np.isin(found.cases.users, users))
    blocks = []
    for at in range(0, len(users), BLOCK_USERS):
        block = users[at : at + BLOCK_USERS]
        profiles = Profiles.of(ratings, np.searchsorted(found.profiled, block))
        if profile_length:
            shorter = cut_profiles(profiles.user_items, n=profile_length, seed=run.seed, users=block)
            profiles = Profiles(shorter, ratings.scale)
        rows = of_group[np.isin(found.cases.users[of_group], block)]
        scores = model.score(profiles)
        blocks.append(
            measure_block(
                run.protocol, found.cases, rows, scores, block, model.popularity, longest=longest_list(run)
            )
        )  # fmt: skip
    return joined(run.protocol, blocks)


def _columns(rows: Sequence[Mapping[str, Any]]) -> Values:
    return {
        name: np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)
        for name in rows[0]
    }
