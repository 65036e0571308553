"""E-mails to owners of accounts and to administrators; a worker sends those whose delay would tell of an account."""

from __future__ import annotations

import logging
from datetime import timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import timezone

from accounts.models import Letter, User
from accounts.services.accounts import reset_path
from jobs.queue import enqueue_on_commit

logger = logging.getLogger(__name__)
PAUSE, KEPT = timedelta(minutes=5), timedelta(days=1)  # between two tries of a letter, and of all of them


def notify_owner(user: User, subject: str, text: str) -> None:
    """Notify the owner of an account that its security changed; an e-mail that cannot be sent is logged."""
    letter = EmailMessage(f"Parallax: {subject}", _security_text(user, text), to=[user.email])
    is_sent(letter, f"account {user.pk}")


def _security_text(user: User, text: str) -> str:
    where = f" under {settings.SITE_URL}/account/" if settings.SITE_URL else " under Your account"
    lines = [
        f"This concerns the Parallax account {user.email}.",
        "",
        text,
        "",
        f"If this was not you, change your password and end all sessions{where}, and tell an administrator.",
        "",
    ]
    return "\n".join(lines)


def send_to_administrators(subject: str, text: str) -> bool:
    """Send an e-mail to all administrators, and return whether it was sent; a failure is logged."""
    to = list(User.objects.filter(is_superuser=True, is_active=True).values_list("email", flat=True))
    return bool(to) and is_sent(EmailMessage(f"Parallax: {subject}", text, bcc=to), "administrators")


def is_sent(letter: EmailMessage, recipient: str) -> bool:
    """Send an e-mail, and return whether it was sent; a failure is logged with the recipient, never with the text."""
    try:
        letter.send()
    except (SMTPException, OSError) as problem:
        logger.error("e-mail not sent to=%s: %s", recipient, type(problem).__name__)
        return False
    return True


def send_later(*, user: User | None, text: str = "", site: str = "") -> None:
    """Let a worker send a letter; without a user the same is stored and enqueued, so that both take as long."""
    Letter.objects.create(user=user, text=text, site=site)
    enqueue_on_commit("accounts.sweep")


def send_waiting() -> None:
    """Send the letters that wait; one that cannot be sent waits longer, and a day at most.

    A letter is claimed before it is sent, so that no two workers send it, and comes back if its worker dies.
    """
    for letter in Letter.objects.select_related("user").filter(due_at__lte=timezone.now()):
        user, now = letter.user, timezone.now()
        if not Letter.objects.filter(pk=letter.pk, due_at=letter.due_at).update(due_at=now + PAUSE):
            continue
        if user and user.is_active:
            if letter.text:
                subject, text = "Parallax: sign-in to your account is locked", _security_text(user, letter.text)
            else:
                context = {"email": user.email, "link": f"{settings.SITE_URL or letter.site}{reset_path(user)}"}
                subject = "Reset your Parallax password"
                text = render_to_string("accounts/password_reset_email.txt", context)
            was_sent = is_sent(EmailMessage(subject, text, to=[user.email]), f"account {user.pk}")
            if not was_sent and letter.created_at > now - KEPT:
                return  # the others, once the server is back
        letter.delete()
