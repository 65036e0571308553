"""Passkeys: added, removed, and used to sign in or to confirm."""

from __future__ import annotations

from typing import Any

from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    LoginWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.services.account_locks import locked_out
from accounts.services.sign_in import is_network_locked
from accounts.views.network_limits import LimitedByNetwork
from accounts.views.second_factor import LockedByAccount
from core.rate_limits import RateLimit


@method_decorator(never_cache, name="dispatch")
class AddPasskey(AddWebAuthnView):
    """Adds a passkey, which signs in without a password."""

    template_name = "accounts/passkey.html"


class RemovePasskey(RemoveWebAuthnView):
    """Removes a passkey."""

    template_name = "accounts/passkey_remove.html"
    success_url = reverse_lazy("mfa_index")


@method_decorator([login_not_required, never_cache], name="dispatch")
class SignInByPasskey(LimitedByNetwork, LoginWebAuthnView):
    """Signs in by a passkey alone: the device asks for a PIN, a finger or a face."""

    limit = RateLimit(60, 900)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check the passkey, unless the network is locked; locks of the account follow in the adapter."""
        if is_network_locked(request):
            return locked_out(request)
        return super().post(request, *args, **kwargs)


@method_decorator(never_cache, name="dispatch")
class ConfirmByPasskey(LockedByAccount, ReauthenticateWebAuthnView):
    """Asks for a passkey before a second factor is changed."""

    template_name = "accounts/confirm_passkey.html"
