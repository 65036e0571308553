"""Storages of ratings, models, results, prepared downloads and uploads, and what each machine has of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

from core.artefact_cache import ArtefactCache
from core.artefacts import is_folder
from core.errors import StorageRefused, StorageUnavailable
from parallax.doctor.diagnosis import Diagnosis, advice, ok, problem
from parallax.readiness import check_artefacts

NAMES = {"artefacts": "Artefacts", "default": "Downloads and uploads"}
PROBE = b"written by doctor, and deleted at once"
VARIABLES = (
    "PARALLAX_ARTEFACTS_S3, PARALLAX_S3_ENDPOINT, PARALLAX_S3_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
)


def check_storages() -> Iterator[Diagnosis]:
    """Ratings, models, results, downloads and uploads can be written, listed, read and deleted."""
    for alias, subject in NAMES.items():
        storage = storages[alias]
        if not is_folder(storage):
            yield _of_server(subject, storage)
    reasons = list(check_artefacts())
    for reason in reasons:
        yield problem("Artefacts", reason, "Give this account the right to write it, and free some space on its disk.")
    if is_folder(storages["artefacts"]):
        if not reasons and settings.REDIS_URL:
            yield ok(
                "Artefacts",
                f"They are in {settings.VAR_DIR}: run all web servers and workers on this machine, or set "
                "PARALLAX_ARTEFACTS_S3 (docs/how-to/run-on-several-machines.md).",
            )
        return
    cache = ArtefactCache(settings.ARTEFACT_CACHE, settings.ARTEFACT_CACHE_SIZE)
    try:
        with cache.new_folder():
            pass
    except (StorageRefused, OSError) as fault:
        yield problem(
            "Artefact cache", str(fault), "Set PARALLAX_ARTEFACT_CACHE to a folder that this account may write."
        )
    else:
        yield ok("Artefact cache", f"{cache.size() / 1e9:.1f} of {cache.limit / 1e9:.1f} GB in {cache.root}.")


def check_import_folder() -> Iterator[Diagnosis]:
    """With files in a bucket there may be several machines: what is imported by path has to be on each of them."""
    if settings.IMPORT_DIR and settings.ARTEFACTS_S3:
        yield advice(
            "Import folder",
            f"PARALLAX_IMPORT_DIR ({settings.IMPORT_DIR}) is a folder of this machine, and a worker on another machine "
            "may take an import.",
            "Mount the same folder on all machines with workers or web servers, or import with import_dataset.",
        )


def _of_server(subject: str, storage: Storage) -> Diagnosis:
    """Whether a storage elsewhere does what is asked of it, tried with a small file."""
    name = f"doctor/{secrets.token_hex(8)}"
    address = settings.ARTEFACTS_S3 or type(storage).__name__
    try:
        storage.save(name, ContentFile(PROBE))
        with storage.open(name) as file:
            content = file.read()
        listed = storage.listdir("doctor")[1]
        storage.delete(name)
    except (StorageUnavailable, StorageRefused, OSError) as fault:
        return problem(subject, str(fault), f"Check {VARIABLES}: the account lists, reads, writes and deletes.")
    if content != PROBE or name.rpartition("/")[2] not in listed:
        return problem(
            subject, f"{address} returned other bytes or another list than were written.", f"Check {VARIABLES}."
        )
    return ok(subject, f"A file in {address} was written, listed, read and deleted.")
