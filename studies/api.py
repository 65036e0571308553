"""Studies and their tidy answers for programs: a study is there for its members alone, and as their role reaches."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.enums import Scope
from evaluation.exports import record_texts
from evaluation.serializers import CsvRenderer
from studies.codebook.variable import as_json, table_schema
from studies.enums import Mode
from studies.exports import exported_modes
from studies.exports.rows import Source
from studies.exports.tables import KEYS, tables_of
from studies.exports.writing import table_texts, told
from studies.models import Study
from studies.permissions import EVERYBODY, OWNERS, READERS, Seat, seat_for
from studies.selectors.console import studies_shown_to
from studies.selectors.live import is_blinded
from studies.selectors.outcomes import WITHOUT_OUTCOMES, outcomes_of
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
from studies.services.blinding import note_export, outcomes_shut, require_open
from studies.services.launch import design_snapshot
from studies.services.privacy import participant_known_as, withdraw_on_behalf

TABLE = OpenApiParameter("table", str, OpenApiParameter.PATH, enum=list(KEYS), description="Which table.")


@extend_schema(tags=["studies"])
@extend_schema_view(list=extend_schema(operation_id="studies", summary="Your studies, newest first"))
class StudyViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Study]):
    """The studies of whoever asks."""

    serializer_class = StudySerializer
    lookup_field = "slug"
    write_scopes: ClassVar = {"withdrawals": Scope.WITHDRAW}
    lookup_value_regex = r"[-a-zA-Z0-9_]+"

    def get_queryset(self) -> QuerySet[Study]:
        """Those that the researcher is on; for an administrator also those without an owner."""
        return studies_shown_to(self.request.user)

    def get_serializer_context(self) -> dict[str, Any]:
        """With the roles that see counts."""
        return {**super().get_serializer_context(), "readers": READERS}

    def _seat(self, slug: str, roles: frozenset[str]) -> Seat:
        return seat_for(self.request.user, slug, roles)

    @extend_schema(
        operation_id="study",
        summary="One study: state, design hash, conditions with their models, counts",
        responses=StudyDetailSerializer,
    )
    def retrieve(self, request: Request, slug: str) -> Response:
        """Tell of a study what the role may see; counts by condition, and never an outcome."""
        seat = self._seat(slug, EVERYBODY)
        return Response(StudyDetailSerializer(seat.study, context={"seat": seat}).data)

    @extend_schema(
        operation_id="study_design",
        summary="The design that was frozen at the launch",
        responses=FrozenDesignSerializer,
    )
    @action(detail=True)
    def design(self, request: Request, slug: str) -> Response:
        """Give everything that the design hash is over."""
        study = self._seat(slug, READERS).study
        version = study.versions.order_by("-number").first()
        snapshot = version.snapshot if version else design_snapshot(study)
        return Response({"design_hash": study.design_hash, "design": snapshot})

    @extend_schema(
        operation_id="study_outcomes",
        summary="Means by condition, once they are open",
        description="People's outcomes are blinded from the launch to the close, as in the console: until then 409.",
        parameters=[OutcomesQuerySerializer],
        responses=OutcomeSerializer(many=True),
        filters=False,
    )
    @action(detail=True, pagination_class=None)
    def outcomes(self, request: Request, slug: str) -> Response:
        """Give what people perceived, condition by condition."""
        study = self._seat(slug, READERS).study
        asked = OutcomesQuerySerializer(data=request.query_params.dict())
        asked.is_valid(raise_exception=True)
        mode = asked.validated_data["mode"]
        if is_blinded(study, mode):
            raise outcomes_shut()
        return Response(OutcomeSerializer(outcomes_of(study, mode), many=True).data)

    @extend_schema(
        operation_id="study_answers",
        summary="The answers as a tidy table",
        description="The console's exports, row by row: `long` has a row for each participant and item, `wide` one for "
        "each participant. Ids are made for publication and lead back to nobody. Taking a table is recorded in the "
        "study's log. Until the outcomes are open, only page times are given: answers and the allocation log, which "
        "tells who is in which condition, are refused (409). Rows are streamed.",
        parameters=[TABLE, AnswersQuerySerializer],
        responses={(200, "application/json"): AnswersSerializer, (200, "text/csv"): OpenApiTypes.STR},
    )
    @action(
        detail=True, url_path=r"answers/(?P<table>[a-z-]+)", url_name="answers",
        renderer_classes=[JSONRenderer, CsvRenderer],
    )  # fmt: skip
    def answers(self, request: Request, slug: str, table: str) -> StreamingHttpResponse:
        """Stream a table."""
        study = self._seat(slug, READERS).study
        found = _tables(study, table)[table]
        asked = AnswersQuerySerializer(data=request.query_params.dict())
        asked.is_valid(raise_exception=True)
        chosen = asked.validated_data
        modes = exported_modes(study, include_simulated=chosen["include_simulated"])
        source = Source(study, modes, chosen["without_excluded"])
        if table not in WITHOUT_OUTCOMES:
            require_open(study=study, modes=modes)
        note_export(study=study, kind=table, actor=request.user, by="a program", modes=modes)
        if isinstance(request.accepted_renderer, CsvRenderer):
            texts = table_texts(found.variables, found.rows(source))
            response = StreamingHttpResponse(texts, content_type="text/csv; charset=utf-8")
            response["Content-Disposition"] = f'attachment; filename="study-{study.slug}_{table}_data.csv"'
        else:
            head = {
                "study": study.slug,
                "table": table,
                "design_hash": study.design_hash,
                "modes": [str(mode) for mode in modes],
                "contains_simulated": Mode.SIMULATED in modes,
            }
            rows = (told(found.variables, row) for row in found.rows(source))
            response = StreamingHttpResponse(record_texts(head, "rows", rows), content_type="application/json")
        response["Cache-Control"] = "private, no-store"
        return response

    @extend_schema(
        operation_id="study_codebook",
        summary="What each column of a table means",
        parameters=[TABLE],
        responses=CodebookSerializer,
    )
    @action(detail=True, url_path=r"answers/(?P<table>[a-z-]+)/codebook", url_name="codebook")
    def codebook(self, request: Request, slug: str, table: str) -> Response:
        """Give the codebook of a table."""
        found = _tables(self._seat(slug, READERS).study, table)[table]
        return Response(
            {
                "table": table,
                "variables": [as_json(variable) for variable in found.variables],
                "table_schema": table_schema(found.variables, key=KEYS[table]),
            }
        )

    @extend_schema(
        operation_id="study_withdraw",
        summary="Withdraw a participant on request, and erase their data",
        description="By the participant's code or an id of another site, with a reason for the log. It has the same "
        "effect as the participant's own withdrawal and cannot be undone. Owners alone; the token has to have the "
        "scope `withdraw`. An unknown or ambiguous participant is refused (409).",
        request=WithdrawalSerializer,
        responses={200: WithdrawnSerializer},
    )
    @action(detail=True, methods=["post"])
    def withdrawals(self, request: Request, slug: str) -> Response:
        """Withdraw one participant."""
        study = self._seat(slug, OWNERS).study
        asked = WithdrawalSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        participant = participant_known_as(study=study, known_as=asked.validated_data["participant"])
        withdraw_on_behalf(participant=participant, reason=asked.validated_data["reason"], actor=request.user)
        return Response(WithdrawnSerializer(participant).data)


def _tables(study: Study, table: str) -> dict[str, Any]:
    tables = tables_of(study)
    if table not in tables:
        raise NotFound(f"A table is one of {', '.join(tables)}; got {table}.")
    return tables
