"""REST API endpoints for a study's data: participants and exclusions, exports, and retention."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import FileResponse
from django.shortcuts import get_object_or_404
from django.utils.cache import patch_cache_control
from django_filters.rest_framework import ChoiceFilter
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from core.api import IgnoreAccept, filters
from core.form_bodies import described
from jobs.api import JobSerializer, job_response
from jobs.models import Job, JobStatus
from studies.api.membership import REASON, StudyView
from studies.console.forms.data import ExportForm, RetentionForm
from studies.data.exports.export_files import FORMATS
from studies.data.exports.tables import Options
from studies.data.services import exports
from studies.data.services.retention import set_retention
from studies.enums import READERS, Mode, ParticipantStatus
from studies.models import Participant
from studies.monitoring.selectors import participants
from studies.monitoring.services.blinding import open_outcomes
from studies.monitoring.services.exclusions import exclude, undo_exclusion
from studies.serializers import StudyDetailSerializer
from studies.team.permissions import OWNERS

EXPORT = described(ExportForm, "Export", format=serializers.ChoiceField(choices=list(FORMATS)))
RETENTION = described(RetentionForm, "Retention")


class ParticipantSerializer(serializers.Serializer[Any]):
    """A participant with code and ids, which owners alone see together."""

    code = serializers.CharField(source="participant.code", help_text="Shown to the participant.")
    public_id = serializers.CharField(help_text="The id in anonymised exports.")
    external_ids = serializers.ListField(child=serializers.CharField(), help_text="Parameters of the link, with ids.")
    mode = serializers.ChoiceField(choices=Mode.choices, source="participant.mode")
    status = serializers.ChoiceField(choices=ParticipantStatus.choices, source="participant.status")
    consented_at = serializers.DateTimeField(source="participant.consented_at")
    completed_at = serializers.DateTimeField(source="participant.completed_at", allow_null=True)
    exclusion = serializers.CharField(help_text="Why they are excluded, by hand or by the plan; empty if they are not.")


class ParticipantsQuerySerializer(serializers.Serializer[Any]):
    """Parameters of the list of participants."""

    search = serializers.CharField(required=False, default="", help_text="Part of a code, export id or external id.")


@extend_schema_view(
    list=extend_schema(operation_id="study_participants"), retrieve=extend_schema(operation_id="study_participant")
)
class ParticipantViewSet(StudyView, mixins.ListModelMixin, viewsets.GenericViewSet[Participant]):
    """The participants of a study, newest first."""

    serializer_class = ParticipantSerializer
    queryset = Participant.objects.none()
    data_actions: ClassVar = {"list", "retrieve", "exclude", "undo_exclusion"}
    parameters: ClassVar = {"list": ParticipantsQuerySerializer}
    filterset_class = filters(
        mode=ChoiceFilter(choices=Mode.choices, help_text="Real or simulated participants, or previews."),
        status=ChoiceFilter(choices=ParticipantStatus.choices, help_text="Participants with this status."),
    )
    lookup_field = "code"
    lookup_value_regex = "[A-Z0-9]+"

    def get_queryset(self) -> QuerySet[Participant]:
        """The participants, or those that a search finds."""
        return participants.participants_of(self.owned, self.query.get("search", ""))

    def paginate_queryset(self, queryset: Any) -> Any:
        """A page of participants as the console shows them."""
        return participants.participant_lines(self.owned, super().paginate_queryset(queryset) or [])

    def retrieve(self, request: Request, slug: str, code: str) -> Response:
        """One participant of a study, with code and ids."""
        (line,) = participants.participant_lines(self.owned, [self.get_object()])
        return Response(ParticipantSerializer(line).data)

    @extend_schema(operation_id="study_exclude", request=REASON, responses=ParticipantSerializer)
    @action(detail=True, methods=["post"], url_path="exclusion")
    def exclude(self, request: Request, slug: str, code: str) -> Response:
        """Exclude a participant from analyses. Their answers stay, and every analysis prints the reason."""
        exclude(participant=self.get_object(), reason=self.body(REASON)["reason"], actor=request.user)
        return self.retrieve(request, slug, code)

    @extend_schema(operation_id="study_undo_exclusion", request=REASON, responses=ParticipantSerializer)
    @action(detail=True, methods=["post"], url_path="exclusion/undo")
    def undo_exclusion(self, request: Request, slug: str, code: str) -> Response:
        """Undo an exclusion. It stays in the record, with both reasons."""
        undo_exclusion(participant=self.get_object(), reason=self.body(REASON)["reason"], actor=request.user)
        return self.retrieve(request, slug, code)


class StudyDataViewSet(StudyView, viewsets.ViewSet):
    """The data of a study: exports, outcomes before the close, and how long data are kept."""

    data_actions: ClassVar = {"exports", "export_file", "open_outcomes"}

    @extend_schema(operation_id="study_export", request=EXPORT, responses={202: JobSerializer})
    @action(detail=False, methods=["post"])
    def exports(self, request: Request, slug: str) -> Response:
        """Export the data of a study. The job's `made_url` is the address of the archive, which is deleted after 7 days
        or when the data of a participant are erased. Until the outcomes are open, formats with answers are refused
        (409). Owners alone may `include_external_ids` (403).
        """
        membership = self.membership(slug, READERS, even_when_archived=True)
        chosen = self.form(_export_form).cleaned_data
        kind, options = chosen.pop("format"), Options(**chosen)
        exports.require_allowed(options, is_owner=membership.is_owner)
        job = exports.request_export(study=membership.study, kind=kind, options=options, actor=request.user)
        return job_response(request, job)

    @extend_schema(operation_id="study_export_file", responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @action(detail=False, url_path="exports/(?P<job>[0-9]+)/file", content_negotiation_class=IgnoreAccept)
    def export_file(self, request: Request, slug: str, job: str) -> FileResponse:
        """The archive of an export."""
        membership = self.membership(slug, READERS)
        row = get_object_or_404(membership.study.jobs, kind="export", pk=job, status=JobStatus.SUCCEEDED)
        archive, name = exports.stored_archive(job=row, is_owner=membership.is_owner)
        response = FileResponse(archive, as_attachment=True, filename=name, content_type="application/zip")
        patch_cache_control(response, private=True, no_store=True)
        return response

    @extend_schema(operation_id="study_open_outcomes", request=REASON, responses=StudyDetailSerializer)
    @action(detail=False, methods=["post"], url_path="outcomes/open")
    def open_outcomes(self, request: Request, slug: str) -> Response:
        """Open the outcomes before the close. This cannot be undone, and the log has the reason."""
        membership = self.membership(slug, OWNERS)
        open_outcomes(study=membership.study, reason=self.body(REASON)["reason"], actor=request.user)
        return Response(StudyDetailSerializer(membership.study, context={"membership": membership}).data)

    @extend_schema(operation_id="study_retention", responses=RETENTION)
    @action(detail=False)
    def retention(self, request: Request, slug: str) -> Response:
        """How many days after the close data are kept. Null keeps them."""
        return Response(RetentionForm(self.membership(slug, READERS).study).initial)

    @extend_schema(operation_id="study_retention_change", request=RETENTION, responses=RETENTION)
    @retention.mapping.patch
    def change_retention(self, request: Request, slug: str) -> Response:
        """Change how many days after the close data are kept."""
        study = self.owned
        days = self.form(lambda data, _files: RetentionForm(study, data)).cleaned_data
        set_retention(study=study, actor=request.user, **days)
        return Response(days)


def export_url(job: Job) -> str:
    """The address of the file that an export made."""
    return reverse("api:studies-data-export-file", kwargs={"slug": job.subject.slug, "job": job.pk})


def _export_form(data: Any, _files: Any) -> ExportForm:
    form = ExportForm(data, is_owner=True)  # for others, the option is refused as such
    form.fields["format"].required = True
    return form
