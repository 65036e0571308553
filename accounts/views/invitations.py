"""The page that an invitation's link opens."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.forms import NewAccountForm
from accounts.models import BACKEND, Invitation, User
from accounts.selectors import active_account, invitation_of
from accounts.services.invitations import accept, accept_with_new_account
from core.errors import ParallaxError
from core.outcomes import refusals_in


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, key: str) -> HttpResponse:
    """Accept an invitation with the account that is signed in, or with a new one; opening the link changes nothing."""
    invitation = invitation_of(key)
    if invitation is None or not invitation.is_open:
        return render(request, "accounts/invitation_over.html", status=410 if invitation else 404)
    if request.user.is_authenticated:
        return _with_account(request, invitation, key)
    if invitation.email and active_account(invitation.email):
        return render(request, "accounts/invitation.html", {"invitation": invitation, "must_sign_in": True})
    form = NewAccountForm(invitation.email, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "password", of="weak_password"):
            user = accept_with_new_account(key=key, **form.account())
            login(request, user, backend=BACKEND)
            return _welcome(request)
    return render(request, "accounts/invitation.html", {"invitation": invitation, "form": form})


def _with_account(request: HttpRequest, invitation: Invitation, key: str) -> HttpResponse:
    user = cast("User", request.user)
    problem = ""
    is_other = bool(invitation.email) and invitation.email != user.email
    if request.method == "POST":
        try:
            accept(key=key, user=user)
        except ParallaxError as refusal:
            problem = str(refusal)
        else:
            return _welcome(request)
    return render(
        request,
        "accounts/invitation.html",
        {"invitation": invitation, "account": user, "is_other": is_other, "problem": problem},
    )


def _welcome(request: HttpRequest) -> HttpResponse:
    messages.success(request, _("You have accepted the invitation."))
    return redirect("home")
