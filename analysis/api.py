"""Reports for programs: those of studies that the researcher owns or analyses, their numbers and their files."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django.core.validators import slug_re
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ChoiceField, SlugField

from accounts.enums import Scope
from analysis import serializers
from analysis.files.formats import report_json
from analysis.files.listing import PACKAGE
from analysis.forms import ReportForm
from analysis.models import Report
from analysis.read.reports import reports_of, studies_to_report
from analysis.read.sample import Comment, comments_of
from analysis.services import Download
from analysis.services.bayesian_jobs import request_bayesian
from analysis.services.packages import file_or_request, request_files
from analysis.services.report_cache import page_of
from analysis.services.requests import request_report, require_open_answers
from core.api import StrictView, exactly, filters
from core.errors import ParallaxError
from core.form_bodies import described, of_facts
from jobs.api import JobSerializer, job_response
from jobs.models import Job, JobStatus
from studies.api.membership import STUDY_LIMITS
from studies.serializers import REPORTED

FILE_TYPES = (
    "text/html",
    "image/svg+xml",
    "image/png",
    "text/csv",
    "text/markdown",
    "text/plain",
    "application/pdf",
    "application/x-tex",
    "application/zip",
)

CommentSerializer = of_facts(Comment)
BuildSerializer = described(
    ReportForm,
    "Build",
    study=SlugField(max_length=80),
    mode=ChoiceField(choices=REPORTED, required=False, allow_null=True),
)


def result_address(job: Job) -> str:
    """The address of the package that a job stored, or of the report that it built, drew or analysed."""
    pk = {**job.payload, **job.result}.get("report", job.subject_id)
    return reverse("api:reports-file", args=[pk, PACKAGE]) if job.file else reverse("api:reports-detail", args=[pk])


@extend_schema_view(list=extend_schema(operation_id="reports"))
class ReportViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[Report]):
    """The reports that you may read, newest first."""

    serializer_class = serializers.ReportSerializer
    queryset = Report.objects.none()
    limits: ClassVar = {kind: f"study__{lookup}" for kind, lookup in STUDY_LIMITS.items()}
    data_actions: ClassVar = {"numbers", "file", "comments"}
    write_scopes: ClassVar = dict.fromkeys(("create", "package", "bayesian"), Scope.REPORT)
    filterset_class = filters(study=exactly("Reports of this study.", "study__slug"))

    def get_queryset(self) -> QuerySet[Report]:
        """Reports of studies whose outcomes the researcher may read."""
        return self.within(reports_of(self.request.user))

    @extend_schema(operation_id="report_build", request=BuildSerializer, responses={202: JobSerializer})
    def create(self, request: Request) -> Response:
        """Build a report. Requests the report from a worker, on the run that the study is based on, as planned or with
        stated deviations from the plan. Without a mode, it is of participants if any have completed, else of simulated
        ones. The same inputs give the existing report. While participants' outcomes are blinded, a report on them is
        refused (409). Studies that you may not report, or that are not launched, are not found (404). The token needs
        the scope `write` or `report`.
        """
        body: Any = request.data
        studies = self.within(studies_to_report(request.user), STUDY_LIMITS)
        try:
            form = self.form(lambda data, _files: ReportForm(data, studies=studies))
        except ValidationError as refused:
            if {*refused.detail} == {"study"} and slug_re.match(str(body.get("study") or "")):
                raise Http404 from refused
            raise
        study, mode = form.cleaned_data["study"], form.cleaned_data["mode"] or None
        require_open_answers(study=study, mode=mode)
        job = request_report(study=study, mode=mode, overrides=form.overrides(), asked_by=request.user)
        return job_response(request, job)

    @extend_schema(operation_id="report", responses=serializers.ReportDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """One report: its inputs, and the addresses of its files."""
        report = self.get_object()
        context = {"request": request, "files": page_of(report).files}
        return Response(serializers.ReportDetailSerializer(report, context=context).data)

    @extend_schema(operation_id="report_numbers", responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def numbers(self, request: Request, pk: str) -> Response:
        """Every number of a report. The same document as the file report.json: plan, provenance, results."""
        return Response(json.loads(report_json(self.get_object())))

    @extend_schema(
        operation_id="report_file",
        parameters=[
            OpenApiParameter("name", str, OpenApiParameter.PATH, description="The file's name, with its folder.")
        ],
        responses={
            (200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT, description="The file."),
            (202, "application/json"): OpenApiResponse(JobSerializer, description="A worker is creating the file."),
            **{
                (200, content_type): OpenApiResponse(OpenApiTypes.BINARY, description="The file.")
                for content_type in FILE_TYPES
            },
        },
    )
    def file(self, request: Request, pk: int, name: str) -> HttpResponse:
        """A file of a report. By its name as the report lists it: `report.html`, `figures/slope.svg`,
        `tables/table-1.csv`, … A worker creates the study package, figures, `report.html` and `report.pdf`: until the
        file is ready, the response is the job (202). The error of a failed job is returned for a minute (409).
        """
        try:
            file = file_or_request(report=self.get_object(), name=name, actor=request.user)
        except ParallaxError as refused:
            if refused.code == "report.no_such_file":
                raise NotFound(str(refused)) from refused
            raise
        if isinstance(file, Download):
            return file.response()
        if file.status == JobStatus.FAILED:
            raise ParallaxError("report.package_failed", file.error)
        return job_response(request, file)

    @extend_schema(operation_id="report_package", request=None, responses={202: JobSerializer})
    @action(detail=True, methods=["post"])
    def package(self, request: Request, pk: str) -> Response:
        """Have the files and the study package of a report created. Then the package is the file `study-package.zip`.
        The token needs the scope `write` or `report`.
        """
        return job_response(request, request_files(report=self.get_object(), asked_by=request.user))

    @extend_schema(operation_id="report_bayesian", request=None, responses={202: JobSerializer})
    @action(detail=True, methods=["post"])
    def bayesian(self, request: Request, pk: str) -> Response:
        """Add the Bayesian analysis to a report. The job that is open or done is returned. The token needs the scope
        `write` or `report`.
        """
        return job_response(request, request_bayesian(report=self.get_object(), actor=request.user))

    @extend_schema(operation_id="report_comments", responses=CommentSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def comments(self, request: Request, pk: str) -> Response:
        """The comments of the participants. Of those who are analysed, without answers that identify a person."""
        return Response(CommentSerializer(comments_of(self.get_object()), many=True).data)
