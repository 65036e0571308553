"""Items by index or key, and their texts in the language of a page.

Rows are cached by the process, because pages show the same few hundred items; those of a version never change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from django.db.models import BigIntegerField, Q
from django.utils.html import format_html
from django.utils.safestring import SafeString

from catalog.item_types import ITEM_TYPES
from catalog.models import DatasetVersion, Feature, Item

ITEMS_KEPT = 8192
KINDS_ON_CARDS = sorted({kind for each in ITEM_TYPES.values() for line in each.card for kind in line})

Value = TypeVar("Value")
Headline = Mapping[str, str]  # the first value of each kind that cards show
Facts = Mapping[str, tuple[str, ...]]  # values by kind, in the source's order
Key = tuple[int, datetime, int]
TextsByLanguage = Mapping[str, Mapping[str, str]]


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


def _read_headlines(version: DatasetVersion, indexes: list[int]) -> Mapping[int, Headline]:
    first: dict[int, dict[str, str]] = {index: {} for index in indexes}
    rows = Feature.objects.filter(item__version=version, item__index__in=indexes, kind__in=KINDS_ON_CARDS)
    for index, kind, value in rows.order_by("kind", "position", "pk").values_list("item__index", "kind", "value"):
        first[index].setdefault(kind, value)
    return first


def _read_facts(version: DatasetVersion, keys: list[int]) -> dict[int, Facts]:
    facts_by_item: dict[int, dict[str, list[str]]] = {key: {} for key in keys}
    rows = Feature.objects.filter(item__version=version, item__in=keys).order_by("kind", "position", "pk")
    for key, kind, value in rows.values_list("item", "kind", "value"):
        facts_by_item[key].setdefault(kind, []).append(value)
    return {key: {kind: tuple(values) for kind, values in facts.items()} for key, facts in facts_by_item.items()}


_items: _ItemCache[Item] = _ItemCache(
    lambda version, indexes: {item.index: item for item in version.items.filter(index__in=indexes)}
)
_by_key: _ItemCache[Item] = _ItemCache(lambda version, keys: version.items.in_bulk(keys))
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


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text as a page shows it; `lang` is its language where that differs from the page's, else empty."""

    text: str
    lang: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def attribute(self) -> SafeString:
        """The attribute `lang` for the element that contains the text and nothing else."""
        return format_html(' lang="{}"', self.lang) if self.lang else SafeString("")

    @property
    def marked(self) -> str:
        """The text as part of a sentence, in an element of its own where its language differs."""
        return format_html('<span lang="{}">{}</span>', self.lang, self.text) if self.lang else self.text


def title_in(item: Item, language: str, item_language: str) -> ShownText:
    """The title in the language of a page, else the default title; `item_language` is that of default texts."""
    return _shown(item.title, item.texts.get(language, {}).get("title"), language, item_language)


def plot_in(item: Item, language: str, item_language: str) -> ShownText:
    """The plot in the language of a page, else the default plot; `item_language` is that of default texts."""
    return _shown(item.plot, item.texts.get(language, {}).get("plot"), language, item_language)


def excerpt_in(item: Item, language: str, item_language: str) -> ShownText:
    """The excerpt, which is in the language of default texts alone."""
    return _shown(item.excerpt, None, language, item_language)


def poster_url_in(item: Item, language: str) -> str:
    """The address of the poster, drawn with the title in the language of a page where the item has one."""
    is_localised = not item.image and "title" in item.texts.get(language, {})
    return f"{item.poster_url}&lang={language}" if is_localised else item.poster_url


def untranslated(version: DatasetVersion, language: str) -> dict[str, int]:
    """Count the items without a title and those with a plot but none in the language; empty where none should have it.

    Items should have texts in a language when their own is known and differs, or when some have texts in it.
    """
    own_language = version.dataset.item_language
    items = version.items.order_by()
    is_expected = own_language not in ("", language) or items.filter(texts__has_key=language).exists()
    if own_language == language or not is_expected:
        return {}
    return {
        "title": items.exclude(**{f"texts__{language}__has_key": "title"}).count(),
        "plot": items.exclude(plot="").exclude(**{f"texts__{language}__has_key": "plot"}).count(),
    }


def _shown(default: str, localised: str | None, language: str, item_language: str) -> ShownText:
    if localised:
        return ShownText(localised)
    return ShownText(default, item_language if default and item_language != language else "")
