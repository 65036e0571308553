"""What a run hides and what it measures on: its reserved users, its split, its cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from catalog.selectors.ratings import (
    item_utilities,
    mean_utilities,
    probe_of,
    ratings_of,
    timestamps_of,
    utilities_of,
)
from core import artefacts
from core.errors import DataError
from evaluation.models import EvaluationRun
from evaluation.protocols import registry
from evaluation.protocols.cases import Cases, make_cases
from evaluation.services.inputs import NO_LIST, OWN_LIST
from evaluation.splitting.cold_start import observations
from evaluation.splitting.leaks import refuse_leaks
from evaluation.splitting.options import ColdStartItems
from evaluation.splitting.partition import RESERVED, Partition, part_of
from evaluation.splitting.registry import Pairs, SplitSpec, partitions, split_spec
from evaluation.splitting.reserve import reserve
from evaluation.splitting.rows import RatingRows
from recommenders.data import Ratings

MOST_BITMAP_BYTES = 256 * 2**20  # of candidates drawn once for all algorithms; more are drawn as they are needed


@dataclass(frozen=True)
class Hidden:
    """The two sides of a run, or of one of its folds.

    `training` has a row for each user of `trained` (indexes of the dataset); `reserved` are the users no
    model sees. `profiles` and `profiled` are the same of what test users are scored by, where they are not trained
    on. `left_out` and `counted` are in words, with counts.
    """

    training: Ratings
    trained: NDArray[np.int64]
    reserved: NDArray[np.int64]
    cases: Cases
    left_out: Mapping[str, int]
    counted: Mapping[str, int]
    label: str = ""
    n_hidden: int = 0
    profiles: Ratings | None = None
    profiled: NDArray[np.int64] | None = None
    file_rows: NDArray[np.int64] | None = None
    utilities: NDArray[np.float64] | None = None  # of each item, in the training rows, where rows have a utility
    development: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def hide(*, run: EvaluationRun) -> Iterator[Hidden]:
    """Reserve, split and make the cases; everything depends on the run's inputs alone.

    Yields the sides of each fold where the split trains several models, otherwise one.

    Raises
    ------
    DataError
        The split cannot be made of these ratings, or would let a model see what it is measured on.
    """
    if run.split["name"] == "file":
        yield _given(run)
        return
    ratings = ratings_of(run.version)
    reserved = reserve(ratings.n_users, run.reserve, run.seed)
    spec = spec_of(run.split)
    times = timestamps_of(run.version) if spec.needs_times else None
    rows = RatingRows.of(ratings.user_items, times=times, reserved=reserved)
    for partition in partitions(spec, rows, run.seed, _listed(run)):
        refuse_leaks(rows, partition)
        yield _hidden(run, spec, rows, partition, ratings)


def _hidden(run: EvaluationRun, spec: SplitSpec, rows: RatingRows, partition: Partition, ratings: Ratings) -> Hidden:
    """The sides and cases of one partition."""
    reserved = rows.reserved
    known = partition.profiles(ratings.user_items) if len(partition.profile) else None
    training = part_of(ratings.user_items, partition.train)
    cases = _cases(run, spec, rows, partition, training if known is None else known)
    profiled = np.unique(rows.users[partition.profile]).astype(np.int64)
    trained = np.setdiff1d(np.arange(ratings.n_users, dtype=np.int64), np.union1d(reserved, profiled))
    left_out = {"reserved users": len(reserved), RESERVED: 0, **partition.left_out, **cases.left_out}
    # Items without a training rating stay among the cases: no algorithm but a content-based one can score them.
    counted = {what: count for what, count in partition.counted.items() if what not in left_out}
    if "negatives" in run.protocol:
        counted[f"cases with fewer than {cases.negatives:,} unrated items to draw from"] = cases.n_short
        cases = with_candidates(cases)
    return Hidden(
        label=partition.label,
        n_hidden=len(partition.hidden),
        profiles=None if known is None else Ratings(known[profiled], ratings.scale),
        profiled=None if known is None else profiled,
        training=Ratings(training[trained] if len(trained) < ratings.n_users else training, ratings.scale),
        trained=trained,
        reserved=reserved.astype(np.int64),
        cases=cases,
        left_out=left_out,
        counted=counted,
        development=partition.development_users.astype(np.int64),
        utilities=mean_utilities(run.version, partition.train),
    )


def spec_of(split: Mapping[str, Any]) -> SplitSpec:
    """The split of a run; a probe list is named there by the digest it was kept under."""
    return split_spec(str(split["name"]), {name: value for name, value in split.items() if name != "name"})


def _listed(run: EvaluationRun) -> Pairs | None:
    if not run.split.get("list"):
        return None
    if run.split["list"] == OWN_LIST:
        pairs = probe_of(run.version)
        if pairs is None:
            raise DataError(NO_LIST.format(run.version))
        return pairs[:, 0], pairs[:, 1]
    kept = artefacts.load("probes", run.split["list"]).arrays
    return np.asarray(kept["users"]), np.asarray(kept["items"])


def _cases(run: EvaluationRun, spec: SplitSpec, rows: RatingRows, partition: Partition, known: Any) -> Cases:
    """The hidden ratings as cases; a cold start says itself what is good, and which items are recommended.

    `known` is the matrix of the ratings that test users are scored by.
    """
    protocol = registry.protocol(run.protocol["name"])
    options = spec.inner.options if spec.inner else spec.options
    users, items = rows.users[partition.hidden], rows.items[partition.hidden]
    values = rows.values[partition.hidden]
    if run.protocol.get("utility") == "given":
        return _worth_cases(run, partition, known, users, items, values)
    good: NDArray[np.bool_] | None = None
    is_cold = isinstance(options, ColdStartItems)
    if is_cold and options.outcome == "explicit":
        good = values >= options.threshold
    elif is_cold and protocol.key == "test-observations":
        found = observations(rows, partition, outcome="implicit", candidates="all")
        users, items, good = found.users, found.items, found.is_good
        values = np.full(len(users), np.nan, dtype=np.float32)
    elif is_cold:
        good = np.ones(len(users), dtype=np.bool_)
    return make_cases(
        known,
        users,
        items,
        values,
        relevant=float(run.protocol["relevant"]),
        irrelevant=float(run.protocol["irrelevant"]),
        seed=run.seed,
        negatives=int(run.protocol.get("negatives", 1)),
        every=protocol.every,
        barred="none" if run.protocol.get("known") == "again" else protocol.barred,  # type: ignore[arg-type]
        good=good,
        open_items=partition.test_items,
    )


def _worth_cases(
    run: EvaluationRun,
    partition: Partition,
    known: Any,
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    values: NDArray[np.float32],
) -> Cases:
    """Cases whose value is what the hidden row brought, or its item is worth; those that brought nothing are left
    out, for there is no utility to find them for.
    """
    worths = utilities_of(run.version)
    table = item_utilities(run.version)
    if worths is not None:
        worth = np.asarray(worths[partition.hidden], dtype=np.float32)
    elif table is not None:
        worth = table[items].astype(np.float32)
    else:
        raise DataError(
            "This dataset does not say what anything is worth, so no utility can be measured. Import it with a column "
            "of utilities (--utility-column, or --item-utility-column of the items), or measure ratings."
        )
    is_worth = worth > 0
    protocol = registry.protocol(run.protocol["name"])
    cases = make_cases(
        known,
        users[is_worth],
        items[is_worth],
        worth[is_worth],
        relevant=float(run.protocol["relevant"]),
        irrelevant=float(run.protocol["irrelevant"]),
        seed=run.seed,
        every=protocol.every,
        barred="none" if run.protocol.get("known") == "again" else protocol.barred,  # type: ignore[arg-type]
        good=values[is_worth] >= float(run.protocol["relevant"]),
        open_items=partition.test_items,
    )
    return replace(cases, left_out={**cases.left_out, "hidden rows that were worth nothing": int((~is_worth).sum())})


def with_candidates(cases: Cases) -> Cases:
    """Draw the candidates of all cases once, where their bitmaps are not too large to keep."""
    if len(cases) * -(-cases.n_items // 8) > MOST_BITMAP_BYTES:
        return cases
    return replace(cases, bits=cases.bitmaps(np.arange(len(cases))))


def _given(run: EvaluationRun) -> Hidden:
    """The training ratings and cases of a file that was read when the run was made."""
    kept = artefacts.load("given", run.split["cases"])
    arrays: dict[str, NDArray[Any]] = {name: np.asarray(array).view(np.ndarray) for name, array in kept.arrays.items()}
    n_users = len(arrays["train_indptr"]) - 1
    matrix = csr_array(
        (arrays["train_values"], arrays["train_indices"], arrays["train_indptr"]),
        shape=(n_users, kept.meta["n_items"]),
    )
    cases = Cases(
        users=arrays["users"],
        items=arrays["items"],
        is_relevant=arrays["is_relevant"],
        values=arrays["values"],
        rated_indptr=arrays["rated_indptr"],
        rated_items=arrays["rated_items"],
        n_items=kept.meta["n_items"],
        negatives=kept.meta["negatives"],
        seed=kept.meta["seed"],
        bits=arrays["bits"],
        is_given=True,
    )
    return Hidden(
        training=Ratings(matrix, ratings_of(run.version).scale),
        trained=np.arange(n_users, dtype=np.int64),
        reserved=np.empty(0, dtype=np.int64),
        cases=cases,
        left_out={},
        counted={**kept.meta["counted"], f"cases with fewer than {cases.negatives:,} candidates": cases.n_short},
        file_rows=arrays["file_rows"],
    )
