"""Versions of a study's consent text and of its design, and how many participants entered under each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from studies.design.selectors.texts import languages_of
from studies.enums import Mode, StudyStatus
from studies.models import ConsentVersion, Participant, Study, StudyVersion
from studies.plans import tests_of

Version = TypeVar("Version", ConsentVersion, StudyVersion)


@dataclass(frozen=True)
class VersionLine(Generic[Version]):
    """One version, with how many people entered under it; of a consent text, also by the language they read it in."""

    version: Version
    n: int
    n_simulated: int
    by_language: tuple[tuple[str, int], ...] = ()


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


def consent_lines(study: Study) -> list[VersionLine[ConsentVersion]]:
    """Every version of the consent text, the newest first; languages without readers count 0."""
    rows = Participant.objects.filter(study=study, consent_version__isnull=False).order_by()
    entered = Counter(rows.values_list("consent_version", "mode"))
    read = Counter(rows.filter(mode=Mode.LIVE).values_list("consent_version", "consent_language"))
    lines = []
    for version in study.consent_versions.select_related("made_by").order_by("-number"):
        languages = dict.fromkeys([*version.texts, *(code for pk, code in read if pk == version.pk)])
        by_language = tuple((code, read[version.pk, code]) for code in languages)
        n, n_simulated = entered[version.pk, Mode.LIVE], entered[version.pk, Mode.SIMULATED]
        lines.append(VersionLine(version, n, n_simulated, by_language))
    return lines


def design_lines(study: Study) -> list[VersionLine[StudyVersion]]:
    """Every version of the design, the newest first."""
    rows = Participant.objects.filter(study=study, version__isnull=False).order_by()
    entered = Counter(rows.values_list("version", "mode"))
    return [
        VersionLine(version, entered[version.pk, Mode.LIVE], entered[version.pk, Mode.SIMULATED])
        for version in study.versions.select_related("made_by").order_by("-number")
    ]


def frozen_tests(study: Study) -> dict[str, str]:
    """The analyses of the plan in words: those that the launch froze, so that later words change no design."""
    first = None if study.status == StudyStatus.DRAFT else study.versions.order_by("number").first()
    frozen: dict[str, str] = {} if first is None else (first.snapshot.get("plan") or {}).get("tests", {})
    return frozen or tests_of(study.design.primary, study.design.flow.lists.shown)
