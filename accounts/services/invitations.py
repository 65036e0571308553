"""Invite colleagues by e-mail or by a link, and accept or revoke invitations."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.dispatch import Signal
from django.urls import reverse
from django.utils import timezone

from accounts.models import Invitation, User
from accounts.selectors import invitation_of
from accounts.services.accounts import create_account, set_administrator
from accounts.services.letters import is_sent
from core.errors import ParallaxError
from core.provenance import digest_of_token
from core.transitions import record

VALID_DAYS = 7
ACCOUNT_OFFER = "A researcher’s account"
ADMINISTRATOR_OFFER = "An administrator’s account"
BY_MAIL, BY_LINK = "mail", "link"

# Sent in the transaction of an acceptance, with `invitation` and `user`. Packages above add the role that they store
# with the invitation, or raise ParallaxError, which refuses the acceptance.
invitation_accepted = Signal()


@dataclass(frozen=True)
class Delivery:
    """How an invitation reaches its recipient: by an e-mail that was sent, or by a link to show once."""

    invitation: Invitation
    link: str  # empty if the e-mail was sent
    has_failed: bool = False  # the e-mail could not be sent


@transaction.atomic
def invite(*, actor: Any, email: str = "", offer: str = "", is_administrator: bool = False) -> tuple[Invitation, str]:
    """Create an invitation, log it, and return it with its key, which is not stored.

    Without `offer` it offers an account, which only administrators may do; without `email` anyone who has the link may
    accept it. Raises `invitation.not_administrator`, `invitation.has_account`.
    """
    address = email.strip().lower()
    if not offer:
        if not actor.is_superuser:
            raise ParallaxError("invitation.not_administrator", "Only administrators invite to the installation.")
        if address and User.objects.filter(email=address).exists():
            raise ParallaxError("invitation.has_account", f"There already is an account for {address}.")
        offer = ADMINISTRATOR_OFFER if is_administrator else ACCOUNT_OFFER
    key = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        email=address,
        digest=digest_of_token(key),
        offer=offer,
        is_administrator=is_administrator,
        invited_by=actor,
        expires_at=timezone.now() + timedelta(days=VALID_DAYS),
    )
    _record(invitation, "Created.", actor)
    return invitation, key


def deliver(*, invitation: Invitation, key: str, site: str, by: str = BY_LINK) -> Delivery:
    """Send the invitation by e-mail if `by` says so and there are an address and a mail server; else return its link,
    to show once.

    `site` is the site's address without a slash at the end. The link is never logged.
    """
    link = site + reverse("accounts:invitation", args=[key])
    if by != BY_MAIL or not invitation.email or not settings.EMAIL_HOST:
        return Delivery(invitation, link)
    inviter = invitation.invited_by
    lines = [
        f"{inviter} ({inviter.email}) invites you to Parallax." if inviter else "You are invited to Parallax.",
        "",
        f"You are offered: {invitation.offer}.",
        "",
        "Accept the invitation here:",
        link,
        "",
        f"The link works once and expires on {invitation.expires_at:%d %B %Y, %H:%M} UTC.",
        "If you did not expect this invitation, ignore this e-mail.",
        "",
    ]
    letter = EmailMessage("Invitation to Parallax", "\n".join(lines), to=[invitation.email])
    if not is_sent(letter, f"invitation {invitation.pk}"):
        return Delivery(invitation, link, has_failed=True)
    return Delivery(invitation, "")


@transaction.atomic
def accept(*, key: str, user: User) -> Invitation:
    """Accept an invitation with an existing account, once; logged.

    Raises `invitation.not_valid`, `invitation.other_address`, and what receivers of `invitation_accepted` raise.
    """
    current = invitation_of(key)
    invitation = Invitation.objects.select_for_update(of=("self",)).get(pk=current.pk) if current else None
    if invitation is None or not invitation.is_open:
        raise ParallaxError("invitation.not_valid", "This invitation has been used, revoked or has expired.")
    if invitation.email and invitation.email != user.email:
        raise ParallaxError("invitation.other_address", f"This invitation is for {invitation.email}.")
    invitation.accepted_at, invitation.accepted_by = timezone.now(), user
    invitation.save(update_fields=["accepted_at", "accepted_by"])
    if invitation.is_administrator:
        set_administrator(user=user, is_administrator=True, actor=invitation.invited_by)
    invitation_accepted.send(sender=Invitation, invitation=invitation, user=user)
    _record(invitation, "Accepted.", user)
    return invitation


@transaction.atomic
def accept_with_new_account(*, key: str, email: str, password: str, name: str = "") -> User:
    """Create an account and accept an invitation with it. Raises as `create_account` and `accept`."""
    user, _password = create_account(email=email, password=password, name=name.strip())
    accept(key=key, user=user)
    user.refresh_from_db()
    return user


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, actor: Any) -> None:
    """Revoke an invitation and log it; one that was accepted or revoked before is left alone."""
    unused = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None)
    if unused.update(revoked_at=timezone.now()):
        _record(invitation, "Revoked.", actor)


def _record(invitation: Invitation, reason: str, actor: Any) -> None:
    facts = {"offer": invitation.offer, "is_administrator": invitation.is_administrator}
    record(invitation, reason=reason, actor=actor, **facts)
