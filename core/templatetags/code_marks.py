"""Messages in which backticks mark code, as HTML: commands write them as they are, pages set them apart."""

from __future__ import annotations

import re

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
_CODE = re.compile("`([^`]+)`")


@register.filter
def with_code(message: str) -> SafeString:
    """The message, escaped, with what stands between backticks as `<code>`."""
    return mark_safe(_CODE.sub(r"<code>\1</code>", escape(message)))  # noqa: S308 - escaped here
