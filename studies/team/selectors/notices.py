"""A researcher's notices about their studies."""

from __future__ import annotations

from typing import Any

from django.db.models import F, QuerySet

from studies.enums import Role
from studies.models import NoticeReceipt, Study, StudyMembership


def notices_of(researcher: Any) -> QuerySet[NoticeReceipt]:
    """Return the researcher's notices, unread first, then newest first, without those of former studies."""
    return (
        NoticeReceipt.objects.filter(researcher=researcher, notice__study__memberships__researcher=researcher)
        .select_related("notice__study")
        .order_by(F("read_at").desc(nulls_first=True), "-notice__at", "-pk")
    )


def n_unread(researcher: Any) -> int:
    """Count the researcher's unread notices."""
    return notices_of(researcher).filter(read_at__isnull=True).count()


def unread_of_study(researcher: Any, study: Study, n: int = 5) -> QuerySet[NoticeReceipt]:
    """Return the researcher's newest unread notices about one study."""
    return notices_of(researcher).filter(notice__study=study, read_at__isnull=True)[:n]


def owned_by(researcher: Any) -> QuerySet[StudyMembership]:
    """Return the researcher's memberships as an owner, with their e-mail preferences and studies."""
    owned = StudyMembership.objects.filter(researcher=researcher, role=Role.OWNER)
    return owned.select_related("study").order_by("study__archived_at", "-study__created_at", "-study__pk")
