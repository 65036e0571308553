"""Names of splits, protocols and parameters as the form of a new run calls them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from evaluation import tables

register = template.Library()


@register.filter
def title_of(key: str) -> str:
    """Return the title of a split or a protocol."""
    return tables.title_of(key)


@register.filter
def in_words(values: Mapping[str, Any]) -> str:
    """Format the parameters of a model by their labels."""
    return tables.parameters_in_words(values)
