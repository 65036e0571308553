"""Forms that one network may submit a limited number of times."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.services.sign_in import is_network_locked, locked_out
from core.networks import network_of
from core.rate_limits import RateLimit, seconds_to_wait

ATTEMPTS = RateLimit(60, 900)  # of one way to sign in or to confirm


def too_often(request: HttpRequest, form: str, limit: RateLimit = ATTEMPTS) -> HttpResponse | None:
    """Count a submission; the page with the time to wait, status 429, if there were too many."""
    seconds = seconds_to_wait(limit, form, network_of(request.META["REMOTE_ADDR"]))
    if not seconds:
        return None
    response = render(request, "accounts/too_often.html", {"minutes": -(-seconds // 60)}, status=429)
    response.headers["Retry-After"] = str(seconds)
    return response


def sign_in_refused(request: HttpRequest, form: str) -> HttpResponse | None:
    """The page, status 429, for a network that is locked for trying many accounts, or submits this form too often."""
    return locked_out(request) if is_network_locked(request) else too_often(request, form)
