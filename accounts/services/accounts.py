"""Create accounts and links to new passwords; end sessions; deactivate, reactivate and delete accounts, and name
administrators.
"""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import F
from django.dispatch import Signal
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from accounts.models import Invitation, User
from accounts.selectors import active_account
from core.errors import ParallaxError
from core.transitions import record

# Sent in the transaction that deactivates or deletes an account, with `user`, `successor` (an account or None) and
# `actor`, before the change. Receivers hand over what would be left without an owner, or raise ParallaxError.
account_closing = Signal()


@transaction.atomic
def create_account(
    *, email: str, password: str | None = None, name: str = "", is_administrator: bool = False
) -> tuple[User, str]:
    """Create an account and return it with its password, which is generated if none is passed.

    Raises ParallaxError `account.bad_email`, `account.weak_password` or `account.exists`.
    """
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError as problem:
        raise ParallaxError("account.bad_email", f"{email!r} is not an e-mail address.") from problem
    if password is None:
        password = secrets.token_urlsafe(12)
    else:
        try:
            validate_password(password, User(email=email, name=name))
        except ValidationError as problem:
            raise ParallaxError("account.weak_password", " ".join(problem.messages)) from problem
    make = User.objects.create_superuser if is_administrator else User.objects.create_user
    try:
        with transaction.atomic():
            user = make(email, password, name=name)
    except IntegrityError as problem:
        raise ParallaxError("account.exists", f"An account for {email} already exists.") from problem
    return user, password


def password_reset_path(*, email: str) -> str:
    """Return the path of a page on which the account's owner chooses a new password, once; it is logged, without the
    path. Raises ParallaxError `account.unknown`.
    """
    user = active_account(email)
    if user is None:
        raise ParallaxError("account.unknown", f"There is no active account for {email.strip()!r}.")
    record(user, reason="Password reset link created by a command.")
    return reset_path(user)


def reset_path(user: User) -> str:
    """Return the path of the page on which a password is chosen, with a token that is valid once."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("accounts:password_reset_confirm", args=[uid, default_token_generator.make_token(user)])


def _locked(user: User) -> User:
    """The account, with the rows of all administrators locked, so that two of them cannot close each other's."""
    list(User.objects.select_for_update().filter(is_superuser=True).order_by("pk"))
    return User.objects.select_for_update().get(pk=user.pk)


def _refuse_last_administrator(user: User) -> None:
    if not User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk).exists():
        raise ParallaxError(
            "account.last_administrator",
            f"{user.email} is the only administrator. Make another account an administrator first.",
        )


@transaction.atomic
def set_administrator(*, user: User, is_administrator: bool, actor: Any) -> User:
    """Make an account an administrator, or an ordinary one; logged. Raises `account.last_administrator`."""
    current = _locked(user)
    if current.is_superuser == is_administrator:
        return current
    if not is_administrator:
        _refuse_last_administrator(current)
    current.is_superuser = current.is_staff = is_administrator
    current.save(update_fields=["is_superuser", "is_staff"])
    reason = "Made an administrator." if is_administrator else "No longer an administrator."
    record(current, reason=reason, actor=actor)
    return current


def _closing(user: User, successor_email: str, actor: Any) -> User:
    """The account, locked, after everything that only it owns was handed over to the successor."""
    current = _locked(user)
    if current == actor:
        raise ParallaxError("account.own", "You cannot close your own account. Ask another administrator.")
    if current.is_superuser:
        _refuse_last_administrator(current)
    address = successor_email.strip().lower()
    successor = User.objects.filter(email=address, is_active=True).exclude(pk=current.pk).first() if address else None
    if address and successor is None:
        raise ParallaxError("account.unknown_successor", f"There is no other active account for {address!r}.")
    account_closing.send(sender=User, user=current, successor=successor, actor=actor)
    open_invitations = Invitation.objects.filter(invited_by=current, accepted_at=None, revoked_at=None)
    open_invitations.update(revoked_at=timezone.now())
    return current


@transaction.atomic
def deactivate(*, user: User, actor: Any, successor: str = "") -> User:
    """Deactivate an account: its sign-ins, tokens and open invitations end, and its data stay; logged.

    `successor` is the address of the account that takes over what only this one owns. Raises `account.own`,
    `account.last_administrator`, `account.unknown_successor`, and what receivers of `account_closing` raise.
    """
    current = _closing(user, successor, actor)
    if current.is_active:
        current.is_active = False
        current.save(update_fields=["is_active"])
        record(current, reason="Deactivated.", actor=actor)
    return current


@transaction.atomic
def end_sessions(*, user: User, actor: Any, reason: str = "All sessions ended.") -> User:
    """End all sessions of an account, and locks of devices that it could unlock; logged. Access tokens stay valid.

    A request of the account itself goes on with `update_session_auth_hash`.
    """
    User.objects.filter(pk=user.pk).update(n_session_ends=F("n_session_ends") + 1)
    user.refresh_from_db(fields=["n_session_ends"])
    record(user, reason=reason, actor=actor)
    return user


@transaction.atomic
def reactivate(*, user: User, actor: Any) -> User:
    """Reactivate an account, which signs in with its old password; logged."""
    if User.objects.filter(pk=user.pk, is_active=False).update(is_active=True):
        record(user, reason="Reactivated.", actor=actor)
    user.refresh_from_db()
    return user


@transaction.atomic
def delete_account(*, user: User, actor: Any, successor: str = "") -> None:
    """Delete a deactivated account with its tokens and memberships; what it created stays, without its name. Logged.

    Raises `account.active`, and as `deactivate`.
    """
    if User.objects.filter(pk=user.pk, is_active=True).exists():
        raise ParallaxError("account.active", f"Deactivate {user.email} before you delete the account.")
    current = _closing(user, successor, actor)
    record(current, reason="Deleted.", actor=actor)
    current.delete()
