"""To the institution's sign-in and back."""

from __future__ import annotations

import logging

from allauth.socialaccount.providers.openid_connect.views import callback, login
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from requests import RequestException

from accounts.services.single_sign_on import FAILED, institution, refusal
from accounts.views.network_limits import sign_in_refused

logger = logging.getLogger(__name__)


def _require_institution(provider_id: str) -> None:
    provider = institution()
    if provider is None or provider.provider_id != provider_id:
        raise Http404("This installation has no such sign-in.")


def _unreachable(request: HttpRequest, problem: RequestException) -> HttpResponse:
    logger.error("single sign-on: the issuer cannot be reached: %s", type(problem).__name__)
    return refusal(request, FAILED, status=502)


@login_not_required
@never_cache
@require_POST
def start(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Lead to the institution. A page of ours does, because our forms may be sent to this site only."""
    _require_institution(provider_id)
    if refused := sign_in_refused(request, "single-sign-on"):
        return refused
    try:
        answer: HttpResponse = login(request, provider_id)
    except RequestException as problem:
        return _unreachable(request, problem)
    address = answer.headers.get("Location", "")
    return render(request, "accounts/single_sign_on.html", {"address": address}) if address else answer


@login_not_required
@never_cache
@require_safe
def finish(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Sign in the person that the institution identified."""
    _require_institution(provider_id)
    try:
        answer: HttpResponse = callback(request, provider_id)
    except RequestException as problem:
        return _unreachable(request, problem)
    return answer
