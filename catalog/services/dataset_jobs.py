"""Jobs of the catalogue: request, start, cancel, run by a worker, recover and clean up."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import Project
from catalog.enums import JOB_MOVES, JOB_OPEN, JobKind, JobStatus
from catalog.importers.download import SETS
from catalog.importers.proposal import Proposal, as_json
from catalog.models import DatasetJob, DatasetVersion
from catalog.services.job_work import WORK, check_files, recipe_as_json
from catalog.services.previews import proposal_of
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
from core.transitions import move
from jobs.leases import JobLeases

JOBS = JobLeases(DatasetJob, JOB_MOVES, cleared={"activity": "", "done": None, "total": None}, task="catalog.run_job")
READ_BY = ("format", "options", "roles", "items_file")  # settings that decide what is read
UNUSED = Q(status__in=(JobStatus.WAITING, JobStatus.FAILED))  # no worker has it
MOST_WAITING = 5  # uploads of one account that wait for it, failed ones included
WAITING_HOURS = 24
KEPT_DAYS = 30  # of finished jobs; the versions they made stay
REPORT_SECONDS = 0.5  # minimum time between two updates of the same activity


def prepare_import(
    *, actor: Any, uploads: Sequence[UploadedFile[Any]] = (), path: str = "", recipe: Proposal | None = None
) -> DatasetJob:
    """Store uploads privately until their import is confirmed, or name a file on the server, which stays where it is.

    Raises ParallaxError for `upload.no_room`, and as `proposal_of` does; then nothing is stored. The oldest of more
    than `MOST_WAITING` uploads is deleted.
    """
    names = ", ".join(upload.name or "upload" for upload in uploads) or path
    folder = new_folder() if uploads else ""
    job = DatasetJob(
        kind=JobKind.IMPORT, status=JobStatus.WAITING, requested_by=actor, folder=folder, source=names[:300]
    )
    chosen = {"path": path, "recipe": recipe and as_json(recipe)}
    job.settings = {name: value for name, value in chosen.items() if value}
    try:
        for upload in uploads:
            store_upload(upload, folder=folder, part=RATINGS)
        job.settings["proposal"] = as_json(proposal_of(job))
        job.save()
    except BaseException:
        delete_folder(folder)
        raise
    waiting = DatasetJob.objects.filter(UNUSED, requested_by=actor, kind=JobKind.IMPORT).exclude(folder="")
    for old in waiting.order_by("-pk")[MOST_WAITING:]:
        cancel_job(job=old, actor=actor)
    return job


def change_import(*, job: DatasetJob, **changes: Any) -> None:
    """Store what was chosen on a page of an import, with the proposal that follows. A choice of None is forgotten.

    Raises as `proposal_of` does, and NotAllowedInState where a worker has the job; then nothing is changed.
    """
    before = job.settings
    job.settings = {name: value for name, value in {**before, **changes}.items() if value is not None}
    try:
        if any(job.settings.get(name) != before.get(name) for name in READ_BY):
            job.settings |= {"proposal": as_json(proposal_of(job))}
            job.settings.pop("check", None)
    except ParallaxError:
        job.settings = before
        raise
    if not DatasetJob.objects.filter(UNUSED, pk=job.pk).update(settings=job.settings, updated_at=timezone.now()):
        raise NotAllowedInState("import.not_waiting", "A worker has this import. Wait until it is done, or cancel it.")


def add_items(*, job: DatasetJob, upload: UploadedFile[Any] | None) -> None:
    """Store a file of items beside the ratings, in place of an earlier one; without one, leave that out. Raises as
    `change_import` does, and ParallaxError for `upload.no_room`.
    """
    items = None
    if upload is not None:
        if not job.folder:
            job.folder = new_folder()
            job.save(update_fields=["folder"])
        part = f"{ITEMS}-{secrets.token_hex(4)}"  # a name of its own, so that no machine has an earlier copy
        items = f"{part}/{store_upload(upload, folder=job.folder, part=part).name}"
    change_import(job=job, items_file=items)


@transaction.atomic
def request_check(*, job: DatasetJob, actor: Any) -> None:
    """Enqueue a reading of the whole file that stores no version. Raises NotAllowedInState."""
    job.settings = {**{name: value for name, value in job.settings.items() if name != "check"}, "act": "check"}
    _enqueue(job, actor)


@transaction.atomic
def start_import(*, job: DatasetJob, chosen: Mapping[str, Any], actor: Any, project: Project | None = None) -> None:
    """Enqueue a confirmed import; one that failed is tried again. Raises NotAllowedInState.

    A new dataset will belong to `project`. `chosen` are the settings: name, title, item_type, and how rows are treated
    that cannot be kept.
    """
    job.project = project
    job.settings = {**job.settings, **chosen, "act": "import"}
    _enqueue(job, actor)


@transaction.atomic
def restart_job(*, job: DatasetJob, actor: Any) -> None:
    """Try a failed job again. Raises NotAllowedInState."""
    _enqueue(job, actor)


def _enqueue(job: DatasetJob, actor: Any) -> None:
    move(
        job,
        to=JobStatus.QUEUED,
        allowed=JOB_MOVES,
        actor=actor,
        settings=job.settings,
        project=job.project,
        error="",
        problems=[],
        remedies=[],
        attempts=0,
        hinted_at=timezone.now(),
    )
    JOBS.send(job.pk)


@transaction.atomic
def request_download(*, name: str, actor: Any) -> DatasetJob:
    """Request a MovieLens dataset; an open download of the same set by the same account is returned."""
    if name not in SETS:
        raise ParallaxError("download.unknown", f"There is no set {name!r} to download: there are {', '.join(SETS)}.")
    same = Q(kind=JobKind.DOWNLOAD, settings__set=name, status__in=JOB_OPEN)
    if (job := DatasetJob.objects.filter(same).first()) is not None:
        if job.requested_by_id == actor.pk:
            return job
        raise ParallaxError("download.busy", f"Another account is downloading {name}. Wait until it is imported.")
    return _requested(kind=JobKind.DOWNLOAD, actor=actor, source=f"MovieLens {name}", settings={"set": name})


def request_metadata(
    *,
    version: DatasetVersion,
    facts: UploadedFile[Any] | None,
    media: Iterable[UploadedFile[Any]],
    on_bad_row: str,
    actor: Any,
) -> DatasetJob:
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
        return _requested(
            kind=JobKind.METADATA,
            actor=actor,
            source=source[:300],
            base=version,
            folder=folder,
            settings={"on_bad_row": on_bad_row},
        )
    except BaseException:
        delete_folder(folder)
        raise


def request_subset(*, version: DatasetVersion, recipe: Recipe, actor: Any) -> DatasetJob:
    """Request a subset of a version."""
    return _requested(
        kind=JobKind.SUBSET,
        actor=actor,
        source=str(version),
        base=version,
        settings={"recipe": recipe_as_json(recipe)},
    )


@transaction.atomic
def _requested(*, actor: Any, **fields: Any) -> DatasetJob:
    job = DatasetJob.objects.create(requested_by=actor, hinted_at=timezone.now(), **fields)
    JOBS.send(job.pk)
    return job


def cancel_job(*, job: DatasetJob, actor: Any) -> None:
    """Cancel a job and delete its files: its worker stops at the next step, and stores nothing.

    Raises NotAllowedInState where it is over.
    """
    folder, is_in_use = job.folder, job.status == JobStatus.RUNNING
    JOBS.cancel(job, actor=actor, folder="")
    if not is_in_use:  # of a running job the worker reads them still; the sweep deletes them later
        transaction.on_commit(partial(delete_folder, folder), robust=True)


def run_job(*, job_id: int) -> bool:
    """Do a job; True where this worker finished it.

    Delivered twice, late, or for a closed job, it does nothing. Errors: see `JobLeases.execute`.
    """
    job = DatasetJob.objects.select_related("requested_by", "base__dataset", "project").filter(pk=job_id).first()
    if job is None or not JOBS.take(job, actor=job.requested_by, activity="Starting"):
        return False

    is_check = job.settings.get("act") == "check"

    def make(report: Callable[[str], None]) -> dict[str, Any]:
        try:
            progress = _Progress(job, report).update
            if is_check:
                return {"settings": {**job.settings, "check": check_files(job, progress)}}
            version, message = WORK[job.kind](job, progress)
        except ParallaxError as refusal:
            problems = refusal.extra.get("problems", [])
            JOBS.own(job).update(problems=problems, remedies=list(refusal.extra.get("options", ())))
            raise
        return {"version": version, "message": message[:300]}

    if not JOBS.execute(job, make, to=JobStatus.WAITING if is_check else JobStatus.SUCCEEDED):
        return False
    if not is_check:
        delete_folder(job.folder)
    return True


class _Progress:
    """Stores how far a job is, not more often than people can read."""

    def __init__(self, job: DatasetJob, report: Callable[[str], None]) -> None:
        self._job = job
        self._report = report
        self._activity = ""
        self._reported_at = 0.0

    def update(self, activity: str, done: int, total: int | None, /) -> None:
        """Store what is being done and how far. Raises LeaseLost where this worker no longer has the job."""
        now = time.monotonic()
        if activity == self._activity and now - self._reported_at < REPORT_SECONDS:
            return
        self._activity, self._reported_at = activity, now
        self._report(activity)
        JOBS.own(self._job).update(done=done, total=total)


def sweep_jobs() -> int:
    """Requeue jobs of dead workers, send the messages of waiting ones again, and clean up; returns the messages sent.

    Safe to run twice at once, and by any process.
    """
    n_sent = JOBS.requeue()
    clean_jobs()
    return n_sent


def clean_jobs() -> None:
    """Cancel uploads that waited a day, delete the rows of old jobs, and folders without a job."""
    now = timezone.now()
    for job in DatasetJob.objects.filter(UNUSED, updated_at__lt=now - timedelta(hours=WAITING_HOURS)).exclude(
        folder="", status=JobStatus.FAILED
    ):
        with contextlib.suppress(NotAllowedInState):  # its owner has just started it
            cancel_job(job=job, actor=None)
    closed = DatasetJob.objects.exclude(status__in=(JobStatus.WAITING, *JOB_OPEN))
    closed.filter(updated_at__lt=now - timedelta(days=KEPT_DAYS)).delete()
    in_use = DatasetJob.objects.exclude(folder="").exclude(status__in=(JobStatus.SUCCEEDED, JobStatus.CANCELLED))
    delete_orphans(set(in_use.values_list("folder", flat=True)))
