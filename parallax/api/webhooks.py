"""The researcher's webhooks in the REST API, and the log of their deliveries."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters.rest_framework import ChoiceFilter, FilterSet
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from core.api import created
from core.errors import ParameterError
from parallax.webhooks.models import LONGEST_ADDRESS, Delivery, DeliveryStatus, EventType, Webhook
from parallax.webhooks.services import change_webhook, check_address, create_webhook, delete_webhook, send_ping
from studies.api.membership import StudyView
from studies.team.permissions import READERS


class EventsField(serializers.ListField):
    """The events that a webhook is sent."""

    child = serializers.ChoiceField(choices=EventType.choices)


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """An address that is sent events. It is switched off (`is_on` false) after a day of failures."""

    events = EventsField(allow_empty=False)
    study = serializers.CharField(
        source="study.slug",
        allow_null=True,
        help_text="Whose events it is sent; null: those of all studies that you may read.",
    )
    url = serializers.SerializerMethodField(help_text="The address of this webhook.")

    class Meta:
        model = Webhook
        fields = ["id", "address", "events", "study", "is_on", "failing_since", "created_at", "url"]
        read_only_fields = fields
        extra_kwargs: ClassVar = {"failing_since": {"help_text": "The first failure since the last success."}}

    @extend_schema_field(serializers.URLField())
    def get_url(self, webhook: Webhook) -> str:
        """Its own address."""
        return reverse("api:webhooks-detail", kwargs={"pk": webhook.pk}, request=self.context["request"])


class CreatedWebhookSerializer(WebhookSerializer):
    """A new webhook, with the secret by which its deliveries are signed, which is shown only here."""

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]
        read_only_fields = fields


class NewWebhookSerializer(serializers.Serializer[Any]):
    """A webhook to create."""

    address = serializers.CharField(max_length=LONGEST_ADDRESS, help_text="An https address on the internet.")
    events = EventsField(allow_empty=False)
    study = serializers.SlugField(
        required=False, allow_null=True, help_text="A study that you may read; null: all of them, also later ones."
    )

    def validate_address(self, address: str) -> str:
        """Refuse an address that events may not be sent to."""
        try:
            check_address(address)
        except ParameterError as refusal:
            raise serializers.ValidationError(str(refusal)) from refusal
        return address


class WebhookChangesSerializer(serializers.Serializer[Any]):
    """What changes of a webhook."""

    events = EventsField(allow_empty=False, required=False)
    is_on = serializers.BooleanField(required=False, help_text="Events while it is off are not sent later.")


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """An event that was sent, or will be."""

    id = serializers.CharField(source="message_id", help_text="The header `webhook-id`, the same at each try.")
    event = serializers.ChoiceField(choices=[*EventType.values, "ping"])
    payload = serializers.DictField(help_text="The body: `type`, `timestamp` and `data`.")
    status = serializers.ChoiceField(choices=DeliveryStatus.choices)

    class Meta:
        model = Delivery
        fields = ["id", "event", "payload", "status", "tries", "response_code", "error", "next_at", "created_at"]
        read_only_fields = fields
        extra_kwargs: ClassVar = {"next_at": {"help_text": "When it is tried again; null: never."}}


class WebhookView(StudyView):
    """An endpoint of the researcher's own webhooks."""

    limits: ClassVar = {"study": "study", "project": "study__dataset_version__dataset__project"}
    lookup_field = "pk"
    lookup_value_regex = r"[0-9]+"

    def own_webhooks(self) -> QuerySet[Webhook]:
        """The researcher's webhooks; of a limited token, those limited to the same study or project."""
        return self.within(Webhook.objects.filter(owner_id=self.request.user.pk).select_related("study"))


@extend_schema(tags=["webhooks"])
@extend_schema_view(
    list=extend_schema(operation_id="webhooks", summary="Your webhooks, newest first"),
    retrieve=extend_schema(operation_id="webhook", summary="One webhook"),
)
class WebhookViewSet(WebhookView, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Webhook]):
    """Your webhooks."""

    serializer_class = WebhookSerializer
    queryset = Webhook.objects.none()

    def get_queryset(self) -> QuerySet[Webhook]:
        """Return the researcher's webhooks."""
        return self.own_webhooks()

    @extend_schema(
        operation_id="webhook_create",
        summary="Create a webhook",
        description="Its `secret` is in this response only. Of a study, owners and analysts get events.",
        request=NewWebhookSerializer,
        responses={201: CreatedWebhookSerializer},
    )
    def create(self, request: Request) -> Response:
        """Create a webhook."""
        body = self.body(NewWebhookSerializer)
        slug = body.get("study")
        if slug is None and getattr(request.auth, "only_type", None) is not None:
            raise ValidationError({"study": ["Name a study, as this token is limited to a study or a project."]})
        study = None if slug is None else self.membership(slug, READERS).study
        webhook = create_webhook(owner=request.user, address=body["address"], events=body["events"], study=study)
        data = CreatedWebhookSerializer(webhook, context=self.get_serializer_context()).data
        return created(data, data["url"])

    @extend_schema(
        operation_id="webhook_change",
        summary="Change the events of a webhook, or switch it off or on",
        request=WebhookChangesSerializer,
        responses=WebhookSerializer,
    )
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change a webhook."""
        webhook, body = self.get_object(), self.body(WebhookChangesSerializer)
        changes = {"events": webhook.events, "is_on": webhook.is_on, **body}
        change_webhook(webhook, **changes, actor=request.user)
        return Response(self.get_serializer(webhook).data)

    @extend_schema(operation_id="webhook_delete", summary="Delete a webhook and its log", responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Delete a webhook."""
        delete_webhook(self.get_object(), actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="webhook_test",
        summary="Send the event `ping`",
        description="`Location` is the log, which shows when it is delivered.",
        request=None,
        responses={202: DeliverySerializer},
    )
    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: str) -> Response:
        """Send an event for a test."""
        delivery = send_ping(self.get_object())
        log = reverse("api:webhooks-deliveries", kwargs={"pk": pk}, request=request)
        return Response(DeliverySerializer(delivery).data, status.HTTP_202_ACCEPTED, headers={"Location": log})


class DeliveryFilters(FilterSet):
    """Filters of the log."""

    status = ChoiceFilter(choices=DeliveryStatus.choices, help_text="Deliveries in this state.")


@extend_schema(tags=["webhooks"])
@extend_schema_view(
    list=extend_schema(operation_id="webhook_deliveries", summary="The deliveries of a webhook in the last 30 days")
)
class DeliveryViewSet(WebhookView, mixins.ListModelMixin, viewsets.GenericViewSet[Delivery]):
    """The log of a webhook, newest first."""

    serializer_class = DeliverySerializer
    queryset = Delivery.objects.none()
    filterset_class = DeliveryFilters

    def get_queryset(self) -> QuerySet[Delivery]:
        """Return the deliveries of one of the researcher's webhooks."""
        return get_object_or_404(self.own_webhooks(), pk=self.kwargs["pk"]).deliveries.all()
