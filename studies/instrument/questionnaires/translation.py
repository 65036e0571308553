"""The texts of a questionnaire one by one, in a source language and a translation, and their replacement.

The questionnaire is plain data throughout: a preset's YAML or a study's JSON.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studies.instrument.flow import WATCHED
from studies.instrument.questionnaires.questionnaire import BLOCKS

LISTS = {"ends": ("Lowest point", "Highest point"), "labels": ()}
PLAIN = {
    "text": "Question",
    "help": "Help text",
    "unit": "Unit",
    "other": "Label of the free-text answer",
}


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


@dataclass(frozen=True)
class _Place:
    """Where a text stands: a mapping of texts by language, or of lists by language with the position in the list."""

    name: str
    block: str
    key: str
    label: str
    by_language: dict[str, Any]
    position: int = -1  # in the list of a language; -1 for a plain text
    length: int = 0  # of the list of each language

    def text(self, language: str) -> str:
        value = self.by_language.get(language)
        if self.position < 0:
            return str(value or "")
        return str(value[self.position]) if value else ""

    def put(self, language: str, text: str) -> None:
        """Replace the text; an empty one is removed, and so is a list of empty ones."""
        if self.position < 0:
            self.by_language.pop(language, None)
            if text:
                self.by_language[language] = text
            return
        words = list(self.by_language.get(language) or [""] * self.length)
        words[self.position] = text
        self.by_language.pop(language, None)
        if any(words):
            self.by_language[language] = words


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
            position.name,
            position.block,
            position.key,
            position.label.replace("{consumed}", consumed),
            position.text(source),
            position.text(language),
        )
        for position in _positions(copy.deepcopy(dict(questionnaire)))
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
    changed = copy.deepcopy(dict(questionnaire))
    for position in _positions(changed):
        text = texts.get(position.name)
        if text is not None and text != position.text(language):
            position.put(language, text)
    return changed


def _positions(data: dict[str, Any]) -> Iterator[_Place]:
    for block in BLOCKS:
        for question in data.get(block) or ():
            yield from _of_question(block, question)
    for scale in data.get("scales") or ():
        yield _Place(f"scales.{scale['key']}.name", "scales", scale["key"], "Name of the scale", scale["name"])


def _of_question(block: str, question: dict[str, Any]) -> Iterator[_Place]:
    key = question["key"]
    stem = f"{block}.{key}"
    for name, label in PLAIN.items():
        if question.get(name):
            yield _Place(f"{stem}.{name}", block, key, label, question[name])
    for branch, texts in (question.get("wordings") or {}).items():
        yield _Place(f"{stem}.wordings.{branch}", block, key, f"Wording where {_case(branch)}", texts)
    for name, labels in LISTS.items():
        yield from _of_list(f"{stem}.{name}", block, key, question.get(name) or {}, labels)
    for choice in question.get("choices") or ():
        value = choice["value"]
        yield _Place(f"{stem}.choices.{value}", block, key, f"Choice {value}", choice["label"])
    for row in question.get("rows") or ():
        yield _Place(f"{stem}.rows.{row['key']}", block, key, f"Row {row['key']}", row["text"])


def _case(branch: str) -> str:
    return "{consumed}" if branch == WATCHED else branch.replace("_", " ")


def _of_list(stem: str, block: str, key: str, lists: dict[str, Any], labels: Sequence[str]) -> Iterator[_Place]:
    length = max((len(words) for words in lists.values()), default=0)
    for position in range(length):
        label = labels[position] if labels else f"Point {position + 1}"
        yield _Place(f"{stem}.{position}", block, key, label, lists, position, length)
