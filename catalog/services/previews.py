"""The first rows of what a job is to import."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from catalog.importers.base import Limits
from catalog.importers.preview import Declared, Preview, TablePreview, preview_dataset, preview_items
from catalog.models import DatasetJob
from catalog.selectors.server_files import server_file
from catalog.services.refusals import import_refusals
from catalog.services.upload_folders import ITEMS, RATINGS, file_in
from core.errors import ParallaxError

UPLOAD_LIMITS = Limits(bytes_unpacked=2 * 2**30)
SERVER_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class JobPreview:
    """The previews of a job's files."""

    dataset: Preview
    items: TablePreview | None


def ratings_path(job: DatasetJob) -> Path:
    """The file or folder that a job imports. Raises ParallaxError for `upload.gone` and `import.bad_path`."""
    if path := job.settings.get("path"):
        return server_file(path)
    file = file_in(job.folder, RATINGS)
    if file is None:
        raise ParallaxError("upload.gone", "The uploaded file is no longer there. Upload it again.")
    return file


def items_path(job: DatasetJob) -> Path | None:
    """The uploaded file of items, if there is one."""
    return file_in(job.folder, ITEMS)


def limits_of(job: DatasetJob) -> Limits:
    """How far a job's files may unfold."""
    return SERVER_LIMITS if job.settings.get("path") else UPLOAD_LIMITS


def preview_of(job: DatasetJob, declared: Declared | None = None, items_encoding: str | None = None) -> JobPreview:
    """Read the first rows of a job's files. Raises ParallaxError for `import.refused`; its extra has `part`: the files
    of ratings or of items.
    """
    limits = limits_of(job)
    ratings, items = ratings_path(job), items_path(job)
    with _of_part("file"), import_refusals():
        dataset = preview_dataset(ratings, limits=limits, declared=declared)
    with _of_part("items_file"), import_refusals():
        return JobPreview(
            dataset, None if items is None else preview_items(items, limits=limits, encoding=items_encoding)
        )


@contextmanager
def _of_part(part: str) -> Iterator[None]:
    """Note in a refusal which of two files it is about."""
    try:
        yield
    except ParallaxError as refusal:
        refusal.extra["part"] = part
        raise
