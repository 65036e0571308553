"""Second factors of accounts: who has one, who must have one, and how one is reset."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction

from accounts.models import User
from accounts.services.accounts import end_sessions
from accounts.services.letters import notify_owner
from core.errors import ParallaxError
from core.transitions import record

OPTIONAL, ADMINISTRATORS, EVERYONE = "optional", "administrators", "everyone"


def has_second_factor(user: User) -> bool:
    """Whether the account has an authenticator app or a passkey; recovery codes alone are none."""
    return bool(Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.RECOVERY_CODES).exists())


def has_passkey(user: User) -> bool:
    """Whether the account has a passkey."""
    return bool(Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN).exists())


def must_set_up(user: User) -> bool:
    """Whether the installation requires a second factor that the account does not have yet."""
    is_administrator = user.is_superuser or user.is_staff  # staff may open /admin/
    is_required = settings.SECOND_FACTOR == EVERYONE or (settings.SECOND_FACTOR == ADMINISTRATORS and is_administrator)
    return is_required and not has_second_factor(user)


@transaction.atomic
def reset_second_factor(*, user: User, actor: Any = None) -> None:
    """Delete all second factors of an account and end its sessions; logged, and its owner is notified by e-mail.

    Raises `account.own` for the own account, which removes its factor on its own page, and `account.no_second_factor`.
    """
    if user == actor:
        raise ParallaxError("account.own", "Remove your own second factor under Your account → Second factor.")
    if not has_second_factor(user):
        raise ParallaxError("account.no_second_factor", f"{user.email} has no second factor.")
    Authenticator.objects.filter(user=user).delete()
    end_sessions(user=user, actor=actor, reason="Sessions ended with the second factor.")
    record(user, reason="Second factor reset." if actor else "Second factor reset by a command.", actor=actor)
    by = f"{actor} reset" if actor else "The operator of the installation reset"
    text = (
        f"{by} the second factor of your account. You can sign in with your password alone until you set up a new one."
    )
    transaction.on_commit(lambda: notify_owner(user, "Your second factor was reset", text))
