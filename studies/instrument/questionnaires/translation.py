"""The texts of a questionnaire one by one, in a source language and a translation, and their replacement.

The questionnaire is plain data throughout: a preset's YAML or a study's JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studies.instrument.questionnaires.wording import with_wordings, wordings_of


@dataclass(frozen=True)
class Text:
    """One text in two languages."""

    name: str  # its place in the questionnaire, such as "after.why.text"; unique
    block: str  # one of `BLOCKS`, or "scales"
    key: str  # key of its question or scale
    label: str  # what it is, in words
    source: str
    translation: str  # empty if it is missing

    @property
    def is_missing(self) -> bool:
        """Whether there is a text to translate and no translation."""
        return bool(self.source.strip()) and not self.translation.strip()


def texts_between(
    questionnaire: Mapping[str, Any], source: str, language: str, *, consumed: str = "consumed"
) -> list[Text]:
    """Return every text that the source language or the translation has, in the order of the questionnaire.

    `consumed` is the study's past participle, in which labels of wordings are put.

    Examples
    --------
    >>> questionnaire = {"after": [{"key": "why", "kind": "text", "text": {"en": "Why?"}}]}
    >>> [(text.name, text.source, text.is_missing) for text in texts_between(questionnaire, "en", "it")]
    [('after.why.text', 'Why?', True)]
    """
    texts = [
        Text(
            wording.name,
            wording.block,
            wording.key,
            wording.label,
            wording.text(source),
            wording.text(language),
        )
        for wording in wordings_of(questionnaire, consumed=consumed)
    ]
    return [text for text in texts if text.source or text.translation]


def with_translation(questionnaire: Mapping[str, Any], language: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the questionnaire with these texts in a language; `texts` maps names of texts to their translations.

    Texts that are not named stay as they are, and names of no text are ignored.

    Examples
    --------
    >>> questionnaire = {"after": [{"key": "why", "kind": "text", "text": {"en": "Why?"}}]}
    >>> with_translation(questionnaire, "it", {"after.why.text": "Perché?"})["after"][0]["text"]
    {'en': 'Why?', 'it': 'Perché?'}
    """
    return with_wordings(questionnaire, {language: texts})
