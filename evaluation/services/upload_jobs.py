"""Models and scores uploaded in the console and by the API: stored privately, then checked and measured by a worker.
Lists of remote recommenders are collected by a worker, and stored as an upload.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Model

from catalog.models import DatasetVersion
from catalog.services.upload_folders import delete_folder, file_in, folder_of, new_folder
from catalog.services.upload_folders import store_upload as store_privately
from core.errors import ParallaxError
from evaluation.models import EvaluationRun, RemoteRecommender
from evaluation.selectors.cases import cases_of
from evaluation.selectors.runs import run_numbered
from evaluation.selectors.uploads import COLLECTED, MODELS, SCORES
from evaluation.services.collecting import collect_lists, depth_of
from evaluation.services.external_scores import check_measurable, measure_external_scores
from evaluation.services.remote import recommender_named
from evaluation.services.upload_summary import summary_of
from evaluation.services.uploads import model_of_upload, store_upload
from jobs.kinds import Progress
from jobs.models import Job, JobStatus
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


@transaction.atomic
def request_collection(
    *,
    run: EvaluationRun,
    recommender: RemoteRecommender,
    per_second: float,
    learned_from: str,
    are_strangers_unseen: bool,
    actor: Any,
) -> Job:
    """Request the lists of a remote recommender for the test profiles of a run from a worker; one that stopped is
    continued. Raises ParallaxError with code ``upload.is_collected`` while a worker asks for the same lists.
    """
    locked = DatasetVersion.objects.select_for_update().get(pk=run.version_id)
    same = locked.jobs.filter(kind=COLLECTED, payload__run=run.pk, payload__params__name=recommender.name)
    if same.open().exists():
        raise ParallaxError(
            "upload.is_collected",
            f"A worker collects the lists of {recommender.name} for run {run.pk} already. Wait, or let its owner "
            "cancel it.",
        )
    stopped = same.filter(status__in=(JobStatus.FAILED, JobStatus.CANCELLED), owner=actor).first()
    payload = {
        "folder": stopped.payload["folder"] if stopped else new_folder(),
        "source": f"the lists of {recommender.name} for run {run.pk}",
        "run": run.pk,
        "per_second": per_second,
        "kind": "lists",
        "params": {"name": recommender.name},
        "learned_from": learned_from,
        "are_strangers_unseen": are_strangers_unseen,
    }
    return request(COLLECTED, owner=actor, subject=run.version, payload=payload)


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
    path = _file_of(job)
    progress(f"Checking {path.name}")
    _check_unpacked(path)
    return _stored_model(job, progress, path)


def collect(job: Job, progress: Progress) -> dict[str, Any]:
    """Ask a remote recommender for the lists of a job, and store them as a model. Lists that an earlier worker stored
    are not asked for again. Raises as `collect_lists`, and as `store_model` does.
    """
    run, recommender = run_numbered(job.payload["run"]), recommender_named(job.payload["params"]["name"])
    folder = folder_of(job.payload["folder"], PART)
    folder.mkdir(parents=True, exist_ok=True)
    n_profiles = np.unique(cases_of(run).cases.users).size * (1 + len(run.profile_lengths))
    collected = collect_lists(
        run=run,
        recommender=recommender,
        folder=folder,
        depth=depth_of(run),
        per_second=job.payload["per_second"],
        progress=lambda n: progress(f"Asking {recommender.name}", n, n_profiles),
    )
    fields = _stored_model(job, progress, collected.path, collected_from=collected.model.digest)
    delete_folder(job.payload["folder"])
    return fields


def _stored_model(job: Job, progress: Progress, path: Path, *, collected_from: str = "") -> dict[str, Any]:
    version, kind, learned_from = job.subject, job.payload["kind"], job.payload["learned_from"]
    upload = store_upload(
        version=version,
        kind=kind,
        path=path,
        learned_from=learned_from,
        are_strangers_unseen=job.payload["are_strangers_unseen"],
        collected_from=collected_from,
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
