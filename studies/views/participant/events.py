"""What the pages' script tells of them: taken in batches, acknowledged, and never in anybody's way."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from core.errors import ParallaxError
from core.networks import network_of
from studies.services import resuming
from studies.services.entry_limits import EVENTS, TooOften, refuse_if_too_often
from studies.services.events import LARGEST_BODY, events_of_body, take_events
from studies.views.participant.caching import never_kept

STATUSES = {"study.unknown_link": 404, "study.visit_expired": 410, "events.erased": 410, "events.too_large": 413}


@login_not_required
@csrf_exempt  # as on every page of a participant the address opens it and no cookie does; see docs/adr/0003
@never_kept
@require_http_methods(["POST"])
def events(request: HttpRequest, token: str) -> HttpResponse:
    """Take a batch of events; the reply says which were refused, and the others are stored.

    JSON alone is read: a form of another site cannot send it.
    """
    if request.content_type != "application/json":
        return _refused("events.unreadable", "Events are sent as application/json.", 415)
    try:
        if int(request.headers.get("Content-Length") or 0) > LARGEST_BODY:
            raise ParallaxError("events.too_large", f"A batch of events has at most {LARGEST_BODY:,} bytes.")
        participant = resuming.whose(token=token)
        network = network_of(request.META["REMOTE_ADDR"])
        refuse_if_too_often(study_id=participant.study_id, action=EVENTS, network=network, mode=participant.mode)
        taken = take_events(participant_id=participant.pk, events=events_of_body(request.body))
    except TooOften as refusal:
        response = _refused(refusal.code, refusal.message, 429)
        response.headers["Retry-After"] = str(refusal.seconds)
        return response
    except ParallaxError as refusal:
        return _refused(refusal.code, refusal.message, STATUSES.get(refusal.code, 400))
    return JsonResponse({"new": taken.n_new, "refused": taken.refused})


def _refused(code: str, message: str, status: int) -> JsonResponse:
    return JsonResponse({"code": code, "message": message}, status=status)
