"""Nobody keeps a participant's page: not a proxy, and not the browser for whoever presses "back"."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpResponse

NEVER = "max-age=0, no-cache, no-store, must-revalidate, private"


def never_kept(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Say so with every answer; Django's `never_cache` says the same and the hour, in more time."""

    @wraps(view)
    def said(*args: Any, **kwargs: Any) -> HttpResponse:
        response = view(*args, **kwargs)
        response.headers["Cache-Control"] = NEVER
        return response

    return said
