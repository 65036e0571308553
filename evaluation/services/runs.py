"""The life cycle of a run: create, repeat, start, resume, cancel, fail; leases of its parts, messages to workers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from catalog.models import Dataset, DatasetVersion
from core.errors import NotAllowedInState, ParallaxError, ParameterError
from core.transitions import move, move_all
from evaluation.enums import PART_MOVES, RUN_MOVES, RUN_OPEN, PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunAlgorithm, RunPart
from evaluation.run_spec import RunSpec
from evaluation.selectors.repeats import MOST_REPEATS, is_same_but_for_seed, repeat_seed
from evaluation.services.run_inputs import complete_spec, hash_of_inputs, spec_of_run
from jobs.leases import NO_LEASE, Leases
from jobs.queue import enqueue_on_commit
from recommenders import registry

logger = logging.getLogger(__name__)

# A subquery, not a join: when a row changed meanwhile, PostgreSQL checks the row's own columns again, but not those of
# a joined copy, so that with a join two workers could both lease one part.
RUN_IS_OPEN = Q(Exists(EvaluationRun.objects.filter(pk=OuterRef("run_id"), status__in=RUN_OPEN)))

PARTS = Leases(RunPart, PART_MOVES, leased=PartStatus.LEASED, condition=RUN_IS_OPEN, is_logged=False)

# Users scored at once, counted from the first test user; fixed, so that results do not depend on the parts.
BLOCK_USERS = 1024
PART_USERS = 4 * BLOCK_USERS
MAX_HINTS = 16  # per call; further workers are woken by the next fit or by the sweep


def hint(*, run: EvaluationRun, n: int = 1) -> None:
    """Notify up to `n` workers, on the run's own queue or the queue of long work, that `run` has work."""
    for _ in range(min(n, MAX_HINTS)):
        enqueue_on_commit("evaluation.work", queue=run.queue or None, run_id=run.pk)


@transaction.atomic
def create_run(
    *, version: DatasetVersion, spec: RunSpec, owner: Any = None, queue: str = "", part_users: int = PART_USERS
) -> EvaluationRun:
    """Check the inputs of a run on a dataset, create it in the project of the dataset and notify a worker.

    `queue` names the queue of the run's own workers, and `part_users` is the number of test users per part; neither
    affects results. Raises ParallaxError with code ``run.bad_input`` for an invalid input; the message says what is
    allowed.
    """
    if part_users < 1:
        raise ParallaxError("run.bad_input", "A part must have at least one test user.")
    try:
        spec, comments = complete_spec(version=version, spec=spec)
    except ParameterError as error:
        raise ParallaxError("run.bad_input", str(error)) from error
    run = EvaluationRun.objects.create(
        version=version,
        owner=owner,
        project_id=Dataset.objects.values_list("project", flat=True).get(pk=version.dataset_id),
        **spec.model_dump(mode="json", exclude={"algorithms"}),
        comments=comments,
        part_users=-(-part_users // BLOCK_USERS) * BLOCK_USERS,
        queue=queue,
        activity="Waiting for a worker",
        inputs_hash=hash_of_inputs(version=version, spec=spec),
    )
    RunAlgorithm.objects.bulk_create(
        RunAlgorithm(run=run, position=position, algorithm=key, params=params, label=registry.label(key, params))
        for position, (key, params) in enumerate(spec.algorithms)
    )
    RunPart.objects.create(run=run, kind=PartKind.PREPARE)
    hint(run=run)
    return run


def start_run(*, run: EvaluationRun) -> None:
    """Move a queued run to running; does nothing if another worker has done so."""
    if run.status != RunStatus.QUEUED:
        return
    try:
        move(run, to=RunStatus.RUNNING, allowed=RUN_MOVES, started_at=timezone.now())
    except NotAllowedInState:
        run.refresh_from_db(fields=["status"])


@transaction.atomic
def resume_run(*, run: EvaluationRun, actor: Any = None, queue: str = "") -> EvaluationRun:
    """Resume a failed or cancelled run: finished parts are kept, the others are executed again.

    `queue` names the queue of the run's own workers, if it has any. Raises NotAllowedInState when the run is open or
    has succeeded.
    """
    move(
        run,
        to=RunStatus.QUEUED,
        allowed=RUN_MOVES,
        actor=actor,
        queue=queue,  # its previous workers ended with the command that started them
        activity="Waiting for a worker",
        error="",
        error_detail="",
        finished_at=None,
    )
    run.algorithms.exclude(error="").update(error="", error_detail="")
    unfinished = run.parts.exclude(status=PartStatus.DONE)
    unfinished.filter(status=PartStatus.QUEUED).update(attempts=0, updated_at=timezone.now())
    move_all(unfinished, to=PartStatus.QUEUED, allowed=PART_MOVES, attempts=0, error="", **NO_LEASE)
    hint(run=run, n=unfinished.count())
    return run


def cancel_run(*, run: EvaluationRun, actor: Any = None, reason: str = "") -> EvaluationRun:
    """Cancel an open run. Parts in progress stop at their next block and store nothing. Raises NotAllowedInState when
    the run is over.
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
    """Mark a part and its algorithm as failed, and the run if no other algorithm is left.

    Preparation and reduction have no algorithm, so their failure fails the run. A worker without the lease changes
    nothing.
    """
    if not PARTS.finish(part, to=PartStatus.FAILED, error=reason):
        return False
    # Lock the run, so that of two algorithms failing at the same time the second sees the first.
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
    """Record why algorithms of a run failed and drop their remaining parts; the other algorithms continue."""
    for pk, reason in reasons.items():
        if not RunAlgorithm.objects.filter(pk=pk, error="").update(error=reason, error_detail=detail):
            continue
        logger.warning("algorithm failed run=%s algorithm=%s reason=%s", run.pk, pk, reason)
        parts = run.parts.filter(algorithm=pk)
        move_all(parts, to=PartStatus.FAILED, allowed=PART_MOVES, error=reason, **NO_LEASE)


def check_repeats(*, repeats: int) -> None:
    """Raise ParallaxError with code ``run.bad_input`` for a number of repetitions that is not allowed."""
    if not 1 <= repeats <= MOST_REPEATS:
        raise ParallaxError(
            "run.bad_input", f"The number of repetitions is {repeats}; it must lie between 1 and {MOST_REPEATS}."
        )


@transaction.atomic
def create_runs(*, version: DatasetVersion, spec: RunSpec, owner: Any, repeats: int) -> EvaluationRun:
    """Create a run and its further repetitions; return the first. Raises as `create_run`."""
    run = create_run(version=version, spec=spec, owner=owner)
    for number in range(2, repeats + 1):
        create_repeat(run=run, number=number)
    return run


def create_repeat(*, run: EvaluationRun, number: int, queue: str = "") -> EvaluationRun:
    """Create repetition `number` of a run, or return it if it has succeeded.

    It has all inputs of the run but the seed, which is derived from that of the run and the number.
    """
    check_repeats(repeats=number)
    seed = repeat_seed(run, number)
    comparable = EvaluationRun.objects.comparable_in(run.project_id)
    succeeded = comparable.filter(version=run.version, seed=seed, status=RunStatus.SUCCEEDED)
    for repeat in succeeded.order_by("pk"):
        if is_same_but_for_seed(run, repeat):
            return repeat
    return create_run(
        version=run.version,
        spec=spec_of_run(run=run, seed=seed),
        owner=run.owner,
        queue=queue,
        part_users=run.part_users,
    )
