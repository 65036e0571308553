"""REST API endpoints for imports that wait for choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from accounts.models import WRITERS, Project
from catalog.forms.import_steps import CheckForm, ColumnsForm, RatingsForm
from catalog.importers.proposal import as_json
from catalog.permissions import NAME_TAKEN, may_use_name
from catalog.selectors.dataset_jobs import has_choices, jobs_of
from catalog.serializers import (
    ChoicesSerializer,
    ImportSerializer,
)
from catalog.services.dataset_jobs import (
    change_import,
    start_import,
)
from catalog.services.previews import ImportPreview, preview_of
from core.api import StrictView
from core.errors import NotAllowedInState
from core.form_bodies import filled
from core.problem_details import unknown
from jobs.api import JobSerializer, accepted
from jobs.models import Job


class ImportView(StrictView):
    """An endpoint that takes the choices of an import."""

    def chosen(self, job: Job, chosen: Mapping[str, Any]) -> Response:
        """Take choices, and enqueue the import, or answer with what is left to choose. Raises ValidationError with
        every fault of what was chosen.
        """
        job.subject = self._project(job, chosen)
        columns, problems = _columns_form(job, preview_of(job), chosen.get("roles", {}))
        given = {name: chosen[name] for name in ("name", "title", "item_type") if name in chosen}
        try:
            named = filled(lambda data, files: CheckForm(data, files, job=job, preview=columns.preview), given)
            if not may_use_name(self.request.user, named.cleaned_data["name"]):
                problems["name"] = [NAME_TAKEN]
        except ValidationError as refused:
            problems |= {**refused.detail}  # type: ignore[dict-item]  # by field
        is_sure = all(column.confidence != "possible" for fields in columns.columns for _, column in fields)
        is_open = "roles" not in chosen and ("roles" in problems or not (is_sure or "step" in job.payload))
        about_columns = problems.pop("roles", ["Confirm the roles of the columns."]) if is_open else []
        if problems:
            raise ValidationError(problems)
        settings = {name: named.cleaned_data[name] for name in ("name", "title", "item_type")}
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
        return accepted(self.request, job)

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
        address = reverse("api:imports-choices", kwargs={"pk": job.pk}, request=self.request)
        detected = {
            part.files[0]: {column.name: column.role for column in part.columns} for part in preview.proposal.parts
        }
        about_columns = {"columns": {"problems": columns, "detected": detected}} if columns else {}
        job.result = {"choices_url": address, **about_columns, "questions": _questions(preview)}
        job.save(update_fields=["result", "subject_type", "subject_id", "updated_at"])
        return accepted(self.request, job)


def _columns_form(job: Job, preview: ImportPreview, roles: Mapping[str, Any]) -> tuple[ColumnsForm, dict[str, Any]]:
    """The form of the columns with stated roles, and what is wrong with them by its place."""
    blank = ColumnsForm(job=job, preview=preview)
    data = {field.name: field.initial for field in blank.writing}
    places: dict[str, str] = {}
    problems: dict[str, Any] = {}
    files = [table.part.files[0] for table in preview.tables]
    for file, fields in zip(files, blank.columns, strict=True):
        stated = roles.get(file, {})
        data |= {name: stated.get(column.name, column.role) for name, column in fields}
        places |= {name: f"roles/{file}/{column.name}" for name, column in fields}
        wrong = unknown(stated, [column.name for _, column in fields], "column")
        problems |= {f"roles/{file}/{name}": texts for name, texts in wrong.items()}
    problems |= {f"roles/{name}": texts for name, texts in unknown(roles, files, "file").items()}
    form = ColumnsForm(data, job=job, preview=preview)
    problems |= {places.get(name, "roles"): [*texts] for name, texts in form.errors.items()}
    return form, problems


def _questions(preview: ImportPreview) -> list[dict[str, Any]]:
    return [
        {"answer": f"answer_{each.about}", "text": each.text, "values": {value: label for label, value in each.answers}}
        for each in preview.questions
    ]


@extend_schema(tags=["datasets"])
class ImportViewSet(ImportView, viewsets.GenericViewSet[Job]):
    """Your imports of uploads."""

    serializer_class = ImportSerializer
    queryset = Job.objects.none()
    lookup_value_regex = r"[0-9]+"

    def get_queryset(self) -> QuerySet[Job]:
        """Return the researcher's own imports, on what the token is limited to."""
        own = jobs_of(self.request.user).filter(owner_id=self.request.user.pk, kind="import")
        if getattr(self.request.auth, "only_type", None) is None:
            return own
        return own.about(self.within(Project.objects.all(), {"project": "pk"}))  # type: ignore[attr-defined]

    @extend_schema(
        operation_id="import", summary="What an import that is not done would do", responses=ImportSerializer
    )
    def retrieve(self, request: Request, pk: str) -> Response:
        """Return the detected columns, and the open questions."""
        preview = preview_of(self._open())
        found = {"recipe": as_json(preview.proposal), "questions": _questions(preview)}
        return Response(ImportSerializer(found).data)

    @extend_schema(
        operation_id="import_choose",
        summary="Choose what an import left open",
        description="For an import that waits, or failed. What is left out stays as it was.",
        request=ChoicesSerializer,
        responses={202: JobSerializer},
    )
    @action(detail=True, methods=["post"])
    def choices(self, request: Request, pk: str) -> Response:
        """Take choices, and enqueue the import once nothing is open."""
        return self.chosen(self._open(), self.body(ChoicesSerializer))

    def _open(self) -> Job:
        job = self.get_object()
        if not has_choices(job):
            raise NotAllowedInState("import.not_waiting", f"Import {job.pk} is {job.get_status_display().lower()}.")
        return job
