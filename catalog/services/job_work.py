"""What each kind of job does; a worker calls it with the progress to report to."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings

from accounts.selectors import writes_in
from catalog.clip_types import CLIP_TYPES
from catalog.enums import JobKind
from catalog.importers.base import Limits
from catalog.importers.download import DownloadFailed, address_of, download
from catalog.importers.item_files import LIMITS as MEDIA_LIMITS
from catalog.importers.scales import scale_of_text
from catalog.importers.sources import open_source
from catalog.models import Dataset, DatasetJob, DatasetVersion
from catalog.selectors.datasets import may_change
from catalog.services.dataset_import import import_dataset
from catalog.services.metadata import add_metadata
from catalog.services.previews import items_path, limits_of, ratings_path
from catalog.services.refusals import import_refusals
from catalog.services.subset import make_subset
from catalog.services.upload_folders import FACTS, MEDIA, file_in, folder_of
from catalog.subsetting.recipe import Recipe
from core.errors import ParallaxError

METADATA_LIMITS = Limits(bytes_unpacked=256 * 2**20)
NAMES_FILE = "file-names.csv"
Progress = Callable[[str, int, int | None], None]
Result = tuple[DatasetVersion, str]  # the version, and what happened in a sentence


def import_files(job: DatasetJob, progress: Progress) -> Result:
    """Import the files of a job with the columns that were confirmed."""
    chosen = job.settings
    _require_name(chosen["name"], job.requested_by)
    if job.project_id is not None and not writes_in(job.requested_by, job.project_id):  # has left since, or only reads
        raise ParallaxError("project.not_yours", "You may no longer add datasets to the project that was chosen.")
    options = dict(chosen["options"])
    if options.get("scale"):
        options["scale"] = scale_of_text(options["scale"])
    if (items := items_path(job)) is not None:
        options["items_file"] = items
    version = import_dataset(
        path=ratings_path(job),
        name=chosen["name"],
        title=chosen.get("title") or None,
        source_format=chosen["format"],
        owner=job.requested_by,
        options=options,
        limits=limits_of(job),
        progress=progress,
        item_type=chosen.get("item_type") or None,
        project=job.project,
    )
    return version, _imported(version)


def download_set(job: DatasetJob, progress: Progress) -> Result:
    """Download a MovieLens dataset and import it; an interrupted download is resumed, an imported one deleted."""
    name = job.settings["set"]
    _require_name(name, job.requested_by)
    address = address_of(name)

    def report_bytes(there: int, total: int | None) -> None:
        progress(f"Downloading {name}.zip", there, total)

    progress(f"Asking {PurePosixPath(address).parent} for {name}.zip", 0, None)
    try:
        archive = download(address, Path(settings.VAR_DIR) / "downloads", progress=report_bytes)
    except DownloadFailed as problem:
        raise ParallaxError(
            "download.failed",
            f"{problem} If this server has no access to it, download {address} on another computer and upload the "
            "archive under Import a dataset.",
        ) from problem
    version = import_dataset(path=archive.path, name=name, title=job.source, owner=job.requested_by, progress=progress)
    if not archive.was_there:
        archive.path.unlink(missing_ok=True)
    return version, _imported(version)


def add_job_metadata(job: DatasetJob, progress: Progress) -> Result:
    """Add uploaded metadata, pictures and clips to a version."""
    folder = folder_of(job.folder, MEDIA)
    media = file_in(job.folder, MEDIA)
    if (media is None or media.suffix.lower() != ".zip") and folder.is_dir():
        media = folder
    facts = file_in(job.folder, FACTS)
    if facts is None:
        if media is None:
            raise ParallaxError("upload.gone", "The uploaded files are no longer there. Upload them again.")
        facts = _facts_of_names(media, folder_of(job.folder, FACTS))
    version = add_metadata(
        version=_base_of(job),
        path=facts,
        actor=job.requested_by,
        on_bad_row=job.settings["on_bad_row"],
        limits=METADATA_LIMITS,
        media=media,
        progress=progress,
    )
    changed = version.report["metadata"][-1]["items_changed"]
    return version, f"Version {version.number} has new metadata for {changed:,} items."


def make_job_subset(job: DatasetJob, progress: Progress) -> Result:
    """Make a subset of a version."""
    base = _base_of(job)
    result = make_subset(
        version=base, recipe=recipe_of(job.settings["recipe"]), actor=job.requested_by, progress=progress
    )
    number = result.version.number
    if not result.is_new:
        return result.version, f"Version {number} had this content already, so no version was created."
    return result.version, f"Version {number} is a subset of version {base.number}."


WORK: Mapping[str, Callable[[DatasetJob, Progress], Result]] = {
    JobKind.IMPORT: import_files,
    JobKind.DOWNLOAD: download_set,
    JobKind.METADATA: add_job_metadata,
    JobKind.SUBSET: make_job_subset,
}


def recipe_as_json(recipe: Recipe) -> dict[str, Any]:
    """A recipe in JSON values."""
    values = {name: getattr(recipe, name) for name in Recipe.__slots__}
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in values.items()}


def recipe_of(values: Mapping[str, Any]) -> Recipe:
    """The recipe of JSON values."""
    entered = dict(values)
    for name in ("date_from", "date_until"):
        entered[name] = date.fromisoformat(entered[name]) if entered[name] else None
    entered["feature"] = tuple(entered["feature"]) if entered["feature"] else None
    return Recipe(**entered)


def _base_of(job: DatasetJob) -> DatasetVersion:
    if job.base is None:
        raise ParallaxError("dataset.unknown", "The version that this job changes is no longer there.")
    return job.base


def _require_name(name: str, actor: Any) -> None:
    """Refuse a name that was taken after it had been checked."""
    dataset = Dataset.objects.filter(name=name).first()
    if dataset is not None and not may_change(actor, dataset):
        raise ParallaxError("dataset.not_yours", f"The name {name!r} is not available. Choose another name.")


def _imported(version: DatasetVersion) -> str:
    excluded = sum(version.report["dropped"].values())
    rows = "row was" if excluded == 1 else "rows were"
    left_out = f"; {excluded:,} {rows} excluded" if excluded else ""
    return f"Imported {version.n_ratings:,} ratings of {version.n_items:,} items{left_out}."


def _facts_of_names(media: Path, folder: Path) -> Path:
    """A file of facts that says: each picture or clip is of the item whose id is the file's name."""
    with import_refusals():
        names = [file.name for file in open_source(media, MEDIA_LIMITS).files.values()]
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / NAMES_FILE
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "kind", "value"])
        for name in sorted(names):
            stem, _, suffix = name.rpartition(".")
            writer.writerow([stem, "trailer" if suffix.lower() in CLIP_TYPES else "image", name])
    return path
