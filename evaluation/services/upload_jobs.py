"""Models and scores uploaded in the console and by the API: stored privately, then checked and measured by a worker."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Model

from catalog.models import DatasetVersion
from catalog.services.upload_folders import delete_folder, file_in, new_folder
from catalog.services.upload_folders import store_upload as store_privately
from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from evaluation.selectors.uploads import MODELS, SCORES
from evaluation.services.external_scores import check_measurable, measure_external_scores
from evaluation.services.upload_summary import summary_of
from evaluation.services.uploads import model_of_upload, store_upload
from jobs.kinds import Progress
from jobs.models import Job
from jobs.services import request

PART = "upload"
SEED = 1  # of the recipe; nothing is drawn
MOST_UNPACKED = 2**30  # bytes of all arrays of a .npz file
LIMITS = "A worker checks such a file in half a minute; use the command {} for larger ones."


def request_upload(
    *,
    version: DatasetVersion,
    file: UploadedFile[Any],
    kind: str,
    params: Mapping[str, Any],
    learned_from: str,
    are_strangers_unseen: bool,
    actor: Any,
) -> Job:
    """Store a file privately, and request its check from a worker. Raises ParallaxError for `upload.no_room`.

    `params` are the stated parameters of the uploaded algorithm `kind`, without the digest of the upload. Further
    arguments are those of `store_upload`.
    """
    stated = {"learned_from": learned_from, "are_strangers_unseen": are_strangers_unseen}
    return _requested(MODELS, version, file, actor, {"kind": kind, "params": dict(params), **stated})


def request_scores(*, run: EvaluationRun, file: UploadedFile[Any], name: str, are_ratings: bool, actor: Any) -> Job:
    """Store a file of scores privately, and request its measurement on the cases of a run from a worker.

    Raises ParallaxError for `upload.no_room`, and as `check_measurable`.
    """
    check_measurable(run, name)
    return _requested(SCORES, run, file, actor, {"name": name, "are_ratings": are_ratings})


def _requested(kind: str, subject: Model, file: UploadedFile[Any], actor: Any, payload: Mapping[str, Any]) -> Job:
    folder = new_folder()
    try:
        store_privately(file, folder=folder, part=PART)
    except BaseException:
        delete_folder(folder)
        raise
    own = {"folder": folder, "source": str(file.name)[:300]}
    return request(kind, owner=actor, subject=subject, payload={**own, **payload})


def _file_of(job: Job) -> Path:
    path = file_in(job.payload["folder"], PART)
    if path is None:
        raise ParallaxError("upload.gone", f"{job.payload['source']} is no longer on the server. Upload it again.")
    return path


def store_model(job: Job, progress: Progress) -> dict[str, Any]:
    """Check the file of a job, and store its model.

    Raises `upload.gone`, `upload.too_large`, and as `store_upload` and `model_of_upload` do.
    """
    version, kind, learned_from = job.subject, job.payload["kind"], job.payload["learned_from"]
    path = _file_of(job)
    progress(f"Checking {path.name}")
    _check_unpacked(path)
    upload = store_upload(
        version=version,
        kind=kind,
        path=path,
        learned_from=learned_from,
        are_strangers_unseen=job.payload["are_strangers_unseen"],
    )
    progress("Storing the model")
    params = {**job.payload["params"], "upload": upload.digest}
    inputs: dict[str, Any] = {"learned_from": learned_from, "seed": SEED, "threads": settings.NUMERIC_THREADS}
    model = model_of_upload(version=version, kind=kind, params=params, **inputs)
    progress("Looking at its lists")
    runs = EvaluationRun.objects.visible_to(job.owner)
    summary = summary_of(version=version, model=model, upload=upload, runs=runs)
    return {"result": {"model": model.pk, **summary}}


def measure_scores(job: Job, progress: Progress) -> dict[str, Any]:
    """Measure the scores of a job's file. Raises `upload.gone`, and as `measure_external_scores` does."""
    path = _file_of(job)
    progress(f"Measuring {path.name}")
    chosen = {name: job.payload[name] for name in ("name", "are_ratings")}
    return {"result": {"coverage": measure_external_scores(run=job.subject, path=path, **chosen).coverage}}


def _check_unpacked(path: Path) -> None:
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as packed:
        size = sum(member.file_size for member in packed.infolist())
    if size > MOST_UNPACKED:
        raise ParallaxError(
            "upload.too_large",
            f"The arrays of {path.name} have {size // 2**20:,} MB; the limit for uploads is "
            f"{MOST_UNPACKED // 2**20:,} MB. Use the command upload_model.",
        )


def drop_file(job: Job) -> None:
    """Delete the file of a job that is over; a corrected one is uploaded again."""
    if not Job.objects.open().filter(pk=job.pk).exists():
        delete_folder(job.payload["folder"])
