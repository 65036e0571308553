"""Questions as HTML. But for what somebody wrote they are the same for many, so they are kept."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from studies.selectors.asking import Asked

QUESTIONS_KEPT = 4096

register = template.Library()


@register.simple_tag
def drawn(question: Asked) -> SafeString:
    """A question with the answer it has."""
    if question.is_group and question.own_words is None:
        return _kept(question, get_language())
    return _rendered(question)  # what is written in a field stays nowhere but in the database


@lru_cache(maxsize=QUESTIONS_KEPT)
def _kept(question: Asked, _language: str | None) -> SafeString:
    return _rendered(question)


def _rendered(question: Asked) -> SafeString:
    return render_to_string("participant/parts/question.html", {"question": question})
