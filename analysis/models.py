"""Reports, computed once and stored as data; their drawings; requests to workers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.urls import reverse

from analysis.enums import REQUEST_OPEN, RequestKind, RequestStatus
from core.models import TimeStampedModel
from evaluation.models import EvaluationRun
from jobs.models import JobModel
from studies.enums import Mode
from studies.models import Study

if TYPE_CHECKING:
    from analysis.results.bayesian import BayesianResults
    from analysis.results.plan import ReportPlan
    from analysis.results.provenance import Provenance
    from analysis.results.report import Results


def _decoded(module: str, name: str, value: Any) -> Any:
    """A stored value as the dataclass of `analysis.results`, which is imported only where a report is read."""
    return import_module("analysis.results.codec").decode(
        getattr(import_module(f"analysis.results.{module}"), name), value
    )


class Report(TimeStampedModel):
    """Study version × exclusions × evaluation run × plan; the same inputs give the same results.

    `results` holds every number with its test; pages and files are drawn from it alone.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="reports")
    run = models.ForeignKey(EvaluationRun, on_delete=models.PROTECT, related_name="reports")
    number = models.PositiveIntegerField()
    mode = models.CharField(max_length=12, choices=Mode)  # people and simulated participants are never mixed
    inputs_hash = models.CharField(max_length=64)
    plan = models.JSONField(default=dict)
    results = models.JSONField()
    provenance = models.JSONField(default=dict)
    is_pilot = models.BooleanField(default=False)  # of a draft walked by simulated participants, before the launch
    is_sample = models.BooleanField(default=False)  # anyone may read its chapters; see analysis.services.samples
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="report_number_once"),
            models.UniqueConstraint(fields=["study", "inputs_hash"], name="report_inputs_once"),
            models.CheckConstraint(
                condition=models.Q(is_sample=False) | models.Q(mode=Mode.SIMULATED),
                name="report_sample_simulated",
            ),
        ]

    def __str__(self) -> str:
        return f"Report {self.number} of {self.study}"

    def read_results(self) -> Results:
        """Every number with its test."""
        results: Results = _decoded("report", "Results", self.results)
        return results

    def read_plan(self) -> ReportPlan:
        """The plan that it follows."""
        plan: ReportPlan = _decoded("plan", "ReportPlan", self.plan)
        return plan

    def read_provenance(self) -> Provenance:
        """The inputs behind its numbers."""
        provenance: Provenance = _decoded("provenance", "Provenance", self.provenance)
        return provenance

    @property
    def analysis(self) -> BayesianAnalysis | None:
        """Its Bayesian analysis, done or not; None for a report of an older version."""
        return getattr(self, "bayesian", None)

    def get_absolute_url(self) -> str:
        """Its page in the console."""
        return reverse("analysis:detail", args=[self.study.slug, self.number])


class Drawing(TimeStampedModel):
    """A drawing of a report's results: the document, the page, a file. It can always be drawn again.

    `version` is of the code that drew it; drawings of other versions are drawn again.
    """

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="drawings")
    name = models.CharField(max_length=100)
    version = models.CharField(max_length=64)
    content = models.BinaryField()  # packed

    class Meta:
        constraints = [models.UniqueConstraint(fields=["report", "name"], name="drawing_name_once")]

    def __str__(self) -> str:
        return f"{self.name} of {self.report}"


class ReportRequest(TimeStampedModel, JobModel):
    """A request to a worker for what takes too long for a page: a report, or the package of one.

    While it runs it is under a lease; an expired lease returns it to the queue.
    """

    kind = models.CharField(
        max_length=12, choices=[(kind.value, kind.value) for kind in RequestKind], default=RequestKind.REPORT.value
    )
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="report_requests")
    mode = models.CharField(max_length=12, choices=Mode, blank=True)
    overrides = models.JSONField(default=dict)
    status = models.CharField(
        max_length=12,
        choices=[(status.value, status.value) for status in RequestStatus],
        default=RequestStatus.QUEUED.value,
    )
    activity = models.CharField(max_length=200, blank=True)
    file = models.CharField(max_length=200, blank=True)  # of a package, in the default storage
    report = models.ForeignKey(Report, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.kind.capitalize()} of {self.study}, {self.status}"

    def get_absolute_url(self) -> str:
        """The page with its progress."""
        return reverse("analysis:request", args=[self.pk])


class BayesianAnalysis(TimeStampedModel, JobModel):
    """The Bayesian analysis of a report, which a worker computes after the report is built.

    While it runs it is under a lease; an expired lease returns it to the queue.
    """

    is_short = False
    report = models.OneToOneField(Report, on_delete=models.CASCADE, related_name="bayesian")
    status = models.CharField(
        max_length=12,
        choices=[(status.value, status.value) for status in RequestStatus],
        default=RequestStatus.QUEUED.value,
    )
    activity = models.CharField(max_length=200, blank=True)
    results = models.JSONField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "Bayesian analyses"

    def __str__(self) -> str:
        return f"Bayesian analysis of {self.report}, {self.status}"

    @property
    def is_open(self) -> bool:
        """Whether a worker computes it, or will."""
        return self.status in REQUEST_OPEN

    def read_results(self) -> BayesianResults | None:
        """Every number; None before it is done."""
        return None if self.results is None else _decoded("bayesian", "BayesianResults", self.results)
