"""Sentences, sections and figures of a report on a page."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString, mark_safe

from analysis.present import bayesian
from documents import html
from documents.blocks import Section

register = template.Library()


@register.filter
def typeset(text: str) -> SafeString:
    """Escape a sentence, and set the statistics in it."""
    return mark_safe(html.sentence(str(text)))  # noqa: S308 - escaped there


register.filter("without_installing", bayesian.without_installing)


@register.filter
def as_section(section: Section) -> SafeString:
    """A section with all that stands in it."""
    return mark_safe(html.section_html(section))  # noqa: S308 - escaped there
