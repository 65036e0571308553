"""REST API of experiments of publications."""

from __future__ import annotations

from django.core.files.storage import default_storage
from django.db.models import QuerySet
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from catalog.api.datasets import DATASET_LIMITS, VERSION_LIMITS
from catalog.models import Dataset, DatasetVersion
from catalog.selectors.datasets import newest_version
from core.api import IgnoreAccept, StrictView
from core.errors import ParallaxError
from evaluation.selectors.experiments import experiments_of, shipped_experiments
from evaluation.serializers import (
    ExperimentSerializer,
    NewExperimentSerializer,
)
from evaluation.services.experiment_jobs import start_experiment
from jobs.api import JobSerializer, accepted
from jobs.models import Job


@extend_schema(tags=["experiments"])
class ExperimentViewSet(StrictView, viewsets.GenericViewSet[Job]):
    """Experiments of publications, which can be run on a dataset."""

    serializer_class = ExperimentSerializer
    queryset = Job.objects.none()
    lookup_value_regex = r"[0-9]+"
    pagination_class = None

    def get_queryset(self) -> QuerySet[Job]:
        """Return the experiments on the datasets that the researcher sees."""
        return experiments_of(self.request.user).about(self.within(DatasetVersion.objects.all(), VERSION_LIMITS))

    @extend_schema(operation_id="experiments", summary="The experiments", responses=ExperimentSerializer(many=True))
    def list(self, request: Request) -> Response:
        """Return the experiments that come with Parallax."""
        return Response(ExperimentSerializer(shipped_experiments(), many=True).data)

    @extend_schema(
        operation_id="experiment_start",
        summary="Run an experiment on a dataset",
        description="Its runs are started, or reused, and are in GET /api/v1/runs/. Of the job that succeeded, "
        "`result` has the verdicts, and `made_url` is the outcome. An experiment that you run on this dataset is not "
        "started again.",
        request=NewExperimentSerializer,
        responses={202: JobSerializer},
    )
    def create(self, request: Request) -> Response:
        """Start the runs of an experiment; a worker writes the outcome once they have succeeded."""
        asked = self.body(NewExperimentSerializer)
        usable = self.within(Dataset.objects.usable_by(request.user), DATASET_LIMITS)
        version = newest_version(asked["dataset"], usable)
        return accepted(request, start_experiment(key=asked["experiment"], version=version, actor=request.user))

    @extend_schema(
        operation_id="experiment_outcome",
        summary="The outcome of an experiment",
        description="Tables, figures and verdicts as a ZIP archive.",
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    @action(detail=True, content_negotiation_class=IgnoreAccept)
    def outcome(self, request: Request, pk: str) -> FileResponse:
        """Return the written outcome."""
        job = self.get_object()
        if not job.file:
            raise ParallaxError("experiment.not_written", "The outcome of this experiment is not written yet.")
        name = f"{job.payload['experiment']}-outcome-{job.pk}.zip"
        return FileResponse(default_storage.open(job.file), as_attachment=True, filename=name)


def outcome_made(job: Job) -> str:
    """The address of the outcome that a job wrote."""
    return reverse("api:experiments-outcome", kwargs={"pk": job.pk})
