"""Items by their index or key, kept by the process: pages show the same few hundred again and again.

The rows of a version never change under it, so what was read once stays true.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Generic, TypeVar

from django.db.models import BigIntegerField

from catalog.models import DatasetVersion, Feature, Item

__all__ = ["Headline", "facts_of_item", "headlines_at", "item_with_key", "items_at", "keep_all"]

ITEMS_KEPT = 8192

Value = TypeVar("Value")
Headline = tuple[str, str]  # first genre and first director, "" for none
Facts = Mapping[str, tuple[str, ...]]  # values by kind, in the source's order
Key = tuple[int, datetime, int]


class _Kept(Generic[Value]):
    """The values used last, by version and the item's number; those missing are read together."""

    def __init__(self, read: Callable[[DatasetVersion, list[int]], Mapping[int, Value]]) -> None:
        self._read = read
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def of(self, version: DatasetVersion, indexes: Iterable[int]) -> dict[int, Value]:
        wanted = list(indexes)
        found: dict[int, Value] = {}
        # When it was made is in the key, since a restored database may give a number again.
        with self._lock:
            for index in wanted:
                key = (version.pk, version.created_at, index)
                if key in self._values:
                    self._values.move_to_end(key)
                    found[index] = self._values[key]
        missing = [index for index in wanted if index not in found]
        if missing:
            fresh = self._read(version, missing)
            found.update(fresh)
            with self._lock:
                self._values.update({(version.pk, version.created_at, index): one for index, one in fresh.items()})
                while len(self._values) > ITEMS_KEPT:
                    self._values.popitem(last=False)
        return found


def _read_items(version: DatasetVersion, indexes: list[int]) -> dict[int, Item]:
    return {item.index: item for item in version.items.filter(index__in=indexes)}


def _read_headlines(version: DatasetVersion, indexes: list[int]) -> dict[int, Headline]:
    first: dict[int, dict[str, str]] = {index: {} for index in indexes}
    rows = Feature.objects.filter(item__version=version, item__index__in=indexes, kind__in=("genre", "director"))
    for index, kind, value in rows.order_by("kind", "position", "pk").values_list("item__index", "kind", "value"):
        first[index].setdefault(kind, value)
    return {index: (one.get("genre", ""), one.get("director", "")) for index, one in first.items()}


def _read_by_key(version: DatasetVersion, keys: list[int]) -> dict[int, Item]:
    return {item.pk: item for item in version.items.filter(pk__in=keys)}


def _read_facts(version: DatasetVersion, keys: list[int]) -> dict[int, Facts]:
    found: dict[int, dict[str, list[str]]] = {key: {} for key in keys}
    rows = Feature.objects.filter(item__version=version, item__in=keys).order_by("kind", "position", "pk")
    for key, kind, value in rows.values_list("item", "kind", "value"):
        found[key].setdefault(kind, []).append(value)
    return {key: {kind: tuple(values) for kind, values in facts.items()} for key, facts in found.items()}


_items: _Kept[Item] = _Kept(_read_items)
_by_key: _Kept[Item] = _Kept(_read_by_key)
_facts: _Kept[Facts] = _Kept(_read_facts)
_headlines: _Kept[Headline] = _Kept(_read_headlines)


def items_at(version: DatasetVersion, indexes: Sequence[int]) -> list[Item]:
    """The items at these indexes, in their order; the rows are shared and not to be changed.

    Raises
    ------
    KeyError
        The version has no item at one of them.
    """
    found = _items.of(version, indexes)
    return [found[index] for index in indexes]


def headlines_at(version: DatasetVersion, indexes: Sequence[int]) -> dict[int, Headline]:
    """First genre and first director of the items at these indexes, by index."""
    return _headlines.of(version, indexes)


def item_with_key(version: DatasetVersion, key: int) -> Item | None:
    """The item with that primary key, or None where the version has none; the row is shared and not to be changed."""
    if key > BigIntegerField.MAX_BIGINT:  # no key of ours, and no number that a database takes
        return None
    return _by_key.of(version, [key]).get(key)


def facts_of_item(version: DatasetVersion, item: Item) -> Facts:
    """What is known of an item, by kind."""
    return _facts.of(version, [item.pk])[item.pk]


def keep_all(version: DatasetVersion) -> None:
    """Read every item with what pages show of it, four queries in all; a version larger than what is kept is left."""
    if version.n_items > ITEMS_KEPT:
        return
    indexes = range(version.n_items)
    keys = [item.pk for item in _items.of(version, indexes).values()]
    _by_key.of(version, keys)
    _headlines.of(version, indexes)
    _facts.of(version, keys)
