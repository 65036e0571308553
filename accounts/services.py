"""Create accounts, and create, revoke and record the use of access tokens."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.enums import Scope
from accounts.models import Token, User
from accounts.selectors import digest_of_token
from core.errors import ParallaxError

PREFIX = "plx_"  # identifies a token to people and to scanners for leaked secrets
SHOWN_CHARACTERS = 8  # of a token, on the list of tokens
LONGEST_NAME = 80
LONGEST_DAYS = 3650
USE_NOTED_SECONDS = 60  # precision of a token's last use; without it every read by a program would also write


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


@transaction.atomic
def create_token(*, owner: User, name: str, scope: str = Scope.READ, days: int | None = None) -> tuple[Token, str]:
    """Create a token, log it, and return it with its text, which is not stored. Without `days` it does not expire.

    Raises `token.no_name`, `token.unknown_scope`, `token.bad_days`.
    """
    label = name.replace("\x00", "").strip()
    if not label or len(label) > LONGEST_NAME:
        raise ParallaxError("token.no_name", f"Name the token after its purpose, in at most {LONGEST_NAME} characters.")
    if scope not in Scope.values:
        raise ParallaxError("token.unknown_scope", f"A scope is one of {', '.join(Scope.values)}; got {scope!r}.")
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise ParallaxError("token.bad_days", f"A token is valid for 1 to {LONGEST_DAYS} days; got {days}.")
    text = PREFIX + secrets.token_urlsafe(32)
    token = Token.objects.create(
        owner=owner,
        name=label,
        start=text[:SHOWN_CHARACTERS],
        digest=digest_of_token(text),
        scope=scope,
        expires_at=None if days is None else timezone.now() + timedelta(days=days),
    )
    token.record(owner, "", "valid", "Token created.")
    return token, text


@transaction.atomic
def revoke_token(*, token: Token, actor: User) -> None:
    """Revoke a token and log it; a second call changes nothing."""
    token.revoke(actor=actor, reason="Token revoked.")


def note_use(*, token: Token) -> None:
    """Record when a token was last used, to the minute."""
    now = timezone.now()
    before = now - timedelta(seconds=USE_NOTED_SECONDS)
    if token.last_used_at is None or token.last_used_at < before:
        is_old = Q(last_used_at=None) | Q(last_used_at__lt=before)
        Token.objects.filter(is_old, pk=token.pk).update(last_used_at=now)
        token.last_used_at = now
