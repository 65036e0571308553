"""Versions of a study's design and of its consent text, and how many participants entered under each."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from studies.design.selectors.texts import languages_of
from studies.enums import Mode, StudyStatus
from studies.models import ConsentVersion, Participant, Study, StudyVersion
from studies.plans import tests_of


@dataclass(frozen=True)
class DesignLine:
    """One version of the design, with who entered under it."""

    version: StudyVersion
    n: int
    n_simulated: int


def design_lines(study: Study) -> list[DesignLine]:
    """Every version of the design, the newest first."""
    entered = Counter(
        Participant.objects.filter(study=study, version__isnull=False).order_by().values_list("version", "mode")
    )
    return [
        DesignLine(version, entered[version.pk, Mode.LIVE], entered[version.pk, Mode.SIMULATED])
        for version in study.versions.select_related("made_by").order_by("-number")
    ]


def frozen_tests(study: Study) -> dict[str, str]:
    """The analyses of the plan in words: those that the launch froze, so that later words change no design."""
    first = None if study.status == StudyStatus.DRAFT else study.versions.order_by("number").first()
    frozen: dict[str, str] = {} if first is None else (first.snapshot.get("plan") or {}).get("tests", {})
    return frozen or tests_of(study.design.primary)


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
