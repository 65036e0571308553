"""Reports, computed once and stored as data, and their drawings."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.contenttypes.fields import GenericRelation
from django.db import models
from django.urls import reverse
from django.utils.functional import cached_property

from core.models import TimeStampedModel
from evaluation.models import EvaluationRun
from jobs.models import Job, JobStatus
from studies.enums import Mode
from studies.models import Study

if TYPE_CHECKING:
    from analysis.results.bayesian import BayesianResults
    from analysis.results.plan import ReportPlan
    from analysis.results.report import Provenance, Results


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
    jobs = GenericRelation(Job, "subject_id", "subject_type")

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
        provenance: Provenance = _decoded("report", "Provenance", self.provenance)
        return provenance

    @cached_property
    def analysis(self) -> Job | None:
        """The job of its Bayesian analysis, the newest where one was computed again; None where none was requested."""
        job: Job | None = self.jobs.filter(kind="bayesian").first()
        return job

    @property
    def bayesian(self) -> dict[str, Any] | None:
        """Every number of its Bayesian analysis; None before it is done."""
        if self.analysis is None or self.analysis.status != JobStatus.SUCCEEDED:
            return None
        results: dict[str, Any] = self.analysis.result
        return results

    def read_bayesian(self) -> BayesianResults | None:
        """Its Bayesian analysis; None before it is done."""
        return None if self.bayesian is None else _decoded("bayesian", "BayesianResults", self.bayesian)

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
