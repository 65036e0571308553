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


def send_letter(user: User, subject: str, text: str) -> None:
    """Notify the owner of an account that its security changed; an e-mail that cannot be sent is logged."""
    _is_sent(user, f"Parallax: {subject}", _security_text(user, text))


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


def _is_sent(user: User, subject: str, text: str) -> bool:
    try:
        EmailMessage(subject, text, to=[user.email]).send()
    except (SMTPException, OSError) as problem:
        logger.error("security notice not sent account=%s: %s", user.pk, type(problem).__name__)
        return False
    return True


def send_to_administrators(subject: str, text: str) -> bool:
    """Send an e-mail to all administrators, and return whether it was sent; a failure is logged."""
    to = list(User.objects.filter(is_superuser=True, is_active=True).values_list("email", flat=True))
    try:
        return bool(to and EmailMessage(f"Parallax: {subject}", text, bcc=to).send())
    except (SMTPException, OSError) as problem:
        logger.error("e-mail to administrators not sent subject=%s: %s", subject, type(problem).__name__)
        return False


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
        if user and user.is_active and not _is_sent(user, *_content(letter, user)) and letter.created_at > now - KEPT:
            return  # the others, once the server is back
        letter.delete()


def _content(letter: Letter, user: User) -> tuple[str, str]:
    if letter.text:
        return "Parallax: sign-in to your account is locked", _security_text(user, letter.text)
    context = {"email": user.email, "link": f"{settings.SITE_URL or letter.site}{reset_path(user)}"}
    return "Reset your Parallax password", render_to_string("accounts/password_reset_email.txt", context)
