"""REST API endpoints for studies and tidy answers. Only members see a study, according to their role."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import Http404, StreamingHttpResponse
from django_filters.rest_framework import ChoiceFilter
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from accounts.enums import Scope
from catalog.models import DatasetVersion
from core.api import created, filters
from core.errors import ParameterError
from core.form_bodies import described, of_facts
from core.networks import site_of
from evaluation.services.run_proposals import TITLES
from evaluation.table_formats import FORMATS, as_table, table_response
from jobs.api import JobSerializer, job_response
from jobs.models import Job
from studies.api.membership import REASON, StudyView
from studies.console.forms.conditions import TitleForm
from studies.console.forms.new_study import CUSTOM, NewStudyForm
from studies.console.forms.planning import SimulationForm
from studies.console.forms.study_lifecycle import DeleteForm, DuplicateForm
from studies.data.codebook.variable import as_json, table_schema
from studies.data.exports.export_files import exported_modes
from studies.data.exports.rows import Source
from studies.data.exports.table_files import table_texts, values_by_name
from studies.data.exports.tables import KEYS, key_of, tables_of
from studies.design.presets.loader import load_preset, preset_keys
from studies.design.selectors.launch_overview import launch_overview
from studies.design.services import archiving, duplicating
from studies.design.services import launch as launching
from studies.design.services.amending import reopen_study
from studies.design.services.new_study import begin_study
from studies.enums import READERS, Mode, StudyStatus
from studies.models import Study
from studies.monitoring.selectors.estimate import estimate_of
from studies.monitoring.selectors.live import is_blinded
from studies.monitoring.selectors.outcomes import WITHOUT_OUTCOMES, Outcome, outcomes_of
from studies.monitoring.services.blinding import blinded_error, note_export, require_open
from studies.participation.services.withdrawal import participant_known_as, withdraw_on_behalf
from studies.serializers import (
    AnswersQuerySerializer,
    AnswersSerializer,
    CodebookSerializer,
    LaunchSerializer,
    OutcomesQuerySerializer,
    StudyDetailSerializer,
    StudySerializer,
    TemplateSerializer,
    WithdrawalSerializer,
    WithdrawnSerializer,
)
from studies.simulation.services.pilot import effects_on, request_simulation
from studies.team.permissions import ANY_ROLE, OWNERS, require_run
from studies.team.selectors.studies import studies_shown_to

TABLE = OpenApiParameter("table", str, OpenApiParameter.PATH, enum=list(KEYS), description="Name of the table.")
NewStudyBody = described(
    NewStudyForm,
    "NewStudy",
    without=["uploads"],
    kind=serializers.ChoiceField(choices=[*TITLES, CUSTOM], required=False),
    run=serializers.IntegerField(required=False, allow_null=True, help_text="Its kind is custom."),
)
SimulationBody = described(
    SimulationForm,
    "Simulation",
    effects=serializers.DictField(required=False, help_text="Shifts to plant: by condition, then by variable."),
)
OutcomeSerializer = of_facts(Outcome)
Deletion = described(DeleteForm, "Deletion")


def made_study(job: Job) -> str:
    """The address of the study that a job created or walked."""
    return reverse("api:studies-detail", args=[job.result.get("study") or job.subject.slug])


def _act(name: str, service: Callable[..., object], words: str, route: Any = None, reason: str = "") -> Any:
    """The operation by which an owner changes the state of a study; `reason` is the service's parameter for theirs."""

    def act(self: StudyViewSet, request: Request, slug: str) -> Response:
        membership = self.membership(slug, OWNERS, even_when_archived=True)  # the service knows which changes are left
        facts = {reason: self.body(REASON)["reason"]} if reason else {}
        service(study=membership.study, actor=request.user, **facts)
        return self.shown(slug)

    act.__name__, act.__doc__ = name, f"{words}."
    route = route or action(detail=True, methods=["post"])
    body, answer = REASON if reason else None, StudyDetailSerializer
    return extend_schema(operation_id=f"study_{name}", request=body, responses=answer)(route(act))


@extend_schema_view(list=extend_schema(operation_id="studies"))
class StudyViewSet(StudyView, mixins.ListModelMixin, viewsets.GenericViewSet[Study]):
    """The studies of which you are a member, newest first."""

    serializer_class = StudySerializer
    queryset = Study.objects.none()
    data_actions: ClassVar = {"outcomes", "answers", "withdrawals"}
    filterset_class = filters(status=ChoiceFilter(choices=StudyStatus.choices, help_text="Studies in this state."))
    parameters: ClassVar = {"outcomes": OutcomesQuerySerializer, "answers": AnswersQuerySerializer, "destroy": Deletion}
    write_scopes: ClassVar = {"withdrawals": Scope.WITHDRAW}

    def get_queryset(self) -> QuerySet[Study]:
        """Return the researcher's studies; for administrators also those without an owner."""
        return self.within(studies_shown_to(self.request.user))

    @extend_schema(operation_id="study", responses=StudyDetailSerializer)
    def retrieve(self, request: Request, slug: str) -> Response:
        """One study: status, design hash, conditions with models, counts. It has what your role may see, but no
        outcomes.
        """
        return self.shown(slug)

    def shown(self, slug: str, code: int = status.HTTP_200_OK) -> Response:
        """The response with what the researcher's role may see of a study."""
        membership = self.membership(slug, ANY_ROLE, even_when_archived=True)
        body = StudyDetailSerializer(membership.study, context={"membership": membership}).data
        if code == status.HTTP_201_CREATED:
            return created(body, reverse("api:studies-detail", args=[slug], request=self.request))
        return Response(body)

    @extend_schema(
        operation_id="study_create", request=NewStudyBody, responses={201: StudyDetailSerializer, 202: JobSerializer}
    )
    def create(self, request: Request) -> Response:
        """Create a study from a template. `run` is a finished run whose models become the conditions. Or `dataset` is
        the name of a dataset and `kind` how its models are chosen: unless they have been evaluated before, a job does
        that first (202).
        """

        def make(data: Any, files: Any) -> NewStudyForm:
            form = NewStudyForm(data, files, researcher=request.user, initial={"run": body.get("run")})
            del form.fields["uploads"]
            return form

        body: Any = request.data
        form = self.form(make)
        if not self.within(DatasetVersion.objects.filter(pk=form.version.pk), {"project": "dataset__project"}).exists():
            raise Http404
        begun = begin_study(run=form.run_for(request.user), actor=request.user, **form.described)
        return (
            job_response(request, begun) if isinstance(begun, Job) else self.shown(begun.slug, status.HTTP_201_CREATED)
        )

    @extend_schema(
        operation_id="study_change", request=described(TitleForm, "StudyTitle"), responses=StudyDetailSerializer
    )
    def partial_update(self, request: Request, slug: str) -> Response:
        """Change the title of a draft."""
        study = self.owned
        self.form(lambda data, _files: TitleForm(study, data)).save(request.user)
        return self.shown(slug)

    @extend_schema(operation_id="study_delete", parameters=[Deletion], responses={204: None})
    def destroy(self, request: Request, slug: str) -> Response:
        """Delete a study for good, with its participants, reports and exports. Where people took part, `typed` has to
        be the slug.
        """
        study = self.membership(slug, OWNERS, even_when_archived=True).study
        archiving.delete_study(study=study, typed=self.query.get("typed") or "", actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(operation_id="study_templates", responses=TemplateSerializer(many=True), filters=False)
    @action(detail=False, pagination_class=None)
    def templates(self, request: Request) -> Response:
        """The templates of studies, with what they need."""
        return Response(TemplateSerializer([load_preset(key) for key in preset_keys()], many=True).data)

    @extend_schema(operation_id="study_overview", responses=LaunchSerializer)
    @action(detail=True, url_path="launch", url_name="launch")
    def overview(self, request: Request, slug: str) -> Response:
        """What keeps a draft from being launched, what is advised before, and what a launch freezes."""
        study = self.membership(slug, READERS).study
        is_draft, read = study.status == StudyStatus.DRAFT, launch_overview(study)
        needed = launching.launch_findings(study) if is_draft else []
        body = {
            "needed": needed,
            "advice": [point for point in read.advice if point not in needed] if is_draft else [],
            "facts": dict(read.facts),
            "minutes": estimate_of(study).minutes,
        }
        return Response(LaunchSerializer(body).data)

    launch = _act("launch", launching.launch_study, "Launch a draft: its design is frozen", overview.mapping.post)
    pause = _act("pause", launching.pause_study, "Take no new participants for now")
    resume = _act("resume", launching.resume_study, "Take participants again after a pause")
    close = _act("close", launching.close_study, "Close a study")
    reopen = _act("reopen", reopen_study, "Take participants in a closed study again", reason="why")
    archive = _act("archive", archiving.archive_study, "Archive a study: it can only be read")
    restore = _act("restore", archiving.restore_study, "Restore an archived study")

    @extend_schema(
        operation_id="study_duplicate",
        request=described(DuplicateForm, "Duplicate"),
        responses={201: StudyDetailSerializer},
    )
    @action(detail=True, methods=["post"])
    def duplicate(self, request: Request, slug: str) -> Response:
        """Create a draft of your own with the same design, without its participants."""
        study = self.membership(slug, READERS, even_when_archived=True).study
        require_run(request.user, study)
        names = self.form(DuplicateForm).cleaned_data
        copy = duplicating.duplicate_study(study=study, actor=request.user, **names)
        return self.shown(copy.slug, status.HTTP_201_CREATED)

    @extend_schema(operation_id="study_simulate", request=SimulationBody, responses={202: JobSerializer})
    @action(detail=True, methods=["post"])
    def simulations(self, request: Request, slug: str) -> Response:
        """Let simulated participants walk through a study, in a draft or live."""
        study = self.owned
        initial = {name: field.initial for name, field in SimulationForm.base_fields.items()}
        stated = {**initial, **self.body(SimulationBody)}
        try:
            stated["effects"] = effects_on(study, stated.get("effects", {}))
        except ParameterError as problem:
            raise ValidationError({"effects": [str(problem)]}) from problem
        return job_response(
            request, request_simulation(study=study, base_url=f"{site_of(request)}/", actor=request.user, **stated)
        )

    @extend_schema(operation_id="study_outcomes", responses=OutcomeSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def outcomes(self, request: Request, slug: str) -> Response:
        """Means by condition, once unblinded. Outcomes of live participants are blinded from the launch to the close,
        as in the console (409).
        """
        study = self.membership(slug, READERS).study
        mode = self.query["mode"]
        if is_blinded(study, mode):
            raise blinded_error()
        return Response(OutcomeSerializer(outcomes_of(study, mode), many=True).data)

    @extend_schema(operation_id="study_answers", parameters=[TABLE], responses=as_table(AnswersSerializer))
    @action(detail=True, url_path=r"answers/(?P<table>[a-z-]+)", url_name="answers", renderer_classes=FORMATS)
    def answers(self, request: Request, slug: str, table: str) -> StreamingHttpResponse:
        """The answers as a tidy table. The tables of the console's exports: `long` has one row per participant and
        item, `wide` one row per participant. Ids are created for publication and identify no one. Each download is
        recorded in the study's log. Until the outcomes are unblinded, only page times are available; answers, and the
        allocation log with the participants' conditions, are refused (409). Rows are streamed.
        """
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

    @extend_schema(operation_id="study_codebook", parameters=[TABLE], responses=CodebookSerializer)
    @action(detail=True, url_path=r"answers/(?P<table>[a-z-]+)/codebook", url_name="codebook")
    def codebook(self, request: Request, slug: str, table: str) -> Response:
        """The codebook of a table: the meaning of each column."""
        definition = _tables(self.membership(slug, READERS).study, table)[table]
        return Response(
            {
                "table": table,
                "variables": [as_json(variable) for variable in definition.variables],
                "table_schema": table_schema(definition.variables, key=key_of(definition)),
            }
        )

    @extend_schema(operation_id="study_withdraw", request=WithdrawalSerializer, responses={200: WithdrawnSerializer})
    @action(detail=True, methods=["post"])
    def withdrawals(self, request: Request, slug: str) -> Response:
        """Withdraw a participant on request and erase their data. Identify the participant by code or external id, and
        give a reason for the log. The effect is the same as that of the participant's own withdrawal and cannot be
        undone. Owners only; the token needs the scopes `write` and `data`, or `withdraw`. An unknown or ambiguous
        participant is refused (409).
        """
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
