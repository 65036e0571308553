"""Forms that one network may submit a limited number of times."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from core.networks import network_of
from core.rate_limits import RateLimit, seconds_to_wait


def too_often(request: HttpRequest, seconds: int) -> HttpResponse:
    """The page with the time to wait, status 429."""
    response = render(request, "accounts/too_often.html", {"minutes": -(-seconds // 60)}, status=429)
    response.headers["Retry-After"] = str(seconds)
    return response


class LimitedByNetwork:
    """Limits how often one network may submit a form."""

    limit: RateLimit

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Process the form, or respond with status 429 and the time to wait."""
        network = network_of(request.META["REMOTE_ADDR"])
        seconds = seconds_to_wait(self.limit, type(self).__name__, network)
        if seconds:
            return too_often(request, seconds)
        answer: HttpResponse = super().post(request, *args, **kwargs)  # type: ignore[misc]
        return answer
