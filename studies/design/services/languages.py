"""The language a participant reads, kept with them."""

from __future__ import annotations

from studies.design.selectors.texts import languages_of
from studies.models import Participant


def change_language(*, participant: Participant, language: str) -> None:
    """Keep another language with the participant; one that the study is not written in changes nothing."""
    if language == participant.language or language not in languages_of(participant.study):
        return
    Participant.objects.filter(pk=participant.pk).update(language=language)
    participant.language = language
