"""The addresses of the site, from the URL configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.urls import get_resolver
from django.urls.resolvers import URLResolver


def named_addresses() -> Iterator[tuple[str, str, set[str]]]:
    """Namespace, name and arguments of every named address, outermost first."""
    waiting: list[tuple[str, Any, set[str]]] = [("", get_resolver(), set())]
    while waiting:
        namespace, resolver, before = waiting.pop(0)
        for pattern in resolver.url_patterns:
            names = before | set(pattern.pattern.regex.groupindex)
            if isinstance(pattern, URLResolver):
                waiting.append((pattern.namespace or namespace, pattern, names))
            elif pattern.name:
                yield namespace, str(pattern.name), names
