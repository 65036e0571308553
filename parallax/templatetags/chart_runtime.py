"""The address of the script that draws charts."""

from __future__ import annotations

from django import template
from django.templatetags.static import static

from charting.runtime import NAME

register = template.Library()


@register.simple_tag
def chart_runtime() -> str:
    """The static file that charts.js loads before it draws the first chart."""
    return static(f"built/{NAME}")
