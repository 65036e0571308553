"""What the installation works with: settings, database, broker, workers, mail."""

from __future__ import annotations

import smtplib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.core import checks
from django.core.mail import get_connection
from django.db import DatabaseError, connection
from django.db.models import Max
from django.utils import timezone

from core.errors import ParallaxError
from core.models import LogEntry
from core.provenance import current_code_digest
from jobs.workers import running_workers
from parallax.database import LAUNCHER, database_name
from parallax.doctor.diagnosis import Diagnosis, advice, ok, problem
from parallax.env import is_public
from parallax.readiness import UNREACHABLE, check_database, count_messages, message_folder

LARGEST_DIFFERENCE = 5.0  # seconds between two clocks
MANY_MESSAGES = 100  # in the queue
WITHOUT_HTTPS = {"security.W004", "security.W008", "security.W012", "security.W016"}  # which only make sense with it


def check_settings() -> Iterator[Diagnosis]:
    """Django's system checks, with those for a public site."""
    messages = [message for message in checks.run_checks(include_deployment_checks=True) if not message.is_silenced()]
    if not settings.HTTPS:
        messages = [message for message in messages if message.id not in WITHOUT_HTTPS]
    for message in messages:
        make = problem if message.level >= checks.ERROR else advice
        remedy = str(message.hint or f"See {message.id} in Django's list of system checks.")
        yield make("Settings", " ".join(str(message.msg).split()), remedy)
    is_open = is_public(settings.ALLOWED_HOSTS, is_https=settings.HTTPS)
    if settings.DEBUG and is_open:
        yield problem("Settings", "DEBUG is on: error pages show settings and data.", "Unset DEBUG.")
    if is_open and not settings.HTTPS:
        yield problem(
            "Settings",
            "ALLOWED_HOSTS names public hosts, and HTTPS is off: passwords and answers travel unencrypted.",
            "Put a proxy with TLS in front, and set HTTPS=1.",
        )
    if not messages:
        yield ok("Settings", "All system checks pass.")


def check_database_state() -> Iterator[Diagnosis]:
    """The database answers, has all migrations, and takes a row."""
    reasons = list(check_database())
    if not reasons:
        yield ok("Database", f"{database_name()} has all migrations and can be written.")
    for reason in reasons:
        remedy = (
            "Start the server or correct DATABASE_URL." if reason == UNREACHABLE else "Fix the disk or its permissions."
        )
        yield problem("Database", reason, f"Run `{LAUNCHER} migrate`." if "migrations" in reason else remedy)


def check_clock() -> Iterator[Diagnosis]:
    """This machine's clock agrees with the database's, and has not been set back."""
    now = datetime.now(UTC)
    remedy = "Synchronise the clocks of all machines (NTP): leases of work and deadlines depend on them."
    try:
        if connection.vendor != "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("SELECT clock_timestamp()")
                (theirs,) = cursor.fetchone()
            difference = abs((theirs - datetime.now(UTC)).total_seconds())
            if difference > LARGEST_DIFFERENCE:
                yield problem("Clock", f"The database's clock differs by {difference:,.0f} s.", remedy)
                return
        newest = LogEntry.objects.aggregate(newest=Max("at"))["newest"]
    except DatabaseError:
        return  # said by check_database_state
    if newest and newest > now + timedelta(seconds=LARGEST_DIFFERENCE):
        yield problem("Clock", f"It shows {timezone.now():%F %T} UTC, and an entry is from {newest:%F %T}.", remedy)
    else:
        yield ok("Clock", f"{now:%F %T} UTC.")


def check_broker() -> Iterator[Diagnosis]:
    """Messages to workers can be sent, and are taken."""
    try:
        count = count_messages()
    except ParallaxError as refusal:
        yield problem(
            "Broker", str(refusal), "Start Redis or correct REDIS_URL; without Redis, fix the folder's permissions."
        )
        return
    kind = "Redis" if settings.REDIS_URL else str(message_folder())
    if count > MANY_MESSAGES:
        yield advice("Broker", f"{count} messages wait in {kind}.", "Start a worker, or more workers.")
    else:
        yield ok("Broker", f"{count} messages wait in {kind}.")


def check_workers() -> Iterator[Diagnosis]:
    """A worker is running on some machine, and all have the code of this version."""
    try:
        workers = running_workers()
    except DatabaseError:
        return  # said by check_database_state
    if not workers:
        yield advice(
            "Workers",
            "None is running on any machine: reports, exports and runs wait.",
            f"Run `{LAUNCHER} up`, or start a worker (docs/how-to/deploy-with-postgresql-and-redis.md).",
        )
        return
    code = current_code_digest()
    old = [str(worker) for worker in workers if worker.code != code]
    if old:
        yield problem(
            "Workers",
            f"Processes {', '.join(old)} run another version of the code.",
            "Restart them (and the web server).",
        )
    else:
        each = ", ".join(f"{worker} {worker.task or 'idle'}" for worker in workers)
        yield ok("Workers", f"{len(workers)} running, with this version of the code: {each}.")


def check_mail() -> Iterator[Diagnosis]:
    """The mail server accepts this installation's account; nothing is sent."""
    if not settings.EMAIL_HOST:
        return  # said by a system check
    try:
        with get_connection():
            pass
    except (smtplib.SMTPException, OSError) as fault:
        words = type(fault).__name__ if isinstance(fault, smtplib.SMTPException) else str(fault)
        yield problem(
            "Mail",
            f"The mail server {settings.EMAIL_HOST}:{settings.EMAIL_PORT} refused: {words}.",
            "Correct EMAIL_HOST, EMAIL_PORT, EMAIL_TLS, EMAIL_USER and EMAIL_PASSWORD.",
        )
    else:
        yield ok("Mail", f"The mail server {settings.EMAIL_HOST}:{settings.EMAIL_PORT} accepts the account.")
