"""How statistics are set on a page: italic letters, a real subscript, and no line break within an expression."""

from __future__ import annotations

import re

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

# A letter of a statistic before its value: "p = .03", "F(6, 203)", and a heading that begins with one: "p, Holm".
_BEFORE_VALUE = re.compile(r"(?<![\w&])(?:(p|W|M|SD|n|N|τ_b|ρ)(?=\s(?:=|&lt;|&gt;|≥|≤)\s|\||\s\.?\d)|(F|H)(?=\(\d))")
_HEADING = re.compile(r"^(n|M|SD|p|F|SS|MS|df|τ_b|ρ)(?=$|,)")
_OPERATOR = re.compile(r" (=|&lt;|&gt;|≥|≤) ")
_PERCENT = re.compile(r"(\d) %")
_HARD_SPACE = "\u00a0"


@register.filter
def typeset(text: str) -> SafeString:
    """Escape a sentence or a cell, then set the statistics in it."""
    escaped = str(conditional_escape(text))
    escaped = _BEFORE_VALUE.sub(r"<i>\g<0></i>", escaped)
    escaped = _HEADING.sub(r"<i>\1</i>", escaped)
    escaped = _OPERATOR.sub(rf"{_HARD_SPACE}\1{_HARD_SPACE}", escaped)
    escaped = _PERCENT.sub(rf"\1{_HARD_SPACE}%", escaped)
    return mark_safe(escaped.replace("τ_b", "τ<sub>b</sub>"))  # noqa: S308 - escaped above
