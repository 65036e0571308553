"""Second factors and passkeys: the library's views with our locks and limits."""

from __future__ import annotations

from typing import Any, cast

from allauth.account.views import ReauthenticateView
from allauth.mfa.base.views import AuthenticateView, IndexView
from allauth.mfa.base.views import ReauthenticateView as ReauthenticateByCodeView
from allauth.mfa.webauthn.views import LoginWebAuthnView, ReauthenticateWebAuthnView
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.models import User
from accounts.services.second_factor import has_passkey, must_set_up
from accounts.services.sign_in import is_locked, locked_out
from accounts.views.network_limits import sign_in_refused, too_often


class LockedByAccount:
    """Limits the attempts of one network, and of one account as its passwords are limited."""

    request: HttpRequest

    def account(self) -> User:
        return cast("User", self.request.user)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check the factor, unless the account is locked; the attempt that locks it says so."""
        user = self.account()
        if is_locked(request, user.email):
            return locked_out(request, credentials={"username": user.email})
        response: HttpResponse
        response = too_often(request, type(self).__name__) or super().post(request, *args, **kwargs)  # type: ignore[misc]
        return locked_out(request, credentials={"username": user.email}) if is_locked(request, user.email) else response


class SignInSecondFactor(LockedByAccount, AuthenticateView):
    """The second step of signing in."""

    template_name = "accounts/sign_in_code.html"

    def account(self) -> User:
        return cast("User", self.stage.login.user)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {**context, "has_passkey": has_passkey(self.account())}


class ConfirmByPassword(LockedByAccount, ReauthenticateView):
    """Asks for the password again before a second factor is changed."""

    template_name = "accounts/confirm_password.html"

    def get_form(self, form_class: Any = None) -> Any:
        """The form without a placeholder, which would repeat the label."""
        form = super().get_form(form_class)
        form.fields["password"].widget.attrs.pop("placeholder", None)
        return form


class ConfirmByCode(LockedByAccount, ReauthenticateByCodeView):
    """Asks for a code before a second factor is changed."""

    template_name = "accounts/confirm_code.html"


@method_decorator(never_cache, name="dispatch")
class SecondFactors(IndexView):
    """The second factors of the account."""

    template_name = "accounts/second_factor.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        user = cast("User", self.request.user)
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {**context, "must_set_up": must_set_up(user), "requirement": settings.SECOND_FACTOR}


@method_decorator([login_not_required, never_cache], name="dispatch")
class SignInByPasskey(LoginWebAuthnView):
    """Signs in by a passkey alone: the device asks for a PIN, a finger or a face."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check the passkey, unless the network is locked; locks of the account follow in the adapter."""
        return sign_in_refused(request, "SignInByPasskey") or super().post(request, *args, **kwargs)


@method_decorator(never_cache, name="dispatch")
class ConfirmByPasskey(LockedByAccount, ReauthenticateWebAuthnView):
    """Asks for a passkey before a second factor is changed."""

    template_name = "accounts/confirm_passkey.html"
