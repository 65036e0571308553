"""Training: each model is fitted once per recipe, stored as arrays, and reused."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db import IntegrityError, transaction
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from catalog.selectors.ratings import features_of, mean_utilities, ratings_of
from core import artefacts
from core.errors import DataError, ParallaxError, ParameterError
from core.provenance import canonical_json, derived_seed, digest_of
from evaluation.enums import ModelOrigin
from evaluation.models import TrainedModel
from evaluation.selectors.cases import training_rows, training_utilities
from evaluation.selectors.uploads import opened_upload
from evaluation.services.feasibility import feasible_algorithms
from evaluation.services.memory import check_memory
from evaluation.services.numerics import load_kernels, numeric_threads
from evaluation.services.optional_inputs import (
    Users,
    features_digest,
    item_digests,
    optional_digests,
    with_optional,
)
from evaluation.services.serving import opened_model
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.expected_utility import with_utilities
from recommenders.progress import Progress, no_progress
from recommenders.reranking import Reranked
from recommenders.uploaded import Uploaded


@dataclass(frozen=True)
class TrainingResult:
    """A model, and whether it was reused instead of fitted."""

    model: TrainedModel
    was_reused: bool
    comments: tuple[str, ...] = ()  # where the algorithm was checked here: what its parameters and content became


def store_training_rows(*, ratings: Ratings, utilities: NDArray[np.float64] | None = None) -> str:
    """Store the rows that models are fitted on and return the digest of the artefact ``training``.

    `utilities` are the item utilities computed from these rows alone, shape (n_items,), if rows have a utility.
    """
    matrix = ratings.user_items
    return artefacts.store(
        "training",
        {
            "indptr": np.asarray(matrix.indptr, dtype=np.int64),
            "indices": np.asarray(matrix.indices, dtype=np.int32),
            "values": np.asarray(matrix.data, dtype=np.float32),
            **({} if utilities is None else {"utilities": utilities}),
            **({} if ratings.counts is None else {"counts": np.asarray(ratings.counts, dtype=np.int32)}),
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
    users: Users | None = None,
) -> str:
    """Return the hash that identifies a model: everything that determines its arrays, and the project of its data.

    So no run reuses a model of another project, which would reveal that project's data. The recipe of a re-ranked model
    names the recipe of its base, which determines the base's digest and is known before the base is fitted. `users` are
    those of the training rows, whose times some algorithms ask for; by default all of the version.
    """
    kind = registry.algorithm(algorithm)
    data: Any = {"version": version, "training_digest": training_digest}
    features = features_for(algorithm=algorithm, params=params, **data)
    if issubclass(kind, Reranked):
        base = base_recipe_of(algorithm=algorithm, params=params, seed=seed, threads=threads, users=users, **data)
        return digest_of({"base": base, **_reranking(kind, params, features)})
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
            **optional_digests(kind, version, training_digest, users),
            **({} if version.dataset.project_id is None else {"project": version.dataset.project_id}),
        }
    )


def base_recipe_of(*, algorithm: str, params: Mapping[str, Any], **inputs: Any) -> str:
    """Return the recipe of the model that a re-ranked one starts from, with the other arguments of `recipe_of`; empty
    for any other model.
    """
    base = registry.base_of(algorithm, params)
    return "" if base is None else recipe_of(algorithm=base[0], params=base[1], **inputs)


def _reranking(kind: type[Reranked], params: Mapping[str, Any], features: ItemFeatures | None) -> dict[str, Any]:
    """All that determines a re-ranked model besides its base."""
    chosen = registry.params_of(kind.key, params)
    described = kind.described_by(features, chosen)
    return {**kind.settings(chosen), "features": "" if described is None else features_digest(features=described)}


def _libraries(kind: type[Algorithm]) -> dict[str, Any]:
    versions = kind.library_versions()
    return {"libraries": versions} if versions else {}


def training_seed(*, seed: int, algorithm: str, params: Mapping[str, Any]) -> int:
    """Return the seed of a model's own random stream, so that no model depends on which others are trained."""
    return derived_seed(seed, "train", algorithm, canonical_json(dict(params)))


def features_for(
    *, version: DatasetVersion, training_digest: str, algorithm: str, params: Mapping[str, Any]
) -> ItemFeatures | None:
    """Return the item features for an algorithm, or None if it does not use them.

    If rows have a utility, item utilities come from the training rows alone, so that hidden rows do not leak.
    """
    kind, chosen = registry.algorithm(algorithm), registry.params_of(algorithm, params)
    if not kind.uses_features(chosen):
        return None
    features = features_of(version, kind.title_words(chosen))
    utilities = training_utilities(training_digest)
    return features if utilities is None else with_utilities(features, utilities)


def expected_fit_seconds(*, version: DatasetVersion, algorithm: str, params: Mapping[str, Any]) -> float | None:
    """Return how long the newest fit of an algorithm with these parameters on a dataset took; None if there is none."""
    fits = TrainedModel.objects.filter(version=version, algorithm=algorithm).order_by("-pk")
    seconds = (seconds for fitted, seconds in fits.values_list("params", "fit_seconds")[:20] if fitted == dict(params))
    return next(seconds, None)


def train_or_reuse(
    *,
    version: DatasetVersion,
    training_digest: str,
    algorithm: str,
    params: Mapping[str, Any],
    seed: int,
    threads: int,
    users: Users | None = None,
    progress: Progress = no_progress,
) -> TrainingResult:
    """Load the model of a recipe, or fit and store it, and first the model that it re-ranks; concurrent calls end with
    the same row.

    `seed` is the seed of the run; `users` as in `recipe_of`. An existing model is verified, so that a missing or
    damaged file is reported here and not when a participant is served. An exception raised by `progress` stops the fit;
    nothing is stored then. Raises ParameterError or DataError: the algorithm refuses these parameters or data. Raises
    ArtefactError when the stored model is missing or damaged. Raises ParallaxError with code ``model.too_large``: the
    fit exceeds the available memory.
    """
    data: Any = {"version": version, "training_digest": training_digest}
    inputs: Any = {"algorithm": algorithm, "params": params, "seed": seed, "threads": threads}
    recipe = recipe_of(users=users, **data, **inputs)
    existing = TrainedModel.objects.filter(recipe=recipe).first()
    if existing is not None:
        artefacts.load("models", existing.digest)
        if existing.base is not None:
            artefacts.load("models", existing.base.digest)
        return TrainingResult(existing, was_reused=True)
    kind = registry.algorithm(algorithm)
    chosen = registry.params_of(algorithm, params)
    features = features_for(algorithm=algorithm, params=params, **data)
    base, origin, provenance, seconds = None, ModelOrigin.FITTED, {}, 0.0
    if issubclass(kind, Reranked):
        key, values = kind.over.key, kind.base_params(chosen).as_dict()
        of_base = {**inputs, "algorithm": key, "params": values}
        base = train_or_reuse(users=users, progress=progress, **data, **of_base).model
        provenance = {"base": base.digest, "reranking": _reranking(kind, params, features)}
        started = time.perf_counter()
        fitted: Algorithm = kind.on(opened_model(base.digest), chosen, features)
        seconds = time.perf_counter() - started
    elif issubclass(kind, Uploaded):
        upload = opened_upload(version, algorithm, params)
        origin, provenance = ModelOrigin(kind.key), {"learned_from": upload.meta["learned_from"]}
        if source := upload.meta.get("collected_from"):
            base = TrainedModel.objects.filter(digest=source, version=version).get()
            provenance["collected_from"] = source
        fitted = kind.read(upload.arrays, training_rows(training_digest), chosen)
    else:
        ratings = with_optional(kind, training_rows(training_digest), version, users)
        fitted, seconds = fit(ratings=ratings, features=features, **inputs, progress=progress)
    digest = artefacts.store(
        "models",
        fitted.state(),
        {
            "algorithm": algorithm,
            "version": kind.version,
            "params": dict(params),
            "scale": [fitted.scale.low, fitted.scale.high, fitted.scale.step],
            **_libraries(kind),
            **item_digests(kind, version),
            **provenance,
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
                seed=training_seed(seed=seed, algorithm=algorithm, params=params),
                threads=threads,
                training_digest=training_digest,
                fit_seconds=seconds,
                origin=origin,
                base=base,
                provenance=provenance,
            )
    except IntegrityError:
        # Another worker has fitted the same recipe meanwhile; use its row.
        return TrainingResult(TrainedModel.objects.get(recipe=recipe), was_reused=True)
    return TrainingResult(model, was_reused=False)


def fit(
    *,
    ratings: Ratings,
    features: ItemFeatures | None,
    algorithm: str,
    params: Mapping[str, Any],
    seed: int,
    threads: int,
    progress: Progress = no_progress,
) -> tuple[Algorithm, float]:
    """Fit an algorithm without storing it; return the model and the seconds it took. Raises as `train_or_reuse`."""
    check_memory(algorithm=algorithm, params=params, ratings=ratings, features=features)
    rng = np.random.Generator(np.random.PCG64(training_seed(seed=seed, algorithm=algorithm, params=params)))
    load_kernels(algorithm)
    with numeric_threads(threads):
        started = time.perf_counter()
        fitted = registry.algorithm(algorithm).fit(
            ratings, registry.params_of(algorithm, params), features=features, rng=rng, progress=progress
        )
        return fitted, time.perf_counter() - started


def train_on_everything(
    *,
    version: DatasetVersion,
    algorithm: str,
    params: Mapping[str, Any],
    seed: int,
    threads: int,
    progress: Progress = no_progress,
) -> TrainingResult:
    """Fit an algorithm on all ratings of a dataset, without reserved users or hidden ratings.

    Unstated parameters get their default, or the largest possible value if that is smaller. Raises ParallaxError with
    code ``model.bad_input``: invalid parameters or data; ``model.too_large``: the fit exceeds the memory.
    """
    try:
        ((_, complete),), comments = feasible_algorithms(
            version=version, algorithms=[(algorithm, params)], split={"name": ""}, reserved=0.0, seed=seed
        )
        digest = store_training_rows(ratings=ratings_of(version), utilities=mean_utilities(version))
        result = train_or_reuse(
            version=version,
            training_digest=digest,
            algorithm=algorithm,
            params=complete,
            seed=seed,
            threads=threads,
            progress=progress,
        )
        return replace(result, comments=tuple(comments))
    except (ParameterError, DataError) as refusal:
        raise ParallaxError("model.bad_input", str(refusal)) from refusal
