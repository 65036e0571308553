"""Words of participant pages that agree with the gender of the study's item noun."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.utils.safestring import SafeString, mark_safe

from catalog.item_words import agreed

register = template.Library()


@register.filter
@lru_cache(maxsize=512, typed=True)  # a tray repeats few texts, in safe and other strings
def agreeing_with(text: str, gender: str) -> str:
    """A translated text with its endings in braces, such as valutat{i/e}, in a gender; what was safe stays safe."""
    if "{" not in text:  # most texts have no endings
        return text
    words = agreed(text, gender)
    return mark_safe(words) if isinstance(text, SafeString) else words  # noqa: S308 -- only endings are chosen
