"""The address of this site, for links that leave it."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def site_of(request: HttpRequest) -> str:
    """Return scheme and host without a slash at the end: those of `SITE_URL` or, if it is not set, of the request."""
    return str(settings.SITE_URL) or f"{request.scheme}://{request.get_host()}"
