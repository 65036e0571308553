"""Two models' lists for a visitor's three ratings, which are not stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from catalog.item_types import FALLBACK_LANGUAGE
from catalog.models import Item
from catalog.selectors.search import POPULARITY, search_items
from core.errors import ParallaxError, StorageUnavailable
from core.rate_limits import RateLimit
from studies.design.services.condition_serving import recommend_in
from studies.known_items import FIVE_STARS
from studies.models import Study

OFFERED, FEWEST, LENGTH = 6, 3, 3
LIMIT = RateLimit(60, 600)  # lists that one network may ask for: a school class trying it twice


@dataclass(frozen=True)
class TasteList:
    """The list of one model: its items, each with whether the other list has it too."""

    model: str
    entries: tuple[tuple[Item, bool], ...]


@dataclass(frozen=True)
class Taste:
    """The items to rate with their stars; once ratings were sent, two lists or the `problem` that prevents them."""

    items: tuple[tuple[Item, str], ...]
    noun: str
    lists: tuple[TasteList, ...] = ()
    problem: str = ""
    points: tuple[str, ...] = ("1", "2", "3", "4", "5")


def taste_of(study: Study, sent: Mapping[str, str] | None = None, *, problem: str = "") -> Taste | None:
    """Items of a study to rate, and for the ratings that were `sent` the lists of two conditions with least in common.

    ``r12=4`` is a rating of item 12 by 4 stars. None for a study whose participants do not rate with five stars.
    """
    design, version = study.design, study.dataset_version
    if design.is_choice or design.scale != FIVE_STARS:
        return None
    noun = version.dataset.kind_of_item.words_in(FALLBACK_LANGUAGE).many
    items = search_items(version, order=POPULARITY, limit=OFFERED).items
    stars = [(sent or {}).get(f"r{item.index}", "") for item in items]
    rated = {item.index: int(each) for item, each in zip(items, stars, strict=True) if each in Taste.points}
    lists: tuple[TasteList, ...] = ()
    if sent is not None and not problem:
        if len(rated) < FEWEST:
            problem = f"Rate at least three {noun}."
        else:
            try:
                lists = _least_alike(study, rated)
            except (ParallaxError, StorageUnavailable, OSError):
                problem = "The models cannot be used at the moment. Please try again later."
    return Taste(tuple(zip(items, stars, strict=True)), noun, lists, problem)


def _least_alike(study: Study, rated: Mapping[int, int]) -> tuple[TasteList, ...]:
    served = {
        condition.label: recommend_in(study=study, condition=condition, ratings=rated, n=LENGTH).items
        for condition in study.conditions.select_related("model").order_by("position")
    }
    pair = min(combinations(served, 2), key=lambda pair: len({*served[pair[0]]}.intersection(served[pair[1]])))
    shown = {index for label in pair for index in served[label]}
    items = {item.index: item for item in study.dataset_version.items.filter(index__in=shown)}
    return tuple(
        TasteList(label, tuple((items[index], index in served[rival]) for index in served[label]))
        for label, rival in (pair, pair[::-1])
    )
