"""Jobs of the catalogue: request, start, cancel, run by a worker and clean up."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import Project
from catalog.importers.download import SETS
from catalog.importers.proposal import Proposal, as_json
from catalog.models import DatasetVersion, Upload
from catalog.selectors.dataset_jobs import KINDS
from catalog.services.job_work import RECIPES, WORK, check_files
from catalog.services.previews import proposal_of
from catalog.services.resumable_uploads import delete_uploads
from catalog.services.upload_folders import (
    FACTS,
    ITEMS,
    MEDIA,
    RATINGS,
    delete_folder,
    delete_orphans,
    new_folder,
    store_upload,
)
from catalog.subsetting.recipe import Recipe
from core.errors import NotAllowedInState, ParallaxError
from jobs import kinds
from jobs.kinds import Progress
from jobs.models import Job, JobStatus
from jobs.services import cancel, enqueue, request

READ_BY = ("format", "options", "roles", "items_file")  # of the payload: what decides what is read
UNUSED = Q(status__in=(JobStatus.WAITING, JobStatus.FAILED))  # no worker has it
MOST_WAITING = 5  # uploads of one account that wait for it, failed ones included
WAITING_HOURS = 24


def prepare_import(
    *, actor: Any, uploads: Sequence[UploadedFile[Any]] = (), path: str = "", recipe: Proposal | None = None
) -> Job:
    """Store uploads privately until their import is confirmed, or name a file on the server, which stays where it is.

    Raises ParallaxError for `upload.no_room`, and as `proposal_of` does; then nothing is stored. The oldest of more
    than `MOST_WAITING` uploads is deleted.
    """
    names = ", ".join(upload.name or "upload" for upload in uploads) or path
    folder = new_folder() if uploads else ""
    chosen = {"source": names[:300], "folder": folder, "path": path, "recipe": recipe and as_json(recipe)}
    payload = {name: value for name, value in chosen.items() if value}
    job = Job(kind="import", status=JobStatus.WAITING, owner=actor, payload=payload)
    try:
        for upload in uploads:
            store_upload(upload, folder=folder, part=RATINGS)
        job.payload["proposal"] = as_json(proposal_of(job))
        job.save()
    except BaseException:
        delete_folder(folder)
        raise
    waiting = Job.objects.filter(UNUSED, owner=actor, kind="import", payload__has_key="folder")
    for old in waiting.order_by("-pk")[MOST_WAITING:]:
        cancel(old, actor=actor)
    return job


def change_import(*, job: Job, **changes: Any) -> None:
    """Store what was chosen on a page of an import, with the proposal that follows. A choice of None is forgotten.

    Raises as `proposal_of` does, and NotAllowedInState where a worker has the job; then nothing is changed.
    """
    before = job.payload
    job.payload = {name: value for name, value in {**before, **changes}.items() if value is not None}
    try:
        if any(job.payload.get(name) != before.get(name) for name in READ_BY):
            job.payload |= {"proposal": as_json(proposal_of(job))}
            job.payload.pop("check", None)
    except ParallaxError:
        job.payload = before
        raise
    if not Job.objects.filter(UNUSED, pk=job.pk).update(payload=job.payload, updated_at=timezone.now()):
        raise NotAllowedInState("import.not_waiting", "A worker has this import. Wait until it is done, or cancel it.")


def add_items(*, job: Job, upload: UploadedFile[Any] | None) -> None:
    """Store a file of items beside the ratings, in place of an earlier one; without one, leave that out. Raises as
    `change_import` does, and ParallaxError for `upload.no_room`.
    """
    items = None
    if upload is not None:
        if "folder" not in job.payload:
            job.payload["folder"] = new_folder()
            job.save(update_fields=["payload"])
        part = f"{ITEMS}-{secrets.token_hex(4)}"  # a name of its own, so that no machine has an earlier copy
        items = f"{part}/{store_upload(upload, folder=job.payload['folder'], part=part).name}"
    change_import(job=job, items_file=items)


def request_check(*, job: Job, actor: Any) -> None:
    """Enqueue a reading of the whole file that stores no version. Raises NotAllowedInState."""
    job.payload = {**{name: value for name, value in job.payload.items() if name != "check"}, "act": "check"}
    enqueue(job, actor=actor)


def start_import(*, job: Job, chosen: Mapping[str, Any], actor: Any, project: Project | None = None) -> None:
    """Enqueue a confirmed import; one that failed is tried again. Raises NotAllowedInState.

    A new dataset will belong to `project`. `chosen` are the settings: name, title, item_type, and how rows are treated
    that cannot be kept.
    """
    job.subject = project
    job.payload = {**job.payload, **chosen, "act": "import"}
    enqueue(job, actor=actor)


@transaction.atomic
def request_download(*, name: str, actor: Any) -> Job:
    """Request a MovieLens dataset; an open download of the same set by the same account is returned."""
    if name not in SETS:
        raise ParallaxError("download.unknown", f"There is no set {name!r} to download: there are {', '.join(SETS)}.")
    if (job := Job.objects.open().filter(kind="download", payload__set=name).first()) is not None:
        if job.owner_id == actor.pk:
            return job
        raise ParallaxError("download.busy", f"Another account is downloading {name}. Wait until it is imported.")
    return request("download", owner=actor, payload={"source": f"MovieLens {name}", "set": name})


def request_metadata(
    *,
    version: DatasetVersion,
    facts: UploadedFile[Any] | None,
    media: Iterable[UploadedFile[Any]],
    on_bad_row: str,
    actor: Any,
) -> Job:
    """Request that metadata, pictures and clips are added to a version. Without a file of facts each picture is that of
    the item whose id is its file name. Raises ParallaxError for `upload.no_room`.
    """
    folder = new_folder()
    names = []
    try:
        for upload, part in [*([(facts, FACTS)] if facts is not None else []), *((file, MEDIA) for file in media)]:
            store_upload(upload, folder=folder, part=part)
            names.append(upload.name or part)
        source = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
        payload = {"source": source[:300], "folder": folder, "on_bad_row": on_bad_row}
        return request("metadata", owner=actor, subject=version, payload=payload)
    except BaseException:
        delete_folder(folder)
        raise


def request_subset(*, version: DatasetVersion, recipe: Recipe, actor: Any) -> Job:
    """Request a subset of a version."""
    payload = {"source": str(version), "recipe": RECIPES.dump_python(recipe, mode="json")}
    return request("subset", owner=actor, subject=version, payload=payload)


def delete_files(job: Job) -> None:
    """Delete the files of a job that was cancelled; those that a worker still reads are deleted by the sweep later."""
    transaction.on_commit(partial(delete_folder, job.payload.get("folder", "")), robust=True)


def change_catalogue(job: Job, progress: Progress) -> dict[str, Any]:
    """Do a job of the catalogue, or check the files of an import, which waits again afterwards."""
    if job.owner is None:
        raise ParallaxError("import.no_owner", "The account that asked for this has been deleted.")
    if job.payload.get("act") == "check":
        check = check_files(job, progress)
        return {"payload": {**job.payload, "check": check}, "status": JobStatus.WAITING}
    version, message = WORK[job.kind](job, progress)
    job.subject = version  # where an import made it: who sees the dataset may see the job
    return {
        "subject_type": job.subject_type,
        "subject_id": job.subject_id,
        "result": {"version": version.pk, "message": message[:300]},
    }


def drop_files(job: Job) -> None:
    """Delete the uploads of a job that has succeeded; a failed one can be tried again, a checked one imported."""
    if Job.objects.filter(pk=job.pk, status=JobStatus.SUCCEEDED).exists():
        delete_folder(job.payload.get("folder", ""))


def clean_uploads() -> None:
    """Cancel and delete uploads that waited a day, and delete folders that nothing names."""
    before = timezone.now() - timedelta(hours=WAITING_HOURS)
    with_files = Job.objects.filter(kind__in=KINDS, payload__has_key="folder")
    waiting = Job.objects.filter(kind__in=KINDS, status=JobStatus.WAITING)
    for job in (waiting | with_files.filter(status=JobStatus.FAILED)).filter(updated_at__lt=before):
        with contextlib.suppress(NotAllowedInState):  # its owner has just started it
            cancel(job)
    delete_uploads(Upload.objects.filter(updated_at__lt=before))
    of_any_kind = Job.objects.filter(payload__has_key="folder")
    continued = [kind.key for kind in kinds.KINDS.values() if kind.is_continued]
    in_use = of_any_kind.exclude(status=JobStatus.SUCCEEDED).exclude(~Q(kind__in=continued), status=JobStatus.CANCELLED)
    known = {payload["folder"] for payload in in_use.values_list("payload", flat=True)}
    delete_orphans(known | set(Upload.objects.values_list("folder", flat=True)))
