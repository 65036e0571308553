"""Administrators are notified of a backup that failed or is missing, also when nothing makes backups any more."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from celery import current_app
from django.conf import settings as configured
from django.core.mail import EmailMessage
from django.utils import timezone

from accounts.models import User
from core.models import LogEntry
from parallax.backup import erasures
from parallax.backup.results import KIND, log_result, report_missing
from tests.factories.accounts import UserFactory

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def administrator(settings: Any) -> User:
    settings.BACKUP_HOURS = 30
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    return UserFactory(is_superuser=True, email="admin@example.org")


def result(*, is_good: bool, hours: float, words: str = "") -> None:
    log_result(is_good=is_good, words=words)
    newest = LogEntry.objects.filter(kind=KIND).latest("pk")
    LogEntry.objects.filter(pk=newest.pk).update(at=timezone.now() - timedelta(hours=hours))


def noon(*, hours: int = 0) -> datetime:
    """A noon that is at least so many hours away: days are counted from midnight to midnight."""
    return (timezone.now() + timedelta(hours=hours + 24)).replace(hour=12)


def test_a_missing_backup_is_an_e_mail_a_day_until_there_is_one(mailoutbox: list[EmailMessage]) -> None:
    assert not report_missing()  # the installation is new
    now = noon(hours=31)
    assert report_missing(now=now)
    assert not report_missing(now=now + timedelta(minutes=20))
    (letter,) = mailoutbox
    assert letter.bcc == ["admin@example.org"]
    assert "30 hours" in letter.body
    assert "no good backup" in letter.body
    assert report_missing(now=now + timedelta(hours=24))
    result(is_good=True, hours=-30)
    assert not report_missing(now=now + timedelta(hours=24))


def test_a_failed_backup_is_an_e_mail_at_once_with_its_words(mailoutbox: list[EmailMessage]) -> None:
    result(is_good=True, hours=3)
    assert not report_missing()
    result(is_good=False, hours=1, words="pg_dump failed: the disk is full")
    assert report_missing(now=noon())
    assert not report_missing(now=noon())
    assert "disk is full" in mailoutbox[0].body
    assert "last good backup" in mailoutbox[0].body
    result(is_good=True, hours=0)
    assert not report_missing(now=timezone.now() + timedelta(hours=20))


def test_an_e_mail_that_cannot_be_sent_is_tried_again(settings: Any, mailoutbox: list[EmailMessage]) -> None:
    backend, settings.EMAIL_BACKEND = settings.EMAIL_BACKEND, "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    now = timezone.now() + timedelta(hours=31)
    assert not report_missing(now=now)
    settings.EMAIL_BACKEND = backend
    assert report_missing(now=now + timedelta(minutes=10))


def test_without_the_setting_nothing_is_reported(settings: Any) -> None:
    settings.BACKUP_HOURS = 0
    assert not report_missing(now=timezone.now() + timedelta(days=400))


def test_the_sweep_of_every_shape_reports(settings: Any, mailoutbox: list[EmailMessage]) -> None:
    assert "backup.sweep" in configured.CELERY_BEAT_SCHEDULE
    result(is_good=False, hours=1)
    current_app.tasks["backup.sweep"].run()
    assert len(mailoutbox) == 1


def test_a_list_that_a_killed_process_left_unfinished_loses_no_line(settings: Any) -> None:
    file = erasures.list_file()
    file.write_text("aa\nwithdr")
    erasures.append(file, ["aa", "bb"])
    erasures.append(file, ["bb"])
    assert file.read_text().splitlines() == ["aa", "withdr", "bb"]
