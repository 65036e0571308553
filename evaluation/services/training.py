"""Models: fitted once for a recipe, kept as arrays, found again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import IntegrityError, transaction
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from catalog.selectors.ratings import features_of, mean_utilities, ratings_of
from core import artefacts
from core.errors import DataError, ParallaxError, ParameterError
from core.provenance import canonical_json, derived_seed, digest_of, digest_of_arrays
from evaluation.models import TrainedModel
from evaluation.selectors.cases import training_rows, training_utilities
from evaluation.services.feasibility import feasible_algorithms
from evaluation.services.memory import check_memory
from evaluation.services.numerics import load_kernels, numeric_threads
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.expected_utility import with_utilities
from recommenders.progress import Progress, silent


@dataclass(frozen=True)
class Trained:
    """A model, and whether it had been there before."""

    model: TrainedModel
    was_reused: bool


def store_training_rows(*, ratings: Ratings, utilities: NDArray[np.float64] | None = None) -> str:
    """Keep the rows that models are fitted on; returns the digest of the artefact ``training``.

    `utilities` is what each item was worth in these rows and in no others, shape (n_items,), where rows have a
    utility at all.
    """
    matrix = ratings.user_items
    return artefacts.store(
        "training",
        {
            "indptr": np.asarray(matrix.indptr, dtype=np.int64),
            "indices": np.asarray(matrix.indices, dtype=np.int32),
            "values": np.asarray(matrix.data, dtype=np.float32),
            **({} if utilities is None else {"utilities": utilities}),
        },
        {
            "n_users": ratings.n_users,
            "n_items": ratings.n_items,
            "scale": [ratings.scale.low, ratings.scale.high, ratings.scale.step],
        },
    )


def recipe_of(
    *,
    version: DatasetVersion,
    training_digest: str,
    algorithm: str,
    params: Mapping[str, Any],
    seed: int,
    threads: int,
) -> str:
    """The hash by which a model is found again: everything its numbers depend on."""
    kind = registry.algorithm(algorithm)
    features = features_for(version=version, training_digest=training_digest, algorithm=algorithm, params=params)
    return digest_of(
        {
            "training": training_digest,
            "features": "" if features is None else features_digest(features=features),
            "algorithm": algorithm,
            "version": kind.version,
            "params": dict(params),
            "seed": seed,
            "threads": threads,
            **_libraries(kind),
        }
    )


def _libraries(kind: type[Algorithm]) -> dict[str, Any]:
    """Name the versions of the libraries whose code fits; nothing where it is all our own."""
    versions = kind.library_versions()
    return {"libraries": versions} if versions else {}


def features_digest(*, features: ItemFeatures) -> str:
    """The hash of item features: terms and counts."""
    matrix = features.item_terms
    counts = digest_of_arrays(
        {
            "indptr": np.asarray(matrix.indptr, dtype=np.int64),
            "indices": np.asarray(matrix.indices, dtype=np.int32),
            "counts": np.asarray(matrix.data, dtype=np.float32),
        }
    )
    return digest_of([counts, [list(term) for term in features.terms]])


def training_seed(*, seed: int, algorithm: str, params: Mapping[str, Any]) -> int:
    """The seed of one model's own stream, so that no model's numbers depend on which others are trained."""
    return derived_seed(seed, "train", algorithm, canonical_json(dict(params)))


def features_for(
    *, version: DatasetVersion, training_digest: str, algorithm: str, params: Mapping[str, Any]
) -> ItemFeatures | None:
    """What an algorithm is told of the items, or None where it makes no use of it.

    What items are worth comes from the training rows alone where rows have a utility, so that no model sees what
    the hidden ones brought.
    """
    if not registry.algorithm(algorithm).takes_features(registry.params_of(algorithm, params)):
        return None
    features = features_of(version)
    utilities = training_utilities(training_digest)
    return features if utilities is None else with_utilities(features, utilities)


def train_or_reuse(
    *,
    version: DatasetVersion,
    training_digest: str,
    algorithm: str,
    params: Mapping[str, Any],
    seed: int,
    threads: int,
    progress: Progress = silent,
) -> Trained:
    """Find the model of a recipe, or fit, store and record it; two that race end with the same row.

    `seed` is the run's. A model that is found is opened, so that one whose file is gone or damaged is
    reported here and not when somebody is served by it. `progress` is told how far a fit is; what it raises
    stops the fit, and nothing is stored.

    Raises
    ------
    ParameterError, DataError
        The algorithm refuses these parameters or data.
    ArtefactError
        The stored model is missing or damaged.
    ParallaxError
        Code ``model.too_large``: the fit would not find room in memory.
    """
    recipe = recipe_of(
        version=version,
        training_digest=training_digest,
        algorithm=algorithm,
        params=params,
        seed=seed,
        threads=threads,
    )
    found = TrainedModel.objects.filter(recipe=recipe).first()
    if found is not None:
        artefacts.load("models", found.digest)
        return Trained(found, was_reused=True)
    kind = registry.algorithm(algorithm)
    chosen = registry.params_of(algorithm, params)
    ratings = training_rows(training_digest)
    features = features_for(version=version, training_digest=training_digest, algorithm=algorithm, params=params)
    check_memory(algorithm=algorithm, params=params, ratings=ratings, features=features)
    own_seed = training_seed(seed=seed, algorithm=algorithm, params=params)
    rng = np.random.Generator(np.random.PCG64(own_seed))
    load_kernels(algorithm)
    with numeric_threads(threads):
        started = time.perf_counter()
        fitted = kind.fit(ratings, chosen, features=features, rng=rng, progress=progress)
        seconds = time.perf_counter() - started
    digest = artefacts.store(
        "models",
        fitted.state(),
        {
            "algorithm": algorithm,
            "version": kind.version,
            "params": dict(params),
            "scale": [ratings.scale.low, ratings.scale.high, ratings.scale.step],
            **_libraries(kind),
        },
    )
    try:
        with transaction.atomic():
            model = TrainedModel.objects.create(
                recipe=recipe,
                digest=digest,
                version=version,
                algorithm=algorithm,
                algorithm_version=kind.version,
                params=dict(params),
                label=kind.label(chosen),
                seed=own_seed,
                threads=threads,
                training_digest=training_digest,
                fit_seconds=seconds,
            )
    except IntegrityError:
        # Another worker fitted the same recipe meanwhile: its row stands.
        return Trained(TrainedModel.objects.get(recipe=recipe), was_reused=True)
    return Trained(model, was_reused=False)


def train_on_everything(
    *,
    version: DatasetVersion,
    algorithm: str,
    params: Mapping[str, Any],
    seed: int,
    threads: int,
    progress: Progress = silent,
) -> Trained:
    """Fit an algorithm on all ratings of a dataset, with nobody reserved and nothing hidden.

    Parameters that are not given have their defaults, or the largest possible value where that is smaller.

    Raises
    ------
    ParallaxError
        Code ``model.bad_input``: what the algorithm refuses, and why; ``model.too_large``: how much memory it
        would take, and what to do.
    """
    try:
        feasible = feasible_algorithms(
            version=version, algorithms=[(algorithm, params)], split={"name": ""}, reserved=0.0, seed=seed
        )
        ((_, complete, _),) = feasible.algorithms
        digest = store_training_rows(ratings=ratings_of(version), utilities=mean_utilities(version))
        return train_or_reuse(
            version=version,
            training_digest=digest,
            algorithm=algorithm,
            params=complete,
            seed=seed,
            threads=threads,
            progress=progress,
        )
    except (ParameterError, DataError) as refused:
        raise ParallaxError("model.bad_input", str(refused)) from refused
