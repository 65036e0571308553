"""Parts that most pages of the console consist of: a section with its heading, a table, a form of one button."""

from __future__ import annotations

from typing import Any

from django import template
from django.forms import BaseForm
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_block_tag
def section(content: str, key: str, title: str) -> SafeString:
    """A section under a heading with the id `key`, which is also its name for screen readers."""
    return format_html('<section aria-labelledby="{0}">\n<h2 id="{0}">{1}</h2>{2}</section>', key, title, content)


@register.simple_block_tag
def table(content: str, name: str, kinds: str = "", *, frame: str = "") -> SafeString:
    """A table that scrolls sideways where it is too wide, also by the keyboard; `name` is for screen readers.

    `kinds` are classes of the table, such as folded; `frame` one of what it scrolls in: tall or held.
    """
    return format_html(
        '<div class="{}" tabindex="0" role="region" aria-label="{}">\n<table{}>{}</table>\n</div>',
        f"scroll {frame}".strip(),
        name,
        format_html(' class="{}"', kinds) if kinds else "",
        content,
    )


@register.inclusion_tag("console/_post_form.html")
def post_form(
    label: str, view: str = "", *args: Any, form: BaseForm | None = None, kind: str = "button", **button: Any
) -> dict[str, Any]:
    """A form of one button, with the fields of `form` above it if there are any.

    It is posted to the address of `view` with `args`, without a view to that of the page. `kind` is the look of the
    button: go, button or plain. `name` and `value` are what the button posts, `about` what it acts on, for screen
    readers.
    """
    return {"label": label, "address": reverse(view, args=args) if view else "", "form": form, "kind": kind, **button}
