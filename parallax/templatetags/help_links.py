"""Links of the console to the documentation: the topic of a page, and the glossary from the terms on it."""

from __future__ import annotations

import re
from typing import Any

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from parallax.shell.documentation import GLOSSARY, glossary, topic_of

register = template.Library()
# Headings of sections, of columns and of values; a row's head may be anybody's words, and hidden ones hold no links.
_HEAD = re.compile(
    r"(<(?:summary|label|a)\b[^>]*>\s*)?"  # no link within what is pressed itself
    r'(<(?:dt|h2|h3|legend|th)\b(?![^>]*(?:scope="row"|\bvh\b))[^>]*>)\s*([^<>]{1,40}?)\s*(?=</)'
)
_OTHER = re.compile(r'<(?:label\b|summary\b|a class="sort")[^>]*>\s*(?:<h[23]\b[^>]*>)?\s*([^<>]{1,40}?)\s*<')


@register.simple_tag(takes_context=True)
def help_address(context: dict[str, Any]) -> str:
    """The address of the documentation about the current page."""
    request = context.get("request")
    match = request.resolver_match if request else None
    page, _, heading = topic_of(match.view_name if match else "").partition("#")
    return f"{reverse('help', args=[page])}{'#' if heading else ''}{heading}"


@register.simple_block_tag(takes_context=True)
def with_terms(context: dict[str, Any], content: str) -> SafeString:
    """The content with links to the glossary: from each term where it first heads something, and in a list at the end
    from those that label fields or sort a table. Not in the documentation itself.
    """
    if "documentation" in context:
        return mark_safe(content)  # noqa: S308 -- a rendered page
    address, terms = reverse("help", args=[GLOSSARY]), glossary()
    linked: set[str] = set()

    def link(term: str) -> str:
        anchor = terms.get(term.lower()) or terms.get(term.lower().removesuffix("s"))  # of one or of several
        if anchor is None or anchor in linked:
            return ""
        linked.add(anchor)
        return f'<a class="term" href="{address}#{anchor}">{term}</a>'

    content = _HEAD.sub(lambda head: head[0] if head[1] else f"{head[2]}{link(head[3]) or head[3]}", content)
    if labels := " ".join(filter(None, map(link, _OTHER.findall(content)))):
        content += f'<details class="terms small"><summary>Terms</summary><p>{labels}</p></details>'
    return mark_safe(content)  # noqa: S308 -- a rendered page, with terms and anchors of our own
