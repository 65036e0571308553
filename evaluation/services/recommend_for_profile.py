"""Recommendations of several models for one hypothetical profile, with explanations. Stores nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from catalog.models import DatasetVersion, Item
from catalog.selectors.items import items_at
from catalog.selectors.ratings import user_ids_of
from core.errors import ParallaxError, ParameterError
from evaluation import tables
from evaluation.charts import Bar, bars
from evaluation.models import TrainedModel
from evaluation.services.remote_lists import Served
from evaluation.services.serving import explain, opened_model, recommend
from evaluation.services.upload_summary import ShownUsers
from recommenders.data import History
from recommenders.explanation import Explanation, How

FAVOURITES = 3  # titles by which a page describes a user


@dataclass(frozen=True)
class Part:
    """The contribution of one rated item to a score, as text and as a bar."""

    item: Item
    contribution: str
    bar: Bar


@dataclass(frozen=True)
class ScoreExplanation:
    """A score as a sum of contributions, largest first; `start` is empty if the score starts from zero."""

    start: str
    parts: tuple[Part, ...]
    n_idle: int
    how: How


@dataclass(frozen=True)
class Line:
    """A list entry; `why` is None if the algorithm offers no explanation."""

    item: Item
    score: str
    is_filled: bool
    why: ScoreExplanation | None


@dataclass(frozen=True)
class ModelTrial:
    """The recommendation list of one model, or the reason why there is none (`problem`)."""

    model: TrainedModel
    is_rating: bool = False
    explains: bool = False
    lines: tuple[Line, ...] = ()
    problem: str = ""


def try_models(
    *,
    version: DatasetVersion,
    models: Sequence[TrainedModel],
    ratings: Mapping[int, float],
    scale: tuple[float, float, float],
    n: int,
) -> list[ModelTrial]:
    """Return each model's `n` best items for a profile with explanations, in the order of `models`.

    `ratings` maps item indexes of `version` to ratings on `scale`. A model that cannot be used is reported in its
    `problem`; the others are not affected.
    """
    # The page lists the items in the order in which they were added.
    history = History("rating", order=range(1, len(ratings) + 1))
    profile = {"items": list(ratings), "ratings": list(ratings.values()), "scale": scale, "history": history}
    results: list[tuple[TrainedModel, Served, tuple[Explanation | None, ...]] | ModelTrial] = []
    for model in models:
        try:
            served = recommend(model=model, n=n, **profile)  # type: ignore[arg-type]  # names and types are above
            results.append((model, served, explain(model=model, of=served.items, **profile)))  # type: ignore[arg-type]
        except (ParallaxError, ParameterError) as problem:  # or its algorithm is no longer installed
            results.append(ModelTrial(model, problem=str(problem)))
    needed = {index for result in results if not isinstance(result, ModelTrial) for index in result[1].items}
    items = {item.index: item for item in version.items.filter(index__in=needed | set(ratings))}
    return [result if isinstance(result, ModelTrial) else _trial(*result, items) for result in results]


@dataclass(frozen=True)
class UserTrials:
    """A user of the dataset with the titles they rated highest, and the list of each model."""

    user: str
    n_ratings: int
    favourites: tuple[str, ...]
    trials: tuple[ModelTrial, ...]


def try_users(
    *, version: DatasetVersion, models: Sequence[TrainedModel], shown: ShownUsers, n: int
) -> list[UserTrials]:
    """Return each model's `n` best items for users of the dataset, as `try_models` does."""
    profiles, ids = shown.profiles(version), user_ids_of(version)
    scale = (profiles.scale.low, profiles.scale.high, profiles.scale.step)
    tried = []
    for row, user in enumerate(shown.users):
        own = profiles.user_items[[row]]
        ratings = dict(zip(own.indices.tolist(), own.data.tolist(), strict=True))
        best = sorted(ratings, key=lambda item: (-ratings[item], item))[:FAVOURITES]
        titles = tuple(map(str, items_at(version, best)))
        trials = try_models(version=version, models=models, ratings=ratings, scale=scale, n=n)
        tried.append(UserTrials(str(ids[user]), len(ratings), titles, tuple(trials)))
    return tried


def _trial(
    model: TrainedModel, served: Served, explanations: tuple[Explanation | None, ...], items: Mapping[int, Item]
) -> ModelTrial:
    kind = opened_model(model.digest)
    # Rating counts need no decimals; explained scores have the decimals of their contributions.
    is_whole = not kind.explains and all(score is None or score.is_integer() for score in served.scores)
    decimals = 0 if is_whole else 3
    lines = [
        Line(
            items[index],
            tables.score(score, decimals),
            is_filled,
            None if explanation is None else _why(explanation, items),
        )
        for index, score, is_filled, explanation in zip(
            served.items, served.scores, served.is_filled, explanations, strict=True
        )
    ]
    return ModelTrial(model, is_rating=kind.score_kind == "rating", explains=kind.explains, lines=tuple(lines))


def _why(explanation: Explanation, items: Mapping[int, Item]) -> ScoreExplanation:
    order = np.argsort(-explanation.contributions, kind="stable")
    order = order[explanation.contributions[order] != 0]
    values = explanation.contributions[order].tolist()
    parts = [
        Part(items[index], tables.signed(value), bar)
        for index, value, bar in zip(explanation.items[order].tolist(), values, bars(values), strict=True)
    ]
    return ScoreExplanation(
        start=tables.score(explanation.offset) if explanation.offset else "",
        parts=tuple(parts),
        n_idle=len(explanation.items) - len(parts),
        how=explanation.how,
    )
