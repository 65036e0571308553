"""The researcher's jobs in the REST API, of every kind."""

from __future__ import annotations

from typing import Any

from django.contrib.contenttypes.models import ContentType
from django.db.models import Q, QuerySet
from django_filters.rest_framework import ChoiceFilter
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Project
from analysis.api import ReportViewSet
from analysis.models import Report
from analysis.read.reports import reports_of
from catalog.api import VERSION_LIMITS
from catalog.models import DatasetVersion
from core.api import StrictView, exactly, filters
from evaluation.api.runs import RunViewSet
from evaluation.models import EvaluationRun
from jobs.api import JobSerializer, job_response
from jobs.models import Job, JobStatus
from jobs.services import cancel
from studies.api.membership import STUDY_LIMITS
from studies.models import Study
from studies.team.selectors.studies import owned_by

# What a job is about, and where its rows name the study and the project that a token can be limited to.
SUBJECTS: dict[Any, Any] = {
    Study: STUDY_LIMITS,
    DatasetVersion: VERSION_LIMITS,
    EvaluationRun: RunViewSet.limits,
    Report: ReportViewSet.limits,
    Project: {"project": "pk"},
}


@extend_schema_view(list=extend_schema(operation_id="jobs"))
class JobViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[Job]):
    """Your jobs, newest first. You requested them in the console or here; or others did: simulations and Bayesian
    analyses.
    """

    serializer_class = JobSerializer
    queryset = Job.objects.none()
    filterset_class = filters(
        kind=exactly("Jobs of this kind."),
        status=ChoiceFilter(choices=JobStatus.choices, help_text="Jobs in this state."),
    )

    def get_queryset(self) -> QuerySet[Job]:
        """Return the jobs that the researcher requested, and those that another request for the same work is answered
        with, on what the token is limited to.
        """
        user = self.request.user
        owned = Study.objects.filter(pk__in=owned_by(user).order_by().values("study"))
        own = (
            Job.objects.filter(owner_id=user.pk)
            | Job.objects.filter(kind="bayesian").about(reports_of(user))
            | Job.objects.filter(kind="simulation").about(owned)
        )
        if getattr(self.request.auth, "only_type", None) is None:
            return own
        is_within = Q(pk__in=[])
        for model, limits in SUBJECTS.items():
            rows = self.within(model.objects.all(), limits).order_by().values("pk")
            is_within |= Q(subject_type=ContentType.objects.get_for_model(model), subject_id__in=rows)
        return own.filter(is_within)

    @extend_schema(operation_id="job", responses=JobSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """One job, and how far it is. `Retry-After` says when to look again."""
        return job_response(request, self.get_object(), status.HTTP_200_OK)

    @extend_schema(operation_id="job_cancel", responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Cancel a job. Its worker stops at the next step, and stores nothing. A job that is over is refused (409)."""
        cancel(self.get_object(), actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
