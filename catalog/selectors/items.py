"""Items by their index, kept by the process: pages show the same few hundred again and again.

The rows of a version never change under it, so what was read once stays true.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Generic, TypeVar

from catalog.models import DatasetVersion, Feature, Item

__all__ = ["Headline", "headlines_at", "items_at"]

ITEMS_KEPT = 8192

Value = TypeVar("Value")
Headline = tuple[str, str]  # first genre and first director, "" for none
Key = tuple[int, datetime, int]


class _Kept(Generic[Value]):
    """The values used last, by version and item index; those missing are read together."""

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


_items: _Kept[Item] = _Kept(_read_items)
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
