"""Numbers of test cases, test users and candidates of a run that has not started."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from catalog.selectors.ratings import ratings_of, timestamps_of
from core.errors import DataError, ParallaxError, ParameterError
from core.provenance import canonical_json, rng_for
from evaluation.models import EvaluationRun
from evaluation.services.run_holdout import partition_cases, probe_pairs
from evaluation.services.run_inputs import complete_protocol
from evaluation.splitting.registry import Pairs, SplitSpec, partitions, spec_of
from evaluation.splitting.rows import RatingRows, reserve
from recommenders.holdout import part_of

MOST_RATINGS = 500_000  # read for one count, over all partitions; users of larger datasets are sampled
MOST_PARTITIONS = 25
COUNTS_KEPT = 64


@dataclass(frozen=True)
class CaseCounts:
    """Numbers of a run's test cases and test users, the range of candidates per case, and the size of the dataset.

    The range is None if the protocol draws no candidates. `is_estimate`: the numbers come from a sample of the users or
    of the partitions.
    """

    cases: int
    users: int
    candidates: tuple[int, int] | None
    requested: int | None
    n_items: int
    is_estimate: bool

    @property
    def are_too_few(self) -> bool:
        """Whether a case has fewer candidates than asked for."""
        return self.candidates is not None and self.requested is not None and self.candidates[0] < self.requested


@dataclass(frozen=True, eq=False)
class _Sample:
    """Ratings of some users, renumbered; `share` is theirs of all users."""

    user_items: Any
    times: NDArray[np.int64] | None
    reserved: NDArray[np.int32]
    listed: Pairs | None
    share: float


def case_counts(
    *, version: DatasetVersion, split: Mapping[str, Any], protocol: Mapping[str, Any], reserved: float, seed: int
) -> CaseCounts:
    """Count the cases that a run would have; with more than `MOST_RATINGS` to read, on a random sample of users.

    Raises ParallaxError with code ``run.bad_input`` if the split or the protocol is impossible on this dataset.
    """
    try:
        complete = complete_protocol(version, protocol)
        return _counted(version.pk, canonical_json(split), canonical_json(complete), reserved, seed)
    except (ParameterError, DataError) as problem:
        raise ParallaxError("run.bad_input", str(problem)) from problem


@lru_cache(maxsize=COUNTS_KEPT)
def _counted(version_pk: int, split: str, protocol: str, reserved: float, seed: int) -> CaseCounts:
    # Versions do not change, so that equal arguments have equal counts.
    run = EvaluationRun(
        version=DatasetVersion.objects.get(pk=version_pk),
        split=json.loads(split),
        protocol=json.loads(protocol),
        reserve=reserved,
        seed=seed,
    )
    spec = spec_of(run.split)
    n_partitions = min(spec.n_trainings(run.version.n_users), MOST_PARTITIONS)
    sample = _sample(run, spec, MOST_RATINGS // n_partitions)
    if sample.share < 1:
        spec = _shrunk(spec, sample.share)
        if run.protocol.get("utility") == "given":  # the utilities of a sample are not at hand
            run.protocol["utility"] = "rating"
    return _count(run, spec, sample)


def _count(run: EvaluationRun, spec: SplitSpec, sample: _Sample) -> CaseCounts:
    rows = RatingRows.of(sample.user_items, times=sample.times, reserved=sample.reserved)
    total = spec.n_trainings(rows.n_users)
    n_cases, n_read, users = 0, 0, [np.empty(0, dtype=np.int32)]
    bounds: list[int] = []
    for partition in islice(partitions(spec, rows, run.seed, sample.listed), MOST_PARTITIONS):
        known = (
            partition.profiles(sample.user_items)
            if len(partition.profile)
            else part_of(sample.user_items, partition.train)
        )
        cases = partition_cases(run, spec, rows, partition, known)
        n_cases, n_read = n_cases + len(cases), n_read + 1
        users.append(np.unique(cases.users))
        if len(cases) and "negatives" in run.protocol:
            bounds += [int(cases.n_candidates.min()), int(cases.n_candidates.max())]
    factor = max(1.0, total / MOST_PARTITIONS) / sample.share
    n_users = len(np.unique(np.concatenate(users)))
    return CaseCounts(
        cases=round(n_cases * factor),
        users=min(round(n_users * factor), run.version.n_users),
        candidates=(min(bounds), max(bounds)) if bounds else None,
        requested=run.protocol.get("negatives"),
        n_items=run.version.n_items,
        is_estimate=factor > 1,
    )


def _sample(run: EvaluationRun, spec: SplitSpec, most: int) -> _Sample:
    """Return all ratings, or those of a random sample of users with about `most` ratings."""
    user_items = ratings_of(run.version).user_items
    times = timestamps_of(run.version) if spec.needs_times else None
    reserved, listed = reserve(run.version.n_users, run.reserve, run.seed), probe_pairs(run)
    if user_items.nnz <= most:
        return _Sample(user_items, times, reserved, listed, 1.0)
    n_users = user_items.shape[0]
    size = max(1, round(n_users * most / user_items.nnz))
    chosen = np.sort(rng_for(run.seed, "case counts").choice(n_users, size, replace=False))
    if times is not None and len(times):
        is_chosen = np.isin(np.repeat(np.arange(n_users), np.diff(user_items.indptr)), chosen)
        times = np.asarray(times)[is_chosen]
    if listed is not None:
        users, items = listed
        is_listed = np.isin(users, chosen)
        listed = (np.searchsorted(chosen, users[is_listed]), items[is_listed])
    renumbered = np.flatnonzero(np.isin(chosen, reserved)).astype(np.int32)
    return _Sample(user_items[chosen], times, renumbered, listed, size / n_users)


def _shrunk(spec: SplitSpec, share: float) -> SplitSpec:
    inner = None if spec.inner is None else _shrunk(spec.inner, share)
    test_users = getattr(spec.options, "test_users", 0)
    options = replace(spec.options, test_users=max(1, round(test_users * share))) if test_users else spec.options
    return replace(spec, options=options, inner=inner)
