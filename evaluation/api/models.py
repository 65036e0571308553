"""REST API of models, what they recommend, and remote recommenders."""

from __future__ import annotations

from typing import ClassVar

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from accounts.enums import Scope
from catalog.api import DATASET_LIMITS
from catalog.models import Dataset
from catalog.selectors.datasets import newest_version
from core.api import StrictView, exactly, filters
from core.errors import ParallaxError, ParameterError
from evaluation.models import RemoteRecommender, TrainedModel
from evaluation.selectors.models import listed_models, models_by_time
from evaluation.serializers import (
    ModelSerializer,
    ProfileSerializer,
    RecommendationSerializer,
    RecommenderSerializer,
    UploadSerializer,
)
from evaluation.services.serving import recommend
from evaluation.services.upload_jobs import request_upload
from jobs.api import JobSerializer, job_response
from jobs.models import Job
from recommenders import registry
from recommenders.data import History


@extend_schema_view(
    list=extend_schema(operation_id="models"),
    retrieve=extend_schema(operation_id="model", summary="One model"),
)
class ModelViewSet(StrictView, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[TrainedModel]):
    """Models, newest first. A study pins its models by digest."""

    serializer_class = ModelSerializer
    parser_classes = (MultiPartParser,)
    queryset = TrainedModel.objects.none()
    limits: ClassVar = {"study": "conditions__study", "project": "version__dataset__project"}
    filterset_class = filters(
        digest=exactly("Models of these bytes.", pattern=r"^[0-9a-f]{64}$"),
        dataset=exactly("Models of this dataset.", "version__dataset__name"),
        algorithm=exactly("Models of this algorithm, by its key."),
    )
    write_scopes: ClassVar = {"create": Scope.UPLOAD}
    reading_posts: ClassVar = {"recommendations"}

    def get_queryset(self) -> QuerySet[TrainedModel]:
        """Return the visible models."""
        return self.within(models_by_time(self.request.user))

    @extend_schema(
        operation_id="model_upload", request={"multipart/form-data": UploadSerializer}, responses={202: JobSerializer}
    )
    def create(self, request: Request) -> Response:
        """Upload a model that was learned elsewhere. A worker checks the file and stores the model. Of the job that
        succeeded, `made_url` is the model and `result` says what was understood; of one that failed, `error` names
        everything that is wrong with the file. The token needs the scope `write` or `upload`.
        """
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
        return job_response(request, job)

    @extend_schema(
        operation_id="model_recommendations", request=ProfileSerializer, responses=RecommendationSerializer(many=True)
    )
    @action(detail=True, methods=["post"], parser_classes=[JSONParser], pagination_class=None, filterset_class=None)
    def recommendations(self, request: Request, pk: str) -> Response:
        """What a model recommends for a profile. As in the model preview of the console. Nothing is stored, and the
        scope `read` is enough.
        """
        body = self.body(ProfileSerializer)
        model = get_object_or_404(self.within(listed_models(request.user)), pk=pk)
        version, profile = model.version, body["profile"]
        indexes = dict(version.items.filter(external_id__in=profile).values_list("external_id", "index"))
        if lacking := [item for item in profile if item not in indexes]:
            raise ValidationError({f"profile/{item}": [f"{version} has no item of this id."] for item in lacking})
        is_usage = version.scale_low == version.scale_high  # each item counts the same
        scale = (version.scale_low,) * 2 + (version.scale_step,) if is_usage else (1.0, 5.0, 1.0)
        try:
            served = recommend(
                model=model,
                items=[indexes[item] for item in profile],
                ratings=[scale[0] if is_usage else rating for rating in profile.values()],
                scale=scale,
                n=body["n"],
                history=History("rating", order=range(1, len(profile) + 1)),
            )
        except ParameterError as problem:  # its algorithm is no longer installed
            raise ParallaxError("model.not_served", str(problem)) from problem
        items = {item.index: item for item in version.items.filter(index__in=served.items)}
        lines = [
            {"item": items[index].external_id, "title": items[index].title, "score": score, "is_filled": is_filled}
            for index, score, is_filled in zip(served.items, served.scores, served.is_filled, strict=True)
        ]
        return Response(RecommendationSerializer(lines, many=True).data)


def model_made(job: Job) -> str:
    """The address of the model that a job stored."""
    return reverse("api:models-detail", kwargs={"pk": job.result["model"]})


@extend_schema_view(list=extend_schema(operation_id="recommenders"))
class RecommenderViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[RemoteRecommender]):
    """Remote recommenders, behind HTTP, that administrators registered for all researchers."""

    serializer_class = RecommenderSerializer
    queryset = RemoteRecommender.objects.all()

    def get_queryset(self) -> QuerySet[RemoteRecommender]:
        """Return all; a token that is limited to a study or a project has none."""
        return self.within(super().get_queryset())
