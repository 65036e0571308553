"""Runs, the parts they are cut into, the models they train, and what they measured."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from catalog.models import DatasetVersion
from core.models import TimeStampedModel
from evaluation.enums import PartKind, PartStatus, RunStatus


class TrainedModel(TimeStampedModel):
    """A fitted algorithm: found again by its recipe, checked by the digest of its bytes.

    The arrays are the artefact ``models/<digest>``.
    """

    recipe = models.CharField(max_length=64, unique=True)
    digest = models.CharField(max_length=64)
    version = models.ForeignKey(DatasetVersion, on_delete=models.PROTECT, related_name="models")
    algorithm = models.CharField(max_length=60)
    algorithm_version = models.PositiveIntegerField()
    params = models.JSONField(default=dict)
    label = models.CharField(max_length=80)
    seed = models.BigIntegerField()
    threads = models.PositiveSmallIntegerField()
    training_digest = models.CharField(max_length=64)  # artefact "training": the rows it saw
    fit_seconds = models.FloatField()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.label} {self.digest[:8]}"


class EvaluationRun(TimeStampedModel):
    """Dataset version × reserved users × split × protocol × algorithms × seed × threads.

    Its numbers depend on those inputs alone; how it is cut (`part_users`) and who works on it (`queue`) are
    not among them. Artefacts: ``cases/<cases_digest>`` (reserved users, kept users, test cases, and the
    digest of the training rows), and one ``results/<digest>`` for each algorithm and profile length. A run whose
    split trains several models has such cases for each of its `folds`, and `cases_digest` is the digest of that list.
    """

    version = models.ForeignKey(DatasetVersion, on_delete=models.PROTECT, related_name="runs")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    status = models.CharField(max_length=20, choices=RunStatus, default=RunStatus.QUEUED)
    split = models.JSONField()  # {"name": "probe", "share": 0.1}
    protocol = models.JSONField()  # {"name": "one-plus-random", "negatives": 1000, "relevant": 5, "irrelevant": 1, ...}
    task = models.CharField(
        max_length=20, default="some"
    )  # what people are to do with the lists, of protocols.registry
    metrics = models.JSONField(default=list)  # names asked for besides those of the protocol: ["ndcg@10"]
    comments = models.JSONField(default=list)  # sentences on choices that do not suit the task
    reserve = models.FloatField(default=0.0)
    seed = models.BigIntegerField()
    n = models.PositiveSmallIntegerField(default=5)
    profile_lengths = models.JSONField(default=list)  # beside the whole profile: [5]
    threads = models.PositiveSmallIntegerField(default=1)
    part_users = models.PositiveIntegerField(default=4096)  # test users of one part, a multiple of the block
    inputs_hash = models.CharField(max_length=64)
    queue = models.CharField(max_length=80, blank=True)  # workers of the run's own; empty: the default queue
    cases_digest = models.CharField(max_length=64, blank=True)
    folds = models.JSONField(default=list)  # of splits that train several models: [{"label": …, "cases": digest}]
    n_relevant = models.PositiveIntegerField(null=True, blank=True)
    n_irrelevant = models.PositiveIntegerField(null=True, blank=True)
    left_out = models.JSONField(default=dict)  # what could not be used, in words, with counts
    counted = models.JSONField(default=dict)  # what was used but is worth knowing, in words, with counts
    activity = models.CharField(max_length=200, blank=True)  # what it is doing now, in words
    error = models.TextField(blank=True)  # why it failed, in sentences
    error_detail = models.TextField(blank=True)  # the end of the traceback, where the cause was a fault of ours
    environment = models.JSONField(default=dict)  # versions of code and libraries, of the worker that prepared it
    hinted_at = models.DateTimeField(null=True, blank=True)  # when the sweep last sent its message again
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"Run {self.pk}"


class RunAlgorithm(models.Model):
    """An algorithm of a run, the model it was given, and the time each took.

    Where the split trains several models it has none: those of the folds stand with the parts that fitted them.
    One that failed has an `error` and no results, whatever the status of its run.
    """

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="algorithms")
    position = models.PositiveSmallIntegerField()
    algorithm = models.CharField(max_length=60)
    params = models.JSONField(default=dict)
    label = models.CharField(max_length=80)
    recipe = models.CharField(max_length=64, blank=True, db_index=True)
    model = models.ForeignKey(TrainedModel, null=True, blank=True, on_delete=models.PROTECT, related_name="uses")
    was_reused = models.BooleanField(default=False)
    score_seconds = models.FloatField(default=0.0)
    error = models.TextField(blank=True, default="")  # why it failed while the others went on, in sentences
    error_detail = models.TextField(blank=True, default="")  # the end of the traceback, as of a run

    class Meta:
        ordering = ["run_id", "position"]
        constraints = [models.UniqueConstraint(fields=["run", "position"], name="run_algorithm_once")]

    def __str__(self) -> str:
        return self.label


class RunPart(TimeStampedModel):
    """A piece of a run's work, taken by one worker at a time under a lease.

    `start` and `stop` are rows of the fold's case list, and are set for measurements only; `recipe` and `model`
    are a fit's. Runs of one model per algorithm have the fold 0 alone. The result is stored by digest, so that
    finishing twice writes once.
    """

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="parts")
    algorithm = models.ForeignKey(RunAlgorithm, null=True, blank=True, on_delete=models.CASCADE, related_name="parts")
    kind = models.CharField(max_length=20, choices=PartKind)
    fold = models.PositiveSmallIntegerField(default=0)
    recipe = models.CharField(max_length=64, blank=True, db_index=True)
    model = models.ForeignKey(TrainedModel, null=True, blank=True, on_delete=models.PROTECT, related_name="fits")
    profile_length = models.PositiveSmallIntegerField(default=0)  # 0: the whole profile
    start = models.PositiveIntegerField(default=0)
    stop = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=20, choices=PartStatus, default=PartStatus.QUEUED)
    lease = models.CharField(max_length=64, blank=True)  # host:process:random, of who holds it
    leased_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    seconds = models.FloatField(null=True, blank=True)
    result_digest = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["run", "status", "kind"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} of run {self.run_id}"


class MetricResult(models.Model):
    """One metric of one algorithm of a run, at one profile length."""

    algorithm = models.ForeignKey(RunAlgorithm, on_delete=models.CASCADE, related_name="results")
    profile_length = models.PositiveSmallIntegerField(default=0)  # 0: the whole profile
    metric = models.CharField(max_length=80)  # recall, fallout, precision-raghavan, f; others by their whole name
    value = models.FloatField(null=True)  # at the run's n; None where the metric has no value
    reason = models.CharField(max_length=200, blank=True)  # why it has none, where the algorithm is the reason
    by_n = models.JSONField(default=list)  # at 1, 2, 3, …
    users_digest = models.CharField(max_length=64, blank=True)  # artefact "results": per-user values

    class Meta:
        ordering = ["algorithm_id", "profile_length", "metric"]
        constraints = [models.UniqueConstraint(fields=["algorithm", "profile_length", "metric"], name="metric_once")]

    def __str__(self) -> str:
        return f"{self.metric} of {self.algorithm}"
