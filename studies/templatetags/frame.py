"""Parts of participant pages, cached since they are the same for many participants."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from studies.participation.selectors.pages import Progress
from studies.participation.selectors.question_presenter import Asked

QUESTIONS_CACHED = 4096

register = template.Library()


@register.simple_tag
def steps(progress: Progress) -> SafeString:
    """The progress bar."""
    return _cached_steps(progress, get_language())


@lru_cache(maxsize=64)
def _cached_steps(progress: Progress, _language: str | None) -> SafeString:
    return render_to_string("participant/parts/steps.html", {"progress": progress})


@register.simple_tag
def show_question(question: Asked) -> SafeString:
    """A question with its stored answer."""
    if question.is_group and question.own_words is None:
        return _cached_html(question, get_language())
    return _rendered(question)  # typed text is stored only in the database


@lru_cache(maxsize=QUESTIONS_CACHED)
def _cached_html(question: Asked, _language: str | None) -> SafeString:
    return _rendered(question)


def _rendered(question: Asked) -> SafeString:
    controls = f"participant/questions/{question.layout}.html"
    return render_to_string("participant/parts/question.html", {"question": question, "controls": controls})
