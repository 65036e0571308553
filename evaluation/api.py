"""REST API of runs, results and models that the researcher can see, as in the console."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.enums import Scope
from catalog.models import Dataset
from catalog.selectors.datasets import newest_version
from core.api import StrictView
from core.errors import ParallaxError, ParameterError
from evaluation import exports
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.selectors.models import models_by_time
from evaluation.selectors.runs import runs_by_time
from evaluation.selectors.uploads import uploads_of
from evaluation.serializers import (
    CsvRenderer,
    CurveTableSerializer,
    MetricTableSerializer,
    ModelQuerySerializer,
    ModelSerializer,
    RunDetailSerializer,
    RunQuerySerializer,
    RunSerializer,
    UploadSerializer,
    UploadStateSerializer,
    UserTableSerializer,
)
from evaluation.services.model_uploads import request_upload
from recommenders import registry

Rows = Callable[[EvaluationRun], Iterable[list[Any]]]


def _as_table(serializer: Any) -> dict[Any, Any]:
    return {(200, "application/json"): serializer, (200, "text/csv"): OpenApiTypes.STR}


@extend_schema(tags=["models"])
@extend_schema_view(
    list=extend_schema(operation_id="models", summary="Models, newest first"),
    retrieve=extend_schema(operation_id="model", summary="One model"),
)
class ModelViewSet(StrictView, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[TrainedModel]):
    """Trained models: recipes and digests; a study pins its models by digest."""

    serializer_class = ModelSerializer
    parser_classes = (MultiPartParser,)
    parameters: ClassVar = {"list": ModelQuerySerializer}
    write_scopes: ClassVar = {"create": Scope.UPLOAD}
    lookup_value_regex = r"[0-9]+"

    def get_queryset(self) -> QuerySet[TrainedModel]:
        """Return the visible models, or those of the query."""
        return models_by_time(self.request.user).filter(**self.query)

    @extend_schema(
        operation_id="model_upload",
        summary="Upload a model that was learned elsewhere",
        description="A worker checks the file and stores the model. The response is the upload: poll its `url` until "
        "`status` is `succeeded`, when `model_url` is the model, or `failed`, when `error` names everything that is "
        "wrong with the file. The token needs the scope `upload`.",
        request={"multipart/form-data": UploadSerializer},
        responses={202: UploadStateSerializer},
    )
    def create(self, request: Request) -> Response:
        """Store a file privately, and request its check from a worker."""
        body = dict(self.body(UploadSerializer))
        dataset = get_object_or_404(Dataset.objects.usable_by(request.user), name=body.pop("dataset"))
        version = newest_version(dataset.name, Dataset.objects.filter(pk=dataset.pk))
        chosen = {name: body.pop(name) for name in ("kind", "file", "learned_from", "are_strangers_unseen")}
        try:
            registry.params_of(chosen["kind"], body)
        except ParameterError as problem:
            raise ValidationError({"non_field_errors": [str(problem)]}) from problem
        job = request_upload(version=version, params=body, actor=request.user, **chosen)
        state = UploadStateSerializer(job, context={"request": request}).data
        headers = {"Location": state["url"], "Retry-After": "5"}
        return Response(state, status=status.HTTP_202_ACCEPTED, headers=headers)

    @extend_schema(
        operation_id="model_upload_state", summary="The state of an uploaded model", responses=UploadStateSerializer
    )
    def uploaded(self, request: Request, pk: int) -> Response:
        """Return the state of a model that the researcher uploaded."""
        job = get_object_or_404(uploads_of(request.user), pk=pk)
        return Response(UploadStateSerializer(job, context={"request": request}).data)


@extend_schema(tags=["runs"])
@extend_schema_view(
    list=extend_schema(operation_id="runs", summary="Runs, newest first"),
)
class RunViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[EvaluationRun]):
    """Runs and what they measured."""

    serializer_class = RunSerializer
    parameters: ClassVar = {"list": RunQuerySerializer}
    lookup_value_regex = r"[0-9]+"

    def get_queryset(self) -> QuerySet[EvaluationRun]:
        """Return the visible runs, or those of the query."""
        return runs_by_time(self.request.user).filter(**self.query)

    @extend_schema(
        operation_id="run", summary="One run with its algorithms and progress", responses=RunDetailSerializer
    )
    def retrieve(self, request: Request, pk: str) -> Response:
        """Return the inputs and progress of a run."""
        return Response(RunDetailSerializer(self.get_object()).data)

    @extend_schema(
        operation_id="run_results",
        summary="Every number of a run with the hashes of its inputs",
        description="The same document as in the console: algorithms with params, model hashes, every metric at "
        "every list length, exclusions.",
        responses=OpenApiTypes.OBJECT,
    )
    @action(detail=True)
    def results(self, request: Request, pk: str) -> Response:
        """Return the run as one document."""
        return Response(exports.run_document(self._finished()))

    @extend_schema(
        operation_id="run_metrics",
        summary="The metrics as a table",
        description="One row per algorithm, profile length, metric and list length.",
        responses=_as_table(MetricTableSerializer),
    )
    @action(detail=True, renderer_classes=[JSONRenderer, CsvRenderer])
    def metrics(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Return the metrics."""
        return self._table(exports.metric_rows, "metrics")

    @extend_schema(
        operation_id="run_users",
        summary="The values by user as a table",
        description="One row per user of the dataset, metric, algorithm and profile length, as used by tests.",
        responses=_as_table(UserTableSerializer),
    )
    @action(detail=True, renderer_classes=[JSONRenderer, CsvRenderer])
    def users(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Return the values by user."""
        return self._table(exports.user_rows, "users")

    @extend_schema(
        operation_id="run_curves",
        summary="The curves as a table",
        description="One row per algorithm, profile length, curve and point; a run without curves has no rows.",
        responses=_as_table(CurveTableSerializer),
    )
    @action(detail=True, renderer_classes=[JSONRenderer, CsvRenderer])
    def curves(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Return the curves."""
        return self._table(exports.curve_rows, "curves")

    def _finished(self) -> EvaluationRun:
        run = self.get_object()
        if run.status != RunStatus.SUCCEEDED:
            raise ParallaxError(
                "run.no_results",
                f"Run {run.pk} is {run.get_status_display().lower()} and has no results.",
                {"status": run.status},
            )
        return run

    def _table(self, rows: Rows, name: str) -> StreamingHttpResponse:
        run = self._finished()
        if isinstance(self.request.accepted_renderer, CsvRenderer):
            response = StreamingHttpResponse(exports.csv_lines(rows(run)), content_type="text/csv; charset=utf-8")
            response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{name}.csv"'
            return response
        texts = exports.record_texts({"run": run.pk}, "rows", exports.records_of(rows(run)))
        return StreamingHttpResponse(texts, content_type="application/json")
