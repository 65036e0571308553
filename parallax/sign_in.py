"""Middleware: idle researchers are signed out, and a required second factor is set up before anything else."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django_htmx.http import HttpResponseClientRedirect

from accounts.services.second_factor import must_set_up
from accounts.services.sign_in import is_idle
from core.problem_details import problem_response

SAFE = ("GET", "HEAD", "OPTIONS")
# Open while a second factor has to be set up.
SET_UP = frozenset({"accounts:sign_out", "accounts:sign_in", "account_reauthenticate"})


def _name(request: HttpRequest) -> str:
    return request.resolver_match.view_name if request.resolver_match else ""


def _is_closed(view: Any) -> bool:
    return bool(getattr(view, "login_required", True))


def _is_for_accounts(request: HttpRequest, view: Any) -> bool:
    """Whether the page shows more to an account. Participants' pages and pictures do not."""
    return _is_closed(view) or _name(request).startswith(("home", "analysis:", "accounts:", "api:"))


def _is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def _go_to(request: HttpRequest, path: str) -> HttpResponse:
    """Redirect the page, also where a part of it asked."""
    return HttpResponseClientRedirect(path) if _is_htmx(request) else redirect(path)


class IdleSignOut(MiddlewareMixin):
    """Sign a researcher out after `IDLE_MINUTES` without activity. Parts that a page refreshes are no activity."""

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """Sign out, and ask to sign in again where the page needs it."""
        if not _is_for_accounts(request, view) or not request.user.is_authenticated:
            return None
        is_activity = request.method not in SAFE or not _is_htmx(request)
        if not is_idle(request, is_activity=is_activity):
            return None
        logout(request)
        if not _is_closed(view):
            return None
        # A form cannot be posted again after the sign-in, and a part is no page to come back to.
        here = request.get_full_path() if request.method in SAFE and not _is_htmx(request) else ""
        query = {"idle": "1", **({"next": here} if here else {})}
        return _go_to(request, f"{reverse('accounts:sign_in')}?{urlencode(query)}")


class RequireSecondFactor(MiddlewareMixin):
    """Where the installation requires a second factor, an account without one can only set it up."""

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """Lead to the page of second factors; requests of programs are refused."""
        if not _is_for_accounts(request, view) or not request.user.is_authenticated:
            return None
        name = _name(request)
        is_open = name in SET_UP or name.startswith("mfa_")
        if is_open or not must_set_up(request.user):
            return None
        if name.startswith("api:"):
            # A program follows no redirect to a form; it needs a status and a code.
            detail = "This account has no second factor, which this installation requires."
            remedy = "Set one up under Your account in the console."
            return problem_response(403, "account.second_factor_required", detail, remedy=remedy)
        return _go_to(request, reverse("mfa_index"))
