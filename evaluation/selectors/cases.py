"""A run's test cases, its training side, and the users it reserved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from catalog.selectors.ratings import ratings_of, user_ids_of
from core import artefacts
from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from evaluation.protocols.cases import Cases
from recommenders.data import Profiles, Ratings, Scale

# Damping of means, as the study's algorithms have it: an item counts as if 25 more ratings stood at the mean.
ITEM_DAMPING = 25.0
USER_DAMPING = 10.0


@dataclass(frozen=True)
class RunCases:
    """What a run measures on: its cases, and who of the dataset's users is on which side.

    `trained` are the dataset's user indexes of the training rows, in their order; `reserved` those of the
    users no model has seen. `profiled` are those of the rows that test users are scored by: the training rows,
    unless test users are not trained on. All ascend.
    """

    cases: Cases
    trained: NDArray[np.int64]
    reserved: NDArray[np.int64]
    training_digest: str
    profiled: NDArray[np.int64]
    profiles_digest: str
    file_rows: NDArray[np.int64] | None = None  # of each case, where cases were given as a file
    development: NDArray[np.int64] | None = None  # test users on whom an algorithm is chosen, where there are such


@dataclass(frozen=True)
class ReservedUsers:
    """Users that no model of a run has seen: indexes in the dataset's version, and the source's own ids."""

    indexes: NDArray[np.int64]
    external_ids: tuple[str, ...]


@dataclass(frozen=True)
class TrainingMeans:
    """Damped means of the training side of a run, on the dataset's scale.

    `item_means` and `popularity` have one entry an item; an item nobody rated stands at `mu`.
    """

    mu: float
    item_means: NDArray[np.float64]
    popularity: NDArray[np.int64]

    def user_mean(self, items: ArrayLike, ratings: ArrayLike) -> float:
        """`mu` plus the damped mean of what someone's ratings exceed the means of their items by."""
        rated = np.asarray(items, dtype=np.int64)
        excess = np.asarray(ratings, dtype=np.float64) - self.item_means[rated]
        return self.mu + float(excess.sum()) / (USER_DAMPING + len(rated))


@lru_cache(maxsize=4)
def opened_cases(digest: str) -> RunCases:
    """Open the artefact ``cases`` of a run.

    Raises
    ------
    ArtefactError
        It is missing or damaged.
    """
    kept = artefacts.load("cases", digest)
    arrays = {name: _plain(array) for name, array in kept.arrays.items()}
    return RunCases(
        cases=Cases(
            users=arrays["users"],
            items=arrays["items"],
            is_relevant=arrays["is_relevant"],
            # Cases that were made before a version had these have none of what they are for.
            values=arrays.get("values", np.full(len(arrays["users"]), np.nan, dtype=np.float32)),
            rated_indptr=arrays["rated_indptr"],
            rated_items=arrays["rated_items"],
            n_items=kept.meta["n_items"],
            negatives=kept.meta["negatives"],
            seed=kept.meta["seed"],
            bits=arrays.get("bits"),
            closed=arrays.get("closed", np.empty(0, dtype=np.int32)),
            is_given=kept.meta.get("is_given", False),
        ),
        file_rows=arrays.get("file_rows"),
        development=arrays.get("development"),
        trained=arrays["trained"],
        reserved=arrays["reserved"],
        training_digest=kept.meta["training_digest"],
        profiled=arrays.get("profiled", arrays["trained"]),
        profiles_digest=kept.meta.get("profiles_digest", kept.meta["training_digest"]),
    )


@lru_cache(maxsize=4)
def training_rows(digest: str) -> Ratings:
    """Open the rows of the artefact ``training``, memory-mapped.

    Raises
    ------
    ArtefactError
        It is missing or damaged.
    """
    kept = artefacts.load("training", digest)
    arrays = {name: _plain(array) for name, array in kept.arrays.items()}
    matrix = csr_array(
        (arrays["values"], arrays["indices"], arrays["indptr"]),
        shape=(kept.meta["n_users"], kept.meta["n_items"]),
    )
    return Ratings(matrix, Scale(*kept.meta["scale"]))


def training_utilities(digest: str) -> NDArray[np.float64] | None:
    """What each item was worth in the rows of the artefact ``training``, shape (n_items,); None where rows have no
    utility.

    Raises
    ------
    ArtefactError
        It is missing or damaged.
    """
    found = artefacts.load("training", digest).arrays.get("utilities")
    return None if found is None else _plain(found)


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory without the memmap subclass, which would spread through every later computation."""
    return np.asarray(array).view(np.ndarray)


def cases_of(run: EvaluationRun, fold: int | None = None) -> RunCases:
    """Open the cases of a run, or of one of its folds (a run of one model per algorithm has the fold 0 alone).

    Raises
    ------
    ParallaxError
        Code ``run.not_prepared``: the run has not made its cases yet. Code ``run.many_models``: no fold is named,
        and the run has several, each with a training side of its own.
    """
    if not run.cases_digest:
        raise ParallaxError("run.not_prepared", f"Run {run.pk} has not made its test cases yet.")
    if not run.folds:
        return opened_cases(run.cases_digest)
    if fold is None:
        raise ParallaxError(
            "run.many_models",
            f"Run {run.pk} ({run.split['name']}) trained {len(run.folds)} models of each algorithm, so it has no one "
            "training side. Choose a run of a split that trains once, such as probe or holdout.",
        )
    return opened_cases(run.folds[fold]["cases"])


def reserved_users(run: EvaluationRun) -> ReservedUsers:
    """Give the users taken out before the split of `run`, in the order of their indexes."""
    indexes = cases_of(run).reserved
    ids = user_ids_of(run.version)
    return ReservedUsers(indexes=indexes, external_ids=tuple(str(ids[index]) for index in indexes))


def reserved_histories(run: EvaluationRun) -> Profiles:
    """Give all ratings of the reserved users: row i belongs to `reserved_users(run).indexes[i]`."""
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
