"""Single sign-on: the account of a person that the institution identified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User
from core.transitions import record

FAILED = "Your institution did not complete the sign-in. Try again."
UNVERIFIED = "Your institution did not confirm your e-mail address, so no account can be found by it."
NO_ACCOUNT = "There is no account for your e-mail address. Ask an administrator to invite you."


@dataclass(frozen=True)
class Institution:
    """The provider of single sign-on."""

    provider_id: str
    name: str
    domains: tuple[str, ...]
    may_create: bool

    def covers(self, email: str) -> bool:
        """Whether accounts of this address may use it; without a list of domains, all."""
        return not self.domains or email.rpartition("@")[2] in self.domains


def institution() -> Institution | None:
    """The configured provider, if there is one."""
    apps: list[dict[str, Any]] = settings.SOCIALACCOUNT_PROVIDERS.get("openid_connect", {}).get("APPS", [])
    if not apps:
        return None
    app = apps[0]  # the settings configure one
    options = app["settings"]
    return Institution(app["provider_id"], app["name"], tuple(options["domains"]), options["may_create"])


def refusal(request: HttpRequest, text: str, *, status: int = 403) -> HttpResponse:
    """The page of a sign-in that failed at the institution, or without an account here."""
    return render(request, "accounts/single_sign_on_failed.html", {"text": text}, status=status)


def _refuse(request: HttpRequest, text: str, *, status: int = 403) -> NoReturn:
    raise ImmediateHttpResponse(refusal(request, text, status=status))


class InstitutionAdapter(DefaultSocialAccountAdapter):
    """Links accounts by verified addresses, and creates them for allowed domains only."""

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> Any:
        """Take the verified address and the name; no other claim is stored."""
        claims = sociallogin.account.extra_data
        userinfo, id_token = claims.get("userinfo") or {}, claims.get("id_token") or {}
        if userinfo and id_token and userinfo.get("sub") != id_token.get("sub"):
            raise PermissionDenied("The identity and the information are about different people.")
        identity, user = userinfo or id_token, sociallogin.user
        is_verified = identity.get("email_verified") in (True, "true")
        user.email = str(identity.get("email") or "").strip().lower() if is_verified else ""
        user.name = str(identity.get("name") or "")[:150]
        sociallogin.email_addresses = []
        sociallogin.account.extra_data = {}
        return user

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Link an existing account by its address, or let one be created; refuse any other person."""
        provider = institution()
        if provider is None or sociallogin.state.get("process") not in (None, "login"):
            _refuse(request, FAILED)  # links are made by addresses only, never to the account that is signed in
        if sociallogin.is_existing:
            return
        email = sociallogin.user.email
        if not email:
            _refuse(request, UNVERIFIED)
        if not provider.covers(email):
            _refuse(request, NO_ACCOUNT)
        user = User.objects.filter(email=email).first()
        if user is not None:
            if not user.is_active:
                _refuse(request, NO_ACCOUNT)
            sociallogin.connect(request, user)
            record(user, reason="Linked to single sign-on.", actor=user)
        elif not provider.may_create:
            _refuse(request, NO_ACCOUNT)

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Whether `pre_social_login` admitted the person."""
        provider = institution()
        return provider is not None and provider.may_create and provider.covers(sociallogin.user.email)

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> Any:
        """Create the account, without a password; logged."""
        user = super().save_user(request, sociallogin, form)
        record(user, reason="Created by single sign-on.", actor=user)
        return user

    def on_authentication_error(self, request: HttpRequest, provider: Any, **_more: Any) -> None:
        """Show the failed sign-in as a page of the site."""
        _refuse(request, FAILED, status=401)

    def list_apps(self, request: Any, provider: Any = None, client_id: Any = None) -> list[Any]:
        """Providers of the settings; rows in the database are none."""
        return [app for app in super().list_apps(request, provider, client_id) if app.pk is None]
