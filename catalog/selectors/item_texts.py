"""Titles and plots of items in the language of a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString

from catalog.models import DatasetVersion, Item

TextsByLanguage = Mapping[str, Mapping[str, str]]


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


def localised_titles(texts: TextsByLanguage) -> list[str]:
    """An item's titles in other languages."""
    return [own["title"] for own in texts.values() if "title" in own]


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
