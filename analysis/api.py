"""Reports for programs: those of studies that the researcher owns or analyses, their numbers and their files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.enums import RequestKind, RequestStatus
from analysis.exports.files import report_json
from analysis.models import Report
from analysis.package import PACKAGE
from analysis.selectors.reports import reports_of, requests_of, studies_to_report
from analysis.serializers import (
    BuildSerializer,
    ReportDetailSerializer,
    ReportQuerySerializer,
    ReportSerializer,
    RequestSerializer,
)
from analysis.services import Given, ready_file
from analysis.services.drawing import page_of
from analysis.services.packages import give_package
from analysis.services.requests import request_package, request_report, require_open_answers
from core.errors import ParallaxError

FILE_TYPES = (
    "text/html", "image/svg+xml", "image/png", "text/csv", "text/markdown", "text/plain", "application/pdf",
    "application/x-tex", "application/zip",
)  # fmt: skip


class AsItIs(BaseContentNegotiation):
    """A file is what its name says, whatever the request would rather have."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Take the first, which nothing is rendered with but refusals."""
        first = next(iter(renderers))
        return first, first.media_type

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> None:
        """A file is only read."""


@extend_schema(tags=["reports"])
@extend_schema_view(
    list=extend_schema(operation_id="reports", summary="Reports, newest first", parameters=[ReportQuerySerializer])
)
class ReportViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Report]):
    """The reports of whoever asks."""

    serializer_class = ReportSerializer
    lookup_value_regex = r"[0-9]+"

    def get_queryset(self) -> QuerySet[Report]:
        """Those of studies whose outcomes the researcher may read."""
        found = reports_of(self.request.user)
        if self.action == "list":
            asked = ReportQuerySerializer(data=self.request.query_params.dict())
            asked.is_valid(raise_exception=True)
            if "study" in asked.validated_data:
                found = found.filter(study__slug=asked.validated_data["study"])
        return found

    @extend_schema(
        operation_id="report_build",
        summary="Build a report",
        description="Asks a worker for the report, from the run the study was made on. The answer names the request: "
        "ask for its `url` until `status` is `succeeded`, and `report_url` leads to the report, or `failed`, and "
        "`error` says why. The same inputs give the report that exists already. While people's outcomes are blinded a "
        "report on them is refused (409). Studies that you may not report, or that are not launched, are not there "
        "(404). The token has to have the scope `report`.",
        request=BuildSerializer,
        responses={202: RequestSerializer},
    )
    def create(self, request: Request) -> Response:
        """Ask a worker for a report."""
        asked = BuildSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        study = get_object_or_404(studies_to_report(request.user), slug=asked.validated_data["study"])
        require_open_answers(study=study, mode=asked.validated_data.get("mode"))
        row = request_report(study=study, mode=asked.validated_data.get("mode"), asked_by=request.user)
        told = RequestSerializer(row, context={"request": request}).data
        headers = {"Location": told["url"], "Retry-After": "5"}
        return Response(told, status=status.HTTP_202_ACCEPTED, headers=headers)

    @extend_schema(
        operation_id="report_request", summary="The state of a requested report", responses=RequestSerializer
    )
    def requested(self, request: Request, pk: int) -> Response:
        """Tell where a report stands that the researcher asked for."""
        row = get_object_or_404(requests_of(request.user).filter(kind=RequestKind.REPORT), pk=pk)
        return Response(RequestSerializer(row, context={"request": request}).data)

    @extend_schema(operation_id="report", summary="One report and its files", responses=ReportDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Tell what a report was made from, and the addresses of its files."""
        report = self.get_object()
        context = {"request": request, "files": page_of(report).files}
        return Response(ReportDetailSerializer(report, context=context).data)

    @extend_schema(
        operation_id="report_numbers",
        summary="Every number of a report",
        description="The same document as the file report.json: plan, provenance, results.",
        responses=OpenApiTypes.OBJECT,
    )
    @action(detail=True)
    def numbers(self, request: Request, pk: str) -> Response:
        """Give plan, provenance and results."""
        return Response(json.loads(report_json(self.get_object())))

    @extend_schema(
        operation_id="report_file",
        summary="A file of a report",
        description="By its name as the report lists it: `report.html`, `figures/slope.svg`, `tables/table-1.csv`, … "
        "The study package, `report.html` and `report.pdf` are made by a worker: asked for the first time, and until "
        "the file is there, the answer is 202; why a package could not be made is told for a minute (409).",
        parameters=[
            OpenApiParameter("name", str, OpenApiParameter.PATH, description="The file's name, with its folder.")
        ],
        responses={
            (200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT, description="The file."),
            (202, "application/json"): OpenApiResponse(
                OpenApiTypes.OBJECT, description="A worker is making the file: ask again in some seconds."
            ),
            **{
                (200, content_type): OpenApiResponse(OpenApiTypes.BINARY, description="The file.")
                for content_type in FILE_TYPES
            },
        },
    )
    def file(self, request: Request, pk: int, name: str) -> HttpResponse:
        """Give a file of a report."""
        report = self.get_object()
        if name == PACKAGE and report.is_pilot:
            raise NotFound("A pilot report has no study package.")
        if name == PACKAGE:
            ready = give_package(report=report, actor=request.user)
            return self._asked(report, request.user) if ready is None else self._sent(ready)
        try:
            given = ready_file(report=report, name=name, actor=request.user)
        except ParallaxError as refused:
            if refused.code == "report.no_such_file":
                raise NotFound(str(refused)) from refused
            raise
        return self._under_way("report.file_under_way", f"The file {name}") if given is None else self._sent(given)

    def _asked(self, report: Report, researcher: Any) -> Response:
        """A worker makes it: where it stands, and when to ask again."""
        asked = request_package(report=report, asked_by=researcher)
        if asked.status == RequestStatus.FAILED:
            raise ParallaxError("report.package_failed", asked.error)
        state = {"status": asked.status, "activity": asked.activity}
        return self._under_way("report.package_under_way", "The study package", **state)

    def _under_way(self, code: str, what: str, **state: str) -> Response:
        message = f"{what} is being made. Ask for the same address again in some seconds."
        told = {"code": code, "message": message, "extra": state}
        return Response(told, status=status.HTTP_202_ACCEPTED, headers={"Retry-After": "5"})

    def _sent(self, given: Given) -> HttpResponse:
        response = HttpResponse(given.content, content_type=given.content_type)
        response["Content-Disposition"] = f'attachment; filename="{given.filename}"'
        response["Cache-Control"] = "private, no-store"
        return response
