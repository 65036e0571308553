"""Second factors: the library's views with our pages, locks and limits."""

from __future__ import annotations

from typing import Any, cast

from allauth.account.views import ReauthenticateView
from allauth.mfa.base.views import AuthenticateView, IndexView
from allauth.mfa.base.views import ReauthenticateView as ReauthenticateByCodeView
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.models import User
from accounts.services.account_locks import locked_out
from accounts.services.second_factor import has_passkey, must_set_up
from accounts.services.sign_in import is_locked
from accounts.views.network_limits import LimitedByNetwork
from core.rate_limits import RateLimit


class LockedByAccount(LimitedByNetwork):
    """Limits the attempts of one network, and of one account as its passwords are limited."""

    limit = RateLimit(60, 900)

    def account(self) -> User:
        """The account whose factor is asked for."""
        return cast("User", self.request.user)  # type: ignore[attr-defined]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check the factor, unless the account is locked; the attempt that locks it says so."""
        user = self.account()
        if is_locked(request, user.email):
            return locked_out(request, credentials={"username": user.email})
        response = super().post(request, *args, **kwargs)
        return locked_out(request, credentials={"username": user.email}) if is_locked(request, user.email) else response


class SignInSecondFactor(LockedByAccount, AuthenticateView):
    """The second step of signing in."""

    template_name = "accounts/sign_in_code.html"

    def account(self) -> User:
        """The account whose password was right."""
        return cast("User", self.stage.login.user)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Whether the account has a passkey."""
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
        """Whether the installation requires one too."""
        user = cast("User", self.request.user)
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {**context, "must_set_up": must_set_up(user), "requirement": settings.SECOND_FACTOR}


@method_decorator(never_cache, name="dispatch")
class AddApp(ActivateTOTPView):
    """Adds an authenticator app: a QR code, and a code of the app as proof."""

    template_name = "accounts/authenticator_app.html"


class RemoveApp(DeactivateTOTPView):
    """Removes the authenticator app."""

    template_name = "accounts/authenticator_app_remove.html"


@method_decorator(never_cache, name="dispatch")
class RecoveryCodes(ViewRecoveryCodesView):
    """Shows new recovery codes once."""

    template_name = "accounts/recovery_codes.html"


class NewRecoveryCodes(GenerateRecoveryCodesView):
    """Replaces the recovery codes."""

    template_name = "accounts/recovery_codes_new.html"
