"""What several models would recommend to the same made-up profile, and why: reads only, keeps nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from catalog.models import DatasetVersion, Item
from core.errors import ParallaxError, ParameterError
from evaluation import tables
from evaluation.charts import Bar, bars
from evaluation.models import TrainedModel
from evaluation.services.serving import Served, explain, opened_model, recommend
from recommenders.explanation import Explanation, How

__all__ = ["Line", "Part", "Tried", "Why", "try_models"]


@dataclass(frozen=True)
class Part:
    """One rated item's contribution to a score, written and as a bar."""

    item: Item
    contribution: str
    bar: Bar


@dataclass(frozen=True)
class Why:
    """A score in parts, the largest for it first; `start` is empty where the score starts from nothing."""

    start: str
    parts: tuple[Part, ...]
    n_idle: int
    how: How


@dataclass(frozen=True)
class Line:
    """A place of a list; `why` is None where there is no answer."""

    item: Item
    score: str
    is_filled: bool
    why: Why | None


@dataclass(frozen=True)
class Tried:
    """What one model gives, or in `problem` why it gives nothing."""

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
) -> list[Tried]:
    """Give each model's `n` best items for a profile, in the order of `models`, with explanations.

    `ratings` are by item index of `version`, on `scale`. A model that cannot be used says so in its place and
    leaves the others alone.
    """
    profile = {"items": list(ratings), "ratings": list(ratings.values()), "scale": scale}
    found: list[tuple[TrainedModel, Served, tuple[Explanation | None, ...]] | Tried] = []
    for model in models:
        try:
            served = recommend(model=model, n=n, **profile)  # type: ignore[arg-type]  # names and types are above
            found.append((model, served, explain(model=model, of=served.items, **profile)))  # type: ignore[arg-type]
        except (ParallaxError, ParameterError) as problem:  # also an algorithm that is no longer installed
            found.append(Tried(model, problem=str(problem)))
    needed = {index for one in found if not isinstance(one, Tried) for index in one[1].items} | set(ratings)
    items = {item.index: item for item in version.items.filter(index__in=needed)}
    return [one if isinstance(one, Tried) else _tried(*one, items) for one in found]


def _tried(
    model: TrainedModel, served: Served, explained: tuple[Explanation | None, ...], items: Mapping[int, Item]
) -> Tried:
    kind = opened_model(model.digest)
    # Counts of ratings need no decimals; scores that parts are to make have those of the parts.
    is_whole = not kind.explains and all(score is None or score.is_integer() for score in served.scores)
    decimals = 0 if is_whole else 3
    lines = [
        Line(items[index], tables.score(score, decimals), is_filled, None if one is None else _why(one, items))
        for index, score, is_filled, one in zip(served.items, served.scores, served.is_filled, explained, strict=True)
    ]
    return Tried(model, is_rating=kind.score_kind == "rating", explains=kind.explains, lines=tuple(lines))


def _why(explanation: Explanation, items: Mapping[int, Item]) -> Why:
    order = np.argsort(-explanation.contributions, kind="stable")
    order = order[explanation.contributions[order] != 0]
    values = explanation.contributions[order].tolist()
    parts = [
        Part(items[index], tables.signed(value), bar)
        for index, value, bar in zip(explanation.items[order].tolist(), values, bars(values), strict=True)
    ]
    return Why(
        start=tables.score(explanation.offset) if explanation.offset else "",
        parts=tuple(parts),
        n_idle=len(explanation.items) - len(parts),
        how=explanation.how,
    )
