"""Texts and questions of a study as participants meet them: placeholders are filled, once for each version.

Placeholders are the numbers that the study asks for and shows, and what its items are called. Endings in braces, such
as piaciut{o/a}, agree with the noun. Unknown names in braces stay as they stand, and so do texts without placeholders.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.conf import settings as installation
from django.utils import translation
from django.utils.translation import gettext, gettext_lazy, ngettext

from catalog.item_types import (
    CLIP,
    DEFAULT,
    EXCERPT,
    FALLBACK_LANGUAGE,
    ITEM_TYPES,
    SAMPLE,
    TRAILER,
    ItemType,
    words_with_noun,
)
from catalog.item_words import ENDINGS, Words, agreeing, forms_of
from evaluation.enums import ModelOrigin
from studies.design.selectors.stated_facts import StatedFacts, stated_facts
from studies.instrument.flow import Flow, flow_of, read_questions, with_choice
from studies.instrument.questionnaires.schema import Questionnaire
from studies.instrument.samples import for_items_without
from studies.known_items import ItemsAsked
from studies.models import Condition, Participant, Sequence, Study
from studies.presentation import PLAIN, Presentation
from studies.settings import OPENED, PLAYED, StudySettings

TO_DETAILS = re.compile(r"\{look_at_details\} (?=\S)| \{look_at_details\}", re.IGNORECASE)
NAMES = {
    "ratings_asked": "how many items are rated, in words (five, or 5 to 15)",
    "list_length": "how many items are recommended, in words",
    "item": "what an item is called (film)",
    "items": "the same in the plural (films)",
    "an_item": "the singular with its article (a film)",
    "the_items": "the plural with its article (the films)",
    "of_the_items": "the plural after “of” (of the films)",
    "on_the_items": "the plural after “about” (about the films)",
    "consumed": "what participants did with an item (watched)",
    "consume": "the same as an infinitive (watch)",
    "consume_it": "the same with a pronoun (watch it)",
    "you_consume": "the same said to the participant (watch)",
    "look_at_details": "a request to look at the details, and at the trailer, clip or excerpt where items have some; "
    "nothing of an item without details",
    "rated_items": "number and noun of the items rated (five films)",
    "recommended_items": "number and noun of the items recommended",
    "you_rate": "what participants do with items they know, said to them (rate, or choose)",
    "known_items": "number and noun of these items (five films that you know, or five films you have watched)",
    "your_ratings": "what participants tell of them (your ratings, or your choices)",
    "recommendations": "number of recommendations with the word (five recommendations)",
    "recorded_behaviour": "what the study records beside answers (how long you spend on each page and which "
    "recommendations you open)",
    "minutes": "how long taking part takes, from the estimate (8)",
    "your_age": "the ages of those who may take part (between 20 and 50 years old)",
}
LOOK_AT = {  # by what a sample is called
    TRAILER: gettext_lazy("Look at its details, and watch the trailer if there is one."),
    CLIP: gettext_lazy("Look at its details, and listen to the clip if there is one."),
    EXCERPT: gettext_lazy("Look at its details, and read the excerpt if there is one."),
    SAMPLE: gettext_lazy("Look at its details, and at the sample if there is one."),
}
BEHAVIOUR = {
    OPENED: gettext_lazy("which recommendations you open"),
    PLAYED: gettext_lazy("which trailers or samples you play and for how long"),
}
IN_WORDS = (
    gettext_lazy("one"), gettext_lazy("two"), gettext_lazy("three"), gettext_lazy("four"), gettext_lazy("five"),
    gettext_lazy("six"), gettext_lazy("seven"), gettext_lazy("eight"), gettext_lazy("nine"), gettext_lazy("ten"),
)  # fmt: skip
NUMBER_WORDS = dict(enumerate(IN_WORDS, start=1))
_NAMES = "|".join((*NAMES, *map(str.capitalize, NAMES)))  # {Items} begins a sentence
_PLACEHOLDER = re.compile(rf"\{{(?:(?P<name>{_NAMES})|(?P<endings>{ENDINGS}))\}}")
VERSIONS_CACHED = 64


def number_word(n: int) -> str:
    """A number in the active language: in words up to ten, as digits beyond."""
    return str(NUMBER_WORDS.get(n, n))


def range_words(counts: ItemsAsked) -> str:
    """How many items are asked for in the active language: "five", or "5 to 15"."""
    if not counts.is_range:
        return number_word(counts.fewest)
    return gettext("%(fewest)s to %(most)s") % {"fewest": counts.fewest, "most": counts.most}


def _behaviour_words(design: StudySettings) -> str:
    """What is recorded beside answers, in the active language: "how long …, which … and which …"."""
    parts = [gettext("how long you spend on each page"), *(str(BEHAVIOUR[kind]) for kind in design.recorded)]
    *first, last = parts
    return gettext("%(first)s and %(second)s") % {"first": ", ".join(first), "second": last} if first else last


def item_words(design: StudySettings, language: str) -> Words:
    """The study's words in a language; forms that it lacks are those of its noun's item type, or of its own."""
    own = design.item_noun.get(language, {})
    words = words_with_noun(own.get("one", ""), language) or _words_in(design.kind_of_item, language)
    return words.with_own(own)


def _words_in(kind: ItemType, language: str) -> Words:
    """The item type's words; in a language that was added to the installation, those of its catalogue."""
    words = kind.words_in(language)
    if language in kind.words:
        return words
    with translation.override(language):
        singular, plural = (translation.ngettext(words.one, words.many, number) for number in (1, 2))
        verb = {name: translation.gettext(word) for name, word in words.as_setting().items()}
    return Words(**{**verb, "one": singular, "many": plural})


def key_in_words(key: str, design: StudySettings) -> str:
    """The key of a question as readers see it: what the template counts are the study's own items.

    Examples
    --------
    >>> [key_in_words(f"{name}_per_month", StudySettings(item_type="book")) for name in ("items", "movies")]
    ['books per month', 'books per month']
    """
    phrase, items = key.replace("_", " "), item_words(design, FALLBACK_LANGUAGE).many
    # Templates before version 8 counted movies, in studies of all items.
    is_film = items == ITEM_TYPES[DEFAULT].words_in(FALLBACK_LANGUAGE).many
    counted = "items(?= per month$)" if is_film else "items(?= per month$)|movies"
    return re.sub(rf"\b({counted})\b", lambda _: items, phrase)


def words_at_creation(kind: ItemType, own: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with an item type's words in every language that it has them in; a template's own words go first."""
    words = {code: words.as_setting() for code, words in kind.words.items()}
    return {"item_type": kind.key, "item_noun": {**words, **own}}


def _of_taking_part(facts: StatedFacts) -> dict[str, str]:
    """The values that follow from more than the settings, in the active language."""
    ages = {"youngest": facts.youngest, "oldest": facts.oldest}
    words = gettext("at least %(youngest)s years old")
    if facts.oldest is not None:
        words = gettext("between %(youngest)s and %(oldest)s years old")
    return {"minutes": str(facts.minutes), "your_age": words % ages}


def _values(design: StudySettings, language: str, facts: StatedFacts | None = None) -> dict[str, str]:
    counts, listed = design.items_asked, design.longest_list
    words = item_words(design, language)
    singular, plural = words.one, words.many
    chooses, kind = design.is_choice, design.kind_of_item
    with translation.override(language):
        known = gettext("%(items)s you have %(consumed)s") if chooses else gettext("%(items)s that you know")
        number = range_words(counts)
        rated_items = f"{number} {singular if counts.most == 1 else plural}"
        recommendation = ngettext("recommendation", "recommendations", listed)
        return {
            "ratings_asked": number,
            "list_length": number_word(listed),
            "item": singular,
            "items": plural,
            **forms_of(words, language),
            "consumed": words.consumed,
            "consume": words.consume,
            "consume_it": words.consume_it,
            "you_consume": words.you_consume,
            "look_at_details": (
                str(LOOK_AT[kind.sample]) if design.offers_samples else gettext("Look at its details.")
            ),
            "rated_items": rated_items,
            "you_rate": gettext("choose") if chooses else gettext("rate"),
            "recorded_behaviour": _behaviour_words(design),
            "known_items": known % {"items": rated_items, "consumed": words.consumed},
            "your_ratings": gettext("your choices") if chooses else gettext("your ratings"),
            "recommended_items": f"{number_word(listed)} {singular if listed == 1 else plural}",
            "recommendations": f"{number_word(listed)} {recommendation}",
            **({} if facts is None else _of_taking_part(facts)),
        }


def filled(node: Any, design: StudySettings, language: str = "", facts: StatedFacts | None = None) -> Any:
    """Texts with their placeholders filled: what stands under a language's code is in that language.

    The node, texts by language and name or a questionnaire as plain data, is not changed. Outside any language nothing
    is filled, nor without `facts` what they state.
    """
    if isinstance(node, Mapping):
        return {
            name: filled(value, design, name if name in dict(installation.LANGUAGES) else language, facts)
            for name, value in node.items()
        }
    if isinstance(node, list | tuple):
        return [filled(part, design, language, facts) for part in node]
    if isinstance(node, str) and language and _PLACEHOLDER.search(node):
        values = _values(design, language, facts)
        values |= {name.capitalize(): value[:1].upper() + value[1:] for name, value in values.items()}
        gender = item_words(design, language).gender
        return _PLACEHOLDER.sub(
            lambda match: values.get(match["name"], match[0]) if match["name"] else agreeing(match["endings"], gender),
            node,
        )
    return node


def rated_items(study: Study, language: str) -> str:
    """Number and noun of the known items, such as "five films"."""
    return _values(study.design, language)["rated_items"]


def elicitation_heading(study: Study, language: str) -> str:
    """The request for known items, in the active language: "Rate five films you know", "Choose five books …"."""
    values = _values(study.design, language)
    if study.design.is_choice:
        return gettext("Choose %(known_items)s") % {"known_items": values["known_items"]}
    return gettext("Rate %(rated_items)s you know") % {"rated_items": values["rated_items"]}


def known_items_phrase(design: StudySettings) -> str:
    """What a participant does with known items, in English: "rates 5 known items", "chooses five books they have …"."""
    items = design.items_asked
    if not design.is_choice:
        return f"rates {items} known items"
    words = item_words(design, "en")
    with translation.override("en"):
        return f"chooses {range_words(items)} {words.one if items.most == 1 else words.many} they have {words.consumed}"


def asked_questions(study: Study) -> Questionnaire:
    """The study's questions as participants read them."""
    return read_questions(filled(with_choice(study.questionnaire, study.design), study.design), study.design)


@dataclass(frozen=True)
class StudyContent:
    """The questions and texts with their placeholders filled, and what items are called.

    Every content is shared by the requests of a process and never changed.
    """

    questionnaire: Questionnaire
    for_items_without_sample: Questionnaire
    for_items_without_details: Questionnaire  # nor is there a sample of them
    texts: Mapping[str, Mapping[str, Any]]  # by language
    words: Mapping[str, Words]  # what items are called, by language of the installation
    presentations: Mapping[int, Presentation]  # by condition; empty where no factors are set
    prepares: bool  # whether lists are prepared on a page of their own, since a recommender is remote
    flow: Flow
    sequences: Mapping[int, tuple[tuple[int, ...], ...]]  # conditions of each occasion; empty where there is one list

    @property
    def n_occasions(self) -> int:
        """How many lists people meet one after the other."""
        return max(map(len, self.sequences.values()), default=1)


def content_of(study: Study) -> StudyContent:
    """Return the study's stored questions and texts; every write to a study changes the time that keys them."""
    return _content(study.pk, study.updated_at)


@lru_cache(maxsize=VERSIONS_CACHED)
def _content(study_id: int, _updated_at: datetime) -> StudyContent:
    # Read after the caller read the time, so the content is never older than the version that names it.
    study = Study.objects.only("questionnaire", "texts", "settings", "status").get(pk=study_id)
    facts = stated_facts(study)
    texts = {language: filled(own, study.design, language, facts) for language, own in study.texts.items()}
    questionnaire, design = asked_questions(study), study.design
    words = {"title", "text"}
    flow = flow_of(study)
    pages = tuple(
        page.model_copy(update=filled(page.model_dump(include=words), study.design, facts=facts)) for page in flow.pages
    )
    no_details = json.loads(TO_DETAILS.sub("", json.dumps(with_choice(study.questionnaire, design))))
    return StudyContent(
        questionnaire,
        for_items_without(questionnaire, study.design),
        for_items_without(read_questions(filled(no_details, design), design), design),
        MappingProxyType(texts),
        MappingProxyType({code: item_words(study.design, code) for code, _name in settings.LANGUAGES}),
        MappingProxyType({condition.pk: condition.shown for condition in _conditions(study)}),
        Condition.objects.filter(study=study, model__origin=ModelOrigin.REMOTE).exists(),
        replace(flow, pages=pages),
        MappingProxyType(_sequences(study) if flow.lists.is_several else {}),
    )


def _conditions(study: Study) -> Iterable[Condition]:
    return Condition.objects.filter(study=study) if study.design.factors else ()


def _sequences(study: Study) -> dict[int, tuple[tuple[int, ...], ...]]:
    keys = dict(Condition.objects.filter(study=study).values_list("position", "pk"))
    return {
        sequence.pk: tuple(tuple(keys[position] for position in shown) for shown in sequence.occasions)
        for sequence in Sequence.objects.filter(study=study)
    }


def conditions_of(participant: Participant) -> tuple[tuple[int, ...], ...]:
    """The keys of the conditions that make the participant's lists, for each occasion from left to right.

    Empty before the assignment.
    """
    if participant.condition_id is not None:
        return ((participant.condition_id,),)
    if participant.sequence_id is None:
        return ()
    return content_of(participant.study).sequences.get(participant.sequence_id, ())


def presentation_of(participant: Participant, occasion: int = 1, side: int = 1) -> Presentation:
    """How a list of the participant is shown; the default before there is a condition."""
    conditions = conditions_of(participant)
    if not conditions:
        return PLAIN
    return content_of(participant.study).presentations.get(conditions[occasion - 1][side - 1], PLAIN)
