"""Notices to the owners of a study: delivery, read status and e-mail preferences."""

from __future__ import annotations

import logging
import secrets
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.errors import ParallaxError
from studies.enums import NoticeKind, NoticeMail, Role
from studies.models import Notice, NoticeReceipt, Study, StudyMembership

logger = logging.getLogger(__name__)


def notify_owners(*, study: Study, kind: str, key: str, text: str) -> Notice | None:
    """Notify the owners of a study once per key; None if the key has been used."""
    try:
        with transaction.atomic():
            notice = Notice.objects.create(study=study, kind=kind, key=key, text=text)
            owners = StudyMembership.objects.filter(study=study, role=Role.OWNER, researcher__is_active=True)
            NoticeReceipt.objects.bulk_create(
                NoticeReceipt(notice=notice, researcher_id=pk)
                for pk in owners.order_by("pk").values_list("researcher_id", flat=True)
            )
    except IntegrityError:
        return None
    logger.info("notice study=%s kind=%s key=%s", study.slug, kind, key)
    return notice


@transaction.atomic
def notify_members(*, study: Study, actor: Any, text: str) -> Notice:
    """Notify all members of a study, whatever their role, of what an administrator changed about its members.

    Members whose account is deactivated see it once they are back.
    """
    notice = Notice.objects.create(
        study=study, kind=NoticeKind.ADMINISTRATION, key=f"administration:{secrets.token_hex(8)}", text=text
    )
    members = StudyMembership.objects.filter(study=study).exclude(researcher=actor).order_by("pk")
    NoticeReceipt.objects.bulk_create(
        NoticeReceipt(notice=notice, researcher_id=pk) for pk in members.values_list("researcher_id", flat=True)
    )
    logger.info("notice study=%s kind=%s", study.slug, notice.kind)
    return notice


@transaction.atomic
def mark_read(*, researcher: Any, receipt: int | None = None) -> int:
    """Mark one of the researcher's notices, or all of them, as read; return how many were unread."""
    unread = NoticeReceipt.objects.filter(researcher=researcher, read_at__isnull=True)
    if receipt is not None:
        unread = unread.filter(pk=receipt)
    return unread.update(read_at=timezone.now())


@transaction.atomic
def choose_mail(*, researcher: Any, slug: str, mail: str) -> StudyMembership:
    """Set when an owner is e-mailed about a study. Raises `notice.unknown_choice`, `notice.not_owner`."""
    if mail not in NoticeMail.values:
        raise ParallaxError("notice.unknown_choice", f"Notices are sent {', '.join(NoticeMail.values)}; got {mail!r}.")
    membership = StudyMembership.objects.filter(researcher=researcher, study__slug=slug, role=Role.OWNER).first()
    if membership is None:
        raise ParallaxError("notice.not_owner", "Notices are sent to the owners of a study.")
    membership.notices_by_mail = mail
    membership.save(update_fields=["notices_by_mail"])
    return membership
