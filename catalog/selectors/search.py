"""Browse and search a version: filters, orders, and pages of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from catalog.models import DatasetVersion, Feature, Item
from catalog.selectors.item_information import entropy0, popularity_entropy
from catalog.selectors.item_matcher import Document, Matcher
from catalog.selectors.items import items_at
from catalog.selectors.ratings import ratings_of
from core.errors import ParallaxError
from core.provenance import rng_for

POPULARITY, TITLE, RANDOM, STRATA = "popularity", "title", "random", "strata"
INFORMATIVE = {"entropy0": entropy0, "pop-entropy": popularity_entropy}
ORDERS = (POPULARITY, TITLE, RANDOM, STRATA, *INFORMATIVE)
N_STRATA = 5
INDEXES_KEPT = 8
PEOPLE = ("director", "cast")
NO_YEAR = -1
# Names of one genre that are written in several ways.
SAME_GENRE = {"sci fi": "science fiction scifi", "science fiction": "sci fi scifi", "film noir": "noir"}


@dataclass(frozen=True)
class SearchPage:
    """Some of the items found, and how many there are in all."""

    items: list[Item]
    total: int
    offset: int
    limit: int

    @property
    def next_offset(self) -> int | None:
        """Where the next page begins; None after the last."""
        following = self.offset + self.limit
        return following if following < self.total else None


class _Index:
    def __init__(self, version: DatasetVersion) -> None:
        facts: dict[int, dict[str, list[str]]] = {}
        kinds = ("genre", "alias", *PEOPLE)
        rows = Feature.objects.filter(item__version=version, kind__in=kinds).order_by("item_id", "position")
        for index, kind, value in rows.values_list("item__index", "kind", "value"):
            facts.setdefault(index, {}).setdefault(kind, []).append(value)
        items = list(version.items.order_by("index").values_list("title", "sort_title", "year", "n_ratings", "texts"))
        documents = [
            _document([title, *(own["title"] for own in texts.values() if "title" in own)], year, facts.get(at, {}))
            for at, (title, _, year, _, texts) in enumerate(items)
        ]
        self.popularity = np.array([n_ratings for *_, n_ratings, _ in items], dtype=np.int64)
        self.years = np.array([NO_YEAR if year is None else year for _, _, year, _, _ in items], dtype=np.int64)
        self.matcher = Matcher(documents, self.popularity)
        by_title = sorted(range(len(items)), key=lambda at: (items[at][1], items[at][2] or 0, at))
        self.by_title = np.array(by_title, dtype=np.int64)
        self.by_popularity = np.lexsort((np.arange(len(items)), -self.popularity)).astype(np.int64)
        self.genres: dict[str, NDArray[np.bool_]] = {}
        for at, kinds_of in facts.items():
            for genre in kinds_of.get("genre", ()):
                self.genres.setdefault(genre, np.zeros(len(items), dtype=np.bool_))[at] = True

    def ordered(self, order: str, seed: int) -> NDArray[np.int64]:
        """All items in one of the orders."""
        if order == POPULARITY:
            return self.by_popularity
        if order == TITLE:
            return self.by_title
        n_items = len(self.popularity)
        shuffled = rng_for(seed, "browse", order).permutation(n_items)
        return shuffled if order == RANDOM else self._in_strata(shuffled)

    def _in_strata(self, shuffled: NDArray[np.int64]) -> NDArray[np.int64]:
        """Shuffled items dealt in turn from strata of popularity that each hold a fifth of all ratings.

        The first stratum holds the few best-known items, the last the long tail: so every page shows both as
        long as the well-known ones last.
        """
        counts = self.popularity[self.by_popularity]
        share_before = (np.cumsum(counts) - counts) / max(int(counts.sum()), 1)
        stratum = np.empty(len(counts), dtype=np.int64)
        stratum[self.by_popularity] = np.minimum((share_before * N_STRATA).astype(np.int64), N_STRATA - 1)
        of_shuffled = stratum[shuffled]
        turn = np.empty(len(counts), dtype=np.int64)
        for each in range(N_STRATA):
            is_here = of_shuffled == each
            turn[is_here] = np.arange(is_here.sum())
        return np.asarray(shuffled[np.lexsort((of_shuffled, turn))])


def _document(titles: Sequence[str], year: int | None, facts: dict[str, list[str]]) -> Document:
    labels = list(facts.get("genre", ()))
    folded = [genre.casefold().replace("-", " ") for genre in labels]
    labels += [SAME_GENRE[genre] for genre in folded if genre in SAME_GENRE]
    if year is not None:
        decade = year - year % 10
        labels += [str(year), f"{decade}s", f"{decade % 100:02d}s"]
    people = [person for kind in PEOPLE for person in facts.get(kind, ())]
    return Document([*titles, *facts.get("alias", ())], people, labels)


@lru_cache(maxsize=INDEXES_KEPT)
def _index(version_id: int, content_hash: str) -> _Index:
    """Built once a process; the hash is in the key because the rows of a version never change under it."""
    return _Index(DatasetVersion.objects.get(pk=version_id))


@lru_cache(maxsize=INDEXES_KEPT)
def _most_informative_first(version_id: int, content_hash: str, order: str) -> NDArray[np.int64]:
    """All items by the measure that the order is named after, equal ones by popularity; built once a process."""
    information = INFORMATIVE[order](ratings_of(DatasetVersion.objects.get(pk=version_id)))
    by_popularity = _index(version_id, content_hash).by_popularity
    return by_popularity[np.argsort(-information[by_popularity], kind="stable")]


def _ordered(version: DatasetVersion, order: str, seed: int) -> NDArray[np.int64]:
    if order in INFORMATIVE:
        return _most_informative_first(version.pk, version.content_hash, order)
    return _index(version.pk, version.content_hash).ordered(order, seed)


def warm(version: DatasetVersion, order: str = POPULARITY) -> None:
    """Build the version's index and order now, so that the first search does not wait for them."""
    _ordered(version, order, seed=0)


def search_items(
    version: DatasetVersion,
    query: str = "",
    *,
    genre: str | None = None,
    decade: int | None = None,
    order: str = POPULARITY,
    seed: int = 0,
    offset: int = 0,
    limit: int = 24,
) -> SearchPage:
    """One page of the items that match `query` and the filters.

    With a query the best answers come first and `order` has no say; without one `order` decides. The random orders
    depend on `seed` alone: a filter leaves things out of them and moves nothing. Raises ParallaxError for
    `search.unknown_order`.
    """
    if order not in ORDERS:
        raise ParallaxError("search.unknown_order", f"Unknown order {order!r}. Choose one of: {', '.join(ORDERS)}.")
    index = _index(version.pk, version.content_hash)
    matches = index.matcher.match(query) if query.strip() else _ordered(version, order, seed)
    if genre:
        is_of_genre = index.genres.get(genre)
        matches = matches[is_of_genre[matches]] if is_of_genre is not None else matches[:0]
    if decade is not None:
        years = index.years[matches]
        matches = matches[(years >= decade) & (years < decade + 10)]
    offset = max(offset, 0)
    shown = matches[offset : offset + limit].tolist()
    return SearchPage(items_at(version, shown), len(matches), offset, limit)
