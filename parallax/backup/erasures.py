"""The list of erasures, outside the backups: who has to be erased again after an older backup was restored.

A line is a keyed digest of a participant who withdrew, which identifies no one without the secret key. Lines are
derived from the database, so a process that is killed loses none, and the list never gets shorter.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.utils.crypto import salted_hmac

from studies.enums import ParticipantStatus
from studies.models import Participant
from studies.participation.services.withdrawal import withdraw

NAME = "erasures.txt"
UPDATED_SECONDS = 60


def list_file() -> Path:
    """The list of this installation."""
    return Path(settings.VAR_DIR) / NAME


def update_list(*, is_forced: bool = False) -> None:
    """Add who withdrew, unless the list was updated a minute ago, and merge it with the list in the bucket."""
    file = list_file()
    if not is_forced and file.exists() and 0 <= time.time() - file.stat().st_mtime < UPDATED_SECONDS:
        return
    rows = Participant.objects.filter(status=ParticipantStatus.WITHDRAWN).values_list("pk", "code")
    append(file, {_digest(pk, code) for pk, code in rows})
    merge_with_bucket()


def merge_with_bucket() -> None:
    """Add to each of the lists of this installation and of the bucket what only the other has."""
    if "backups" in settings.STORAGES:
        storage, file, stored = storages["backups"], list_file(), set()
        if storage.exists(NAME):
            with storage.open(NAME) as copy:
                stored = set(copy.read().decode().split())
        append(file, stored)
        if (listed := lines_of(file)) - stored:
            storage.save(NAME, ContentFile("\n".join(sorted(listed)).encode()))


def lines_of(file: Path) -> set[str]:
    """The lines of a list."""
    return set(file.read_text().split())


def append(file: Path, lines: Iterable[str]) -> None:
    """Add those lines to a list that it does not have."""
    file.touch()
    with file.open("a") as stream:  # a line that a killed process left unfinished is ended first
        stream.write("".join(f"\n{line}" for line in sorted(set(lines) - lines_of(file))))


def replay(key: str) -> int:
    """Withdraw again all participants on the list; `key` is the secret key of this database. Returns their number."""
    listed, people = lines_of(list_file()), Participant.objects.exclude(status=ParticipantStatus.WITHDRAWN)
    # With the restored database's own key, as the lines were made with it before the backup was restored.
    listed_keys = [pk for pk, code in people.values_list("pk", "code") if _digest(pk, code, key) in listed]
    for participant in Participant.objects.filter(pk__in=listed_keys):
        withdraw(participant=participant, reason="Withdrew before this backup was restored; erased again.")
    return len(listed_keys)


def _digest(pk: int, code: str, key: str | None = None) -> str:
    return salted_hmac("parallax.erasures", f"{pk}\n{code}", secret=key, algorithm="sha256").hexdigest()
