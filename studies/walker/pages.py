"""A page as a program reads it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from lxml import etree, html

from core.errors import ParallaxError

# The site writes UTF-8, and what htmx puts into a page does not say so.
PARSER = html.HTMLParser(encoding="utf-8")

_compiled = lru_cache(maxsize=512)(etree.XPath)


def xpath(element: html.HtmlElement, expression: str) -> Any:
    """Return what the XPath names as seen from an element; walks ask the same of many pages, so it is kept compiled."""
    return _compiled(expression)(element)


@dataclass
class Page:
    """A page as it came: its address and its parsed tree."""

    url: str
    tree: html.HtmlElement

    @classmethod
    def read(cls, url: str, content: bytes) -> Self:
        """Parse a page, or the part of one that htmx asked for."""
        return cls(url, html.document_fromstring(content, parser=PARSER))

    def find(self, expression: str) -> html.HtmlElement:
        """Return the one element that the XPath names.

        Raises ParallaxError `walker.not_found`: the page is not as a participant needs it.
        """
        found = xpath(self.tree, expression)
        if not isinstance(found, list) or not found:
            title = self.tree.findtext(".//title", default="").strip()
            raise ParallaxError(
                "walker.not_found",
                f"A simulated participant stopped at {self.url} ({title!r}): the page has no {expression}.",
                {"url": self.url},
            )
        return found[0]

    def text(self, expression: str) -> str:
        """Return the text of the element that the XPath names."""
        return str(self.find(expression).text_content()).strip()

    def has(self, expression: str) -> bool:
        """Return whether the XPath names anything."""
        return bool(xpath(self.tree, expression))
