"""Placeholders in a study's texts and questions: the numbers it asks for and shows, and what its items are called.

Unknown names in braces stay as they stand, and so do texts without placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings as installation
from django.utils import translation
from django.utils.translation import gettext_lazy, ngettext

from studies.instrument.questionnaires.schema import Questionnaire, questionnaire_from
from studies.models import Study

ITEM_NOUN = "item_noun"
NAMES = {
    "ratings_asked": "how many items are rated, in words (five)",
    "list_length": "how many items are recommended, in words",
    "item": "what an item is called (film)",
    "items": "the same in the plural (films)",
    "rated_items": "number and noun of the items rated (five films)",
    "recommended_items": "number and noun of the items recommended",
    "recommendations": "number of recommendations with the word (five recommendations)",
}
NUMBER_WORDS = {
    1: gettext_lazy("one"),
    2: gettext_lazy("two"),
    3: gettext_lazy("three"),
    4: gettext_lazy("four"),
    5: gettext_lazy("five"),
    6: gettext_lazy("six"),
    7: gettext_lazy("seven"),
    8: gettext_lazy("eight"),
    9: gettext_lazy("nine"),
    10: gettext_lazy("ten"),
}
_PLACEHOLDER = re.compile(rf"\{{({'|'.join((*NAMES, *map(str.capitalize, NAMES)))})\}}")  # {Items} begins a sentence


def number_word(n: int) -> str:
    """A number in the active language: in words up to ten, as digits beyond."""
    return str(NUMBER_WORDS.get(n, n))


def item_noun(settings: Mapping[str, Any], language: str) -> tuple[str, str]:
    """What an item of the study is called in a language, in the singular and the plural."""
    own = settings.get(ITEM_NOUN, {}).get(language, {})
    with translation.override(language):
        return own.get("one") or ngettext("film", "films", 1), own.get("many") or ngettext("film", "films", 2)


def _values(settings: Mapping[str, Any], language: str) -> dict[str, str]:
    rated, listed = int(settings["ratings_asked"]), int(settings["list_length"])
    singular, plural = item_noun(settings, language)
    with translation.override(language):
        recommendation = ngettext("recommendation", "recommendations", listed)
        return {
            "ratings_asked": number_word(rated),
            "list_length": number_word(listed),
            "item": singular,
            "items": plural,
            "rated_items": f"{number_word(rated)} {singular if rated == 1 else plural}",
            "recommended_items": f"{number_word(listed)} {singular if listed == 1 else plural}",
            "recommendations": f"{number_word(listed)} {recommendation}",
        }


def filled(node: Any, settings: Mapping[str, Any], language: str = "") -> Any:
    """Texts with their placeholders filled: what stands under a language's code is in that language.

    The node, texts by language and name or a questionnaire as plain data, is not changed. Outside any language nothing
    is filled.
    """
    if isinstance(node, Mapping):
        return {
            name: filled(value, settings, name if name in dict(installation.LANGUAGES) else language)
            for name, value in node.items()
        }
    if isinstance(node, list | tuple):
        return [filled(part, settings, language) for part in node]
    if isinstance(node, str) and language and _PLACEHOLDER.search(node):
        values = _values(settings, language)
        values |= {name.capitalize(): value[:1].upper() + value[1:] for name, value in values.items()}
        return _PLACEHOLDER.sub(lambda match: values[match[1]], node)
    return node


def rated_items(study: Study, language: str) -> str:
    """Number and noun of the items rated, such as "five films"."""
    return _values(study.settings, language)["rated_items"]


def as_read(study: Study) -> tuple[dict[str, Any], dict[str, Any]]:
    """The study's texts and its questionnaire as participants read them."""
    return filled(study.texts, study.settings), filled(study.questionnaire, study.settings)


def asked_questions(study: Study) -> Questionnaire:
    """The study's questions as participants read them."""
    return questionnaire_from(filled(study.questionnaire, study.settings))
