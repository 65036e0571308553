"""REST API endpoints for datasets, those that the researcher can see."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils.datastructures import MultiValueDict
from django_filters.rest_framework import CharFilter, FilterSet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from catalog.api.imports import ImportView
from catalog.forms.metadata import MetadataForm
from catalog.forms.subset import SubsetForm
from catalog.forms.upload import DownloadForm, UploadForm
from catalog.importers.proposal import of_json
from catalog.models import Dataset, DatasetVersion, Item, Upload
from catalog.permissions import may_add_version, may_retire, may_use_name
from catalog.selectors.attributes import attribute_kinds
from catalog.selectors.datasets import datasets_with_versions, may_change, versions_shown_to
from catalog.selectors.ratings import rated_between
from catalog.serializers import (
    DatasetSerializer,
    ItemSerializer,
    NewDatasetSerializer,
    VersionChangesSerializer,
    VersionDetailSerializer,
)
from catalog.services import change_item_language, change_item_type, retire_version
from catalog.services.dataset_jobs import (
    prepare_import,
    request_download,
    request_metadata,
    request_subset,
)
from catalog.services.resumable_uploads import delete_uploads, opened_upload
from catalog.services.subset import is_counted_at_once, subset_counts
from core.api import StrictView
from core.errors import ParameterError
from core.form_bodies import described
from jobs.api import JobSerializer, accepted
from jobs.models import Job
from jobs.services import cancel

DATASET_LIMITS = {"study": "versions__studies", "project": "project"}
VERSION_LIMITS = {"study": "studies", "project": "dataset__project"}
NAME = OpenApiParameter("name", str, OpenApiParameter.PATH, description="Name of the dataset.")
NUMBER = OpenApiParameter("number", int, OpenApiParameter.PATH, description="Number of the version.")
NOT_CHANGED = "The dataset is changed by its owner and staff, or by the owners and members of its project."


@extend_schema(tags=["datasets"])
@extend_schema_view(
    list=extend_schema(operation_id="datasets", summary="Datasets with their versions, by name"),
    retrieve=extend_schema(operation_id="dataset", summary="One dataset with its versions"),
)
class DatasetViewSet(ImportView, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Dataset]):
    """Datasets and their versions, without the ratings themselves."""

    serializer_class = DatasetSerializer
    limits = DATASET_LIMITS
    lookup_field = "name"
    lookup_value_regex = r"[-a-zA-Z0-9_]+"
    ordering = "name"

    def get_queryset(self) -> QuerySet[Dataset]:
        """Return the visible datasets."""
        return self.within(datasets_with_versions(self.request.user))

    @extend_schema(
        operation_id="dataset_create",
        summary="Import uploads as a dataset",
        description="Of the job that succeeded, `made_url` is the version. The columns are used as they were detected "
        "where that is certain or likely; else the job is `waiting`, and its `result` names all that is to be chosen, "
        "and the address that takes it. A job that failed says in `result` which kinds of rows have problems; the same "
        "address takes what to `fix`.",
        request=NewDatasetSerializer,
        responses={202: JobSerializer},
    )
    def create(self, request: Request) -> Response:
        """Import uploads, or prepare their import."""
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
            response = self.chosen(job, chosen)
        except BaseException:
            cancel(job, actor=request.user)
            raise
        delete_uploads([*own.values()])
        return response

    @extend_schema(
        operation_id="dataset_download",
        summary="Download a MovieLens dataset and import it",
        description="`accepted` states that you accept its terms of use. It is public on this installation.",
        request=described(DownloadForm, "DownloadSerializer"),
        responses={202: JobSerializer},
    )
    @action(detail=False, methods=["post"])
    def downloads(self, request: Request) -> Response:
        """Request the download from a worker."""
        name = self.form(lambda data, _files: DownloadForm(data)).cleaned_data["set"]
        if getattr(request.auth, "only_type", None) is not None:
            raise PermissionDenied("The dataset would be public, which this token is limited against.")
        if not may_use_name(request.user, name):
            raise ValidationError({"set": [f"A dataset of another account or project is called {name}."]})
        return accepted(request, request_download(name=name, actor=request.user))


@extend_schema(tags=["datasets"], parameters=[NAME])
class VersionViewSet(StrictView, viewsets.GenericViewSet[DatasetVersion]):
    """One version of a dataset, and new versions that are made of it."""

    serializer_class = VersionDetailSerializer
    queryset = DatasetVersion.objects.none()
    limits = VERSION_LIMITS
    lookup_field = "number"
    lookup_value_regex = r"[0-9]+"

    def get_queryset(self) -> QuerySet[DatasetVersion]:
        """Return the visible versions of the dataset."""
        return self.within(versions_shown_to(self.request.user)).filter(dataset__name=self.kwargs["name"])

    @extend_schema(operation_id="dataset_version", summary="One version, and how it was imported")
    def retrieve(self, request: Request, name: str, number: str) -> Response:
        """Return a version."""
        return Response(VersionDetailSerializer(self.get_object()).data)

    @extend_schema(
        operation_id="dataset_version_change",
        summary="Correct the item type and language, or retire a version",
        request=VersionChangesSerializer,
        responses=VersionDetailSerializer,
    )
    def partial_update(self, request: Request, name: str, number: str) -> Response:
        """Change what is stated."""
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
        summary="Add item metadata, pictures and clips",
        description="Of the job that succeeded, `made_url` is the next version.",
        request={"multipart/form-data": described(MetadataForm, "MetadataSerializer")},
        responses={202: JobSerializer},
    )
    @action(detail=True, methods=["post"], parser_classes=[MultiPartParser])
    def metadata(self, request: Request, name: str, number: str) -> Response:
        """Store the files privately, and request their check from a worker."""
        version = self._extensible()
        chosen = self.form(MetadataForm).cleaned_data
        job = request_metadata(
            version=version,
            facts=chosen["file"],
            media=chosen["item_files"],
            on_bad_row=chosen["on_bad_row"],
            actor=request.user,
        )
        return accepted(request, job)

    @extend_schema(
        operation_id="dataset_subset_create",
        summary="Make a subset of a version",
        description="Of the job that succeeded, `made_url` is the next version.",
        request=described(SubsetForm, "SubsetSerializer"),
        responses={202: JobSerializer},
    )
    @action(detail=True, methods=["post"])
    def subsets(self, request: Request, name: str, number: str) -> Response:
        """Request a subset from a worker; one that leaves nothing is refused."""
        version = self._extensible()
        offered: dict[str, Any] = {"kinds": attribute_kinds(version), "rated_between": rated_between(version)}
        recipe = self.form(lambda data, _files: SubsetForm(data, **offered)).cleaned_data["recipe"]
        if is_counted_at_once(version):
            subset_counts(version=version, recipe=recipe)
        return accepted(request, request_subset(version=version, recipe=recipe, actor=request.user))

    def _extensible(self) -> DatasetVersion:
        version = self.get_object()
        if not may_add_version(self.request.user, version):
            raise PermissionDenied(f"{NOT_CHANGED} A retired version is not changed.")
        return version


class ItemFilters(FilterSet):
    """Filters of the items."""

    title = CharFilter(lookup_expr="icontains", help_text="Items with this text in their title.")


@extend_schema(tags=["datasets"], parameters=[NAME, NUMBER])
@extend_schema_view(list=extend_schema(operation_id="dataset_items", summary="The items of a version, in its order"))
class ItemViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[Item]):
    """The items of a version."""

    serializer_class = ItemSerializer
    queryset = Item.objects.none()
    limits: ClassVar = {kind: f"version__{lookup}" for kind, lookup in VERSION_LIMITS.items()}
    filterset_class = ItemFilters
    ordering = "index"

    def get_queryset(self) -> QuerySet[Item]:
        """Return the items of a visible version."""
        versions = versions_shown_to(self.request.user).filter(dataset__name=self.kwargs["name"])
        return self.within(Item.objects.filter(version__in=versions, version__number=self.kwargs["number"]))


def version_made(job: Job) -> str:
    """The address of the version that a job made."""
    version = DatasetVersion.objects.select_related("dataset").get(pk=job.result["version"])
    return reverse("api:versions-detail", kwargs={"name": version.dataset.name, "number": version.number})
