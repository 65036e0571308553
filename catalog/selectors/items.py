"""Items by index or key, cached by the process, because pages show the same few hundred items.

The rows of a version never change, so cached rows stay valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from django.db.models import BigIntegerField, Q

from catalog.item_types import ITEM_TYPES
from catalog.models import DatasetVersion, Feature, Item

ITEMS_KEPT = 8192
KINDS_ON_CARDS = sorted({kind for each in ITEM_TYPES.values() for line in each.card for kind in line})

Value = TypeVar("Value")
Headline = Mapping[str, str]  # the first value of each kind that cards show
Facts = Mapping[str, tuple[str, ...]]  # values by kind, in the source's order
Key = tuple[int, datetime, int]


class _ItemCache(Generic[Value]):
    """Values by version and item, at most `ITEMS_KEPT`; missing ones are read together."""

    def __init__(self, read: Callable[[DatasetVersion, list[int]], Mapping[int, Value]]) -> None:
        self._read = read
        self._values: dict[Key, Value] = {}

    def of(self, version: DatasetVersion, indexes: Iterable[int]) -> dict[int, Value]:
        # The time of creation is in the key, since a restored database may assign a number again.
        keys = {index: (version.pk, version.created_at, index) for index in indexes}
        values = self._values  # another thread may begin a new cache meanwhile
        cached = {index: values[key] for index, key in keys.items() if key in values}
        missing = [index for index in keys if index not in cached]
        if not missing:
            return cached
        fresh = self._read(version, missing)
        if len(values) + len(fresh) > ITEMS_KEPT:
            values = self._values = {}
        values.update({keys[index]: value for index, value in fresh.items()})
        return {**cached, **fresh}


def _read_items(version: DatasetVersion, indexes: list[int]) -> dict[int, Item]:
    return {item.index: item for item in version.items.filter(index__in=indexes)}


def _read_headlines(version: DatasetVersion, indexes: list[int]) -> Mapping[int, Headline]:
    first: dict[int, dict[str, str]] = {index: {} for index in indexes}
    rows = Feature.objects.filter(item__version=version, item__index__in=indexes, kind__in=KINDS_ON_CARDS)
    for index, kind, value in rows.order_by("kind", "position", "pk").values_list("item__index", "kind", "value"):
        first[index].setdefault(kind, value)
    return first


def _read_by_key(version: DatasetVersion, keys: list[int]) -> dict[int, Item]:
    return {item.pk: item for item in version.items.filter(pk__in=keys)}


def _read_facts(version: DatasetVersion, keys: list[int]) -> dict[int, Facts]:
    facts_by_item: dict[int, dict[str, list[str]]] = {key: {} for key in keys}
    rows = Feature.objects.filter(item__version=version, item__in=keys).order_by("kind", "position", "pk")
    for key, kind, value in rows.values_list("item", "kind", "value"):
        facts_by_item[key].setdefault(kind, []).append(value)
    return {key: {kind: tuple(values) for kind, values in facts.items()} for key, facts in facts_by_item.items()}


_items: _ItemCache[Item] = _ItemCache(_read_items)
_by_key: _ItemCache[Item] = _ItemCache(_read_by_key)
_facts: _ItemCache[Facts] = _ItemCache(_read_facts)
_headlines: _ItemCache[Headline] = _ItemCache(_read_headlines)


def items_at(version: DatasetVersion, indexes: Sequence[int]) -> list[Item]:
    """The items at these indexes, in their order; the rows are shared and must not be changed. Raises KeyError when the
    version has no item at one of them.
    """
    items = _items.of(version, indexes)
    return [items[index] for index in indexes]


def headlines_at(version: DatasetVersion, indexes: Sequence[int]) -> dict[int, Headline]:
    """The first value of each kind on cards, such as genre and director, of the items at these indexes, by index."""
    return _headlines.of(version, indexes)


def item_with_key(version: DatasetVersion, key: int) -> Item | None:
    """The item with that primary key, or None where the version has none; the row is shared and must not be changed."""
    if key > BigIntegerField.MAX_BIGINT:  # no key of ours, and no number that a database takes
        return None
    return _by_key.of(version, [key]).get(key)


def has_samples(version: DatasetVersion) -> bool:
    """Whether a trailer, clip or excerpt of any item is there."""
    none = Q(trailer_url="", clip="", excerpt="")
    return version.items.exclude(none).exists()


def facts_of_item(version: DatasetVersion, item: Item) -> Facts:
    """The metadata of an item, by kind."""
    return facts_of_items(version, [item])[item.pk]


def facts_of_items(version: DatasetVersion, items: Iterable[Item]) -> dict[int, Facts]:
    """The metadata of items by primary key, by kind."""
    return _facts.of(version, [item.pk for item in items])


def preload_items(version: DatasetVersion) -> None:
    """Cache every item with its metadata, in four queries; versions larger than the cache are skipped."""
    if version.n_items > ITEMS_KEPT:
        return
    indexes = range(version.n_items)
    keys = [item.pk for item in _items.of(version, indexes).values()]
    _by_key.of(version, keys)
    _headlines.of(version, indexes)
    _facts.of(version, keys)
