"""System checks with stable ids."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.files.storage import FileSystemStorage, storages

from charting import runtime
from core.commands import INSTALLATION
from parallax.env import is_public


def _writable(folder: object) -> bool:
    return os.access(str(folder), os.R_OK | os.W_OK | os.X_OK)


@register(INSTALLATION)
def check_always(**kwargs: Any) -> Iterator[CheckMessage]:
    """What would lose work or tell secrets, on any installation."""
    folder = settings.CELERY_BROKER_TRANSPORT_OPTIONS.get("data_folder_in")
    if folder and not _writable(folder):  # no task would ever arrive
        hint = "Set PARALLAX_VAR to a folder of this account's own, or REDIS_URL to use Redis."
        yield Error(f"The broker's folder {folder} cannot be written.", hint=hint, id="parallax.E001")
    storage = storages["artefacts"]
    if isinstance(storage, FileSystemStorage) and not _writable(storage.location):
        hint = "Set PARALLAX_VAR to a folder of this account's own."
        yield Error(f"The folder of artefacts {storage.location} cannot be written.", hint=hint, id="parallax.E002")
    if settings.DEBUG and settings.HTTPS:  # debug pages show secrets
        yield Error("DEBUG is on behind HTTPS.", hint="Unset DEBUG.", id="parallax.E003")
    if settings.EMAIL_BACKEND == "django.core.mail.backends.console.EmailBackend" and not settings.DEBUG:
        hint = "Set EMAIL_HOST to send them, or unset EMAIL_BACKEND to keep them as files in PARALLAX_VAR/mail."
        what = "EMAIL_BACKEND writes e-mails, including password reset links, to the log."
        yield Error(what, hint=hint, id="parallax.E004")
    if Path(settings.VAR_DIR).stat().st_mode & 0o077:
        what = f"Other accounts of this machine can read {settings.VAR_DIR}, and this one may not change that."
        yield Warning(what, hint=f"Run chmod 700 {settings.VAR_DIR} as its owner.", id="parallax.W001")


@register(deploy=True)
def check_deployment(**kwargs: Any) -> Iterator[CheckMessage]:
    """What an installation with several users needs."""
    if not settings.EMAIL_HOST and settings.EMAIL_BACKEND.startswith("django.core.mail.backends."):
        what = "There is no mail server: password resets and notices are not sent."
        hint = f"Set EMAIL_HOST (docs/reference/settings.md). E-mails are in {settings.EMAIL_FILE_PATH}."
        yield Warning(what, hint=hint, id="parallax.W002")
    if settings.SECOND_FACTOR == "optional" and is_public(settings.ALLOWED_HOSTS, is_https=settings.HTTPS):
        what = "The site is public, and administrators may sign in by a password alone."
        hint = "Unset PARALLAX_SECOND_FACTOR, or set it to administrators or everyone."
        yield Warning(what, hint=hint, id="parallax.W003")
    file = runtime.FOLDER / runtime.NAME
    if not file.exists():
        hint = "Run `make install` (or `.venv/bin/python -m charting.runtime`), and restart the web server."
        yield Warning(f"Pages cannot draw charts: {file} is missing.", hint=hint, id="parallax.W004")
