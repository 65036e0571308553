"""Words about ratings in the texts of a study whose participants choose known items instead of rating them."""

from __future__ import annotations

import re

from studies.design.selectors.texts import languages_of
from studies.models import Study

OF_RATINGS = {
    "en": re.compile(r"\b(you rate|your ratings?|rated?|stars?)\b", re.IGNORECASE),
    "it": re.compile(r"\b(valut\w*|stell[ae])\b", re.IGNORECASE),
    "de": re.compile(r"\b(bewert\w*|sterne?)\b", re.IGNORECASE),
}
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def rating_word_warnings(study: Study) -> list[str]:
    """Say of each text, in a language offered, which word in it is about ratings; empty where items are rated.

    Questions are passed over: recommended items are rated in every study.
    """
    if not study.design.is_choice:
        return []
    warnings = []
    for language in set(languages_of(study)) & OF_RATINGS.keys():
        for name, text in study.texts.get(language, {}).items():
            words = _PLACEHOLDER.sub(" ", text if isinstance(text, str) else " ".join(text))
            if match := OF_RATINGS[language].search(words):
                warnings.append(
                    f"The text {name!r} in {language!r} says “{match[0]}”, and participants choose items without "
                    "rating them. Write {you_rate}, {known_items} or {your_ratings} instead."
                )
    return sorted(warnings)
