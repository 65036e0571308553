"""Researchers' texts, rendered safely."""

from __future__ import annotations

from functools import lru_cache

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

TAGS = {"p", "br", "strong", "em", "ul", "ol", "li", "h1", "h2", "h3", "blockquote", "a", "code", "hr"}
_parser = MarkdownIt("commonmark", {"html": False})


@lru_cache(maxsize=256)
def rendered(text: str) -> SafeString:
    """Return Markdown as HTML of a few harmless tags; raw HTML in it is shown as text."""
    cleaned = nh3.clean(
        _parser.render(text), tags=TAGS, attributes={"a": {"href"}}, url_schemes={"https", "http", "mailto"}
    )
    return mark_safe(cleaned)  # noqa: S308 -- cleaned just above
