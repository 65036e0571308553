"""The frame of participant pages, cached since it is the same for many participants."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from studies.participation.selectors.pages import Progress

register = template.Library()


@register.simple_tag
def steps(progress: Progress) -> SafeString:
    """The progress bar."""
    return _cached_html(progress, get_language())


@lru_cache(maxsize=64)
def _cached_html(progress: Progress, _language: str | None) -> SafeString:
    return render_to_string("participant/parts/steps.html", {"progress": progress})
