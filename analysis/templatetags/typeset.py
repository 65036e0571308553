"""How statistics are set on a page: italic letters, a real subscript, and no line break within an expression."""

from __future__ import annotations

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

from analysis.narrative.typeset import pieces

register = template.Library()


@register.filter
def typeset(text: str) -> SafeString:
    """Escape a sentence or a cell, and set the statistics in it."""
    made = ""
    for piece in pieces(str(text)):
        escaped = conditional_escape(piece.text)
        made += f"<i>{escaped}</i>" if piece.is_italic else escaped
    return mark_safe(made.replace("τ_b", "τ<sub>b</sub>"))  # noqa: S308 - escaped above
