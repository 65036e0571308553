"""The researcher's webhooks in the REST API, and the log of their deliveries."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters.rest_framework import ChoiceFilter
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from core.api import StrictView, created, filters
from parallax.webhooks.models import Delivery, DeliveryStatus, EventType, Webhook
from parallax.webhooks.services import change_webhook, check_address, create_webhook, delete_webhook, send
from studies.api.membership import StudyView
from studies.enums import READERS

LIMITS = {"study": "study", "project": "study__dataset_version__dataset__project"}


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """An address that is sent events; it is switched off after a day of failures, which began at `failing_since`."""

    events = serializers.ListField(child=serializers.ChoiceField(choices=EventType.choices))
    study = serializers.CharField(
        source="study.slug", allow_null=True, help_text="Null: all studies that you may read."
    )
    url = serializers.HyperlinkedIdentityField(view_name="api:webhooks-detail")

    class Meta:
        model = Webhook
        fields = ["id", "address", "events", "study", "is_on", "failing_since", "created_at", "url"]
        read_only_fields = fields


class CreatedWebhookSerializer(WebhookSerializer):
    """A new webhook, with the secret by which its deliveries are signed, which is shown only here."""

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]
        read_only_fields = fields


class NewWebhookSerializer(serializers.Serializer[Any]):
    """A webhook to create; its address is an https address on the internet."""

    address = serializers.CharField(max_length=500, validators=[check_address])
    events = serializers.MultipleChoiceField(choices=EventType.choices, allow_empty=False)
    study = serializers.SlugField(
        required=False, allow_null=True, help_text="Null: all studies that you may read, also later ones."
    )


class WebhookChangesSerializer(serializers.Serializer[Any]):
    """What changes of a webhook; events that happen while it is off are not sent later."""

    events = serializers.MultipleChoiceField(choices=EventType.choices, allow_empty=False, required=False)
    is_on = serializers.BooleanField(required=False)


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """An event that was sent, or is tried again at `next_at`."""

    id = serializers.CharField(source="message_id", help_text="The header `webhook-id`, the same at each try.")
    payload = serializers.DictField(help_text="The body: `type`, `timestamp` and `data`.")

    class Meta:
        model = Delivery
        fields = ["id", "event", "payload", "status", "tries", "response_code", "error", "next_at", "created_at"]
        read_only_fields = fields


def own_webhooks(view: StrictView) -> QuerySet[Webhook]:
    """The researcher's webhooks; of a limited token, those of the same study or project."""
    return view.within(Webhook.objects.filter(owner=view.request.user.pk).select_related("study", "owner"), LIMITS)


@extend_schema_view(
    list=extend_schema(operation_id="webhooks"),
    retrieve=extend_schema(operation_id="webhook", summary="One webhook"),
)
class WebhookViewSet(StudyView, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Webhook]):
    """Your webhooks, newest first."""

    serializer_class = WebhookSerializer
    queryset = Webhook.objects.none()
    lookup_field = "pk"
    lookup_value_regex = "[0-9]+"

    def get_queryset(self) -> QuerySet[Webhook]:
        """Return the researcher's webhooks."""
        return own_webhooks(self)

    @extend_schema(
        operation_id="webhook_create", request=NewWebhookSerializer, responses={201: CreatedWebhookSerializer}
    )
    def create(self, request: Request) -> Response:
        """Create a webhook. Only this response has its `secret`. Owners and analysts are sent the events of a study."""
        body: dict[str, Any] = {"study": None, **self.body(NewWebhookSerializer)}
        if body["study"] is not None:
            body["study"] = self.membership(body["study"], READERS).study
        elif getattr(request.auth, "only_type", None) is not None:
            raise ValidationError({"study": ["Name a study, as this token is limited to a study or a project."]})
        webhook = create_webhook(owner=request.user, **body)
        data = CreatedWebhookSerializer(webhook, context=self.get_serializer_context()).data
        return created(data, data["url"])

    @extend_schema(operation_id="webhook_change", request=WebhookChangesSerializer, responses=WebhookSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change the events of a webhook, or switch it off or on."""
        webhook = self.get_object()
        change_webhook(
            webhook, **{"events": webhook.events, "is_on": webhook.is_on, **self.body(WebhookChangesSerializer)}
        )
        return Response(self.get_serializer(webhook).data)

    @extend_schema(operation_id="webhook_delete", responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Delete a webhook and its log."""
        delete_webhook(self.get_object())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(operation_id="webhook_test", request=None, responses={202: DeliverySerializer})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: str) -> Response:
        """Send the event `ping`. `Location` is the log, which shows when it is delivered."""
        webhook = self.get_object()
        delivery = send(webhook, "ping", {"webhook": webhook.pk}, webhook.study)
        log = reverse("api:webhooks-deliveries", kwargs={"pk": pk}, request=request)
        return Response(DeliverySerializer(delivery).data, status.HTTP_202_ACCEPTED, headers={"Location": log})


@extend_schema_view(list=extend_schema(operation_id="webhook_deliveries"))
class DeliveryViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[Delivery]):
    """The deliveries of a webhook in the last 30 days, newest first."""

    serializer_class = DeliverySerializer
    queryset = Delivery.objects.none()
    filterset_class = filters(
        status=ChoiceFilter(choices=DeliveryStatus.choices, help_text="Deliveries in this state.")
    )

    def get_queryset(self) -> QuerySet[Delivery]:
        """Return the deliveries of one of the researcher's webhooks."""
        return get_object_or_404(own_webhooks(self), pk=self.kwargs["pk"]).deliveries.all()
