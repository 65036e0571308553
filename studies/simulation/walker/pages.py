"""Parsed pages for the walker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from lxml import html

from core.errors import ParallaxError

# The site uses UTF-8, but htmx fragments do not declare it.
PARSER = html.HTMLParser(encoding="utf-8")


@dataclass
class Page:
    """A received page: its address and parsed tree."""

    url: str
    tree: html.HtmlElement

    @classmethod
    def read(cls, url: str, content: bytes) -> Self:
        """Parse a page or an htmx fragment."""
        return cls(url, html.document_fromstring(content, parser=PARSER))

    def find(self, expression: str) -> html.HtmlElement:
        """Return the first element that matches the XPath.

        Raises ParallaxError `walker.not_found` if the page has no such element.
        """
        elements = self.tree.xpath(expression)
        if not isinstance(elements, list) or not elements:
            title = self.tree.findtext(".//title", default="").strip()
            raise ParallaxError(
                "walker.not_found",
                f"A simulated participant stopped at {self.url} ({title!r}): the page has no {expression}.",
                {"url": self.url},
            )
        return elements[0]

    def text(self, expression: str) -> str:
        """Return the text of the first element that matches the XPath."""
        return str(self.find(expression).text_content()).strip()
