"""Replications that were started in the console."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from analysis.models import Report
from catalog.models import DatasetVersion
from core.models import TimeStampedModel
from evaluation.enums import ExperimentStatus
from evaluation.models import EvaluationRun
from jobs.models import JobModel
from studies.models import SimulationJob, Study


class ReplicationJob(TimeStampedModel, JobModel):
    """A paper on a dataset with simulated participants, or beside the answers of a closed study.

    With a dataset it waits in the queue for its run, then for its simulation; a worker does what lies between.
    """

    is_short = False
    paper = models.CharField(max_length=80)
    version = models.ForeignKey(
        DatasetVersion, null=True, blank=True, on_delete=models.CASCADE, related_name="replications"
    )  # empty: the answers of a closed study
    chosen = models.JSONField(default=dict)  # of a simulated replication: see `stages.Settings`
    base_url = models.CharField(max_length=300, blank=True)  # where simulated participants find the pages
    run = models.ForeignKey(EvaluationRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="replications")
    simulation = models.ForeignKey(SimulationJob, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    report = models.ForeignKey(Report, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    status = models.CharField(max_length=20, choices=ExperimentStatus, default=ExperimentStatus.QUEUED)
    activity = models.CharField(max_length=200, blank=True)
    verdicts = models.JSONField(default=list)  # [[verdict, statement, our numbers], …]
    file = models.CharField(max_length=200, blank=True)  # the written folder as an archive, in the default storage
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.paper} on {self.version or self.study}"

    @property
    def is_simulated(self) -> bool:
        """Whether its participants are simulated."""
        return self.version_id is not None
