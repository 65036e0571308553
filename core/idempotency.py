"""Requests that are sent twice are done once: the answer is kept under the client's `Idempotency-Key`.

Answers are in the database, which every process of both kinds of installation shares; without Redis, each web process
has a cache of its own. They can hold links and ids of participants, so they are encrypted under the client's key, of
which only a digest is stored.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any

from cryptography.fernet import Fernet
from django.http import HttpResponse, QueryDict
from django.utils import timezone
from rest_framework.exceptions import APIException
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import KeptAnswer
from core.problem_details import BadHeaders

HEADER = "Idempotency-Key"
LONGEST = 255
KEPT = timedelta(hours=24)
# After a crash nothing says whether the request was done: it may be sent again once it cannot be under way any more.
UNDER_WAY = timedelta(minutes=5)
COPIED = ("Location", "Retry-After")


class OtherRequest(APIException):
    """A key that was sent with another request."""

    status_code = 422
    default_code = "idempotency.other_request"
    default_detail = f"This {HEADER} was sent with another address or body within the last 24 hours."
    remedy = f"Send a new {HEADER} with each new request."


class UnderWay(APIException):
    """The same request, whose first answer is not there yet."""

    status_code = 409
    default_code = "idempotency.under_way"
    default_detail = f"The first request with this {HEADER} is under way."
    remedy = "Send the same request again in a few seconds."


class AnsweredBefore(Exception):
    """The same request was answered before; `answer` is that answer."""

    def __init__(self, stored: KeptAnswer, cipher: Fernet) -> None:
        super().__init__(stored.key)
        body = cipher.decrypt(stored.body)
        self.answer = HttpResponse(body, "application/json", stored.status, headers=stored.headers)


def keep_answer(request: Request) -> tuple[KeptAnswer, Fernet] | None:
    """Reserve the key of a request for its token, or its account; None for a request without a key.

    Raises AnsweredBefore, UnderWay, OtherRequest, and BadHeaders for a key that is too long.
    """
    text = request.headers.get(HEADER)
    if text is None:
        return None
    if not (0 < len(text) <= LONGEST and text.isascii() and text.isprintable()):
        raise BadHeaders({HEADER: [f"Write 1 to {LONGEST} characters of ASCII."]})
    sender = (str(request.user.pk), getattr(request.auth, "digest", ""), text)
    key, cipher = _digest(*sender), Fernet(urlsafe_b64encode(bytes.fromhex(_digest("answer", *sender))))
    fingerprint, now = _fingerprint(request), timezone.now()
    KeptAnswer.objects.filter(key=key, ends_at__lte=now).delete()
    stored, is_new = KeptAnswer.objects.get_or_create(
        key=key, defaults={"fingerprint": fingerprint, "ends_at": now + UNDER_WAY}
    )
    if is_new:
        return stored, cipher
    if stored.fingerprint != fingerprint:
        raise OtherRequest
    if not stored.status:
        raise UnderWay
    raise AnsweredBefore(stored, cipher)


def end_request(stored: KeptAnswer, cipher: Fernet, response: Response) -> None:
    """Keep a successful answer for a day; a refusal did nothing, so the same request may be sent again."""
    if not 200 <= response.status_code < 300:
        stored.delete()
        return
    stored.status = response.status_code
    stored.body = cipher.encrypt(JSONRenderer().render(response.data)).decode()
    stored.headers = {name: response.headers[name] for name in COPIED if name in response.headers}
    stored.ends_at = timezone.now() + KEPT
    stored.save()


def forget_answers() -> None:
    """Delete the answers whose day is over."""
    KeptAnswer.objects.filter(ends_at__lte=timezone.now()).delete()


def _digest(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()


def _fingerprint(request: Request) -> str:
    """A digest of the address and the body; of a form its fields and files, whose frame is drawn anew each time."""
    data: Any = request.data
    if isinstance(data, QueryDict):
        data = {name: [_of_part(part) for part in parts] for name, parts in data.lists()}
    return _digest(request.get_full_path(), json.dumps(data, sort_keys=True))


def _of_part(part: Any) -> str | Mapping[str, str]:
    if isinstance(part, str):
        return part
    digest = sha256()
    for chunk in part.chunks():
        digest.update(chunk)
    part.seek(0)
    return {"name": str(part.name), "sha256": digest.hexdigest()}
