"""System checks with stable ids: what would otherwise fail later, and worse."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.files.storage import FileSystemStorage, storages


def _writable(folder: object) -> bool:
    return os.access(str(folder), os.R_OK | os.W_OK | os.X_OK)


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


def check_artefact_folder(**kwargs: Any) -> list[checks.CheckMessage]:
    """parallax.E002: ratings and models have to be kept somewhere."""
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


def check_debug_with_https(**kwargs: Any) -> list[checks.CheckMessage]:
    """parallax.E003: debug pages show secrets."""
    if settings.DEBUG and settings.HTTPS:
        return [checks.Error("DEBUG is on behind HTTPS.", hint="Unset DEBUG.", id="parallax.E003")]
    return []


def register_all() -> None:
    """Register every check of this module."""
    for check in (check_broker_folder, check_artefact_folder, check_debug_with_https):
        checks.register(check)
