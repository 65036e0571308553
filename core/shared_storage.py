"""Whether stored files are in folders of this machine or on a server, and cleaning up where that server is away."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.files.storage import Storage

from core.errors import StorageRefused, StorageUnavailable

logger = logging.getLogger(__name__)


def is_folder(storage: Storage) -> bool:
    """Whether a storage is a folder of this machine, so that its files have paths."""
    try:
        storage.path("")
    except NotImplementedError:
        return False
    return True


@contextmanager
def left_for_later() -> Iterator[None]:
    """Log that the storage is away or refuses, and continue: what the block cleans up is cleaned by a later sweep."""
    try:
        yield
    except (StorageUnavailable, StorageRefused) as problem:
        logger.warning("stored files were not cleaned up: %s", problem)
