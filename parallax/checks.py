"""System checks with stable ids."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.files.storage import FileSystemStorage, storages

from charting import runtime
from parallax.env import is_public


def _writable(folder: object) -> bool:
    return os.access(str(folder), os.R_OK | os.W_OK | os.X_OK)


@checks.register
def check_broker_folder(**kwargs: Any) -> list[checks.CheckMessage]:
    """parallax.E001: without a writable folder no task ever arrives."""
    folder = settings.CELERY_BROKER_TRANSPORT_OPTIONS.get("data_folder_in")
    if folder and not _writable(folder):
        return [
            checks.Error(
                f"The broker's folder {folder} cannot be written.",
                hint="Set PARALLAX_VAR to a folder of this account's own, or REDIS_URL to use Redis.",
                id="parallax.E001",
            )
        ]
    return []


@checks.register
def check_artefact_folder(**kwargs: Any) -> list[checks.CheckMessage]:
    """parallax.E002: ratings and models need a writable folder."""
    storage = storages["artefacts"]
    if isinstance(storage, FileSystemStorage) and not _writable(storage.location):
        return [
            checks.Error(
                f"The folder of artefacts {storage.location} cannot be written.",
                hint="Set PARALLAX_VAR to a folder of this account's own.",
                id="parallax.E002",
            )
        ]
    return []


@checks.register
def check_debug_with_https(**kwargs: Any) -> list[checks.CheckMessage]:
    """parallax.E003: debug pages show secrets."""
    if settings.DEBUG and settings.HTTPS:
        return [checks.Error("DEBUG is on behind HTTPS.", hint="Unset DEBUG.", id="parallax.E003")]
    return []


@checks.register
def check_private_folder(**kwargs: Any) -> list[checks.CheckMessage]:
    """parallax.W001: other accounts of the machine could read answers, e-mails and logs."""
    if Path(settings.VAR_DIR).stat().st_mode & 0o077:
        return [
            checks.Warning(
                f"Other accounts of this machine can read {settings.VAR_DIR}, and this one may not change that.",
                hint=f"Run chmod 700 {settings.VAR_DIR} as its owner.",
                id="parallax.W001",
            )
        ]
    return []


@checks.register(deploy=True)
def check_chart_runtime(**kwargs: Any) -> list[checks.CheckMessage]:
    """parallax.W004: without the script that draws them, pages have no charts."""
    file = runtime.FOLDER / runtime.NAME
    if not file.exists():
        return [
            checks.Warning(
                f"Pages cannot draw charts: {file} is missing.",
                hint="Run `make install` (or `.venv/bin/python -m charting.runtime`), and restart the web server.",
                id="parallax.W004",
            )
        ]
    return []


@checks.register
def check_emails_in_logs(**kwargs: Any) -> list[checks.CheckMessage]:
    """parallax.E004: a link that resets a password would be in the log of the web server."""
    if settings.EMAIL_BACKEND == "django.core.mail.backends.console.EmailBackend" and not settings.DEBUG:
        return [
            checks.Error(
                "EMAIL_BACKEND writes e-mails, including password reset links, to the log.",
                hint="Set EMAIL_HOST to send them, or unset EMAIL_BACKEND to keep them as files in PARALLAX_VAR/mail.",
                id="parallax.E004",
            )
        ]
    return []


@checks.register(deploy=True)
def check_mail_server(**kwargs: Any) -> list[checks.CheckMessage]:
    """parallax.W002: without a mail server, an installation with several users cannot send e-mails."""
    if not settings.EMAIL_HOST and settings.EMAIL_BACKEND.startswith("django.core.mail.backends."):
        return [
            checks.Warning(
                "There is no mail server: password resets and notices are not sent.",
                hint=f"Set EMAIL_HOST (docs/reference/settings.md). E-mails are in {settings.EMAIL_FILE_PATH}.",
                id="parallax.W002",
            )
        ]
    return []


@checks.register(deploy=True)
def check_second_factor(**kwargs: Any) -> list[checks.CheckMessage]:
    """parallax.W003: on a public site, a guessed or stolen password would make anyone an administrator."""
    if settings.SECOND_FACTOR == "optional" and is_public(settings.ALLOWED_HOSTS, is_https=settings.HTTPS):
        return [
            checks.Warning(
                "The site is public, and administrators may sign in by a password alone.",
                hint="Unset PARALLAX_SECOND_FACTOR, or set it to administrators or everyone.",
                id="parallax.W003",
            )
        ]
    return []
