"""Webhooks: created and changed; sent events, which are tried again for a day."""

from __future__ import annotations

import hmac
import json
import secrets
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import httpcore
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from accounts.services.letters import is_sent
from core.errors import ParameterError
from core.transitions import record
from evaluation.remote.addresses import host_of, resolved
from evaluation.remote.client import exchange
from jobs.queue import enqueue_on_commit
from parallax.webhooks.models import Delivery, DeliveryStatus, Webhook
from studies.models import Study

ANSWER_SECONDS = 10.0
# After each failed try but the last, which is 22 hours and 45 minutes after the first.
WAITS = [timedelta(minutes=minutes) for minutes in (1, 4, 16, 64, 256, 1024)]
LOST = timedelta(minutes=1)  # after which the message to a worker is sent again
OFF_AFTER = timedelta(days=1)  # without a success
KEPT = timedelta(days=30)
NOT_ALLOWED = (
    "The address leads into a network, or is not encrypted. Use an https address on the internet; an administrator can "
    "list others in PARALLAX_WEBHOOK_HOSTS."
)
NOT_ENTITLED = "The webhook is off, or its owner may not see the study any more."


def api_address(name: str, key: str | int) -> str:
    """An address of the REST API; without PARALLAX_URL, its path alone."""
    return f"{settings.SITE_URL}{reverse(f'api:{name}', args=[key])}"


def check_address(address: str) -> None:
    """Refuse an address that events may not be sent to, as it is looked up now. Raises ValidationError."""
    host = host_of(address)
    if not host:
        raise ValidationError("Write an address such as https://example.org/parallax, without an account or #.")
    parts = urlsplit(address)
    try:
        resolved(host, parts.port or 443, settings.WEBHOOK_HOSTS, is_encrypted=parts.scheme == "https")
    except OSError as unknown:
        raise ValidationError(f"The name {host} cannot be looked up.") from unknown
    except ParameterError as refusal:
        raise ValidationError(NOT_ALLOWED) from refusal


@transaction.atomic
def create_webhook(*, owner: Any, address: str, events: Collection[str], study: Study | None) -> Webhook:
    """Create a webhook for an address that `check_address` allows; logged."""
    secret = f"whsec_{b64encode(secrets.token_bytes(32)).decode()}"
    webhook = Webhook.objects.create(owner=owner, address=address, events=sorted(events), study=study, secret=secret)
    record(webhook, reason="Webhook created.", actor=owner)
    return webhook


@transaction.atomic
def change_webhook(webhook: Webhook, *, events: Collection[str], is_on: bool) -> None:
    """Change the events of a webhook, and whether it is on; logged. Earlier failures no longer count."""
    webhook.events, webhook.is_on, webhook.failing_since = sorted(events), is_on, None
    webhook.save()
    record(webhook, reason=f"Webhook changed; it is {'on' if is_on else 'off'}.", actor=webhook.owner)


@transaction.atomic
def delete_webhook(webhook: Webhook) -> None:
    """Delete a webhook with its deliveries; logged."""
    record(webhook, reason="Webhook deleted.", actor=webhook.owner)
    webhook.delete()


@transaction.atomic
def send(webhook: Webhook, event: str, data: Mapping[str, Any], study: Study | None) -> Delivery:
    """Send an event, about the study or none, once this transaction is committed."""
    now = timezone.now()
    delivery = Delivery.objects.create(
        webhook=webhook,
        study=study,
        message_id=f"msg_{secrets.token_hex(16)}",
        event=event,
        payload={"type": event, "timestamp": now.isoformat(), "data": dict(data)},
        next_at=now + LOST,
    )
    enqueue_on_commit("webhooks.deliver", delivery_id=delivery.pk, tries=0)
    return delivery


def deliver(*, delivery_id: int, tries: int) -> None:
    """Try to deliver an event that was tried so many times before; does nothing for a message that comes twice.

    The next try is planned before the request, in case the worker dies: the receiver can get an event twice.
    """
    is_last = tries >= len(WAITS)
    row = Delivery.objects.filter(pk=delivery_id)
    due = row.filter(tries=tries, status=DeliveryStatus.PENDING)
    if not due.update(tries=tries + 1, next_at=timezone.now() + (LOST if is_last else WAITS[tries])):
        return
    delivery = row.select_related("webhook", "study").get()
    webhook = Webhook.objects.filter(pk=delivery.webhook_id)
    if not webhook.entitled(delivery.study).exists():
        row.update(status=DeliveryStatus.FAILED, error=NOT_ENTITLED, next_at=None)
        return
    code, error = _post(delivery)
    row.update(response_code=code, error=error)
    if not error:
        row.update(status=DeliveryStatus.DELIVERED, next_at=None)
        webhook.update(failing_since=None)
        return
    if is_last:
        row.update(status=DeliveryStatus.FAILED, next_at=None)
    webhook.filter(failing_since=None).update(failing_since=timezone.now())


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The signature of a message, as Standard Webhooks define it (https://www.standardwebhooks.com)."""
    key = b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return f"v1,{b64encode(hmac.digest(key, signed, 'sha256')).decode()}"


def _post(delivery: Delivery) -> tuple[int | None, str]:
    """Send one signed request; returns the status of the response, and what failed."""
    webhook, timestamp = delivery.webhook, int(timezone.now().timestamp())
    body = json.dumps(delivery.payload, sort_keys=True).encode()
    headers = {
        "Content-Type": "application/json",
        "webhook-id": delivery.message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(webhook.secret, delivery.message_id, timestamp, body),
    }
    try:
        code, _body = exchange(
            "POST", webhook.address, body, headers, hosts=settings.WEBHOOK_HOSTS, seconds=ANSWER_SECONDS, most_bytes=0
        )
    except ParameterError:
        return None, NOT_ALLOWED
    except httpcore.TimeoutException:
        return None, f"No answer within {ANSWER_SECONDS:g} seconds."
    except (httpcore.NetworkError, httpcore.RemoteProtocolError) as failure:
        return None, f"No connection: {failure}."[:200]
    return code, "" if 200 <= code < 300 else f"The answer has the status {code}."


def sweep() -> None:
    """Deliver what is due, switch off webhooks that fail for a day, and delete old deliveries.

    Safe to run twice at once, as each row is changed only if it is as it was read.
    """
    now = timezone.now()
    Delivery.objects.filter(created_at__lt=now - KEPT).delete()
    failing = Webhook.objects.filter(is_on=True, failing_since__lte=now - OFF_AFTER)
    for webhook in failing.select_related("owner"):
        if failing.filter(pk=webhook.pk).update(is_on=False):
            _tell_owner(webhook)
    due = Delivery.objects.filter(next_at__lte=now)
    for pk, tries in list(due.order_by("pk").values_list("pk", "tries")):
        if due.filter(pk=pk, tries=tries).update(next_at=now + LOST):
            enqueue_on_commit("webhooks.deliver", delivery_id=pk, tries=tries)


def _tell_owner(webhook: Webhook) -> None:
    record(webhook, reason="Switched off after a day of failures.")
    text = (
        f"Parallax has been unable to deliver events to {webhook.address} since "
        f"{webhook.failing_since:%d %B %Y, %H:%M} UTC, and has switched off this webhook. Later events are not stored "
        f"for it.\n\nThe log of its deliveries: {api_address('webhooks-deliveries', webhook.pk)}\n\n"
        "Once the address works again, set `is_on` of the webhook to true.\n"
    )
    letter = EmailMessage("Parallax: a webhook is switched off", text, to=[webhook.owner.email])
    is_sent(letter, f"account {webhook.owner_id}")
