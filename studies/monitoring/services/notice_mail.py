"""Notices by e-mail: at once, or gathered once a day; one that was read in the console before is not sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.core.cache import cache
from django.core.mail import EmailMessage, get_connection
from django.urls import reverse
from django.utils import timezone

from accounts.services.letters import is_sent
from studies.enums import NoticeMail
from studies.models import Notice, NoticeReceipt, Study, StudyMembership

DIGEST_HOUR = 6  # UTC; a daily e-mail covers what happened before it
CONNECTION_SECONDS = 10
PAUSE_SECONDS = 300  # after an e-mail that could not be sent
PAUSED = "studies.notice-mail.paused"


def digest_cutoff(now: datetime) -> datetime:
    """The most recent time of the daily e-mail; earlier notices are due."""
    at = now.replace(hour=DIGEST_HOUR, minute=0, second=0, microsecond=0)
    return at if at <= now else at - timedelta(days=1)


def send_due(*, now: datetime | None = None) -> int:
    """Send every researcher their due notices in one e-mail, and return the number of e-mails.

    A notice is marked as sent before its e-mail is sent, so that no two workers send it. If sending fails, the mark is
    removed, and sending is retried some minutes later.
    """
    moment = now or timezone.now()
    if cache.get(PAUSED):
        return 0
    waiting = NoticeReceipt.objects.filter(mailed_at__isnull=True, read_at__isnull=True, researcher__is_active=True)
    rows = list(waiting.select_related("notice__study", "researcher").order_by("notice__at", "pk"))
    if not rows:
        return 0
    researchers = {row.researcher_id for row in rows}
    choices = {
        (membership.researcher_id, membership.study_id): membership.notices_by_mail
        for membership in StudyMembership.objects.filter(researcher__in=researchers)
    }
    cutoff = digest_cutoff(moment)
    due: dict[int, list[NoticeReceipt]] = defaultdict(list)
    for row in rows:
        choice = choices.get((row.researcher_id, row.notice.study_id), NoticeMail.NEVER)
        if choice == NoticeMail.AT_ONCE or (choice == NoticeMail.DAILY and row.notice.at < cutoff):
            due[row.researcher_id].append(row)
    return sum(_sent(own, moment) for own in due.values())


def _sent(rows: Sequence[NoticeReceipt], moment: datetime) -> bool:
    claimed = [row for row in rows if _write(row, before=None, after=moment)]
    if not claimed:
        return False
    studies = _by_study(claimed)
    n = f"{len(claimed)} notices" if len(claimed) > 1 else "A notice"
    subject = f"{n} about {studies[0][0].title}" if len(studies) == 1 else f"{n} about {len(studies)} studies"
    subject = " ".join(subject.split())  # a title with a line break would end the header
    researcher, connection = claimed[0].researcher, get_connection(timeout=CONNECTION_SECONDS)
    letter = EmailMessage(subject, _body(studies), to=[researcher.email], connection=connection)
    if is_sent(letter, f"account {researcher.pk}"):
        return True
    for row in claimed:
        _write(row, before=moment, after=None)
    cache.set(PAUSED, True, PAUSE_SECONDS)
    return False


def _write(row: NoticeReceipt, *, before: datetime | None, after: datetime | None) -> bool:
    own = NoticeReceipt.objects.filter(pk=row.pk)
    own = own.filter(mailed_at__isnull=True) if before is None else own.filter(mailed_at=before)
    return own.update(mailed_at=after) == 1


def _by_study(rows: Sequence[NoticeReceipt]) -> list[tuple[Study, list[Notice]]]:
    # By key, as two studies may have the same title.
    by_study: dict[int, tuple[Study, list[Notice]]] = {}
    for row in rows:
        study = row.notice.study
        by_study.setdefault(study.pk, (study, []))[1].append(row.notice)
    return list(by_study.values())


def _link(name: str, *args: str) -> str:
    return settings.SITE_URL + reverse(name, args=args) if settings.SITE_URL else ""


def _body(studies: Sequence[tuple[Study, list[Notice]]]) -> str:
    parts = []
    for study, notices in studies:
        lines = [f"- {notice.at:%d %b %Y, %H:%M} UTC  {notice.text}" for notice in notices]
        link = _link("studies:detail", study.slug)
        parts.append("\n".join([study.title, *([link] if link else []), *lines]))
    foot = "All notices, and when they are sent to you, are in Parallax under Notices"
    link = _link("studies:notices")
    foot = f"{foot}:\n{link}" if link else f"{foot}."
    return "\n\n".join([*parts, foot]) + "\n"
