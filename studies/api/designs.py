"""REST API endpoints for the design of a study: documents that change a draft, and amendments once it runs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pydantic
import yaml
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from core.api import IgnoreAccept, created, faults
from core.errors import ParallaxError
from core.field_problems import problems_of
from core.form_bodies import described
from core.problem_details import unknown
from studies.api.membership import StudyView
from studies.console.forms.explanations import ExplanationsForm
from studies.console.forms.texts import LONGEST_TEXT
from studies.design.narrative.preregistration import FORMS, preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.design.selectors.texts import CHANGEABLE_TEXTS, CONSENT_TEXTS, NOTE_TEXTS, interface_languages
from studies.design.selectors.versions import design_lines
from studies.design.services import amending
from studies.design.services.conditions import choose_conditions, explain_by_texts
from studies.design.services.design import change_design
from studies.design.services.launch import design_snapshot
from studies.design.services.questionnaires import import_questionnaire
from studies.enums import READERS
from studies.instrument.questionnaires.document import SCHEMA
from studies.instrument.questionnaires.problems import QuestionnaireProblems
from studies.monitoring.services.exclusions import LONGEST_REASON
from studies.presentation import Factor
from studies.serializers import ConditionsSerializer, DesignVersionSerializer, FrozenDesignSerializer
from studies.settings import TRIAL, StudySettings

# Settings that follow from the dataset, the conditions or the launch, or are no part of the design.
DERIVED = {"factors", "block_weights", "samples", "item_type", "stated_minutes", *TRIAL}
SETTINGS = [name for name in StudySettings.model_fields if name not in DERIVED]
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
FORM = OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(FORMS), description="Form of the registry.")
Factors = pydantic.TypeAdapter(tuple[Factor, ...])


def _is_storable(node: Any) -> bool:
    if isinstance(node, str):
        return UNSTORABLE.search(node) is None
    if isinstance(node, float):
        return math.isfinite(node)
    parts = [*node, *node.values()] if isinstance(node, Mapping) else node if isinstance(node, list) else ()
    return all(map(_is_storable, parts))


class DocumentField(serializers.DictField):
    """A JSON object of any kind that the database can store."""

    def to_internal_value(self, data: Any) -> Any:
        """Refuse what JSON can say and the database cannot."""
        if not _is_storable(data):
            raise ValidationError("Leave out null characters, halves of surrogate pairs, and numbers beyond 1e308.")
        return super().to_internal_value(data)


class TextsSerializer(serializers.Serializer[Any]):
    """The texts in one language, in Markdown: what is left out stays, and what is empty is removed."""

    def get_fields(self) -> dict[str, Any]:
        """A field for each text."""
        text: dict[str, Any] = {"required": False, "allow_blank": True, "max_length": LONGEST_TEXT}
        boxes = serializers.ListField(child=serializers.CharField(max_length=LONGEST_TEXT), required=False)
        return {name: boxes if name == "consent_boxes" else serializers.CharField(**text) for name in CHANGEABLE_TEXTS}

    def to_internal_value(self, data: Any) -> Any:
        """Refuse texts that there are none of."""
        if isinstance(data, Mapping) and (problems := unknown(data, CHANGEABLE_TEXTS, "text")):
            raise ValidationError(problems)
        return super().to_internal_value(data)


class StudyTextsSerializer(serializers.Serializer[Any]):
    """The researcher's texts by language."""

    texts = serializers.DictField(child=TextsSerializer())


class DesignChangeSerializer(serializers.Serializer[Any]):
    """Changes of a draft: settings that are left out stay as they are."""

    settings = DocumentField(required=False, help_text=f"Any of {', '.join(SETTINGS)}.")
    per_condition = serializers.IntegerField(required=False, help_text="Target of every condition.")
    targets = serializers.DictField(child=serializers.IntegerField(), required=False, help_text="By condition.")


class ConditionsChangeSerializer(serializers.Serializer[Any]):
    """The models of a draft by digest, and the factors of presentation that they are crossed with."""

    models = serializers.ListField(child=serializers.CharField(max_length=64))
    presentations = serializers.ListField(child=DocumentField(), required=False, help_text="Left out, they stay.")


class AmendmentSerializer(serializers.Serializer[Any]):
    """A change of a running study, with what it needs besides the reason: `targets` of conditions by label, the whole
    `questionnaire` in other words, or `texts` by language (as notes: contact, declined, closed; as consent: consent,
    consent_boxes).
    """

    NEEDED = {"targets": "targets", "words": "questionnaire", "notes": "texts", "consent": "texts"}

    kind = serializers.ChoiceField(choices=list(NEEDED))
    why = serializers.CharField(max_length=LONGEST_REASON, help_text="Stays in the record, and in every later report.")
    targets = serializers.DictField(child=serializers.IntegerField(), required=False)
    questionnaire = DocumentField(required=False)
    texts = serializers.DictField(child=TextsSerializer(), required=False)


@contextmanager
def _faults_of(pointer: str, *, questionnaire: bool) -> Iterator[None]:
    """Turn the refusal of a document into its faults, unless they are in another document than the one sent."""
    try:
        yield
    except ParallaxError as refused:
        problems = getattr(refused.__cause__, "problems", ())
        if not problems or isinstance(refused.__cause__, QuestionnaireProblems) != questionnaire:
            raise
        raise faults(problems, pointer) from refused


def _require_known(names: Iterable[str], known: Iterable[str], kind: str, field: str) -> None:
    if problems := unknown(names, [*known], kind):
        raise ValidationError({field: problems})


class DesignViewSet(StudyView, viewsets.ViewSet):
    """The design of a study, part by part."""

    @extend_schema(operation_id="study_design", responses=FrozenDesignSerializer)
    @action(detail=True)
    def design(self, request: Request, slug: str) -> Response:
        """The frozen design, or that of a draft: everything that the design hash covers."""
        study = self.membership(slug, READERS).study
        version = study.versions.order_by("-number").first()
        snapshot = version.snapshot if version else design_snapshot(study)
        return Response({"design_hash": study.design_hash, "design": snapshot})

    @extend_schema(operation_id="study_design_change", request=DesignChangeSerializer, responses=FrozenDesignSerializer)
    @design.mapping.patch
    def change_design(self, request: Request, slug: str) -> Response:
        """Change settings and targets of a draft. Simulated participants who walked the old design are removed."""
        study, body = self.owned, self.body(DesignChangeSerializer)
        positions = dict(study.conditions.values_list("label", "position"))
        settings, targets = body.get("settings", {}), body.get("targets", {})
        _require_known(settings, SETTINGS, "setting", "settings")
        _require_known(targets, positions, "condition", "targets")
        with _faults_of("settings", questionnaire=False):
            change_design(
                study=study,
                actor=request.user,
                per_condition=body.get("per_condition"),
                targets={positions[label]: target for label, target in targets.items()},
                settings=settings,
            )
        return self.get(request, slug)  # type: ignore[no-any-return]

    @extend_schema(operation_id="study_questionnaire", responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def questionnaire(self, request: Request, slug: str) -> Response:
        """The questionnaire, the same document as the YAML file of the console."""
        return Response({"schema": SCHEMA, **self.membership(slug, READERS).study.questionnaire})

    @extend_schema(
        operation_id="study_questionnaire_replace", request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT
    )
    @questionnaire.mapping.put
    def replace_questionnaire(self, request: Request, slug: str) -> Response:
        """Replace the questionnaire of a draft."""
        study, document = self.owned, DocumentField().run_validation(request.data)
        with _faults_of("", questionnaire=True):
            import_questionnaire(study=study, text=_as_text(document), actor=request.user)
        return self.get(request, slug)  # type: ignore[no-any-return]

    @extend_schema(operation_id="study_texts", responses=StudyTextsSerializer)
    @action(detail=True)
    def texts(self, request: Request, slug: str) -> Response:
        """What participants read besides the questions, by language."""
        return Response({"texts": self.membership(slug, READERS).study.texts})

    @extend_schema(operation_id="study_texts_change", request=StudyTextsSerializer, responses=StudyTextsSerializer)
    @texts.mapping.patch
    def change_texts(self, request: Request, slug: str) -> Response:
        """Change texts of a draft. What is left out stays as it is. The setting `languages` says which are offered."""
        study, texts = self.owned, self.body(StudyTextsSerializer)["texts"]
        _require_known(texts, [*interface_languages(), *study.texts], "language", "texts")
        change_design(study=study, actor=request.user, texts=texts)
        return self.get(request, slug)  # type: ignore[no-any-return]

    @extend_schema(operation_id="study_conditions", responses=ConditionsSerializer)
    @action(detail=True)
    def conditions(self, request: Request, slug: str) -> Response:
        """The conditions in the order of the design, and the models and presentations that they cross."""
        study = self.membership(slug, READERS).study
        conditions = list(study.conditions.select_related("model").order_by("position"))
        factors = [factor for factor in study.design.factors if not factor.is_of_recommenders]
        body = {
            "models": [*dict.fromkeys(condition.model_digest for condition in conditions)],
            "presentations": [factor.model_dump(mode="json", exclude_unset=True) for factor in factors],
            "conditions": conditions,
        }
        return Response(ConditionsSerializer(body).data)

    @extend_schema(
        operation_id="study_conditions_replace", request=ConditionsChangeSerializer, responses=ConditionsSerializer
    )
    @conditions.mapping.put
    def replace_conditions(self, request: Request, slug: str) -> Response:
        """Choose the conditions of a draft. Every model with every level of each presentation is a condition. One that
        stays keeps its target. Models are those that runs on the dataset of the study measured.
        """
        study, body = self.owned, self.body(ConditionsChangeSerializer)
        stated, presentations = body.get("presentations"), None
        if stated is not None:
            try:
                presentations = Factors.validate_json(json.dumps(stated))
            except pydantic.ValidationError as error:
                raise faults(problems_of(error, stated), "presentations") from error
        choose_conditions(study=study, digests=body["models"], presentations=presentations, actor=request.user)
        return self.get(request, slug)  # type: ignore[no-any-return]

    @extend_schema(
        operation_id="study_explanations",
        request={"multipart/form-data": described(ExplanationsForm, "Explanations")},
        responses=ConditionsSerializer,
    )
    @action(detail=True, methods=["post"], parser_classes=[MultiPartParser])
    def explanations(self, request: Request, slug: str) -> Response:
        """Upload texts that explain items. A form with a CSV `file`. The conditions are crossed with lists without and
        with the texts.
        """
        study = self.owned
        file = self.form(ExplanationsForm).cleaned_data["file"]
        explain_by_texts(study=study, file=file, actor=request.user)
        return self.conditions(request, slug)  # type: ignore[call-arg]

    @extend_schema(operation_id="study_versions", responses=DesignVersionSerializer(many=True))
    @action(detail=True)
    def versions(self, request: Request, slug: str) -> Response:
        """The versions of the design, the newest first. A draft has none."""
        study = self.membership(slug, READERS).study
        return Response(DesignVersionSerializer(design_lines(study), many=True).data)

    @extend_schema(operation_id="study_amend", request=AmendmentSerializer, responses={201: DesignVersionSerializer})
    @action(detail=True, methods=["post"])
    def amendments(self, request: Request, slug: str) -> Response:
        """Amend a running study: a new version of its design. Targets can grow, and words be corrected. What answers
        mean stays: duplicate the study to ask something else.
        """
        study, body = self.owned, self.body(AmendmentSerializer)
        kind = body["kind"]
        needed = AmendmentSerializer.NEEDED[kind]
        if body.keys() != {"kind", "why", needed}:
            raise ValidationError({needed: [f"Send this, and no other change, with the kind {kind}."]})
        change, by = body[needed], {"study": study, "why": body["why"], "actor": request.user}
        if kind == "targets":
            amending.extend_targets(targets=change, **by)
        elif kind == "words":
            with _faults_of("questionnaire", questionnaire=True):
                amending.reword_questionnaire(text=_as_text(change), **by)
        else:
            is_consent = kind == "consent"
            names = CONSENT_TEXTS if is_consent else NOTE_TEXTS
            _require_known((name for own in change.values() for name in own), names, "text", "texts")
            _require_known(change, study.design.languages, "language", "texts")
            (amending.change_consent if is_consent else amending.amend_texts)(texts=change, **by)
        newest = DesignVersionSerializer(design_lines(study)[0]).data
        return created(newest, reverse("api:designs-versions", args=[slug], request=request))

    @extend_schema(
        operation_id="study_preregistration", parameters=[FORM], responses={(200, "text/markdown"): OpenApiTypes.STR}
    )
    @action(
        detail=True,
        url_path=rf"preregistration/(?P<form>{'|'.join(FORMS)})",
        url_name="preregistration",
        content_negotiation_class=IgnoreAccept,
    )
    def preregistration(self, request: Request, slug: str, form: str) -> HttpResponse:
        """The preregistration as text in Markdown, to be revised and pasted."""
        plan = preregistration_plan(self.membership(slug, READERS).study)
        return HttpResponse(preregistration(plan, form), content_type="text/markdown; charset=utf-8")


def _as_text(document: Mapping[str, Any]) -> str:
    """A document as the text that the services read, which bound its size and depth."""
    return yaml.safe_dump(document, allow_unicode=True, sort_keys=False)
