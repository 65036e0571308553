"""Test cases, training side and reserved users of a run, and the numbers of candidates of its cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from catalog.models import DatasetVersion
from catalog.selectors.ratings import ratings_of, user_ids_of
from core import artefacts
from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from evaluation.protocols.cases import Cases
from evaluation.protocols.facts import CandidateRange
from recommenders.data import Profiles, Ratings, Scale

# Damping as in the algorithms of the study: as if each item had 25 more ratings at the mean.
ITEM_DAMPING = 25.0


@dataclass(frozen=True)
class RunCases:
    """The test cases of a run and its user groups, as ascending user indexes of the dataset.

    `trained` are the users of the training rows; `reserved` the users that no model has seen. `profiled` are the users
    of the rows by which test users are scored: the training rows, unless test users are excluded from training.
    """

    cases: Cases
    trained: NDArray[np.int64]
    reserved: NDArray[np.int64]
    training_digest: str
    profiled: NDArray[np.int64]
    profiles_digest: str
    file_rows: NDArray[np.int64] | None = None  # of each case, if cases came from a file
    development: NDArray[np.int64] | None = None  # test users used to choose an algorithm, if any


@dataclass(frozen=True)
class ReservedUsers:
    """Users that no model of a run has seen: indexes in the dataset version, and external ids."""

    indexes: NDArray[np.int64]
    external_ids: tuple[str, ...]


@dataclass(frozen=True)
class TrainingMeans:
    """Damped means of the training side of a run, on the dataset's scale.

    `item_means` and `popularity` have one entry per item; unrated items have the mean `mu`.
    """

    mu: float
    item_means: NDArray[np.float64]
    popularity: NDArray[np.int64]


@lru_cache(maxsize=4)
def opened_cases(digest: str) -> RunCases:
    """Load the artefact ``cases`` of a run. Raises ArtefactError when it is missing or damaged."""
    stored = artefacts.load("cases", digest)
    arrays = {name: _plain(array) for name, array in stored.arrays.items()}
    return RunCases(
        cases=Cases.of_arrays(arrays, stored.meta, is_given=stored.meta.get("is_given", False)),
        file_rows=arrays.get("file_rows"),
        development=arrays.get("development"),
        trained=arrays["trained"],
        reserved=arrays["reserved"],
        training_digest=stored.meta["training_digest"],
        profiled=arrays.get("profiled", arrays["trained"]),
        profiles_digest=stored.meta.get("profiles_digest", stored.meta["training_digest"]),
    )


@lru_cache(maxsize=4)
def training_rows(digest: str) -> Ratings:
    """Load the rows of the artefact ``training``, memory-mapped. Raises ArtefactError when it is missing or damaged."""
    stored = artefacts.load("training", digest)
    arrays = {name: _plain(array) for name, array in stored.arrays.items()}
    indptr = arrays["indptr"]
    if len(arrays["indices"]) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)  # of one type with the columns; SciPy would copy these into memory otherwise
    matrix = csr_array(
        (arrays["values"], arrays["indices"], indptr),
        shape=(stored.meta["n_users"], stored.meta["n_items"]),
    )
    return Ratings(matrix, Scale(*stored.meta["scale"]), arrays.get("counts"))


def training_utilities(digest: str) -> NDArray[np.float64] | None:
    """Load the item utilities of the artefact ``training``, shape (n_items,); None if rows have no utility. Raises
    ArtefactError: it is missing or damaged.
    """
    utilities = artefacts.load("training", digest).arrays.get("utilities")
    return None if utilities is None else _plain(utilities)


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    # The memmap subclass would propagate through computations.
    return np.asarray(array).view(np.ndarray)


def cases_of(run: EvaluationRun, fold: int | None = None) -> RunCases:
    """Load the cases of a run, or of one of its folds (runs without folds have only fold 0).

    Raises ParallaxError with code ``run.not_prepared``: the run has no cases yet. Code ``run.many_models``: the run has
    several folds, each with its own training side, and none is named.
    """
    if not run.cases_digest:
        raise ParallaxError("run.not_prepared", f"Run {run.pk} has no test cases yet.")
    if not run.folds:
        return opened_cases(run.cases_digest)
    if fold is None:
        raise ParallaxError(
            "run.many_models",
            f"Run {run.pk} ({run.split['name']}) trained {len(run.folds)} models of each algorithm, so it has no "
            "single training side. Choose a run with a split that trains once, such as probe or holdout.",
        )
    return opened_cases(run.folds[fold]["cases"])


def reserved_users(run: EvaluationRun) -> ReservedUsers:
    """Return the users excluded before the split of `run`, in the order of their indexes."""
    indexes = cases_of(run).reserved
    ids = user_ids_of(run.version)
    return ReservedUsers(indexes=indexes, external_ids=tuple(str(ids[index]) for index in indexes))


def reserved_histories(run: EvaluationRun) -> Profiles:
    """Return all ratings of the reserved users: row i belongs to `reserved_users(run).indexes[i]`."""
    return Profiles.of(ratings_of(run.version), cases_of(run).reserved)


def training_means(run: EvaluationRun) -> TrainingMeans:
    """Compute damped means from the training side of `run` alone."""
    ratings = training_rows(cases_of(run).training_digest)
    values = ratings.user_items.data.astype(np.float64)
    mu = float(values.mean()) if len(values) else ratings.scale.middle
    excess = np.bincount(ratings.user_items.indices, weights=values - mu, minlength=ratings.n_items)
    return TrainingMeans(
        mu=mu,
        item_means=mu + excess / (ITEM_DAMPING + ratings.item_counts),
        popularity=ratings.item_counts,
    )


def candidate_range(run: EvaluationRun) -> CandidateRange | None:
    """Return the candidate range of a run; None if its protocol draws no candidates, or it has no cases yet."""
    requested = run.protocol.get("negatives")
    if requested is None or not run.cases_digest:
        return None
    bounds: list[int] = []
    for fold in range(len(run.folds) or 1):
        counts = cases_of(run, fold).cases.n_candidates
        bounds += [int(counts.min()), int(counts.max())]
    return CandidateRange(min(bounds), max(bounds), int(requested))


def candidate_warning(version: DatasetVersion, protocol: Mapping[str, Any], split: Mapping[str, Any]) -> str:
    """Return a warning if users of a dataset have fewer unrated items than candidates requested; otherwise empty.

    Cases from a file include their candidates.
    """
    requested = protocol.get("negatives")
    if requested is None or split["name"] == "file":
        return ""
    rated = np.diff(ratings_of(version).user_items.indptr)
    rated = rated[rated > 0]
    candidates = CandidateRange(version.n_items - int(rated.max()), version.n_items - int(rated.min()), int(requested))
    if candidates.fewest >= candidates.requested:
        return ""
    counts = (
        f"{candidates.fewest:,}"
        if candidates.fewest == candidates.most
        else f"{candidates.fewest:,} to {candidates.most:,}"
    )
    return (
        f"{candidates.requested:,} candidates were requested per hidden rating, but users of this dataset have only "
        f"{counts} of its {version.n_items:,} items unrated. If there are fewer, each hidden rating is ranked among "
        "all of them. Results with different numbers of candidates are not comparable."
    )
