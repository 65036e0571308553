"""Create access tokens and record their use."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.enums import NARROW, READING, Scope
from accounts.models import Token, User
from accounts.selectors import limits_of
from core.errors import ParallaxError
from core.provenance import digest_of_token

PREFIX = "plx_"  # identifies a token to people and to scanners for leaked secrets
SHOWN_CHARACTERS = 8  # of a token, on the list of tokens
LONGEST_NAME = 80
LONGEST_DAYS = 365
USUAL_DAYS = 90
USE_NOTED_SECONDS = 60  # precision of a token's last use; without it every read by a program would also write


@transaction.atomic
def create_token(
    *, owner: User, name: str, scope: str = READING, days: int = USUAL_DAYS, only: str = ""
) -> tuple[Token, str]:
    """Create a token, log it, and return it with its text, which is not stored. Every token expires.

    `scope` names one or more scopes, with spaces; `only` limits the token to one row of `limits_of`, as `study:3`.

    Raises `token.no_name`, `token.unknown_scope`, `token.bad_days`, `token.unknown_limit`.
    """
    label = name.replace("\x00", "").strip()
    if not label or len(label) > LONGEST_NAME:
        raise ParallaxError("token.no_name", f"Name the token after its purpose, in at most {LONGEST_NAME} characters.")
    chosen = set(scope.split())
    if not chosen or not chosen <= set(Scope.values):
        raise ParallaxError("token.unknown_scope", f"Scopes are {', '.join(Scope.values)}; got {scope!r}.")
    if chosen & NARROW:
        chosen |= {Scope.READ, Scope.DATA}
    if not 1 <= days <= LONGEST_DAYS:
        raise ParallaxError("token.bad_days", f"A token is valid for 1 to {LONGEST_DAYS} days; got {days}.")
    kind, _, key = only.partition(":")
    rows = limits_of(owner).get(kind) if key.isdecimal() else None
    limit = None if rows is None else rows.filter(pk=key).first()
    if only and limit is None:
        raise ParallaxError("token.unknown_limit", f"You have no {kind or 'study or project'} {key!r} to limit it to.")
    text = PREFIX + secrets.token_urlsafe(32)
    token = Token.objects.create(
        owner=owner,
        name=label,
        start=text[:SHOWN_CHARACTERS],
        digest=digest_of_token(text),
        scope=" ".join(word for word in Scope.values if word in chosen),
        only=limit,
        expires_at=timezone.now() + timedelta(days=days),
    )
    token.record(owner, "", "valid", "Token created.")
    return token, text


def note_use(*, token: Token) -> None:
    """Record when a token was last used, to the minute."""
    now = timezone.now()
    before = now - timedelta(seconds=USE_NOTED_SECONDS)
    if token.last_used_at is None or token.last_used_at < before:
        is_old = Q(last_used_at=None) | Q(last_used_at__lt=before)
        Token.objects.filter(is_old, pk=token.pk).update(last_used_at=now)
        token.last_used_at = now
