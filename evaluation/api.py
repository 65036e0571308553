"""REST API of runs, results and models that the researcher can see, as in the console."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django_filters.rest_framework import ChoiceFilter, FilterSet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.enums import Scope
from catalog.api import DATASET_LIMITS
from catalog.models import Dataset, DatasetVersion
from catalog.selectors.datasets import newest_version
from core.api import IgnoreAccept, StrictView, exactly
from core.errors import ParallaxError, ParameterError
from evaluation import exports
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun, RemoteRecommender, TrainedModel
from evaluation.permissions import may_change
from evaluation.selectors.cases import cases_of
from evaluation.selectors.models import models_by_time
from evaluation.selectors.runs import runs_by_time
from evaluation.selectors.uploads import score_uploads_of, uploads_of
from evaluation.serializers import (
    CurveTableSerializer,
    MetricTableSerializer,
    ModelSerializer,
    ProfileTableSerializer,
    RecommenderSerializer,
    RunDetailSerializer,
    RunSerializer,
    ScoresSerializer,
    ScoresStateSerializer,
    UploadSerializer,
    UploadStateSerializer,
    UserTableSerializer,
)
from evaluation.services.coverage import keyed_profiles
from evaluation.services.external_scores import CASE_ARRAYS, CASE_FILES, case_file
from evaluation.services.upload_jobs import request_scores, request_upload
from evaluation.table_formats import FORMATS, as_table, table_response
from recommenders import registry

VERSION_LIMITS = {"study": "studies", "project": "dataset__project"}
Rows = Callable[[EvaluationRun], Iterable[list[Any]]]


def _accepted(state: dict[str, Any]) -> Response:
    headers = {"Location": state["url"], "Retry-After": "5"}
    return Response(state, status=status.HTTP_202_ACCEPTED, headers=headers)


class ModelFilters(FilterSet):
    """Filters of the list of models."""

    digest = exactly("Models of these bytes.", pattern=r"^[0-9a-f]{64}$")
    dataset = exactly("Models of this dataset.", "version__dataset__name")
    algorithm = exactly("Models of this algorithm, by its key.")


class RunFilters(FilterSet):
    """Filters of the list of runs."""

    dataset = exactly("Runs on this dataset.", "version__dataset__name")
    status = ChoiceFilter(choices=RunStatus.choices, help_text="Runs in this state.")


@extend_schema(tags=["models"])
@extend_schema_view(
    list=extend_schema(operation_id="models", summary="Models, newest first"),
    retrieve=extend_schema(operation_id="model", summary="One model"),
)
class ModelViewSet(StrictView, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[TrainedModel]):
    """Trained models: recipes and digests; a study pins its models by digest."""

    serializer_class = ModelSerializer
    parser_classes = (MultiPartParser,)
    queryset = TrainedModel.objects.none()
    limits: ClassVar = {"study": "conditions__study", "project": "version__dataset__project"}
    filterset_class = ModelFilters
    write_scopes: ClassVar = {"create": Scope.UPLOAD}
    lookup_value_regex = r"[0-9]+"

    def get_queryset(self) -> QuerySet[TrainedModel]:
        """Return the visible models."""
        return self.within(models_by_time(self.request.user))

    @extend_schema(
        operation_id="model_upload",
        summary="Upload a model that was learned elsewhere",
        description="A worker checks the file and stores the model. The response is the upload: poll its `url` until "
        "`status` is `succeeded`, when `model_url` is the model, or `failed`, when `error` names everything that is "
        "wrong with the file. The token needs the scope `write` or `upload`.",
        request={"multipart/form-data": UploadSerializer},
        responses={202: UploadStateSerializer},
    )
    def create(self, request: Request) -> Response:
        """Store a file privately, and request its check from a worker."""
        body = dict(self.body(UploadSerializer))
        usable = self.within(Dataset.objects.usable_by(request.user), DATASET_LIMITS)
        dataset = get_object_or_404(usable, name=body.pop("dataset"))
        version = newest_version(dataset.name, Dataset.objects.filter(pk=dataset.pk))
        chosen = {name: body.pop(name) for name in ("kind", "file", "learned_from", "are_strangers_unseen")}
        try:
            registry.params_of(chosen["kind"], body)
        except ParameterError as problem:
            raise ValidationError({"non_field_errors": [str(problem)]}) from problem
        job = request_upload(version=version, params=body, actor=request.user, **chosen)
        return _accepted(UploadStateSerializer(job, context={"request": request}).data)

    @extend_schema(
        operation_id="model_upload_state", summary="The state of an uploaded model", responses=UploadStateSerializer
    )
    def uploaded(self, request: Request, pk: int) -> Response:
        """Return the state of a model that the researcher uploaded."""
        versions = self.within(DatasetVersion.objects.all(), VERSION_LIMITS)
        job = get_object_or_404(uploads_of(request.user).filter(subject_id__in=versions.values("pk")), pk=pk)
        return Response(UploadStateSerializer(job, context={"request": request}).data)


@extend_schema(tags=["runs"])
@extend_schema_view(
    list=extend_schema(operation_id="runs", summary="Runs, newest first"),
)
class RunViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[EvaluationRun]):
    """Runs and what they measured."""

    serializer_class = RunSerializer
    queryset = EvaluationRun.objects.none()
    limits: ClassVar = {"study": "studies", "project": "project"}
    filterset_class = RunFilters
    write_scopes: ClassVar = {"scores": Scope.UPLOAD}
    lookup_value_regex = r"[0-9]+"

    def get_queryset(self) -> QuerySet[EvaluationRun]:
        """Return the visible runs."""
        return self.within(runs_by_time(self.request.user))

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
        responses=as_table(MetricTableSerializer),
    )
    @action(detail=True, renderer_classes=FORMATS)
    def metrics(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Return the metrics."""
        return self._table(exports.metric_rows, "metrics")

    @extend_schema(
        operation_id="run_users",
        summary="The values by user as a table",
        description="One row per user of the dataset, metric, algorithm and profile length, as used by tests.",
        responses=as_table(UserTableSerializer),
    )
    @action(detail=True, renderer_classes=FORMATS)
    def users(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Return the values by user."""
        return self._table(exports.user_rows, "users")

    @extend_schema(
        operation_id="run_curves",
        summary="The curves as a table",
        description="One row per algorithm, profile length, curve and point; a run without curves has no rows.",
        responses=as_table(CurveTableSerializer),
    )
    @action(detail=True, renderer_classes=FORMATS)
    def curves(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Return the curves."""
        return self._table(exports.curve_rows, "curves")

    @extend_schema(
        operation_id="run_profiles",
        summary="The profiles of the test users, with their keys",
        description="One row per rating, at each profile length: the keys by which uploaded lists name a profile and "
        "its most frequent genre. A run with folds has none (409).",
        responses=as_table(ProfileTableSerializer),
    )
    @action(detail=True, renderer_classes=FORMATS)
    def profiles(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Return the profiles."""
        cases_of(self._finished())  # refused before the first line is sent
        return self._table(keyed_profiles, "profiles")

    @extend_schema(
        operation_id="run_cases",
        summary="The cases of a run, for other systems",
        description="A file as `export_run --cases` writes it. `profiles.inter` exists where test users are not "
        "trained on; `cases.npz` where its candidates are not too many for a download.",
        parameters=[OpenApiParameter("name", str, OpenApiParameter.PATH, enum=[*CASE_FILES])],
        responses={
            (200, "text/plain"): OpenApiTypes.STR,
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
        },
    )
    @action(detail=True, url_path="cases/(?P<name>[a-z.]+)", content_negotiation_class=IgnoreAccept)
    def cases(self, request: Request, pk: str, name: str) -> StreamingHttpResponse:
        """Return a file of the cases."""
        run = self._finished()
        try:
            pieces = case_file(run=run, name=name)
        except ParallaxError as refused:
            if refused.code == "cases.no_such_file":
                raise NotFound(str(refused)) from refused
            raise
        kind = "application/octet-stream" if name == CASE_ARRAYS else "text/plain; charset=utf-8"
        response = StreamingHttpResponse(pieces, content_type=kind)
        response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{name}"'
        return response

    @extend_schema(
        operation_id="run_scores_upload",
        summary="Upload the scores of another system for the cases of a run",
        description="A worker measures the scores and adds them to the tables of the run, marked as not servable. The "
        "response is the upload: poll its `url` until `status` is `succeeded`, when `coverage` says which cases have "
        "scores, or `failed`, when `error` names everything that is wrong with the file. For those who may cancel and "
        "resume the run; the token needs the scope `write` or `upload`.",
        request={"multipart/form-data": ScoresSerializer},
        responses={202: ScoresStateSerializer},
    )
    @action(detail=True, methods=["post"], parser_classes=[MultiPartParser])
    def scores(self, request: Request, pk: str) -> Response:
        """Store a file privately, and request its measurement from a worker."""
        run = self.get_object()
        if not may_change(request.user, run):
            raise PermissionDenied("Only those who may cancel and resume a run add scores of other systems to it.")
        job = request_scores(run=run, actor=request.user, **self.body(ScoresSerializer))
        return _accepted(ScoresStateSerializer(job, context={"request": request}).data)

    @extend_schema(
        operation_id="run_scores_state", summary="The state of uploaded scores", responses=ScoresStateSerializer
    )
    @action(detail=True, url_path="scores/(?P<job>[0-9]+)", url_name="scores-upload")
    def scores_upload(self, request: Request, pk: str, job: str) -> Response:
        """Return the state of scores that the researcher uploaded."""
        row = get_object_or_404(score_uploads_of(request.user, self.get_object()), pk=job)
        return Response(ScoresStateSerializer(row, context={"request": request}).data)

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
        remaining = iter(rows(run))
        columns = next(remaining)
        whole = chain([columns], remaining)
        return table_response(
            self.request,
            name=f"run-{run.pk}-{name}",
            head={"run": run.pk},
            types={column: exports.TYPES.get(column, "text") for column in columns},
            lines=exports.csv_lines(whole),
            records=exports.records_of(whole),
        )


@extend_schema(tags=["recommenders"])
@extend_schema_view(list=extend_schema(operation_id="recommenders", summary="Registered remote recommenders"))
class RecommenderViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[RemoteRecommender]):
    """Recommenders behind HTTP that administrators registered for all researchers."""

    serializer_class = RecommenderSerializer
    queryset = RemoteRecommender.objects.all()

    def get_queryset(self) -> QuerySet[RemoteRecommender]:
        """Return all; a token that is limited to a study or a project has none."""
        return self.within(super().get_queryset())
