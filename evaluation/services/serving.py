"""Serving of trained models: recommendation lists and explanations for a profile. The only access to models."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from core import artefacts
from core.errors import ArtefactError, DataError, ParallaxError, ParameterError
from evaluation.enums import ModelOrigin
from evaluation.models import TrainedModel
from evaluation.selectors.uploads import KIND, TEXT
from evaluation.services.optional_inputs import items_of_model
from evaluation.services.remote_lists import Served, remote_list
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import History, Profiles, Scale
from recommenders.explanation import Explanation
from recommenders.reranking import Reranked
from recommenders.uploaded_lists import Lists


@lru_cache(maxsize=32)
def opened_model(digest: str) -> Algorithm:
    """Load a stored model by its digest, verified against its bytes; cached per process. A re-ranked model opens the
    model under it in the same way, so that the arrays of that one are held once.

    Raises ArtefactError when the files are missing or damaged, or were written by another version of the algorithm; or
    the algorithm's package is no longer installed.
    """
    stored = artefacts.load("models", digest)
    if stored.meta["algorithm"] == ModelOrigin.REMOTE:
        raise ArtefactError(
            "model.is_remote",
            f"The model {digest[:12]} is version {stored.meta['release']} of the recommender {stored.meta['service']}, "
            "which answers over HTTP and cannot be opened here. Choose another model.",
            {"digest": digest},
        )
    try:
        kind = registry.algorithm(stored.meta["algorithm"])
    except (ParameterError, ImportError) as missing:
        raise ArtefactError(
            "model.no_algorithm",
            f"The algorithm of the model {digest[:12]} cannot be loaded here. {missing}",
            {"digest": digest},
        ) from missing
    if kind.version != stored.meta["version"]:
        raise ArtefactError(
            "model.other_version",
            f"This model was trained by version {stored.meta['version']} of {kind.title}, and version "
            f"{kind.version} is installed. Train the model again, or install the version it was trained with.",
            {"digest": digest},
        )
    params = registry.params_of(stored.meta["algorithm"], stored.meta["params"])
    if issubclass(kind, Reranked):
        return kind.opened(opened_model(stored.meta["base"]), params, stored.arrays)
    model = kind.from_state(stored.arrays, params, Scale(*stored.meta["scale"]))
    if kind.item_fields:
        model.items = items_of_model(kind, digest, stored.meta["items"])
    return model


def warm(*, model: TrainedModel) -> None:
    """Load a model and compute one list, so that the first participant does not wait; no remote one is asked."""
    if model.origin == ModelOrigin.REMOTE:
        return
    opened = opened_model(model.digest)
    opened.answer([int(opened.popularity.argmax())], [opened.scale.high], opened.scale, 1)


def recommend(
    *,
    model: TrainedModel,
    items: Sequence[int],
    ratings: Sequence[float],
    scale: tuple[float, float, float],
    n: int,
    left_out: Sequence[int] = (),
    history: History | None = None,
    request: str = "",
) -> Served:
    """Return the `n` best items for a profile, excluding its own items and those of `left_out`.

    `items` are item indexes of the dataset's version; `history` has their times or order, for algorithms that read
    these. `scale` is the scale of `ratings` (low, high, step), which is mapped linearly to the scale of the training
    data. A remote recommender is asked over HTTP, under the id `request` and with the scale as it is; its errors are
    those of `evaluation.services.remote_lists.remote_list`. Raises ArtefactError when the model's files are missing or
    damaged; no other model is used instead. Raises ParallaxError with code ``model.bad_profile``: an unknown item, an
    item rated twice, or a rating outside the scale.
    """
    if model.origin == ModelOrigin.REMOTE:
        return remote_list(
            model=model, items=items, ratings=ratings, scale=scale, n=n, left_out=left_out, history=history,
            request=request,
        )  # fmt: skip
    started = time.perf_counter()
    opened = opened_model(model.digest)
    texts: dict[int, dict[str, str]] = {}
    try:
        if opened.reads_order():
            profile = Profiles.single(list(items), list(ratings), opened.n_items, Scale(*scale), history)
            best = opened.answer_profile(profile, n + len(left_out))
            texts = _texts(opened, profile)
        else:  # an algorithm may have a faster way of its own
            best = opened.answer(list(items), list(ratings), Scale(*scale), n + len(left_out))
    except DataError as error:
        raise ParallaxError("model.bad_profile", str(error)) from error
    slots = [position for position, item in enumerate(best.items) if int(item) not in left_out][:n]
    return Served(
        items=tuple(int(best.items[position]) for position in slots),
        scores=tuple(
            float(best.scores[position]) if math.isfinite(best.scores[position]) else None for position in slots
        ),
        is_filled=tuple(bool(best.is_filled[position]) for position in slots),
        seconds=time.perf_counter() - started,
        digest=model.digest,
        explanations=tuple(texts.get(int(best.items[position]), {}) for position in slots) if texts else (),
    )


def _texts(opened: Algorithm, profile: Profiles) -> dict[int, dict[str, str]]:
    """The texts of the profile's uploaded list, by item and language; empty without any."""
    lists = opened.base if isinstance(opened, Reranked) else opened
    if not isinstance(lists, Lists):
        return {}
    arrays = artefacts.load(KIND, cast(Lists.Params, lists.params).upload).arrays
    by_language = {name.removeprefix(TEXT): own for name, own in arrays.items() if name.startswith(TEXT)}
    texts = {
        item: {language: str(own[row]) for language, own in by_language.items() if own[row]}
        for item, row in lists.rows_of(profile).items()
    }
    return {item: own for item, own in texts.items() if own}


def explain(
    *,
    model: TrainedModel,
    items: Sequence[int],
    ratings: Sequence[float],
    scale: tuple[float, float, float],
    of: Sequence[int],
    history: History | None = None,
) -> tuple[Explanation | None, ...]:
    """Return the contribution of each rating of a profile to the scores of the items `of`; see `recommend`.

    None where the model has no score for the item, or cannot attribute it to ratings. Contributions are ordered by item
    index. Raises ArtefactError or ParallaxError as `recommend` does.
    """
    if model.origin == ModelOrigin.REMOTE:
        return (None,) * len(of)
    opened = opened_model(model.digest)
    try:
        profile = Profiles.single(list(items), list(ratings), opened.n_items, Scale(*scale), history)
        return opened.explain(profile, list(of))
    except DataError as error:
        raise ParallaxError("model.bad_profile", str(error)) from error
