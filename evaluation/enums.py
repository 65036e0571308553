"""States of runs, parts and models, and the moves between them."""

from __future__ import annotations

from django.db.models import TextChoices


class RunStatus(TextChoices):
    """Where an evaluation run stands."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


RUN_MOVES: dict[str, frozenset[str]] = {
    RunStatus.QUEUED: frozenset({RunStatus.RUNNING, RunStatus.FAILED, RunStatus.CANCELLED}),
    RunStatus.RUNNING: frozenset({RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELLED}),
    # Taken up again where it stopped: parts that are done stay done.
    RunStatus.FAILED: frozenset({RunStatus.QUEUED}),
    RunStatus.CANCELLED: frozenset({RunStatus.QUEUED}),
}
RUN_STOPPED = (RunStatus.FAILED, RunStatus.CANCELLED)
RUN_OPEN = (RunStatus.QUEUED, RunStatus.RUNNING)


class PartKind(TextChoices):
    """What a part of a run does.

    A fit waits for the preparation (which makes it), a measurement for its own algorithm's fit, the reduction
    for everything else.
    """

    PREPARE = "prepare"
    FIT = "fit"
    MEASURE = "measure"
    REDUCE = "reduce"


class PartStatus(TextChoices):
    """Where a part stands. A lease that runs out makes a leased part free again."""

    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"
