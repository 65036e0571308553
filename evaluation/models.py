"""Runs with their parts, trained models and results."""

from __future__ import annotations

from typing import Any, Self

from django.conf import settings
from django.contrib.contenttypes.fields import GenericRelation
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q

from accounts.models import Project, in_projects_of
from catalog.models import DatasetVersion
from core.errors import ParameterError
from core.models import TimeStampedModel
from evaluation.enums import ModelOrigin, PartKind, PartStatus, RunStatus, Sent
from evaluation.metrics.definition import LONGEST_METRIC_NAME
from evaluation.remote.addresses import SETTING, check_service_address
from jobs.models import Job, LeasedModel

LONGEST_LABEL = 80  # of an algorithm with its parameters
VARIABLE_PREFIX = "PARALLAX_RECOMMENDER_TOKEN"  # so that no other secret of the environment can be sent to a service
ANSWER_SECONDS, MOST_SECONDS = 10, 60  # of a recommender behind HTTP: the default and the largest limit


class ModelQuerySet(models.QuerySet["TrainedModel"]):
    """Models by who may see them."""

    def visible_to(self, researcher: Any) -> Self:
        """The models on visible datasets that a visible run uses, itself or re-ranked, or no run at all."""
        is_it = Q(model=OuterRef("pk")) | Q(model__base=OuterRef("pk"))
        uses, fits = RunAlgorithm.objects.filter(is_it), RunPart.objects.filter(is_it)
        of_visible_runs = in_projects_of(researcher, "run__project")
        is_used = Exists(uses) | Exists(fits)
        is_shown = Exists(uses.filter(of_visible_runs)) | Exists(fits.filter(of_visible_runs))
        return self.filter(in_projects_of(researcher, "version__dataset__project")).filter(is_shown | ~is_used)


class TrainedModel(TimeStampedModel):
    """A fitted algorithm, identified by its recipe and verified by the digest of its bytes.

    The arrays are the artefact ``models/<digest>``. A re-ranked model has only arrays of the re-ranking; its metadata
    name the digest of `base`, whose arrays it opens.
    """

    recipe = models.CharField(max_length=64, unique=True)
    digest = models.CharField(max_length=64)
    version = models.ForeignKey(DatasetVersion, on_delete=models.PROTECT, related_name="models")
    algorithm = models.CharField(max_length=60)
    algorithm_version = models.PositiveIntegerField()
    params = models.JSONField(default=dict)
    label = models.CharField(max_length=LONGEST_LABEL)
    seed = models.BigIntegerField()
    threads = models.PositiveSmallIntegerField()
    # Artefact "training": the rows it saw; empty where these are not known.
    training_digest = models.CharField(max_length=64, blank=True)
    fit_seconds = models.FloatField()
    origin = models.CharField(max_length=20, choices=ModelOrigin, default=ModelOrigin.FITTED)
    base = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="reranked")
    provenance = models.JSONField(default=dict, blank=True)  # what else it was made from, with digests

    objects = ModelQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.label} {self.digest[:8]}"


class RemoteRecommender(TimeStampedModel):
    """A recommender behind HTTP that administrators let researchers use. Its token is never stored: `token_variable`
    names the environment variable that has it.
    """

    name = models.SlugField(max_length=60, unique=True, help_text="In commands and tables; letters, digits, - and _.")
    address = models.CharField(
        max_length=300,
        help_text=f"Such as https://recommender.example.org; {SETTING} has to list the host.",
    )
    token_variable = models.CharField(
        max_length=100,
        blank=True,
        validators=[
            RegexValidator(rf"^{VARIABLE_PREFIX}[A-Z0-9_]*\Z", f"Its name has to begin with {VARIABLE_PREFIX}.")
        ],
        help_text="Environment variable of the web server and the workers that has the bearer token; empty for none.",
    )
    seconds = models.PositiveSmallIntegerField(
        default=ANSWER_SECONDS,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_SECONDS)],
        help_text=f"For one answer, from 1 to {MOST_SECONDS}.",
    )
    operator = models.CharField(
        max_length=200, help_text="Who runs the service, as the consent text of every study that uses it names them."
    )
    sent = models.CharField(
        max_length=6, choices=Sent, default=Sent.IDS, help_text="Of each rated item, beside its id and rating."
    )
    # The breaker; see `evaluation.services.remote_lists`.
    failures = models.PositiveIntegerField(default=0, editable=False)  # attempts in a row
    open_until = models.DateTimeField(null=True, editable=False)
    openings = models.JSONField(default=list, editable=False)  # recent times at which it opened, ISO 8601

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse what is not the address of a host that this installation may ask."""
        if not self.address:
            return  # the field says it
        try:
            check_service_address(self.address, settings.RECOMMENDER_HOSTS)
        except ParameterError as problem:
            raise ValidationError({"address": str(problem)}) from problem


class SizeChoice(TimeStampedModel):
    """The size of a model that an experiment chose on training rows, identified by everything that determines it."""

    recipe = models.CharField(max_length=64, unique=True)
    choice = models.JSONField()  # the fields of `recommenders.size_selection.Choice`

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.choice['algorithm']} {self.choice['parameter']}={self.choice['chosen']}"


class RunQuerySet(models.QuerySet["EvaluationRun"]):
    """Runs by who may see them."""

    def visible_to(self, researcher: Any) -> Self:
        """The runs of the researcher's projects and those of none, on datasets that the researcher sees."""
        return self.filter(in_projects_of(researcher), in_projects_of(researcher, "version__dataset__project"))

    def comparable_in(self, project_id: int | None) -> Self:
        """The runs that a page about a run of this project may name: those of the project, and public ones."""
        return self.filter(Q(project=None) | Q(project=project_id))


class EvaluationRun(TimeStampedModel):
    """Dataset version × reserved users × split × protocol × algorithms × seed × threads.

    Its results depend only on these inputs, not on the size of its parts (`part_users`) or on its workers (`queue`).
    Artefacts: ``cases/<cases_digest>`` (reserved users, training users, test cases, and the digest of the training
    rows), and one ``results/<digest>`` per algorithm and profile length. A run whose split trains several models has
    such cases for each of its `folds`, and `cases_digest` is the digest of that list.
    """

    version = models.ForeignKey(DatasetVersion, on_delete=models.PROTECT, related_name="runs")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    # Inherited from the dataset. A run without one, on a dataset that has one, is no more visible than the dataset.
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.PROTECT, related_name="runs")
    status = models.CharField(max_length=20, choices=RunStatus, default=RunStatus.QUEUED)
    split = models.JSONField()  # {"name": "probe", "share": 0.1}
    protocol = models.JSONField()  # {"name": "one-plus-random", "negatives": 1000, "relevant": 5, "irrelevant": 1, ...}
    task = models.CharField(max_length=20, default="some")  # what the lists are for: a key of `definition.TASKS`
    metrics = models.JSONField(default=list)  # requested in addition to those of the protocol: ["ndcg@10"]
    comments = models.JSONField(default=list)  # sentences about choices that do not suit the task
    reserve = models.FloatField(default=0.0)
    seed = models.BigIntegerField()
    n = models.PositiveSmallIntegerField(default=5)
    profile_lengths = models.JSONField(default=list)  # in addition to the whole profile: [5]
    threads = models.PositiveSmallIntegerField(default=1)
    part_users = models.PositiveIntegerField(default=4096)  # test users of one part, a multiple of the block
    inputs_hash = models.CharField(max_length=64)
    queue = models.CharField(max_length=80, blank=True)  # workers of the run's own; empty: the default queue
    cases_digest = models.CharField(max_length=64, blank=True)
    folds = models.JSONField(default=list)  # of splits that train several models: [{"label": …, "cases": digest}]
    n_relevant = models.PositiveIntegerField(null=True, blank=True)
    n_irrelevant = models.PositiveIntegerField(null=True, blank=True)
    left_out = models.JSONField(default=dict)  # excluded data: descriptions with counts
    counted = models.JSONField(default=dict)  # included data worth reporting: descriptions with counts
    activity = models.CharField(max_length=200, blank=True)  # current activity, as text
    error = models.TextField(blank=True)  # why it failed, in sentences
    error_detail = models.TextField(blank=True)  # the end of the traceback of an unexpected exception
    environment = models.JSONField(default=dict)  # versions of code and libraries, of the worker that prepared it
    jobs = GenericRelation(Job, "subject_id", "subject_type")
    hinted_at = models.DateTimeField(null=True, blank=True)  # when the sweep last sent a message for it
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"Run {self.pk}"


class RunAlgorithm(models.Model):
    """An algorithm of a run with its model and times.

    If the split trains several models, `model` is empty: the models of folds belong to the parts that fitted them. A
    failed algorithm has an `error` and no results, whatever the status of its run.
    """

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="algorithms")
    position = models.PositiveSmallIntegerField()
    algorithm = models.CharField(max_length=60)
    params = models.JSONField(default=dict)
    label = models.CharField(max_length=LONGEST_LABEL)
    recipe = models.CharField(max_length=64, blank=True, db_index=True)
    model = models.ForeignKey(TrainedModel, null=True, blank=True, on_delete=models.PROTECT, related_name="uses")
    was_reused = models.BooleanField(default=False)
    score_seconds = models.FloatField(default=0.0)
    error = models.TextField(blank=True, default="")  # why it failed, in sentences
    error_detail = models.TextField(blank=True, default="")  # the end of the traceback, as of a run

    class Meta:
        ordering = ["run_id", "position"]
        constraints = [models.UniqueConstraint(fields=["run", "position"], name="run_algorithm_once")]

    def __str__(self) -> str:
        return self.label

    @property
    def served(self) -> TrainedModel | None:
        """The model that participants get: the remote recommender whose lists were measured, or the measured model."""
        if self.model is not None and self.model.origin == ModelOrigin.LISTS and self.model.base is not None:
            return self.model.base
        return self.model


class ExternalScores(TimeStampedModel):
    """Scores of another system for the cases of a run, and their results: a row of the run's tables, and no model.

    Artefacts: ``scores/<scores_digest>`` and, as for an algorithm at whole profiles, ``results/<users_digest>``.
    """

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="external_scores")
    name = models.CharField(max_length=LONGEST_LABEL)
    scores_digest = models.CharField(max_length=64)
    users_digest = models.CharField(max_length=64)
    results = models.JSONField()  # the fields of `MetricResult`, by metric
    coverage = models.CharField(max_length=200)  # the cases and users with scores, as text

    class Meta:
        ordering = ["run_id", "pk"]
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="external_scores_once")]

    def __str__(self) -> str:
        return self.name


class RunPart(TimeStampedModel, LeasedModel):
    """A piece of a run's work, taken by one worker at a time under a lease.

    `start` and `stop` are rows of the fold's case list, and are set for measurements only; `recipe`, `base_recipe` (of
    the model that is re-ranked), `training_digest` and `model` are a fit's. Runs of one model per algorithm have the
    fold 0 alone. The result is stored by digest, so that finishing twice writes once.
    """

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="parts")
    algorithm = models.ForeignKey(RunAlgorithm, null=True, blank=True, on_delete=models.CASCADE, related_name="parts")
    kind = models.CharField(max_length=20, choices=PartKind)
    fold = models.PositiveSmallIntegerField(default=0)
    recipe = models.CharField(max_length=64, blank=True, db_index=True)
    base_recipe = models.CharField(max_length=64, blank=True)
    training_digest = models.CharField(max_length=64, blank=True)  # empty: a fit of an earlier version of the project
    model = models.ForeignKey(TrainedModel, null=True, blank=True, on_delete=models.PROTECT, related_name="fits")
    profile_length = models.PositiveSmallIntegerField(default=0)  # 0: the whole profile
    start = models.PositiveIntegerField(default=0)
    stop = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=20, choices=PartStatus, default=PartStatus.QUEUED)
    seconds = models.FloatField(null=True, blank=True)
    result_digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["run", "status", "kind"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} of run {self.run_id}"


class MetricResult(models.Model):
    """One metric of one algorithm of a run, at one profile length."""

    algorithm = models.ForeignKey(RunAlgorithm, on_delete=models.CASCADE, related_name="results")
    profile_length = models.PositiveSmallIntegerField(default=0)  # 0: the whole profile
    # recall, fallout, precision-raghavan, f; others by their full name
    metric = models.CharField(max_length=LONGEST_METRIC_NAME)
    value = models.FloatField(null=True)  # at the run's n; None if undefined
    reason = models.CharField(max_length=200, blank=True)  # why it is undefined, if due to the algorithm
    by_n = models.JSONField(default=list)  # at 1, 2, 3, …
    users_digest = models.CharField(max_length=64, blank=True)  # artefact "results": per-user values

    class Meta:
        ordering = ["algorithm_id", "profile_length", "metric"]
        constraints = [models.UniqueConstraint(fields=["algorithm", "profile_length", "metric"], name="metric_once")]

    def __str__(self) -> str:
        return f"{self.metric} of {self.algorithm}"
