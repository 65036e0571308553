"""What django-allauth asks this installation: who signs in, which e-mails are sent and how secrets are stored."""

from __future__ import annotations

import base64
import secrets
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet, InvalidToken
from django.contrib import messages
from django.contrib.auth import authenticate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from accounts.models import BACKEND, User
from accounts.services.letters import notify_owner
from accounts.services.sign_in import is_locked, locked_out

# By the library's names of its e-mails and messages; it sends and shows no others here.
EVENTS = {
    "totp_activated": _("An authenticator app was added."),
    "totp_deactivated": _("The authenticator app was removed."),
    "webauthn_added": _("A passkey was added."),
    "webauthn_removed": _("A passkey was removed."),
    "account_connected": _("Single sign-on of your institution was linked to it."),
    "recovery_codes_generated": _("New recovery codes were created."),
}
CONFIRMATIONS = {
    "reauthenticate": _("Use your password"),
    "mfa_reauthenticate": _("Use a code"),
    "mfa_reauthenticate:webauthn": _("Use a passkey"),
}


def _event(name: str) -> str:
    return str(EVENTS.get(name.rpartition("/")[2].removesuffix(".txt"), ""))


class AccountAdapter(DefaultAccountAdapter):
    """Signing in, by a password or otherwise."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Accounts are created by administrators, commands and invitations."""
        return False

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        """Refuse an account that is locked, however it signs in."""
        if is_locked(request, user.email):
            raise ImmediateHttpResponse(locked_out(request, credentials={"username": user.email}))
        response: HttpResponse | None = super().pre_login(request, user, **kwargs)
        return response

    def login(self, request: HttpRequest, user: User) -> None:
        """Sign in by the backend that all sessions name."""
        user.backend = BACKEND
        super().login(request, user)

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """A deactivated account gets the sign-in page."""
        messages.error(request, "This account is deactivated. Ask an administrator.")
        return redirect("accounts:sign_in")

    def reauthenticate(self, user: User, password: str) -> bool:
        """Whether this is the account's password; wrong ones count towards its lock."""
        return bool(authenticate(self.request, username=user.email, password=password) == user)

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """How a change is confirmed: by a second factor, or by the password as long as there is none."""
        methods = [
            {**each, "description": CONFIRMATIONS[each["id"]]} for each in super().get_reauthentication_methods(user)
        ]
        return [each for each in methods if each["id"] != "reauthenticate"] or methods

    def get_client_ip(self, request: HttpRequest) -> str:
        return str(request.META["REMOTE_ADDR"])

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        if text := message or _event(message_template or ""):
            messages.add_message(request, level, text, extra_tags=extra_tags)

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        if text := _event(template_prefix):
            notify_owner(user, "the sign-in of your account changed", text)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """No other e-mail of the library is sent."""


class SecondFactorAdapter(DefaultMFAAdapter):
    """Second factors: their secrets are stored encrypted."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": _("This is not valid, or was used before. Try again, with the next code of an app."),
    }

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        """The name of another passkey, unless its owner chose one."""
        return f"Passkey {Authenticator.objects.filter(user=user, type=type).count() + 1}"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """What devices show when they ask for a passkey."""
        return {**super().get_public_key_credential_rp_entity(), "name": "Parallax"}

    def encrypt(self, text: str) -> str:
        """A secret as it is stored: no code can be computed from the database without `SECRET_KEY`."""
        return self._cipher.encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """A stored secret; after `SECRET_KEY` changed, a random one, so that no code is right."""
        try:
            return self._cipher.decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return base64.b32encode(secrets.token_bytes(20)).decode()

    @property
    def _cipher(self) -> Fernet:
        digest = salted_hmac("parallax.second-factor", "", algorithm="sha256").digest()
        return Fernet(base64.urlsafe_b64encode(digest))
