"""REST API of runs and experiments, for researchers who see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, ClassVar

from django.core.files.storage import default_storage
from django.db.models import QuerySet
from django.http import FileResponse, StreamingHttpResponse
from django_filters.rest_framework import ChoiceFilter
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from accounts.enums import Scope
from catalog.api import DATASET_LIMITS, VERSION_LIMITS
from catalog.models import Dataset, DatasetVersion
from catalog.permissions import may_run
from catalog.selectors.datasets import newest_version
from core.api import IgnoreAccept, StrictView, exactly, filters
from core.errors import ParallaxError
from core.form_bodies import described
from core.problem_details import BadParameters
from evaluation import exports
from evaluation.enums import RUN_OPEN, RunStatus
from evaluation.forms.upload import CollectForm, UploadScoresForm
from evaluation.models import EvaluationRun
from evaluation.permissions import may_change
from evaluation.selectors.cases import cases_of
from evaluation.selectors.experiments import experiments_of, shipped_experiments
from evaluation.selectors.paired_tests import kinds_of_test, run_tests_of
from evaluation.selectors.runs import runs_by_time
from evaluation.serializers import (
    CurveTableSerializer,
    DatasetQuery,
    ExperimentSerializer,
    MetricTableSerializer,
    NewExperimentSerializer,
    NewRun,
    ProfileTableSerializer,
    Proposals,
    RunDetailSerializer,
    RunSerializer,
    RunTests,
    TestsQuery,
    UserTableSerializer,
)
from evaluation.services.coverage import keyed_profiles
from evaluation.services.experiment_jobs import start_experiment
from evaluation.services.external_scores import CASE_ARRAYS, CASE_FILES, case_file
from evaluation.services.run_proposals import proposals_for
from evaluation.services.runs import cancel_run, create_runs, resume_run
from evaluation.services.upload_jobs import request_collection, request_scores
from evaluation.table_formats import FORMATS, as_table, table_response
from jobs.api import RETRY_SECONDS, JobSerializer, job_response
from jobs.models import Job

Rows = Callable[[EvaluationRun], Iterable[list[Any]]]


@extend_schema_view(list=extend_schema(operation_id="runs"))
class RunViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[EvaluationRun]):
    """Runs, newest first."""

    serializer_class = RunSerializer
    queryset = EvaluationRun.objects.none()
    limits: ClassVar = {"study": "studies", "project": "project"}
    filterset_class = filters(
        dataset=exactly("Runs on this dataset.", "version__dataset__name"),
        status=ChoiceFilter(choices=RunStatus.choices, help_text="Runs in this state."),
    )
    write_scopes: ClassVar = {"scores": Scope.UPLOAD}
    parameters: ClassVar = {"proposals": DatasetQuery, "tests": TestsQuery}

    def get_queryset(self) -> QuerySet[EvaluationRun]:
        """Return the visible runs."""
        return self.within(runs_by_time(self.request.user))

    @extend_schema(operation_id="run", responses=RunDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """One run with its inputs, algorithms and progress. `Retry-After` says when to look again."""
        return self._answer(self.get_object())

    @extend_schema(operation_id="run_create", request=NewRun, responses={202: RunDetailSerializer})
    def create(self, request: Request) -> Response:
        """Start a run. Poll its address until `status` is `succeeded`, `failed` or `cancelled`. Of several repetitions,
        the response is the first.
        """
        body = self.document(NewRun)
        version = newest_version(body.dataset, self._usable())
        run = create_runs(version=version, spec=body.spec(), owner=request.user, repeats=body.repeats)
        return self._answer(run, status.HTTP_202_ACCEPTED)

    @extend_schema(operation_id="run_cancel", request=None, responses=RunDetailSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancel a run. Finished parts are kept for resuming it. A run that is over is refused (409)."""
        return self._answer(cancel_run(run=self._changeable(), actor=request.user))

    @extend_schema(operation_id="run_resume", request=None, responses={202: RunDetailSerializer})
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Resume a stopped run. Finished parts are kept."""
        return self._answer(resume_run(run=self._changeable(), actor=request.user), status.HTTP_202_ACCEPTED)

    @extend_schema(operation_id="run_proposals", parameters=[DatasetQuery], responses=Proposals)
    @action(detail=False, pagination_class=None, filterset_class=None)
    def proposals(self, request: Request) -> Response:
        """Settings of runs that fit a dataset. Those of the form of a new run; `spec` with the name of the dataset is
        the body that starts the run.
        """
        proposals = proposals_for(newest_version(self.query["dataset"], self._usable()))
        return Response(Proposals(proposals=proposals).model_dump(mode="json"))

    def _answer(self, run: EvaluationRun, code: int = status.HTTP_200_OK) -> Response:
        """A run; one that is not over with the time until another look is worth it."""
        headers = {"Retry-After": str(RETRY_SECONDS)} if run.status in RUN_OPEN else {}
        if code == status.HTTP_202_ACCEPTED:
            headers["Location"] = reverse("api:runs-detail", kwargs={"pk": run.pk}, request=self.request)
        return Response(RunDetailSerializer(run).data, status=code, headers=headers)

    def _usable(self) -> QuerySet[Dataset]:
        return self.within(Dataset.objects.usable_by(self.request.user), DATASET_LIMITS)

    @extend_schema(operation_id="run_results", responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def results(self, request: Request, pk: str) -> Response:
        """Every number of a run with the hashes of its inputs. The same document as in the console: algorithms with
        params, model hashes, every metric at every list length, exclusions.
        """
        return Response(exports.run_document(self._finished()))

    @extend_schema(operation_id="run_metrics", responses=as_table(MetricTableSerializer))
    @action(detail=True, renderer_classes=FORMATS)
    def metrics(self, request: Request, pk: str) -> StreamingHttpResponse:
        """The metrics as a table. One row per algorithm, profile length, metric and list length."""
        return self._table(exports.metric_rows, "metrics")

    @extend_schema(operation_id="run_users", responses=as_table(UserTableSerializer))
    @action(detail=True, renderer_classes=FORMATS)
    def users(self, request: Request, pk: str) -> StreamingHttpResponse:
        """The values by user as a table. One row per user of the dataset, metric, algorithm and profile length, as used
        by tests.
        """
        return self._table(exports.user_rows, "users")

    @extend_schema(operation_id="run_curves", responses=as_table(CurveTableSerializer))
    @action(detail=True, renderer_classes=FORMATS)
    def curves(self, request: Request, pk: str) -> StreamingHttpResponse:
        """The curves as a table. One row per algorithm, profile length, curve and point; a run without curves has no
        rows.
        """
        return self._table(exports.curve_rows, "curves")

    @extend_schema(operation_id="run_profiles", responses=as_table(ProfileTableSerializer))
    @action(detail=True, renderer_classes=FORMATS)
    def profiles(self, request: Request, pk: str) -> StreamingHttpResponse:
        """The profiles of the test users, with their keys. One row per rating, at each profile length: the keys by
        which uploaded lists name a profile and its most frequent genre. A run with folds has none (409).
        """
        cases_of(self._finished())  # refused before the first line is sent
        return self._table(keyed_profiles, "profiles")

    @extend_schema(
        operation_id="run_cases",
        parameters=[OpenApiParameter("name", str, OpenApiParameter.PATH, enum=[*CASE_FILES])],
        responses={(200, "text/plain"): OpenApiTypes.STR, (200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    @action(detail=True, url_path="cases/(?P<name>[a-z.]+)", content_negotiation_class=IgnoreAccept)
    def cases(self, request: Request, pk: str, name: str) -> StreamingHttpResponse:
        """The cases of a run, for other systems. A file as `export_run --cases` writes it. `profiles.inter` exists
        where test users are not trained on; `cases.npz` where its candidates are not too many for a download.
        """
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
        request={"multipart/form-data": described(UploadScoresForm, "ScoresSerializer")},
        responses={202: JobSerializer},
    )
    @action(detail=True, methods=["post"], parser_classes=[MultiPartParser])
    def scores(self, request: Request, pk: str) -> Response:
        """Upload the scores of another system for the cases of a run. A worker measures the scores and adds them to the
        tables of the run, marked as not servable. Of the job that succeeded, `coverage` in `result` says which cases
        have scores; of one that failed, `error` names everything that is wrong with the file. For those who may cancel
        and resume the run; the token needs the scope `write` or `upload`.
        """
        run = self._changeable()
        return job_response(
            request, request_scores(run=run, actor=request.user, **self.form(UploadScoresForm).cleaned_data)
        )

    @extend_schema(
        operation_id="run_lists_collect",
        request=described(CollectForm, "CollectSerializer"),
        responses={202: JobSerializer},
    )
    @action(detail=True, methods=["post"])
    def lists(self, request: Request, pk: str) -> Response:
        """Collect the lists of a remote recommender for the test profiles of a run. A worker asks for the lists and
        stores them as a model. Those of a job that stopped are not asked for again. For those who may start runs on the
        dataset.
        """
        run = self._finished()
        if not may_run(request.user, run.version):
            raise PermissionDenied("Lists are collected by those who may start runs on the dataset.")
        cases_of(run)  # a run with folds has none
        form = self.form(lambda data, _files: CollectForm(data))
        return job_response(request, request_collection(run=run, actor=request.user, **form.cleaned_data))

    @extend_schema(operation_id="run_tests", parameters=[TestsQuery], responses=RunTests)
    @action(detail=True)
    def tests(self, request: Request, pk: str) -> Response:
        """Paired tests of the algorithms of a run. For every metric with values by user, at whole profiles; best
        algorithm first.
        """
        run, test = self._finished(), self.query["test"]
        if test not in (kinds := kinds_of_test(run)):
            raise BadParameters({"test": [f"Of this run: write {' or '.join(kinds)}."]})
        return Response(RunTests(metrics=run_tests_of(run, **self.query)).model_dump(mode="json"))

    def _changeable(self) -> EvaluationRun:
        run = self.get_object()
        if not may_change(self.request.user, run):
            raise PermissionDenied(
                "A run is cancelled, resumed and given scores of other systems by its owner and the administrators, or "
                "by the owners and members of its project."
            )
        return run

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


def scores_made(job: Job) -> str:
    """The address of the tables to which a job added scores."""
    return reverse("api:runs-metrics", kwargs={"pk": job.subject_id})


class ExperimentViewSet(StrictView, viewsets.GenericViewSet[Job]):
    """Experiments of publications, which can be run on a dataset."""

    serializer_class = ExperimentSerializer
    queryset = Job.objects.none()
    pagination_class = None

    def get_queryset(self) -> QuerySet[Job]:
        """Return the experiments on the datasets that the researcher sees."""
        return experiments_of(self.request.user).about(self.within(DatasetVersion.objects.all(), VERSION_LIMITS))

    @extend_schema(operation_id="experiments", responses=ExperimentSerializer(many=True))
    def list(self, request: Request) -> Response:
        """The experiments that come with Parallax."""
        return Response(ExperimentSerializer(shipped_experiments(), many=True).data)

    @extend_schema(operation_id="experiment_start", request=NewExperimentSerializer, responses={202: JobSerializer})
    def create(self, request: Request) -> Response:
        """Run an experiment on a dataset. Its runs are started, or reused. Of the job that succeeded, `result` has the
        verdicts, and `made_url` is the outcome. An experiment that you run on this dataset is not started again.
        """
        body = self.body(NewExperimentSerializer)
        version = newest_version(body["dataset"], self.within(Dataset.objects.usable_by(request.user), DATASET_LIMITS))
        return job_response(request, start_experiment(key=body["experiment"], version=version, actor=request.user))

    @extend_schema(operation_id="experiment_outcome", responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @action(detail=True, content_negotiation_class=IgnoreAccept)
    def outcome(self, request: Request, pk: str) -> FileResponse:
        """The outcome of an experiment: tables, figures and verdicts as a ZIP archive."""
        job = self.get_object()
        if not job.file:
            raise ParallaxError("experiment.not_written", "The outcome of this experiment is not written yet.")
        name = f"{job.payload['experiment']}-outcome-{job.pk}.zip"
        return FileResponse(default_storage.open(job.file), as_attachment=True, filename=name)


def outcome_made(job: Job) -> str:
    """The address of the outcome that a job wrote."""
    return reverse("api:experiments-outcome", kwargs={"pk": job.pk})
