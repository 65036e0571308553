"""The question about an item's sample (a trailer, clip or excerpt), asked only of items that have one."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from studies.instrument.measures import TRAILER_SEEN
from studies.instrument.questionnaires.schema import ITEMS, Questionnaire
from studies.settings import StudySettings

# By what a sample is called and language: the question, and the wording of the rating after a yes. Those about trailers
# stand in the template.
_TEXTS: Mapping[str, Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "clip": {
            "en": (
                "Had you listened to a clip of it before today?",
                "Based on the clip as you remember it, how much would you like to {consume_it}?",
            ),
            "it": (
                "Ne avevi già ascoltato un estratto prima di oggi?",
                "Da quello che ricordi dell'estratto, quanto ti andrebbe di {consume_it}?",
            ),
        },
        "excerpt": {
            "en": (
                "Had you read an excerpt of it before today?",
                "Based on the excerpt as you remember it, how much would you like to {consume_it}?",
            ),
            "it": (
                "Ne avevi già letto un estratto prima di oggi?",
                "Da quello che ricordi dell'estratto, quanto ti andrebbe di {consume_it}?",
            ),
        },
        "sample": {
            "en": (
                "Had you seen a sample of it before today?",
                "Based on the sample as you remember it, how much would you like to {consume_it}?",
            ),
            "it": (
                "Ne avevi già visto un'anteprima prima di oggi?",
                "Da quello che ricordi dell'anteprima, quanto ti andrebbe di {consume_it}?",
            ),
        },
    }
)


def in_words_of(sample: str, questionnaire: Mapping[str, Any]) -> dict[str, Any]:
    """Return a template's questionnaire, as plain data, with the question about trailers reworded for another sample.

    `sample` is "trailer", "clip", "excerpt" or "sample".

    Examples
    --------
    >>> asked = {"items": [{"key": "trailer_seen", "text": {"en": "Had you seen its trailer?"}}]}
    >>> in_words_of("excerpt", asked)["items"][0]["text"]
    {'en': 'Had you read an excerpt of it before today?'}
    """
    changed: dict[str, Any] = copy.deepcopy(dict(questionnaire))
    if (texts := _TEXTS.get(sample)) is None:
        return changed
    for question in changed.get("items", ()):
        if question["key"] == TRAILER_SEEN:
            question["text"] |= {language: texts[language][0] for language in question["text"]}
        if wording := question.get("wordings", {}).get(TRAILER_SEEN):
            wording |= {language: texts[language][1] for language in wording}
    return changed


def without_question(questionnaire: Mapping[str, Any]) -> dict[str, Any]:
    """Return a questionnaire, as plain data, without the question about samples and the wordings that follow it.

    Examples
    --------
    >>> asked = {"items": [{"key": "trailer_seen"}, {"key": "rating", "wordings": {"trailer_seen": {}, "neither": {}}}]}
    >>> without_question(asked)
    {'items': [{'key': 'rating', 'wordings': {'neither': {}}}]}
    """
    shorter: dict[str, Any] = copy.deepcopy(dict(questionnaire))
    shorter["items"] = [question for question in shorter.get("items", ()) if question.get("key") != TRAILER_SEEN]
    for question in shorter["items"]:
        question.get("wordings", {}).pop(TRAILER_SEEN, None)
    return shorter


def for_items_without(questionnaire: Questionnaire, design: StudySettings) -> Questionnaire:
    """Return the questionnaire that is asked of items without a sample: without the question about it.

    Studies without the setting ask it of every item, as when they were launched.
    """
    if design.samples is None or all(question.key != TRAILER_SEEN for question in questionnaire.items):
        return questionnaire
    items = tuple(
        dataclasses.replace(
            question,
            wordings={branch: texts for branch, texts in question.wordings.items() if branch != TRAILER_SEEN},
        )
        for question in questionnaire.items
        if question.key != TRAILER_SEEN
    )
    return dataclasses.replace(questionnaire, blocks={**questionnaire.blocks, ITEMS: items})
