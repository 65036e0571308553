"""What participants meet of a study: its questions, texts, words and known items, parsed once for each version."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from django.conf import settings

from catalog.item_words import Words
from studies.design.selectors.placeholders import TO_DETAILS, filled, item_words
from studies.instrument.questionnaires.schema import Questionnaire, questionnaire_from
from studies.instrument.samples import for_items_without
from studies.models import Study

VERSIONS_CACHED = 64


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

    @property
    def has_after(self) -> bool:
        return bool(self.questionnaire.after)


def content_of(study: Study) -> StudyContent:
    """Return the study's stored questions and texts; every write to a study changes the time that keys them."""
    return _content(study.pk, study.updated_at)


@lru_cache(maxsize=VERSIONS_CACHED)
def _content(study_id: int, _updated_at: datetime) -> StudyContent:
    # Read after the caller read the time, so the content is never older than the version that names it.
    study = Study.objects.only("questionnaire", "texts", "settings").get(pk=study_id)
    texts = {language: filled(own, study.design, language) for language, own in study.texts.items()}
    questionnaire = questionnaire_from(filled(study.questionnaire, study.design))
    no_details = json.loads(TO_DETAILS.sub("", json.dumps(study.questionnaire)))
    return StudyContent(
        questionnaire,
        for_items_without(questionnaire, study.design),
        for_items_without(questionnaire_from(filled(no_details, study.design)), study.design),
        MappingProxyType(texts),
        MappingProxyType({code: item_words(study.design, code) for code, _name in settings.LANGUAGES}),
    )
