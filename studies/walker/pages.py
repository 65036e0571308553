"""A page as a program reads it."""

from __future__ import annotations

from dataclasses import dataclass

from lxml import html

from core.errors import ParallaxError


@dataclass
class Page:
    """A page as it came: its address and its parsed tree."""

    url: str
    tree: html.HtmlElement

    def find(self, expression: str) -> html.HtmlElement:
        """Return the one element that the XPath names.

        Raises ParallaxError `walker.not_found`: the page is not as a participant needs it.
        """
        found = self.tree.xpath(expression)
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
        return bool(self.tree.xpath(expression))
