"""The life of a run: made, started, cancelled, failed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from catalog.models import DatasetVersion
from core.errors import NotAllowedInState, ParallaxError, ParameterError
from core.transitions import move
from evaluation.enums import RUN_MOVES, PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunAlgorithm, RunPart
from evaluation.services.hints import hint
from evaluation.services.inputs import checked, digest_of_inputs

logger = logging.getLogger(__name__)

BLOCK_USERS = 1024  # users scored at once, counted from the first test user: never a matter of how a run is cut
PART_USERS = 4 * BLOCK_USERS


@transaction.atomic
def create_run(
    *,
    version: DatasetVersion,
    algorithms: str | Sequence[tuple[str, Mapping[str, Any]]],
    split: Mapping[str, Any],
    protocol: Mapping[str, Any],
    reserve: float,
    seed: int,
    task: str = "some",
    metrics: Sequence[str] = (),
    n: int = 5,
    profile_lengths: Sequence[int] = (5,),
    threads: int | None = None,
    owner: Any = None,
    queue: str = "",
    part_users: int = PART_USERS,
) -> EvaluationRun:
    """Make a run and tell a worker; everything about it is checked first.

    `algorithms` is a text such as ``toppop,puresvd:factors=50`` or pairs of key and parameters. `queue` is
    the name of workers of the run's own, and `part_users` how many test users a part has: neither changes
    a number.

    Raises
    ------
    ParallaxError
        Code ``run.bad_input``: what is wrong, and what is allowed.
    """
    try:
        inputs = checked(
            version=version,
            algorithms=algorithms,
            split=split,
            protocol=protocol,
            task=task,
            metrics=metrics,
            reserve=reserve,
            seed=seed,
            n=n,
            profile_lengths=profile_lengths,
        )
        if part_users < 1:
            raise ParameterError("A part holds at least one test user.")
        if threads is not None and threads < 1:
            raise ParameterError(f"The number of numeric threads is {threads}; it is at least 1.")
    except ParameterError as wrong:
        raise ParallaxError("run.bad_input", str(wrong)) from wrong
    used_threads = settings.NUMERIC_THREADS if threads is None else threads
    run = EvaluationRun.objects.create(
        version=version,
        owner=owner,
        split=inputs.split,
        protocol=inputs.protocol,
        task=task,
        metrics=inputs.metrics,
        comments=inputs.comments,
        reserve=reserve,
        seed=seed,
        n=n,
        profile_lengths=inputs.profile_lengths,
        threads=used_threads,
        part_users=-(-part_users // BLOCK_USERS) * BLOCK_USERS,
        queue=queue,
        activity="Waiting for a worker",
        inputs_hash=digest_of_inputs(
            version=version, inputs=inputs, task=task, reserve=reserve, seed=seed, n=n, threads=used_threads
        ),
    )
    RunAlgorithm.objects.bulk_create(
        RunAlgorithm(run=run, position=position, algorithm=key, params=params, label=label)
        for position, (key, params, label) in enumerate(inputs.algorithms)
    )
    RunPart.objects.create(run=run, kind=PartKind.PREPARE)
    hint(run=run)
    return run


def start_run(*, run: EvaluationRun) -> None:
    """Move a queued run to running; of several workers that try, one does and the others find it done."""
    if run.status != RunStatus.QUEUED:
        return
    try:
        move(run, to=RunStatus.RUNNING, allowed=RUN_MOVES, started_at=timezone.now())
    except NotAllowedInState:
        run.refresh_from_db(fields=["status"])


@transaction.atomic
def resume_run(*, run: EvaluationRun, actor: Any = None, queue: str = "") -> EvaluationRun:
    """Take up a run again that failed or was cancelled: parts that are done stay done, the others are tried again.

    `queue` is the name of workers of the run's own, if it is to have any.

    Raises
    ------
    NotAllowedInState
        The run is under way, or has succeeded.
    """
    move(
        run,
        to=RunStatus.QUEUED,
        allowed=RUN_MOVES,
        actor=actor,
        queue=queue,  # the workers it had of its own are gone with the command that started them
        activity="Waiting for a worker",
        error="",
        error_detail="",
        finished_at=None,
    )
    run.algorithms.exclude(error="").update(error="", error_detail="")
    waiting = run.parts.exclude(status=PartStatus.DONE)
    waiting.update(
        status=PartStatus.QUEUED, attempts=0, error="", lease="", leased_until=None, updated_at=timezone.now()
    )
    hint(run=run, n=waiting.count())
    return run


def cancel_run(*, run: EvaluationRun, actor: Any = None, reason: str = "") -> EvaluationRun:
    """Stop a run that is not over. Parts in flight end at their next block and write nothing.

    Raises
    ------
    NotAllowedInState
        The run is over.
    """
    move(
        run,
        to=RunStatus.CANCELLED,
        allowed=RUN_MOVES,
        actor=actor,
        reason=reason,
        activity="",
        finished_at=timezone.now(),
    )
    return run


@transaction.atomic
def fail_part(*, part: RunPart, reason: str, detail: str = "") -> bool:
    """Mark a part failed, and with it its algorithm, or its run where that leaves no algorithm.

    The preparation and the reduction have no algorithm: they fail the run. A worker that no longer holds the lease
    changes nothing.
    """
    failed = RunPart.objects.filter(pk=part.pk, status=PartStatus.LEASED, lease=part.lease).update(
        status=PartStatus.FAILED, error=reason, leased_until=None, updated_at=timezone.now()
    )
    if not failed:
        return False
    # Locked, so that of two algorithms that fail at once the second knows of the first.
    run = EvaluationRun.objects.select_for_update().get(pk=part.run_id)
    if run.status != RunStatus.RUNNING:
        return False
    if part.algorithm_id is not None:
        fail_algorithms(run=run, reasons={part.algorithm_id: reason}, detail=detail)
        if run.algorithms.filter(error="").exists():
            hint(run=run)
            return True
    logger.warning("run failed run=%s part=%s reason=%s", run.pk, part.pk, reason)
    move(
        run,
        to=RunStatus.FAILED,
        allowed=RUN_MOVES,
        reason=reason,
        facts={"part": part.pk},
        error=reason,
        error_detail=detail,
        activity="",
        finished_at=timezone.now(),
    )
    return True


@transaction.atomic
def fail_algorithms(*, run: EvaluationRun, reasons: Mapping[int, str], detail: str = "") -> None:
    """Record why algorithms of a run failed, and stop what else there is to do for them; the others go on."""
    for pk, reason in reasons.items():
        if not RunAlgorithm.objects.filter(pk=pk, error="").update(error=reason, error_detail=detail):
            continue
        logger.warning("algorithm failed run=%s algorithm=%s reason=%s", run.pk, pk, reason)
        run.parts.filter(algorithm=pk).exclude(status__in=(PartStatus.DONE, PartStatus.FAILED)).update(
            status=PartStatus.FAILED, error=reason, leased_until=None, updated_at=timezone.now()
        )
