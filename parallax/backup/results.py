"""Results of backups in the log of the installation, and the e-mail to administrators when a good one is missing."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min
from django.utils import timezone

from accounts.models import User
from accounts.services.letters import send_to_administrators
from core.database import optional_write
from core.models import LogEntry
from core.rate_limits import RateLimit, seconds_left, seconds_to_wait

KIND, GOOD, FAILED = "parallax.backup", "succeeded", "failed"
DAILY = RateLimit(0, 86_400)  # e-mails about the same fault
ATTEMPTS = RateLimit(1, 600)  # to send one


def log_result(*, is_good: bool, words: str) -> None:
    """Record that a backup was made or failed, and why."""
    with optional_write("the result of a backup"):
        LogEntry.objects.create(kind=KIND, object_id=0, to_status=GOOD if is_good else FAILED, reason=words)


def report_missing(*, now: datetime | None = None) -> bool:
    """E-mail the administrators, once a day, if the newest backup failed or the newest good one is too old.

    Returns whether an e-mail was sent. Nothing is reported without PARALLAX_BACKUP_HOURS.
    """
    if not settings.BACKUP_HOURS:
        return False
    moment, entries = now or timezone.now(), LogEntry.objects.filter(kind=KIND, object_id=0)
    newest, good = entries.last(), entries.filter(to_status=GOOD).last()
    since = good.at if good else User.objects.aggregate(at=Min("date_joined"))["at"]
    if newest is not None and newest.to_status == FAILED:
        fault, text = f"failed {newest.pk}", f"The backup of {newest.at:%F %T} UTC has problems:\n\n{newest.reason}"
    elif since is not None and moment - since > timedelta(hours=settings.BACKUP_HOURS):
        fault, text = "missing", f"No backup succeeded in the last {settings.BACKUP_HOURS} hours."
    else:
        return False
    subject, at = ("backup-letter", fault), moment.timestamp()
    if seconds_left(DAILY, *subject, now=at) or seconds_to_wait(ATTEMPTS, *subject, now=at):
        return False
    last = f"The last good backup is of {good.at:%F %T} UTC." if good else "There has been no good backup."
    advice = "Run `.venv/bin/python manage.py backup` and read what it prints; see the page Back up and restore."
    is_sent = send_to_administrators("backup missing", f"{text}\n\n{last}\n{advice}\n")
    if is_sent:
        seconds_to_wait(DAILY, *subject, now=at)
    return is_sent
