"""Accounts of the installation, for its administrators."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.forms import AccountInvitationForm, SuccessorForm
from accounts.models import Invitation, User
from accounts.selectors import accounts_by_name, open_invitations
from accounts.services import accounts
from accounts.services.invitations import BY_LINK, deliver, invite, revoke_invitation
from accounts.services.second_factor import has_second_factor, reset_second_factor
from core.networks import site_of
from core.outcomes import perform, refusals_in

View = Callable[..., HttpResponse]


def for_administrators(view: View) -> View:
    """Refuse everyone else with status 403."""

    @wraps(view)
    def checked(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if not cast("User", request.user).is_superuser:
            raise PermissionDenied("Only administrators see this page.")
        return view(request, **kwargs)

    return checked


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@for_administrators
def researcher_list(request: HttpRequest) -> HttpResponse:
    """All accounts and open invitations; only the response to the form contains the link of a new invitation."""
    form = AccountInvitationForm(request.POST or None)
    delivery = None
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "email"):
            invitation, key = invite(actor=request.user, **form.cleaned_data)
            delivery = deliver(
                invitation=invitation, key=key, site=site_of(request), by=request.POST.get("by", BY_LINK)
            )
            form = AccountInvitationForm()
    context = {
        "form": form,
        "delivery": delivery,
        "has_mail": bool(settings.EMAIL_HOST),
        "researchers": accounts_by_name(),
        "invitations": [(each, reverse("accounts:invitation_revoke", args=[each.pk])) for each in open_invitations()],
    }
    return render(request, "accounts/researchers.html", context)


@require_POST
@for_administrators
def invitation_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke an invitation."""
    revoke_invitation(invitation=get_object_or_404(Invitation, pk=pk), actor=request.user)
    messages.success(request, _("The invitation is revoked."))
    return redirect("accounts:researchers")


def _page(request: HttpRequest, user: User, form: SuccessorForm | None = None) -> HttpResponse:
    context = {"researcher": user, "form": form or SuccessorForm(user), "is_self": user == request.user}
    context["has_second_factor"] = has_second_factor(user)
    return render(request, "accounts/researcher.html", context)


@require_safe
@for_administrators
def researcher(request: HttpRequest, pk: int) -> HttpResponse:
    """One account: its role, and forms to deactivate, reactivate or delete it."""
    return _page(request, get_object_or_404(User, pk=pk))


@require_POST
@for_administrators
def set_role(request: HttpRequest, pk: int) -> HttpResponse:
    """Make an account an administrator, or an ordinary one."""
    user = get_object_or_404(User, pk=pk)
    is_administrator = request.POST.get("administrator") == "yes"
    saved = _("The role is saved.")
    perform(request, accounts.set_administrator, saved, user=user, is_administrator=is_administrator)
    is_own = user == request.user and not is_administrator
    return redirect("accounts:account") if is_own else redirect("accounts:researcher", pk=pk)


@require_POST
@for_administrators
def second_factor_reset(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete the second factors of an account whose owner lost them."""
    user = get_object_or_404(User, pk=pk)
    reset = _("The second factor of %(email)s is reset.") % {"email": user.email}
    perform(request, reset_second_factor, reset, user=user)
    return redirect("accounts:researcher", pk=pk)


def _closing(act: Callable[..., object], success: Promise) -> View:
    """Close an account, or show its page again with what stands against it beside the field."""

    @require_POST
    @for_administrators
    def closed(request: HttpRequest, pk: int) -> HttpResponse:
        user = get_object_or_404(User, pk=pk)
        form = SuccessorForm(user, request.POST)
        if form.is_valid():
            with refusals_in(form, "successor"):
                act(user=user, actor=request.user, successor=form.email)
                messages.success(request, str(success) % {"email": user.email})
                return redirect("accounts:researchers")
        return _page(request, user, form)

    return closed


researcher_deactivate = _closing(accounts.deactivate, gettext_lazy("The account %(email)s is deactivated."))
researcher_delete = _closing(accounts.delete_account, gettext_lazy("The account %(email)s is deleted."))


@require_POST
@for_administrators
def researcher_reactivate(request: HttpRequest, pk: int) -> HttpResponse:
    """Reactivate an account."""
    user = accounts.reactivate(user=get_object_or_404(User, pk=pk), actor=request.user)
    messages.success(request, _("The account %(email)s is active again.") % {"email": user.email})
    return redirect("accounts:researcher", pk=pk)
