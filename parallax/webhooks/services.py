"""Webhooks: created, changed, tried again for a day, then switched off."""

from __future__ import annotations

import hmac
import json
import logging
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import httpcore
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from accounts.services.letters import is_sent
from core.errors import ParallaxError, ParameterError
from core.transitions import log_change
from evaluation.remote.addresses import host_of, resolved
from evaluation.remote.connections import exchange
from jobs.queue import enqueue_on_commit
from parallax.webhooks.models import PING, Delivery, DeliveryStatus, Webhook, WebhookQuerySet
from studies.models import Study

logger = logging.getLogger(__name__)

MOST_WEBHOOKS = 20  # of one account
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
    """Refuse an address that events may not be sent to, now. Raises ParameterError."""
    host = host_of(address)
    if not host:
        raise ParameterError("Write an address such as https://example.org/parallax, without an account or #.")
    parts = urlsplit(address)
    try:
        resolved(host, parts.port or 443, settings.WEBHOOK_HOSTS, is_encrypted=parts.scheme == "https")
    except OSError as unknown:
        raise ParameterError(f"The name {host} cannot be looked up.") from unknown
    except ParameterError as refusal:
        raise ParameterError(NOT_ALLOWED) from refusal


@transaction.atomic
def create_webhook(*, owner: User, address: str, events: Collection[str], study: Study | None) -> Webhook:
    """Create a webhook; logged. The address is one that `check_address` lets pass. Raises `webhook.too_many`."""
    if owner.webhooks.count() >= MOST_WEBHOOKS:
        raise ParallaxError(
            "webhook.too_many", f"An account has at most {MOST_WEBHOOKS} webhooks. Delete one that you no longer need."
        )
    webhook = Webhook.objects.create(owner=owner, address=address, events=sorted(set(events)), study=study)
    log_change(webhook, "", "on", actor=owner, reason="Webhook created.", facts={"owner": owner.pk})
    return webhook


@transaction.atomic
def change_webhook(webhook: Webhook, *, events: Collection[str], is_on: bool, actor: User) -> None:
    """Change what a webhook is told, and whether at all; logged. One that is switched on has no failures."""
    before, changed = _state(webhook), ["events", "is_on", "updated_at"]
    if is_on and not webhook.is_on:
        webhook.failing_since = None
        changed.append("failing_since")
    webhook.events, webhook.is_on = sorted(set(events)), is_on
    webhook.save(update_fields=changed)
    log_change(webhook, before, _state(webhook), actor=actor, reason="Webhook changed.", facts={})


@transaction.atomic
def delete_webhook(webhook: Webhook, *, actor: User) -> None:
    """Delete a webhook with its log of deliveries; logged."""
    log_change(webhook, _state(webhook), "deleted", actor=actor, reason="Webhook deleted.", facts={})
    webhook.delete()


def _state(webhook: Webhook) -> str:
    return "on" if webhook.is_on else "off"


def send_ping(webhook: Webhook) -> Delivery:
    """Send an event for a test. Raises `webhook.off`."""
    if not webhook.is_on:
        raise ParallaxError("webhook.off", "This webhook is off. Switch it on first.")
    return _send(webhook, PING, {"webhook": webhook.pk}, webhook.study)


def send(event: str, data: Mapping[str, Any], *, webhooks: WebhookQuerySet, study: Study | None) -> None:
    """Send an event, once this transaction is committed, to those of the webhooks that want it."""
    for webhook in webhooks:
        if event in webhook.events:
            _send(webhook, event, data, study)


@transaction.atomic
def _send(webhook: Webhook, event: str, data: Mapping[str, Any], study: Study | None) -> Delivery:
    now = timezone.now()
    payload = {"type": event, "timestamp": now.isoformat(), "data": dict(data)}
    delivery = Delivery.objects.create(webhook=webhook, study=study, event=event, payload=payload, next_at=now + LOST)
    enqueue_on_commit("webhooks.deliver", delivery_id=delivery.pk, tries=0)
    return delivery


def deliver(*, delivery_id: int, tries: int) -> None:
    """Try to deliver an event that was tried so many times before; does nothing for a message that comes twice.

    The try is counted, and the next one planned, before the request: where the worker dies, the sweep goes on from
    there. A receiver can thus get an event twice, with the same id.
    """
    is_last = tries >= len(WAITS)
    due = Delivery.objects.filter(pk=delivery_id, tries=tries, status=DeliveryStatus.PENDING)
    if not due.update(tries=tries + 1, next_at=timezone.now() + (LOST if is_last else WAITS[tries])):
        return
    delivery = Delivery.objects.select_related("webhook", "study").get(pk=delivery_id)
    webhook = delivery.webhook
    own = Webhook.objects.filter(pk=webhook.pk)
    if not own.entitled(delivery.study).exists():
        _end(delivery, DeliveryStatus.FAILED, None, NOT_ENTITLED)
        return
    code, error = _post(delivery)
    if not error:
        _end(delivery, DeliveryStatus.DELIVERED, code)
        own.update(failing_since=None)
        return
    logger.warning("webhook failed webhook=%s delivery=%s tries=%s: %s", webhook.pk, delivery.pk, tries + 1, error)
    _end(delivery, DeliveryStatus.FAILED if is_last else DeliveryStatus.PENDING, code, error)
    own.filter(failing_since=None).update(failing_since=timezone.now())


def _end(delivery: Delivery, status: str, code: int | None, error: str = "") -> None:
    is_over = {} if status == DeliveryStatus.PENDING else {"next_at": None}
    Delivery.objects.filter(pk=delivery.pk).update(status=status, response_code=code, error=error, **is_over)


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
        "User-Agent": "Parallax",
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
    """Send the messages of deliveries that are due, switch off webhooks that fail for a day, and delete old
    deliveries. Safe to run twice at once.
    """
    now = timezone.now()
    Delivery.objects.filter(created_at__lt=now - KEPT).delete()
    for webhook in Webhook.objects.filter(is_on=True, failing_since__lte=now - OFF_AFTER).select_related("owner"):
        _switch_off(webhook)
    due = Delivery.objects.filter(next_at__lte=now)
    for pk, tries in list(due.order_by("pk").values_list("pk", "tries")):
        # Of two sweeps at once, only one finds it still due.
        if due.filter(pk=pk, tries=tries).update(next_at=now + LOST):
            enqueue_on_commit("webhooks.deliver", delivery_id=pk, tries=tries)


def _switch_off(webhook: Webhook) -> None:
    """Switch off a webhook that failed for a day, and tell its owner, once."""
    failing = Webhook.objects.filter(pk=webhook.pk, is_on=True, failing_since=webhook.failing_since)
    if not failing.update(is_on=False):
        return
    log_change(webhook, "on", "off", actor=None, reason="Switched off after a day of failures.", facts={})
    text = (
        f"Parallax has been unable to deliver events to {webhook.address} since "
        f"{webhook.failing_since:%d %B %Y, %H:%M} UTC, and has switched off this webhook. Later events are not stored "
        f"for it.\n\nThe log of its deliveries: {api_address('webhooks-deliveries', webhook.pk)}\n\n"
        "Once the address works again, set `is_on` of the webhook to true.\n"
    )
    letter = EmailMessage("Parallax: a webhook is switched off", text, to=[webhook.owner.email])
    is_sent(letter, f"account {webhook.owner_id}")
