"""What scripts of participant pages ask for: page events are accepted in batches, and the service worker is served."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth.decorators import login_not_required
from django.contrib.staticfiles import finders
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from core.errors import ParallaxError
from core.networks import network_of
from studies.participation.services import resuming
from studies.participation.services.entry_limits import EVENTS, NetworkLimitReached, refuse_if_too_often
from studies.participation.services.events import LARGEST_BODY, events_of_body, store_events

STATUSES = {"study.unknown_link": 404, "study.visit_expired": 410, "events.erased": 410, "events.too_large": 413}


@login_not_required
@csrf_exempt  # opened by its address, not by a cookie, as every participant page is; see docs/adr/0003
@never_cache
@require_http_methods(["POST"])
def events(request: HttpRequest, token: str) -> HttpResponse:
    """Store a batch of events; the reply lists those refused.

    Only JSON is accepted, since forms on other sites cannot send it.
    """
    if request.content_type != "application/json":
        return _refused("events.unreadable", "Events are sent as application/json.", 415)
    try:
        if int(request.headers.get("Content-Length") or 0) > LARGEST_BODY:
            raise ParallaxError("events.too_large", f"A batch of events has at most {LARGEST_BODY:,} bytes.")
        participant = resuming.participant_of_token(token=token)
        network = network_of(request.META["REMOTE_ADDR"])
        refuse_if_too_often(study_id=participant.study_id, action=EVENTS, network=network, mode=participant.mode)
        n_new, refused = store_events(participant_id=participant.pk, events=events_of_body(request.body))
    except NetworkLimitReached as refusal:
        response = _refused(refusal.code, refusal.message, 429)
        response.headers["Retry-After"] = str(refusal.seconds)
        return response
    except ParallaxError as refusal:
        return _refused(refusal.code, refusal.message, STATUSES.get(refusal.code, 400))
    return JsonResponse({"new": n_new, "refused": refused})


@login_not_required
@never_cache  # browsers look for a newer one by themselves
@require_safe
def worker(request: HttpRequest) -> FileResponse:
    """The service worker, at an address above the pages that it may serve."""
    return FileResponse(Path(str(finders.find("js/worker.js"))).open("rb"), content_type="text/javascript")


def _refused(code: str, message: str, status: int) -> JsonResponse:
    return JsonResponse({"code": code, "message": message}, status=status)
