"""Whose reports are whose: owners and analysts of a study read them, interviewers do not."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from analysis.models import Report
from studies.enums import Role, StudyStatus
from studies.models import Study

READERS = (Role.OWNER, Role.ANALYST)


def studies_to_report(researcher: Any) -> QuerySet[Study]:
    """The launched studies whose reports a researcher may read, newest first."""
    return (
        Study.objects.filter(memberships__researcher=researcher, memberships__role__in=READERS)
        .exclude(status=StudyStatus.DRAFT)
        .order_by("-created_at", "-pk")
    )


def reports_of(researcher: Any) -> QuerySet[Report]:
    """The reports a researcher may read, newest first."""
    return (
        Report.objects.filter(study__memberships__researcher=researcher, study__memberships__role__in=READERS)
        .select_related("study", "run", "made_by")
        .order_by("-created_at", "-pk")
    )
