"""What each kind of job does; a worker calls it with the progress to report to."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from django.conf import settings
from pydantic import TypeAdapter

from accounts.models import Project
from accounts.selectors import writes_in
from catalog.clip_types import CLIP_TYPES
from catalog.importers.auto import parse
from catalog.importers.base import Limits, ParsedDataset, ParsedItem, Policy
from catalog.importers.download import DownloadFailed, address_of, download
from catalog.importers.item_files import LIMITS as MEDIA_LIMITS
from catalog.importers.options import Options
from catalog.importers.proposal import of_json
from catalog.importers.sources import open_source
from catalog.item_types import PEOPLE
from catalog.models import Dataset, DatasetVersion
from catalog.selectors.datasets import may_change
from catalog.services.dataset_import import import_dataset, import_refusals
from catalog.services.item_facts import installed_languages
from catalog.services.metadata import add_metadata
from catalog.services.previews import limits_of, options_of, ratings_path
from catalog.services.subset import create_subset
from catalog.services.upload_folders import FACTS, MEDIA, file_in, folder_of
from catalog.subsetting.recipe import Recipe
from core.errors import ParallaxError
from jobs.kinds import Progress
from jobs.models import Job

METADATA_LIMITS = Limits(bytes_unpacked=256 * 2**20)
POPULAR, SEED = 5, 11
NAMES_FILE = "file-names.csv"
RECIPES = TypeAdapter(Recipe)  # of subsets, as payloads have them
Result = tuple[DatasetVersion, str]  # the version, and what happened in a sentence


def check_files(job: Job, progress: Progress) -> dict[str, Any]:
    """Read all files of a job as its proposal says, and store nothing. Returns every problem by kind, and what the
    dataset would hold without the rows that have one.
    """

    def dataset(**policy: Any) -> ParsedDataset:
        with import_refusals():
            return parse(
                ratings_path(job),
                policy=Policy(limits=limits_of(job), **policy),
                options=Options(**options_of(job), languages=installed_languages()),
                proposal=of_json(job.payload["proposal"]),
                progress=lambda file, rows: progress(f"Reading {file}", rows, None),
            )

    outcome: dict[str, Any] = {"counts": {}}
    try:
        parsed = dataset()
    except ParallaxError as refusal:
        outcome |= {"error": str(refusal), **{name: refusal.extra.get(name) for name in ("problems", "options")}}
        if not refusal.extra.get("counts"):
            return outcome
        try:
            parsed = dataset(fix=("all",))
        except ParallaxError as final:  # what is left cannot be imported either
            return outcome | {"error": str(final), "options": final.extra.get("options")}
        outcome |= {"error": "", "counts": refusal.extra["counts"]}
    report = parsed.report.as_json()
    outcome |= {name: report[name] for name in ("scale", "summary", "mapping", "warnings", "dropped") if name in report}
    lacking = {
        "year": sum(item.year is None for item in parsed.items),
        "author or other person": sum(not _people(item) for item in parsed.items),
        "description": sum(not item.plot for item in parsed.items),
        "picture": sum(not (item.image_url or item.image) for item in parsed.items),
    }
    return outcome | {"items": shown_items(parsed), "lacking": lacking}


def shown_items(parsed: ParsedDataset) -> list[dict[str, Any]]:
    """Five popular items and five others at random, which are the same each time."""
    n = np.bincount(parsed.items_rated, minlength=parsed.n_items)
    order = np.argsort(-n, kind="stable")
    chosen = [*order[:POPULAR], *np.random.default_rng(SEED).permutation(order[POPULAR:])[:POPULAR]]
    return [
        {
            "id": item.external_id,
            "title": item.title,
            "year": item.year,
            "by": ", ".join(_people(item)[:2]),
            "n": int(n[at]),
        }
        for at in chosen
        for item in [parsed.items[at]]
    ]


def _people(item: ParsedItem) -> list[str]:
    return [value for kind, value in item.features if kind in PEOPLE]


def import_files(job: Job, progress: Progress) -> Result:
    """Import the files of a job as its proposal says."""
    chosen = job.payload
    _require_name(chosen["name"], job.owner)
    project = job.subject if isinstance(job.subject, Project) else None
    if project is not None and not writes_in(job.owner, project.pk):  # has left since, or only reads
        raise ParallaxError("project.not_yours", "You may no longer add datasets to the project that was chosen.")
    version = import_dataset(
        path=ratings_path(job),
        name=chosen["name"],
        title=chosen.get("title") or None,
        owner=job.owner,
        options={**options_of(job), "fix": tuple(chosen.get("fix", ())), "duplicates": chosen.get("duplicates")},
        proposal=of_json(chosen["proposal"]) if "proposal" in chosen else None,  # queued by an earlier version
        limits=limits_of(job),
        progress=progress,
        item_type=chosen.get("item_type") or None,
        project=project,
    )
    mapping = version.report.get("mapping", {})
    if chosen.get("limits") and "bins" not in mapping:
        add = mapping.get("add", 0)
        version.report["limits"] = {name: value + add for name, value in chosen["limits"].items()}
        version.save(update_fields=["report"])
    return version, _imported(version)


def download_set(job: Job, progress: Progress) -> Result:
    """Download a MovieLens dataset and import it; an interrupted download is resumed, an imported one deleted."""
    name = job.payload["set"]
    _require_name(name, job.owner)
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
    version = import_dataset(
        path=archive.path, name=name, title=job.payload["source"], owner=job.owner, progress=progress
    )
    if not archive.was_there:
        archive.path.unlink(missing_ok=True)
    return version, _imported(version)


def add_job_metadata(job: Job, progress: Progress) -> Result:
    """Add uploaded metadata, pictures and clips to a version."""
    uploads = job.payload["folder"]
    folder = folder_of(uploads, MEDIA)
    media = file_in(uploads, MEDIA)
    if (media is None or media.suffix.lower() != ".zip") and folder.is_dir():
        media = folder
    facts = file_in(uploads, FACTS)
    if facts is None:
        if media is None:
            raise ParallaxError("upload.gone", "The uploaded files are no longer there. Upload them again.")
        facts = _facts_of_names(media, folder_of(uploads, FACTS))
    version = add_metadata(
        version=_base_of(job),
        path=facts,
        actor=job.owner,
        on_bad_row=job.payload["on_bad_row"],
        limits=METADATA_LIMITS,
        media=media,
        progress=progress,
    )
    changed = version.report["metadata"][-1]["items_changed"]
    return version, f"Version {version.number} has new metadata for {changed:,} items."


def create_job_subset(job: Job, progress: Progress) -> Result:
    """Make a subset of a version."""
    base = _base_of(job)
    result = create_subset(
        version=base, recipe=RECIPES.validate_python(job.payload["recipe"]), actor=job.owner, progress=progress
    )
    number = result.version.number
    if not result.is_new:
        return result.version, f"Version {number} had this content already, so no version was created."
    return result.version, f"Version {number} is a subset of version {base.number}."


WORK: Mapping[str, Callable[[Job, Progress], Result]] = {
    "import": import_files,
    "download": download_set,
    "metadata": add_job_metadata,
    "subset": create_job_subset,
}


def _base_of(job: Job) -> DatasetVersion:
    if not isinstance(job.subject, DatasetVersion):
        raise ParallaxError("dataset.unknown", "The version that this job changes is no longer there.")
    return job.subject


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
