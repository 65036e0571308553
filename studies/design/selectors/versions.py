"""Versions of a study's design, and how many participants entered under each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from studies.enums import Mode, StudyStatus
from studies.models import Participant, Study, StudyVersion
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
