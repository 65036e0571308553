"""A researcher's notices, of the studies that they are on."""

from __future__ import annotations

from typing import Any

from django.db.models import F, QuerySet

from studies.enums import Role
from studies.models import NoticeReceipt, StudyMembership


def notices_of(researcher: Any) -> QuerySet[NoticeReceipt]:
    """Their notices, unread ones first, newest first; of a study they left there are none."""
    return (
        NoticeReceipt.objects.filter(researcher=researcher, notice__study__memberships__researcher=researcher)
        .select_related("notice__study")
        .order_by(F("read_at").desc(nulls_first=True), "-notice__at", "-pk")
    )


def n_unread(researcher: Any) -> int:
    """How many notices they have not read."""
    return notices_of(researcher).filter(read_at__isnull=True).count()


def owned_by(researcher: Any) -> QuerySet[StudyMembership]:
    """Their memberships as an owner, with the studies, which say how they are written to."""
    owned = StudyMembership.objects.filter(researcher=researcher, role=Role.OWNER)
    return owned.select_related("study").order_by("study__archived_at", "-study__created_at", "-study__pk")
