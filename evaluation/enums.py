"""States of runs, parts and models, and the moves between them."""

from __future__ import annotations

from django.db.models import TextChoices


class ModelOrigin(TextChoices):
    """What a model was made from: ratings, or an artefact or a service of others."""

    FITTED = "fitted"
    MATRIX = "matrix"
    FACTORS = "factors"
    LISTS = "lists"
    REMOTE = "remote"


class Sent(TextChoices):
    """What a recommender behind HTTP is sent of a rated item, beside its id and rating."""

    IDS = "ids", "nothing else"
    TITLES = "titles", "the title"
    TEXTS = "texts", "the title and the text"


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

    The preparation makes the others: fits as soon as the ratings are split, the rest when the candidates are drawn. A
    measurement waits for its own algorithm's fit, a reduction for the measurements of its algorithm, and the last one,
    which has no algorithm, for everything else.
    """

    PREPARE = "prepare"
    FIT = "fit"
    MEASURE = "measure"
    REDUCE = "reduce"


class PartStatus(TextChoices):
    """The state of a part. A leased part is free again once its lease runs out."""

    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"


PART_MOVES: dict[str, frozenset[str]] = {
    # Done at once: a worker whose lease ran out may finish a part that has not been leased since.
    PartStatus.QUEUED: frozenset({PartStatus.LEASED, PartStatus.DONE, PartStatus.FAILED}),
    PartStatus.LEASED: frozenset({PartStatus.QUEUED, PartStatus.DONE, PartStatus.FAILED}),
    # Measured again when its run resumes: a failed part, and one whose stored result was removed.
    PartStatus.FAILED: frozenset({PartStatus.QUEUED}),
    PartStatus.DONE: frozenset({PartStatus.QUEUED}),
}
