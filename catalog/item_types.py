"""The item types, of the table `item_types.toml`: what items are called, what people do with them, what pages show."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from catalog.item_words import Words
from core.errors import ParameterError

POSTER, SQUARE, WIDE, NO_PICTURE = "poster", "square", "wide", "none"
PICTURES = (POSTER, SQUARE, WIDE, NO_PICTURE)  # the shape: 2:3, 1:1, 16:9, or no picture
TRAILER, CLIP, EXCERPT, SAMPLE = "trailer", "clip", "excerpt", "sample"  # what a sample of an item is called
FALLBACK_LANGUAGE = "en"
PEOPLE = ("author", "artist", "director", "cast")  # kinds of features that name who made an item or is in it


@dataclass(frozen=True, slots=True)
class ItemType:
    """An item type. `card` and `details` name attributes of items: the year, or kinds of features."""

    key: str
    title: str  # in the console
    words: Mapping[str, Words]  # by language
    card: tuple[tuple[str, ...], ...]  # its lines; of each, the first value is on the card
    details: tuple[str, ...]
    picture: str = POSTER
    sample: str = SAMPLE
    columns: tuple[str, ...] = ()  # names of columns that give it away, as letters and digits only

    @property
    def has_trailers(self) -> bool:
        """Whether it is film-like: its samples are trailers."""
        return self.sample == TRAILER

    def words_in(self, language: str) -> Words:
        """Its words in a language, or the English ones."""
        return self.words.get(language) or self.words[FALLBACK_LANGUAGE]


ITEM_TYPES: Mapping[str, ItemType] = {
    key: TypeAdapter(ItemType).validate_python({"key": key, **entry})
    for key, entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text()).items()
}
DEFAULT, PLAIN = "film", "item"  # the default is what datasets were before they had an item type


def item_type(key: str) -> ItemType:
    """The item type with that key; ParameterError names the keys there are."""
    if key not in ITEM_TYPES:
        raise ParameterError(f"There is no item type {key!r}. The item types are {', '.join(ITEM_TYPES)}.")
    return ITEM_TYPES[key]


def guessed_item_type(columns: Iterable[str], *, is_usage: bool) -> str:
    """The key of the item type that the names of a source's columns suggest, the first ones before the others.

    A name may be a type's noun in any of its languages. Usage data without such a name are products; anything else is a
    plain item.

    Examples
    --------
    >>> guessed_item_type(["ISBN"], is_usage=False), guessed_item_type(["item"], is_usage=True)
    ('book', 'product')
    """
    for column in columns:
        name = "".join(filter(str.isalnum, column.lower()))
        for stem in (name, name.removesuffix("id")):  # the whole name first: artists have "artistid", songs "artist"
            for key, each in ITEM_TYPES.items():
                nouns = {noun.lower() for words in each.words.values() for noun in (words.one, words.many)}
                if each.columns and stem in {*each.columns, *nouns}:
                    return key
    return "product" if is_usage else PLAIN


def words_with_noun(noun: str, language: str) -> Words | None:
    """The words of the item type that has this noun in the language; None where none has it.

    Examples
    --------
    >>> words_with_noun("book", "en").consumed, words_with_noun("tome", "en")
    ('read', None)
    """
    for each in ITEM_TYPES.values():
        words = each.words.get(language)
        if words is not None and words.one.lower() == noun.lower():
            return words
    return None
