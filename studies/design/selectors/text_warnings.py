"""Numbers and words of ratings in a study's texts and questions that disagree with what it asks for and shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings as installation
from django.utils import translation

from studies.design.selectors.placeholders import NUMBER_WORDS, item_words
from studies.design.selectors.texts import languages_of
from studies.instrument.questionnaires.kinds import Attention
from studies.instrument.questionnaires.schema import blocks_in
from studies.models import Study
from studies.settings import StudySettings

# What is counted, and what is done with it, by the beginnings of the words; of any language.
LISTED = ("recommend", "suggest", "consigl", "raccomand", "suggeri", "empfehl", "vorschl")
RATED = ("rate", "rating", "valut", "bewert", "choose", "scegl", "wähl")
OF_A_SCALE = frozenset({"from", "to", "da", "a", "von", "bis"})  # "rate it from 1 to 5"
COUNTED = (*LISTED, "item", "film", "movie", "title", "elementi", "titoli", "titel")
OF_RATINGS = {
    "en": re.compile(r"\b(you rate|your ratings?|rated?|stars?)\b", re.IGNORECASE),
    "it": re.compile(r"\b(valut\w*|stell[ae])\b", re.IGNORECASE),
    "de": re.compile(r"\b(bewert\w*|sterne?)\b", re.IGNORECASE),
}
ROW = "row_"  # of a question on its stage
_PLACEHOLDER = re.compile(r"\{[\w/ ’']+\}")
_IN_BRACES = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"[^\W_]+")


def _wrong(text: str, language: str, design: StudySettings) -> list[str]:
    requested, listed = design.items_asked, design.longest_list
    rated = {requested.fewest, requested.most}
    own = item_words(design, language)
    nouns = (own.one.lower(), own.many.lower())
    with translation.override(language):
        numbers = {str(word): n for n, word in NUMBER_WORDS.items() if n > 1} | {str(n): n for n in range(2, 51)}
    words = [word.lower() for word in _WORD.findall(_PLACEHOLDER.sub(" ", text))]
    mismatches = []
    for at, word in enumerate(words):
        before, after = words[max(0, at - 3) : at], words[at + 1 : at + 3]
        if word not in numbers or not OF_A_SCALE.isdisjoint(before[-1:]):
            continue
        if any(near.startswith(LISTED) for near in after):
            expected = {listed}
        elif any(near.startswith(RATED) for near in before):
            expected = rated
        elif any(near.startswith(COUNTED) or near in nouns for near in after):
            expected = {*rated, listed}
        else:
            continue
        if numbers[word] not in expected:
            mismatches.append(word)
    return mismatches


def _texts(node: Any, language: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from _texts(value, name if name in dict(installation.LANGUAGES) else language)
    elif isinstance(node, list | tuple):
        for part in node:
            yield from _texts(part, language)
    elif isinstance(node, str) and language:
        yield language, node


def literal_number_warnings(study: Study) -> list[tuple[str, str]]:
    """Say of each text and question, in a language offered, which number in it disagrees with the settings.

    Each sentence follows the name of its text with the language, such as consent_en, or `ROW` and the question's key.
    """
    design, offered = study.design, languages_of(study)
    located = [
        (f"{name}_{language}", f"The text {name!r} in {language!r}", language, text)
        for language in offered
        for name, own in study.texts.get(language, {}).items()
        for _language, text in _texts(own, language)
    ]
    for block in blocks_in(study.questionnaire):
        for question in study.questionnaire.get(block, ()):
            if question["kind"] == Attention.kind:  # its numbers are answers: "choose 2"
                continue
            where = f"The question {question['key']!r}"
            place = f"{ROW}{question['key']}"
            located += [
                (place, f"{where} in {code!r}", code, text) for code, text in _texts(question) if code in offered
            ]
    answers = "choices" if design.is_choice else "ratings"
    return [
        (
            place,
            f"{where} says “{number}”; the study has {design.items_asked} {answers} and {design.listed} "
            "recommendations. Write {ratings_asked} or {list_length}.",
        )
        for place, where, language, text in located
        for number in dict.fromkeys(_wrong(text, language, design))
    ]


def rating_word_warnings(study: Study) -> list[tuple[str, str]]:
    """Say of each text, in a language offered, which word in it is about ratings; empty where items are rated.

    Names come before the sentences as in `literal_number_warnings`. Questions are passed over: recommended items are
    rated in every study.
    """
    if not study.design.is_choice:
        return []
    warnings = []
    for language in set(languages_of(study)) & OF_RATINGS.keys():
        for name, text in study.texts.get(language, {}).items():
            words = _IN_BRACES.sub(" ", text if isinstance(text, str) else " ".join(text))
            if match := OF_RATINGS[language].search(words):
                sentence = (
                    f"The text {name!r} in {language!r} says “{match[0]}”, and participants choose items without "
                    "rating them. Write {you_rate}, {known_items} or {your_ratings} instead."
                )
                warnings.append((f"{name}_{language}", sentence))
    return sorted(warnings)
