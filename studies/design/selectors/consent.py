"""Consent texts of a study: which versions there are, and how many people said yes to which in which language."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from studies.design.selectors.texts import languages_of
from studies.enums import Mode
from studies.models import ConsentVersion, Participant, Study


@dataclass(frozen=True)
class VersionLine:
    """One version of the consent text, with how many people consented to it by language."""

    version: ConsentVersion
    by_language: tuple[tuple[str, int], ...]
    n: int
    n_simulated: int


def consent_texts(study: Study) -> dict[str, dict[str, Any]]:
    """What of a study's texts is consented to: by language offered, the text and the boxes to tick."""
    texts = {language: study.texts.get(language, {}) for language in languages_of(study)}
    return {
        language: {"consent": own.get("consent", ""), "consent_boxes": list(own.get("consent_boxes", ()))}
        for language, own in texts.items()
    }


def current_consent(study: Study) -> ConsentVersion | None:
    """The consent text that newcomers are shown; None before the launch."""
    return ConsentVersion.objects.filter(study=study).order_by("-number").first()


def consent_lines(study: Study) -> list[VersionLine]:
    """Every version, the newest first; languages without readers count 0."""
    counted: dict[tuple[int | None, str], dict[str, int]] = defaultdict(dict)
    rows = Participant.objects.filter(study=study, consent_version__isnull=False).order_by()
    for version, mode, language, n in rows.values_list("consent_version", "mode", "consent_language").annotate(
        n=Count("pk")
    ):
        counted[version, mode][language] = n
    lines = []
    for version in study.consent_versions.select_related("made_by").order_by("-number"):
        own = counted[version.pk, Mode.LIVE]
        languages = dict.fromkeys([*version.texts, *own])
        by_language = tuple((language, own.get(language, 0)) for language in languages)
        simulated = sum(counted[version.pk, Mode.SIMULATED].values())
        lines.append(VersionLine(version, by_language, sum(own.values()), simulated))
    return lines
