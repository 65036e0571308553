"""The one door to a trained model: a profile goes in, a recommendation list comes out."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from core import artefacts
from core.errors import ArtefactError, DataError, ParallaxError, ParameterError
from evaluation.models import TrainedModel
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import Profiles, Scale
from recommenders.explanation import Explanation


@dataclass(frozen=True)
class Served:
    """A recommendation list as it was given, and by which model (`digest`).

    A slot the model had no score for is filled by popularity; its score is None.
    """

    items: tuple[int, ...]
    scores: tuple[float | None, ...]
    is_filled: tuple[bool, ...]
    seconds: float
    digest: str


@lru_cache(maxsize=32)
def opened_model(digest: str) -> Algorithm:
    """Open a stored model by its digest, checked against its bytes, once a process.

    Raises
    ------
    ArtefactError
        Its files are missing or damaged, or were written by another version of the algorithm; or the package
        that the algorithm came with is no longer installed.
    """
    kept = artefacts.load("models", digest)
    try:
        kind = registry.algorithm(kept.meta["algorithm"])
    except (ParameterError, ImportError) as missing:
        raise ArtefactError(
            "model.no_algorithm",
            f"The model {digest[:12]} is of an algorithm that cannot be loaded here. {missing}",
            {"digest": digest},
        ) from missing
    if kind.version != kept.meta["version"]:
        raise ArtefactError(
            "model.other_version",
            f"This model was trained by version {kept.meta['version']} of {kind.title}, and version "
            f"{kind.version} is installed. Train it again, or install the version it was trained by.",
            {"digest": digest},
        )
    params = registry.params_of(kept.meta["algorithm"], kept.meta["params"])
    return kind.from_state(kept.arrays, params, Scale(*kept.meta["scale"]))


def warm(*, model: TrainedModel) -> None:
    """Open a model and ask it for one list, so that the first participant does not wait for either."""
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
) -> Served:
    """Give the `n` best items for a profile, none of its own and none of `left_out`.

    `items` are item indexes of the dataset's version; `scale` is that of `ratings` (low, high, step), and
    is mapped linearly to that of the training data.

    Raises
    ------
    ArtefactError
        The model's files are missing or damaged: no other model takes its place.
    ParallaxError
        Code ``model.bad_profile``: an unknown item, one rated twice, a rating off the scale.
    """
    started = time.perf_counter()
    opened = opened_model(model.digest)
    try:
        best = opened.answer(list(items), list(ratings), Scale(*scale), n + len(left_out))
    except DataError as wrong:
        raise ParallaxError("model.bad_profile", str(wrong)) from wrong
    slots = [at for at, item in enumerate(best.items) if int(item) not in left_out][:n]
    return Served(
        items=tuple(int(best.items[at]) for at in slots),
        scores=tuple(float(best.scores[at]) if math.isfinite(best.scores[at]) else None for at in slots),
        is_filled=tuple(bool(best.is_filled[at]) for at in slots),
        seconds=time.perf_counter() - started,
        digest=model.digest,
    )


def explain(
    *,
    model: TrainedModel,
    items: Sequence[int],
    ratings: Sequence[float],
    scale: tuple[float, float, float],
    of: Sequence[int],
) -> tuple[Explanation | None, ...]:
    """Tell what each rating of a profile did to the scores of the items `of`; the rest is as in `recommend`.

    None where the model has no score for the item, or no answer in terms of the ratings. Contributions are in
    the order of the items' numbers.

    Raises
    ------
    ArtefactError, ParallaxError
        As `recommend`.
    """
    opened = opened_model(model.digest)
    try:
        profile = Profiles.one(list(items), list(ratings), opened.n_items, Scale(*scale))
        return opened.explain(profile, list(of))
    except DataError as wrong:
        raise ParallaxError("model.bad_profile", str(wrong)) from wrong
