"""Backups encrypted with age (https://age-encryption.org) to public keys, whose private keys are not on the server; and
a private folder for data that are not encrypted.
"""

from __future__ import annotations

import fcntl
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyrage
from django.conf import settings

from core.errors import ParallaxError

HEADER = b"age-encryption.org/"
PREFIX = "backup-"  # of the names of private folders


def recipients() -> list[pyrage.x25519.Recipient]:
    """The public keys in the settings. Raises ParallaxError `backup.bad_recipient`."""
    words = re.sub(r"#.*|,", " ", settings.BACKUP_RECIPIENT).split()
    try:
        return [pyrage.x25519.Recipient.from_str(word) for word in words]
    except pyrage.RecipientError as problem:
        raise ParallaxError(
            "backup.bad_recipient",
            "PARALLAX_BACKUP_RECIPIENT is not a public key of age. It starts with age1; `age-keygen` prints it.",
        ) from problem


def encrypt(source: IO[bytes], target: IO[bytes], keys: list[pyrage.x25519.Recipient]) -> None:
    """Encrypt a file, so that the owner of any of the keys can read it. Raises ParallaxError `backup.not_written`."""
    try:
        pyrage.encrypt_io(source, target, keys)
    except pyrage.EncryptError as problem:  # of the target, such as a full disk
        raise ParallaxError("backup.not_written", f"The backup cannot be written: {problem}.") from problem


def decrypted(path: Path, key: Path | None, folder: Path) -> Path:
    """The archive of a backup: the file itself, or its decrypted copy in a private folder.

    Raises ParallaxError `backup.no_key`, `backup.wrong_key`.
    """
    archive = folder / "decrypted.zip"
    with path.open("rb") as source, archive.open("xb") as target:
        # By the header and not by the file's name, which people change.
        if source.read(len(HEADER)) != HEADER:
            return path
        if key is None:
            raise ParallaxError("backup.no_key", f"{path} is encrypted. Name the file of its private key: --key FILE.")
        source.seek(0)
        try:
            lines = re.sub(r"#.*", "", key.read_text()).split()
            pyrage.decrypt_io(source, target, [pyrage.x25519.Identity.from_str(line) for line in lines])
        except (pyrage.DecryptError, pyrage.IdentityError, OSError, ValueError) as problem:
            raise ParallaxError(
                "backup.wrong_key",
                f"{path} cannot be decrypted with {key} ({problem}). The key has to be the file that `age-keygen` "
                "wrote; or the backup is damaged.",
            ) from problem
    return archive


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder that is deleted at the end. One process at a time has one; folders of killed processes are deleted."""
    with (Path(settings.VAR_DIR) / "backup.lock").open("w") as lock:
        # Under the lock every folder of that prefix is one of a process that was killed.
        fcntl.flock(lock, fcntl.LOCK_EX)
        for abandoned in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
            yield Path(folder)
