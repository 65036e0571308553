"""REST API endpoints for uploads and datasets, those that the researcher can see."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import QueryDict
from django.shortcuts import get_object_or_404
from django.utils.datastructures import MultiValueDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.parsers import FileUploadParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.settings import api_settings

from accounts.models import WRITERS, Project
from catalog.forms.import_steps import CheckForm, ColumnsForm, RatingsForm
from catalog.forms.metadata import MetadataForm
from catalog.forms.subset import SubsetForm
from catalog.forms.upload import DownloadForm, UploadForm
from catalog.importers.proposal import of_json
from catalog.models import Dataset, DatasetVersion, Item, Upload
from catalog.permissions import NAME_TAKEN, may_add_version, may_retire, may_use_name
from catalog.selectors.attributes import attribute_kinds
from catalog.selectors.dataset_jobs import has_choices, jobs_of
from catalog.selectors.datasets import datasets_with_versions, may_change, versions_shown_to
from catalog.selectors.ratings import rated_between
from catalog.serializers import (
    ChoicesSerializer,
    DatasetSerializer,
    ItemSerializer,
    NewDatasetSerializer,
    NewUploadSerializer,
    UploadSerializer,
    VersionChangesSerializer,
    VersionDetailSerializer,
)
from catalog.services import change_item_language, change_item_type, retire_version
from catalog.services.dataset_jobs import (
    change_import,
    prepare_import,
    request_download,
    request_metadata,
    request_subset,
    start_import,
)
from catalog.services.previews import ImportPreview, preview_of
from catalog.services.resumable_uploads import append_piece, begin_upload, delete_uploads, opened_upload
from catalog.services.subset import is_counted_at_once, subset_counts
from core.api import StrictView, created
from core.errors import NotAllowedInState, ParameterError
from core.form_bodies import described, filled
from core.problem_details import BadHeaders, unknown
from jobs.api import JobSerializer, job_response
from jobs.models import Job
from jobs.services import cancel

DATASET_LIMITS = {"study": "versions__studies", "project": "project"}
VERSION_LIMITS = {"study": "studies", "project": "dataset__project"}
NAME = OpenApiParameter("name", str, OpenApiParameter.PATH, description="Name of the dataset.")
NUMBER = OpenApiParameter("number", int, OpenApiParameter.PATH, description="Number of the version.")
NOT_CHANGED = "The dataset is changed by its owner and staff, or by the owners and members of its project."
OFFSET = "Upload-Offset"


class BytesParser(FileUploadParser):
    """Any bytes, as the file of a form without fields."""

    media_type = "application/octet-stream"

    def get_filename(self, stream: Any, media_type: Any, parser_context: Any) -> str:
        """Return a name, which the request does not state."""
        return "bytes"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Return the bytes in the form in which files are compared for an `Idempotency-Key`."""
        parsed = super().parse(stream, media_type, parser_context)
        parsed.data = QueryDict()  # type: ignore[assignment]
        return parsed


@extend_schema_view(list=extend_schema(operation_id="uploads"))
class UploadViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[Upload]):
    """Your uploads, newest first. Files are sent in pieces, and deleted a day after the last if not imported."""

    serializer_class = UploadSerializer
    queryset = Upload.objects.none()

    def get_queryset(self) -> QuerySet[Upload]:
        """Return the researcher's own uploads."""
        return Upload.objects.filter(owner_id=self.request.user.pk)

    @extend_schema(operation_id="upload_create", request=NewUploadSerializer, responses={201: UploadSerializer})
    def create(self, request: Request) -> Response:
        """Begin or continue an upload. If your upload of this name, size and digest is there, it is returned: continue
        from its `offset`. Of another size or digest it is refused (409).
        """
        upload = begin_upload(actor=request.user, **self.body(NewUploadSerializer))
        data: Any = self._answer(upload).data
        return created(data, data["url"])

    @extend_schema(operation_id="upload", responses=UploadSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """One upload. The number of its bytes that are there is also in the header `Upload-Offset` (for HEAD)."""
        return self._answer(self.get_object())

    @extend_schema(
        operation_id="upload_append",
        parameters=[OpenApiParameter(OFFSET, int, OpenApiParameter.HEADER, required=True)],
        request={BytesParser.media_type: OpenApiTypes.BINARY},
        responses=UploadSerializer,
    )
    def append(self, request: Request, pk: str) -> Response:
        """Send the next bytes of an upload. Pieces of any size, in order. With another offset than the number of bytes
        that are there, they are refused (409, with the right `offset` in `extra`). If the digest of the whole differs
        from the stated one, all bytes are deleted (409).
        """
        offset = request.headers.get(OFFSET, "")
        if not (offset.isascii() and offset.isdigit()):
            raise BadHeaders({OFFSET: ["Write the number of bytes that are there."]})
        upload = self.get_object()
        piece = request.FILES.get("file")
        if piece is None:
            raise ValidationError({api_settings.NON_FIELD_ERRORS_KEY: ["Send bytes."]})
        return self._answer(append_piece(upload=upload, offset=int(offset), piece=piece))

    @extend_schema(operation_id="upload_delete", responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Delete an upload with its bytes."""
        delete_uploads([self.get_object()])
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _answer(self, upload: Upload) -> Response:
        return Response(self.get_serializer(upload).data, headers={OFFSET: str(upload.offset)})


def _columns_form(job: Job, preview: ImportPreview, roles: Mapping[str, Any]) -> tuple[ColumnsForm, dict[str, Any]]:
    """The form of the columns with stated roles, and what is wrong with them by its place."""
    blank = ColumnsForm(job=job, preview=preview)
    data = {field.name: field.initial for field in blank.writing}
    pointers: dict[str, str] = {}
    problems: dict[str, Any] = {}
    files = [table.part.files[0] for table in preview.tables]
    for file, fields in zip(files, blank.columns, strict=True):
        stated = roles.get(file, {})
        data |= {name: stated.get(column.name, column.role) for name, column in fields}
        pointers |= {name: f"roles/{file}/{column.name}" for name, column in fields}
        wrong = unknown(stated, [column.name for _, column in fields], "column")
        problems |= {f"roles/{file}/{name}": texts for name, texts in wrong.items()}
    problems |= {f"roles/{name}": texts for name, texts in unknown(roles, files, "file").items()}
    form = ColumnsForm(data, job=job, preview=preview)
    problems |= {pointers.get(name, "roles"): [*texts] for name, texts in form.errors.items()}
    return form, problems


@extend_schema_view(
    list=extend_schema(operation_id="datasets"),
    retrieve=extend_schema(operation_id="dataset", summary="One dataset with its versions"),
)
class DatasetViewSet(StrictView, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Dataset]):
    """Datasets with their versions, by name, without the ratings themselves."""

    serializer_class = DatasetSerializer
    limits = DATASET_LIMITS
    lookup_field = "name"
    lookup_value_regex = r"[-a-zA-Z0-9_]+"
    ordering = "name"

    def get_queryset(self) -> QuerySet[Dataset]:
        """Return the visible datasets."""
        return self.within(datasets_with_versions(self.request.user))

    @extend_schema(operation_id="dataset_create", request=NewDatasetSerializer, responses={202: JobSerializer})
    def create(self, request: Request) -> Response:
        """Import uploads as a dataset. Of the job that succeeded, `made_url` is the version. Columns are used as they
        were detected where that is certain or likely; else the job is `waiting`, and its `result` names all that is to
        be chosen, and the address that takes it. A job that failed says in `result` which kinds of rows have problems;
        the same address takes what to `fix`.
        """
        chosen = dict(self.body(NewDatasetSerializer))
        own = Upload.objects.filter(owner_id=request.user.pk).in_bulk(chosen["uploads"])
        lacking = [pk for pk in chosen["uploads"] if pk not in own or not own[pk].is_complete]
        problems: dict[str, Any] = {"uploads": [f"There is no complete upload {pk} of yours." for pk in lacking]}
        recipe = None
        try:
            recipe = of_json(chosen["recipe"]) if chosen.get("recipe") else None
        except ParameterError as problem:
            problems["recipe"] = [str(problem)]
        with ExitStack() as stack:
            files = [] if lacking else [stack.enter_context(opened_upload(upload)) for upload in own.values()]
            form = UploadForm({}, MultiValueDict({"uploads": files}), has_paths=False)
            problems["uploads"] = problems["uploads"] or form.errors.get("uploads", [])
            if problems := {name: [*texts] for name, texts in problems.items() if texts}:
                raise ValidationError(problems)
            job = prepare_import(actor=request.user, uploads=files, recipe=recipe)
        try:
            response = self._chosen(job, chosen)
        except BaseException:
            cancel(job, actor=request.user)
            raise
        delete_uploads([*own.values()])
        return response

    @extend_schema(
        operation_id="dataset_download",
        request=described(DownloadForm, "DownloadSerializer"),
        responses={202: JobSerializer},
    )
    @action(detail=False, methods=["post"])
    def downloads(self, request: Request) -> Response:
        """Download a MovieLens dataset and import it. `accepted` states that you accept its terms of use. It is public
        on this installation.
        """
        name = self.form(lambda data, _files: DownloadForm(data)).cleaned_data["set"]
        if getattr(request.auth, "only_type", None) is not None:
            raise PermissionDenied("The dataset would be public, which this token is limited against.")
        if not may_use_name(request.user, name):
            raise ValidationError({"set": [f"A dataset of another account or project is called {name}."]})
        return job_response(request, request_download(name=name, actor=request.user))

    @extend_schema(
        operation_id="dataset_import_choose",
        parameters=[OpenApiParameter("job", int, OpenApiParameter.PATH, description="Its id.")],
        request=ChoicesSerializer,
        responses={202: JobSerializer},
    )
    @action(detail=False, methods=["post"], url_path="imports/(?P<job>[0-9]+)")
    def imports(self, request: Request, job: str) -> Response:
        """Choose what an import left open. For an import that waits, or failed. What is left out stays as it was."""
        own = jobs_of(request.user).filter(owner_id=request.user.pk, kind="import")
        if getattr(request.auth, "only_type", None) is not None:
            own = own.about(self.within(Project.objects.all(), {"project": "pk"}))  # type: ignore[attr-defined]
        row = get_object_or_404(own, pk=job)
        if not has_choices(row):
            raise NotAllowedInState("import.not_waiting", f"Import {row.pk} is {row.get_status_display().lower()}.")
        return self._chosen(row, self.body(ChoicesSerializer))

    def _chosen(self, job: Job, chosen: Mapping[str, Any]) -> Response:
        """Take choices, and enqueue the import, or answer with what is left to choose. Raises ValidationError with
        every fault of what was chosen.
        """
        job.subject = self._project(job, chosen)
        columns, problems = _columns_form(job, preview_of(job), chosen.get("roles", {}))
        facts = {name: chosen[name] for name in ("name", "title", "item_type") if name in chosen}
        try:
            check = filled(lambda data, files: CheckForm(data, files, job=job, preview=columns.preview), facts)
            if not may_use_name(self.request.user, check.cleaned_data["name"]):
                problems["name"] = [NAME_TAKEN]
        except ValidationError as refused:
            problems |= {**refused.detail}  # type: ignore[dict-item]  # by field
        is_sure = all(column.confidence != "possible" for fields in columns.columns for _, column in fields)
        is_open = "roles" not in chosen and ("roles" in problems or not (is_sure or "step" in job.payload))
        about_columns = problems.pop("roles", ["Confirm the roles of the columns."]) if is_open else []
        if problems:
            raise ValidationError(problems)
        settings = {name: check.cleaned_data[name] for name in ("name", "title", "item_type")}
        settings |= {name: chosen[name] for name in ("fix", "duplicates") if name in chosen}
        change_import(job=job, **settings, **({} if is_open else {**columns.changes(), "step": "ratings"}))
        preview = preview_of(job)
        if "answers" in chosen:
            try:
                answers = filled(lambda data, _files: RatingsForm(data, job=job, preview=preview), chosen["answers"])
            except ValidationError as refused:
                raise ValidationError({"answers": refused.detail}) from refused
            change_import(job=job, **answers.changes())
            preview = preview_of(job)
        if is_open or preview.questions:
            return self._waiting(job, preview, about_columns)
        start_import(job=job, chosen=settings, actor=self.request.user, project=job.subject)
        return job_response(self.request, job)

    def _project(self, job: Job, chosen: Mapping[str, Any]) -> Project | None:
        """The project that a new dataset will belong to."""
        name, is_limited = chosen.get("project"), getattr(self.request.auth, "only_type", None) is not None
        if name is None and (job.subject or not is_limited):
            project: Project | None = job.subject
            return project
        own = list(self.within(Project.objects.of(self.request.user, WRITERS), {"project": "pk"}).filter(name=name)[:2])
        if len(own) != 1:
            kind = "the project that this token is limited to" if is_limited else "one project that you write in"
            raise ValidationError({"project": [f"Write the name of {kind}."]})
        return own[0]

    def _waiting(self, job: Job, preview: ImportPreview, columns: list[str]) -> Response:
        """The job that waits, with all that is left to choose."""
        address = reverse("api:datasets-imports", kwargs={"job": job.pk}, request=self.request)
        detected = {
            part.files[0]: {column.name: column.role for column in part.columns} for part in preview.proposal.parts
        }
        about_columns = {"columns": {"problems": columns, "detected": detected}} if columns else {}
        questions = [
            {
                "answer": f"answer_{each.about}",
                "text": each.text,
                "values": {value: label for label, value in each.answers},
            }
            for each in preview.questions
        ]
        job.result = {"choices_url": address, **about_columns, "questions": questions}
        job.save(update_fields=["result", "subject_type", "subject_id", "updated_at"])
        return job_response(self.request, job)


@extend_schema(parameters=[NAME])
@extend_schema_view(retrieve=extend_schema(operation_id="dataset_version", summary="One version, with its import"))
class VersionViewSet(StrictView, mixins.RetrieveModelMixin, viewsets.GenericViewSet[DatasetVersion]):
    """One version of a dataset, and new versions that are made of it."""

    serializer_class = VersionDetailSerializer
    queryset = DatasetVersion.objects.none()
    limits = VERSION_LIMITS
    lookup_field = "number"

    def get_queryset(self) -> QuerySet[DatasetVersion]:
        """Return the visible versions of the dataset."""
        return self.within(versions_shown_to(self.request.user)).filter(dataset__name=self.kwargs["name"])

    @extend_schema(
        operation_id="dataset_version_change", request=VersionChangesSerializer, responses=VersionDetailSerializer
    )
    def partial_update(self, request: Request, name: str, number: str) -> Response:
        """Correct the item type and language, or retire a version."""
        version, changes = self.get_object(), self.body(VersionChangesSerializer)
        if not may_change(request.user, version.dataset) or (
            "is_retired" in changes and version.retired_at is None and not may_retire(request.user, version)
        ):
            raise PermissionDenied(NOT_CHANGED)
        if "item_type" in changes:
            change_item_type(dataset=version.dataset, item_type=changes["item_type"], actor=request.user)
        if "item_language" in changes:
            change_item_language(dataset=version.dataset, language=changes["item_language"], actor=request.user)
        if "is_retired" in changes:
            retire_version(version=version, actor=request.user)
        return self.retrieve(request, name, number)

    @extend_schema(
        operation_id="dataset_metadata_add",
        request={"multipart/form-data": described(MetadataForm, "MetadataSerializer")},
        responses={202: JobSerializer},
    )
    @action(detail=True, methods=["post"], parser_classes=[MultiPartParser])
    def metadata(self, request: Request, name: str, number: str) -> Response:
        """Add item metadata, pictures and clips. Of the job that succeeded, `made_url` is the next version."""
        version = self._extensible()
        chosen = self.form(MetadataForm).cleaned_data
        files = {"facts": chosen["file"], "media": chosen["item_files"], "on_bad_row": chosen["on_bad_row"]}
        return job_response(request, request_metadata(version=version, actor=request.user, **files))

    @extend_schema(
        operation_id="dataset_subset_create",
        request=described(SubsetForm, "SubsetSerializer"),
        responses={202: JobSerializer},
    )
    @action(detail=True, methods=["post"])
    def subsets(self, request: Request, name: str, number: str) -> Response:
        """Make a subset of a version. Of the job that succeeded, `made_url` is the next version. A subset that leaves
        nothing is refused (409).
        """
        version = self._extensible()
        offered: dict[str, Any] = {"kinds": attribute_kinds(version), "rated_between": rated_between(version)}
        recipe = self.form(lambda data, _files: SubsetForm(data, **offered)).cleaned_data["recipe"]
        if is_counted_at_once(version):
            subset_counts(version=version, recipe=recipe)
        return job_response(request, request_subset(version=version, recipe=recipe, actor=request.user))

    def _extensible(self) -> DatasetVersion:
        version = self.get_object()
        if not may_add_version(self.request.user, version):
            raise PermissionDenied(f"{NOT_CHANGED} A retired version is not changed.")
        return version


@extend_schema(parameters=[NAME, NUMBER])
@extend_schema_view(list=extend_schema(operation_id="dataset_items"))
class ItemViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[Item]):
    """The items of a version, in its order."""

    serializer_class = ItemSerializer
    queryset = Item.objects.none()
    limits: ClassVar = {kind: f"version__{lookup}" for kind, lookup in VERSION_LIMITS.items()}
    ordering = "index"

    def get_queryset(self) -> QuerySet[Item]:
        """Return the items of a visible version."""
        versions = versions_shown_to(self.request.user).filter(dataset__name=self.kwargs["name"])
        return self.within(Item.objects.filter(version__in=versions, version__number=self.kwargs["number"]))


def version_made(job: Job) -> str:
    """The address of the version that a job made."""
    version = DatasetVersion.objects.select_related("dataset").get(pk=job.result["version"])
    return reverse("api:versions-detail", kwargs={"name": version.dataset.name, "number": version.number})
