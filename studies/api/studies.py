"""REST API endpoints for studies and tidy answers. Only members see a study, according to their role."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django_filters.rest_framework import ChoiceFilter, FilterSet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.enums import Scope
from evaluation.table_formats import FORMATS, as_table, table_response
from studies.api.membership import StudyView
from studies.data.codebook.variable import as_json, table_schema
from studies.data.exports.export_files import exported_modes
from studies.data.exports.rows import Source
from studies.data.exports.table_files import table_texts, values_by_name
from studies.data.exports.tables import KEYS, key_of, tables_of
from studies.design.services.launch import design_snapshot
from studies.enums import Mode, StudyStatus
from studies.models import Study
from studies.monitoring.selectors.live import is_blinded
from studies.monitoring.selectors.outcomes import WITHOUT_OUTCOMES, outcomes_of
from studies.monitoring.services.blinding import blinded_error, note_export, require_open
from studies.participation.services.withdrawal import participant_known_as, withdraw_on_behalf
from studies.serializers import (
    AnswersQuerySerializer,
    AnswersSerializer,
    CodebookSerializer,
    FrozenDesignSerializer,
    OutcomeSerializer,
    OutcomesQuerySerializer,
    StudyDetailSerializer,
    StudySerializer,
    WithdrawalSerializer,
    WithdrawnSerializer,
)
from studies.team.permissions import ANY_ROLE, OWNERS, READERS
from studies.team.selectors.studies import studies_shown_to

TABLE = OpenApiParameter("table", str, OpenApiParameter.PATH, enum=list(KEYS), description="Name of the table.")


class StudyFilters(FilterSet):
    """Filter of the list of studies."""

    status = ChoiceFilter(choices=StudyStatus.choices, help_text="Studies in this state.")


@extend_schema(tags=["studies"])
@extend_schema_view(list=extend_schema(operation_id="studies", summary="Your studies, newest first"))
class StudyViewSet(StudyView, mixins.ListModelMixin, viewsets.GenericViewSet[Study]):
    """Studies of which you are a member."""

    serializer_class = StudySerializer
    queryset = Study.objects.none()
    data_actions: ClassVar = {"outcomes", "answers", "withdrawals"}
    filterset_class = StudyFilters
    parameters: ClassVar = {
        "outcomes": OutcomesQuerySerializer,
        "answers": AnswersQuerySerializer,
    }
    write_scopes: ClassVar = {"withdrawals": Scope.WITHDRAW}

    def get_queryset(self) -> QuerySet[Study]:
        """Return the researcher's studies; for administrators also those without an owner."""
        return self.within(studies_shown_to(self.request.user))

    def get_serializer_context(self) -> dict[str, Any]:
        """Add the roles that may see counts."""
        return {**super().get_serializer_context(), "readers": READERS}

    @extend_schema(
        operation_id="study",
        summary="One study: status, design hash, conditions with models, counts",
        responses=StudyDetailSerializer,
    )
    def retrieve(self, request: Request, slug: str) -> Response:
        """Return what your role may see of a study: counts by condition, but no outcomes."""
        membership = self.membership(slug, ANY_ROLE)
        return Response(StudyDetailSerializer(membership.study, context={"membership": membership}).data)

    @extend_schema(
        operation_id="study_design",
        summary="The frozen design",
        responses=FrozenDesignSerializer,
    )
    @action(detail=True)
    def design(self, request: Request, slug: str) -> Response:
        """Return everything that the design hash covers."""
        study = self.membership(slug, READERS).study
        version = study.versions.order_by("-number").first()
        snapshot = version.snapshot if version else design_snapshot(study)
        return Response({"design_hash": study.design_hash, "design": snapshot})

    @extend_schema(
        operation_id="study_outcomes",
        summary="Means by condition, once unblinded",
        description="Outcomes of live participants are blinded from the launch to the close, as in the console (409).",
        responses=OutcomeSerializer(many=True),
        filters=False,
    )
    @action(detail=True, pagination_class=None)
    def outcomes(self, request: Request, slug: str) -> Response:
        """Return the perceived quality per condition."""
        study = self.membership(slug, READERS).study
        mode = self.query["mode"]
        if is_blinded(study, mode):
            raise blinded_error()
        return Response(OutcomeSerializer(outcomes_of(study, mode), many=True).data)

    @extend_schema(
        operation_id="study_answers",
        summary="The answers as a tidy table",
        description="The tables of the console's exports: `long` has one row per participant and item, `wide` one row "
        "per participant. Ids are created for publication and identify no one. Each download is recorded in the "
        "study's log. Until the outcomes are unblinded, only page times are available; answers, and the allocation "
        "log with the participants' conditions, are refused (409). Rows are streamed.",
        parameters=[TABLE],
        responses=as_table(AnswersSerializer),
    )
    @action(
        detail=True,
        url_path=r"answers/(?P<table>[a-z-]+)",
        url_name="answers",
        renderer_classes=FORMATS,
    )
    def answers(self, request: Request, slug: str, table: str) -> StreamingHttpResponse:
        """Stream a table."""
        study = self.membership(slug, READERS).study
        definition = _tables(study, table)[table]
        modes = exported_modes(study, include_simulated=self.query["include_simulated"])
        source = Source(study, modes, self.query["without_excluded"])
        if table not in WITHOUT_OUTCOMES:
            require_open(study=study, modes=modes)
        note_export(study=study, kind=table, actor=request.user, by="a program", modes=modes)
        head = {
            "study": study.slug,
            "table": table,
            "design_hash": study.design_hash,
            "modes": [str(mode) for mode in modes],
            "contains_simulated": Mode.SIMULATED in modes,
        }
        response = table_response(
            request,
            name=f"study-{study.slug}_{table}_data",
            head=head,
            types={variable.name: variable.type for variable in definition.variables},
            lines=table_texts(definition.variables, definition.rows(source)),
            records=(values_by_name(definition.variables, row) for row in definition.rows(source)),
        )
        response["Cache-Control"] = "private, no-store"
        return response

    @extend_schema(
        operation_id="study_codebook",
        summary="The codebook of a table",
        parameters=[TABLE],
        responses=CodebookSerializer,
    )
    @action(detail=True, url_path=r"answers/(?P<table>[a-z-]+)/codebook", url_name="codebook")
    def codebook(self, request: Request, slug: str, table: str) -> Response:
        """Return the meaning of each column of a table."""
        definition = _tables(self.membership(slug, READERS).study, table)[table]
        return Response(
            {
                "table": table,
                "variables": [as_json(variable) for variable in definition.variables],
                "table_schema": table_schema(definition.variables, key=key_of(definition)),
            }
        )

    @extend_schema(
        operation_id="study_withdraw",
        summary="Withdraw a participant on request and erase their data",
        description="Identify the participant by code or external id, and give a reason for the log. The effect is the "
        "same as that of the participant's own withdrawal and cannot be undone. Owners only; the token needs the "
        "scopes `write` and `data`, or `withdraw`. An unknown or ambiguous participant is refused (409).",
        request=WithdrawalSerializer,
        responses={200: WithdrawnSerializer},
    )
    @action(detail=True, methods=["post"])
    def withdrawals(self, request: Request, slug: str) -> Response:
        """Withdraw a participant."""
        study = self.membership(slug, OWNERS, even_when_archived=True).study
        body = self.body(WithdrawalSerializer)
        participant = participant_known_as(study=study, known_as=body["participant"])
        withdraw_on_behalf(participant=participant, reason=body["reason"], actor=request.user)
        return Response(WithdrawnSerializer(participant).data)


def _tables(study: Study, table: str) -> dict[str, Any]:
    tables = tables_of(study)
    if table not in tables:
        raise NotFound(f"There is no table {table}. Tables: {', '.join(tables)}.")
    return tables
