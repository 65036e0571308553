"""What stands around every page of a participant. It is the same for many, so it is kept."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from studies.selectors.pages import Way

register = template.Library()


@register.simple_tag
def steps(way: Way) -> SafeString:
    """The bar of steps."""
    return _kept(way, get_language())


@lru_cache(maxsize=64)
def _kept(way: Way, _language: str | None) -> SafeString:
    return render_to_string("participant/parts/steps.html", {"way": way})
