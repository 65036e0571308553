"""Reports for programs: those of studies that the researcher owns or analyses, their numbers and their files."""

from __future__ import annotations

import json
from typing import ClassVar

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django_filters.rest_framework import FilterSet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.enums import Scope
from analysis import serializers
from analysis.files.formats import report_json
from analysis.files.listing import PACKAGE
from analysis.models import Report
from analysis.read.reports import reports_of, requests_of, studies_to_report
from analysis.services import Download
from analysis.services.packages import file_or_request
from analysis.services.report_cache import page_of
from analysis.services.requests import request_report, require_open_answers
from core.api import StrictView, exactly
from core.errors import ParallaxError
from jobs.models import JobStatus
from studies.api.membership import STUDY_LIMITS
from studies.models import Study

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


class ReportFilters(FilterSet):
    """Filter of the list of reports."""

    study = exactly("Reports of this study.", "study__slug")


@extend_schema(tags=["reports"])
@extend_schema_view(list=extend_schema(operation_id="reports", summary="Reports, newest first"))
class ReportViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[Report]):
    """The reports that the researcher may read."""

    serializer_class = serializers.ReportSerializer
    queryset = Report.objects.none()
    limits: ClassVar = {kind: f"study__{lookup}" for kind, lookup in STUDY_LIMITS.items()}
    data_actions: ClassVar = {"numbers", "file"}
    write_scopes: ClassVar = {"create": Scope.REPORT}
    filterset_class = ReportFilters
    lookup_value_regex = r"[0-9]+"

    def get_queryset(self) -> QuerySet[Report]:
        """Reports of studies whose outcomes the researcher may read."""
        return self.within(reports_of(self.request.user))

    @extend_schema(
        operation_id="report_build",
        summary="Build a report",
        description="Requests the report from a worker, on the run that the study is based on. The response is the "
        "request: poll its `url` until `status` is `succeeded`, when `report_url` is the report, or `failed`, when "
        "`error` gives the reason. The same inputs give the existing report. While participants' outcomes are blinded, "
        "a report on them is refused (409). Studies that you may not report, or that are not launched, are not found "
        "(404). The token needs the scope `write` or `report`.",
        request=serializers.BuildSerializer,
        responses={202: serializers.RequestSerializer},
    )
    def create(self, request: Request) -> Response:
        """Request a report from a worker."""
        body = self.body(serializers.BuildSerializer)
        study = get_object_or_404(self._studies(), slug=body["study"])
        mode = body.get("mode")
        require_open_answers(study=study, mode=mode)
        row = request_report(study=study, mode=mode, asked_by=request.user)
        state = serializers.RequestSerializer(row, context={"request": request}).data
        headers = {"Location": state["url"], "Retry-After": "5"}
        return Response(state, status=status.HTTP_202_ACCEPTED, headers=headers)

    @extend_schema(
        operation_id="report_request",
        summary="The state of a requested report",
        responses=serializers.RequestSerializer,
    )
    def requested(self, request: Request, pk: int) -> Response:
        """Return the state of a report that the researcher requested."""
        own = requests_of(request.user).filter(kind="report", subject_id__in=self._studies().values("pk"))
        row = get_object_or_404(own, pk=pk)
        return Response(serializers.RequestSerializer(row, context={"request": request}).data)

    @extend_schema(
        operation_id="report", summary="One report and its files", responses=serializers.ReportDetailSerializer
    )
    def retrieve(self, request: Request, pk: str) -> Response:
        """Return the inputs of a report, and the addresses of its files."""
        report = self.get_object()
        context = {"request": request, "files": page_of(report).files}
        return Response(serializers.ReportDetailSerializer(report, context=context).data)

    @extend_schema(
        operation_id="report_numbers",
        summary="Every number of a report",
        description="The same document as the file report.json: plan, provenance, results.",
        responses=OpenApiTypes.OBJECT,
    )
    @action(detail=True)
    def numbers(self, request: Request, pk: str) -> Response:
        """Return plan, provenance and results."""
        return Response(json.loads(report_json(self.get_object())))

    @extend_schema(
        operation_id="report_file",
        summary="A file of a report",
        description="By its name as the report lists it: `report.html`, `figures/slope.svg`, `tables/table-1.csv`, … "
        "A worker creates the study package, figures, `report.html` and `report.pdf`: until the file is ready, the "
        "response is 202. The error of a failed package is returned for a minute (409).",
        parameters=[
            OpenApiParameter("name", str, OpenApiParameter.PATH, description="The file's name, with its folder.")
        ],
        responses={
            (200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT, description="The file."),
            (202, "application/json"): OpenApiResponse(
                OpenApiTypes.OBJECT, description="A worker is creating the file: try again in a few seconds."
            ),
            **{
                (200, content_type): OpenApiResponse(OpenApiTypes.BINARY, description="The file.")
                for content_type in FILE_TYPES
            },
        },
    )
    def file(self, request: Request, pk: int, name: str) -> HttpResponse:
        """Return a file of a report."""
        try:
            file = file_or_request(report=self.get_object(), name=name, actor=request.user)
        except ParallaxError as refused:
            if refused.code == "report.no_such_file":
                raise NotFound(str(refused)) from refused
            raise
        if isinstance(file, Download):
            return file.response()
        if name != PACKAGE:
            return self._pending("report.file_under_way", f"The file {name}")
        if file.status == JobStatus.FAILED:
            raise ParallaxError("report.package_failed", file.error)
        state = {"status": file.status, "activity": file.activity}
        return self._pending("report.package_under_way", "The study package", **state)

    def _studies(self) -> QuerySet[Study]:
        return self.within(studies_to_report(self.request.user), STUDY_LIMITS)

    def _pending(self, code: str, subject: str, **state: str) -> Response:
        detail = f"{subject} is being created. Try the same address again in a few seconds."
        body = {"code": code, "detail": detail, "extra": state}
        return Response(body, status=status.HTTP_202_ACCEPTED, headers={"Retry-After": "5"})
