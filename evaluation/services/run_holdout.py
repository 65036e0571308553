"""Training and test sides of a run: reserved users, split and test cases."""

from __future__ import annotations

from collections.abc import Generator, Mapping
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
from evaluation.protocols.cases import Cases, build_cases
from evaluation.run_spec import OWN_LIST
from evaluation.services.run_inputs import NO_LIST
from evaluation.splitting.cold_start import observations
from evaluation.splitting.leakage import refuse_leaks
from evaluation.splitting.options import ColdStartItems
from evaluation.splitting.partition import RESERVED, Partition
from evaluation.splitting.registry import Pairs, SplitSpec, partitions, spec_of
from evaluation.splitting.rows import RatingRows, reserve
from recommenders.data import Ratings
from recommenders.holdout import part_of

MAX_BITMAP_BYTES = 256 * 2**20  # of candidates drawn once for all algorithms; larger sets are drawn on demand


@dataclass(frozen=True)
class Holdout:
    """The training side and the test cases of a run, or of one of its folds.

    `training` has a row for each user of `trained` (dataset indexes); `reserved` are the users that no model sees.
    `profiles` and `profiled` describe, in the same way, the ratings by which test users are scored, if those are not
    training ratings. `left_out` and `counted` map descriptions to counts.
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
    utilities: NDArray[np.float64] | None = None  # of each item, from the training rows, if rows have a utility
    development: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def build_holdouts(*, run: EvaluationRun) -> Generator[Holdout]:
    """Reserve users, split the ratings and build the cases; the result depends only on the run's inputs. Candidates are
    not drawn yet, unless they come from a file: `draw_candidates` does so.

    Yields one holdout per fold if the split trains several models, otherwise one. Raises DataError when the split is
    impossible with these ratings, or would leak test data into training.
    """
    if run.split["name"] == "file":
        yield _holdout_of_file(run)
        return
    ratings = ratings_of(run.version)
    reserved = reserve(ratings.n_users, run.reserve, run.seed)
    spec = spec_of(run.split)
    times = timestamps_of(run.version) if spec.needs_times else None
    rows = RatingRows.of(ratings.user_items, times=times, reserved=reserved)
    for partition in partitions(spec, rows, run.seed, probe_pairs(run)):
        refuse_leaks(rows, partition)
        yield _holdout(run, spec, rows, partition, ratings)


def draw_candidates(run: EvaluationRun, cases: Cases) -> Cases:
    """Draw the candidates of all cases once for all algorithms, where the protocol draws any and they fit in memory."""
    if "negatives" not in run.protocol or len(cases) * -(-cases.n_items // 8) > MAX_BITMAP_BYTES:
        return cases
    return replace(cases, bits=cases.bitmaps(np.arange(len(cases))))


def _holdout(run: EvaluationRun, spec: SplitSpec, rows: RatingRows, partition: Partition, ratings: Ratings) -> Holdout:
    reserved = rows.reserved
    known = partition.profiles(ratings.user_items) if len(partition.profile) else None
    training = part_of(ratings.user_items, partition.train)
    cases = partition_cases(run, spec, rows, partition, training if known is None else known)
    profiled = np.unique(rows.users[partition.profile]).astype(np.int64)
    trained = np.setdiff1d(np.arange(ratings.n_users, dtype=np.int64), np.union1d(reserved, profiled))
    left_out = {"reserved users": len(reserved), RESERVED: 0, **partition.left_out, **cases.left_out}
    # Items without a training rating stay among the cases, although only content-based algorithms can score them.
    counted = {what: count for what, count in partition.counted.items() if what not in left_out}
    if "negatives" in run.protocol:
        counted[f"cases with fewer than {cases.negatives:,} unrated items to draw from"] = cases.n_short
    return Holdout(
        label=partition.label,
        n_hidden=len(partition.hidden),
        profiles=None if known is None else Ratings(known[profiled], ratings.scale),
        profiled=None if known is None else profiled,
        training=Ratings(
            training[trained] if len(trained) < ratings.n_users else training,
            ratings.scale,
            _training_counts(ratings, partition, trained),
        ),
        trained=trained,
        reserved=reserved.astype(np.int64),
        cases=cases,
        left_out=left_out,
        counted=counted,
        development=partition.development_users.astype(np.int64),
        utilities=mean_utilities(run.version, partition.train),
    )


def _training_counts(ratings: Ratings, partition: Partition, trained: NDArray[np.int64]) -> NDArray[np.int32] | None:
    """Return how often each training pair was observed; a hidden pair hides all its observations."""
    if ratings.counts is None:
        return None
    stored = ratings.user_items
    observed = csr_array((ratings.counts, stored.indices, stored.indptr), shape=stored.shape)
    return np.asarray(part_of(observed, partition.train)[trained].data, dtype=np.int32)


def probe_pairs(run: EvaluationRun) -> Pairs | None:
    """Return the users and items of the run's probe list, if it names one. Raises DataError: the dataset has none."""
    if not run.split.get("list"):
        return None
    if run.split["list"] == OWN_LIST:
        pairs = probe_of(run.version)
        if pairs is None:
            raise DataError(NO_LIST.format(run.version))
        return pairs[:, 0], pairs[:, 1]
    stored = artefacts.load("probes", run.split["list"]).arrays
    return np.asarray(stored["users"]), np.asarray(stored["items"])


def partition_cases(run: EvaluationRun, spec: SplitSpec, rows: RatingRows, partition: Partition, known: Any) -> Cases:
    """Return the hidden ratings as cases; cold-start splits define relevance and the candidate items themselves.

    `known` is the matrix of the ratings by which test users are scored. Where a run measures given utilities, the value
    of a case is the utility of the hidden row or of its item, and those of no utility are left out.
    """
    protocol, settings = registry.protocol(run.protocol["name"]), run.protocol
    options = spec.inner.options if spec.inner else spec.options
    hidden = partition.hidden
    left_out: dict[str, int] = {}
    negatives = int(settings.get("negatives", 1))
    good: NDArray[np.bool_] | None = None
    if is_of_utility := settings.get("utility") == "given":
        utilities = _utilities(run, rows, hidden)
        has_utility = utilities > 0
        hidden, values = hidden[has_utility], utilities[has_utility]
        left_out = {"hidden rows that were worth nothing": int((~has_utility).sum())}
        negatives = 1000  # drawn by no case, but in the digest of the cases
        good = rows.values[hidden] >= float(settings["relevant"])
    else:
        values = rows.values[hidden]
    users, items = rows.users[hidden], rows.items[hidden]
    if isinstance(options, ColdStartItems) and not is_of_utility:
        is_implicit = options.outcome == "implicit"
        if protocol.key == "test-observations" and (is_implicit or options.candidates == "all"):
            threshold = None if is_implicit else options.threshold
            users, items, good = observations(rows, partition, threshold=threshold)
            values = np.full(len(users), np.nan, dtype=np.float32)
        else:
            good = np.ones(len(users), dtype=np.bool_) if is_implicit else values >= options.threshold
    cases = build_cases(
        known,
        users,
        items,
        values,
        relevant=float(settings["relevant"]),
        irrelevant=float(settings["irrelevant"]),
        seed=run.seed,
        negatives=negatives,
        every=protocol.every,
        excluded="none" if settings.get("known") == "again" else protocol.excluded,  # type: ignore[arg-type]
        good=good,
        open_items=partition.test_items,
    )
    return replace(cases, left_out={**cases.left_out, **left_out})


def _utilities(run: EvaluationRun, rows: RatingRows, hidden: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the utilities of hidden rows, or else of their items. Raises DataError: the dataset has neither."""
    of_rows, of_items = utilities_of(run.version), item_utilities(run.version)
    if of_rows is not None:
        return np.asarray(of_rows[hidden], dtype=np.float32)
    if of_items is not None:
        return of_items[rows.items[hidden]].astype(np.float32)
    raise DataError(
        "This dataset has no utilities, so utility cannot be measured. Import it with a utility column "
        "(--utility-column, or --item-utility-column of the items), or measure ratings."
    )


def _holdout_of_file(run: EvaluationRun) -> Holdout:
    stored = artefacts.load("given", run.split["cases"])
    arrays: dict[str, NDArray[Any]] = {
        name: np.asarray(array).view(np.ndarray) for name, array in stored.arrays.items()
    }
    n_users = len(arrays["train_indptr"]) - 1
    matrix = csr_array(
        (arrays["train_values"], arrays["train_indices"], arrays["train_indptr"]),
        shape=(n_users, stored.meta["n_items"]),
    )
    cases = Cases.of_arrays(arrays, stored.meta, is_given=True)
    return Holdout(
        training=Ratings(matrix, ratings_of(run.version).scale),
        trained=np.arange(n_users, dtype=np.int64),
        reserved=np.empty(0, dtype=np.int64),
        cases=cases,
        left_out={},
        counted={**stored.meta["counted"], f"cases with fewer than {cases.negatives:,} candidates": cases.n_short},
        file_rows=arrays["file_rows"],
    )
