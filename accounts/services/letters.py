"""E-mails to the owner of an account about its security, and to the administrators about the installation."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage

from accounts.models import User

logger = logging.getLogger(__name__)


def send_letter(user: User, subject: str, text: str) -> None:
    """Notify the owner of an account that its security changed; an e-mail that cannot be sent is logged."""
    where = f" under {settings.SITE_URL}/account/" if settings.SITE_URL else " under Your account"
    lines = [
        f"This concerns the Parallax account {user.email}.",
        "",
        text,
        "",
        f"If this was not you, change your password and end all sessions{where}, and tell an administrator.",
        "",
    ]
    try:
        EmailMessage(f"Parallax: {subject}", "\n".join(lines), to=[user.email]).send()
    except (SMTPException, OSError) as problem:
        logger.error("security notice not sent account=%s: %s", user.pk, type(problem).__name__)


def send_to_administrators(subject: str, text: str) -> bool:
    """Send an e-mail to all administrators, and return whether it was sent; a failure is logged."""
    to = list(User.objects.filter(is_superuser=True, is_active=True).values_list("email", flat=True))
    try:
        return bool(to and EmailMessage(f"Parallax: {subject}", text, bcc=to).send())
    except (SMTPException, OSError) as problem:
        logger.error("e-mail to administrators not sent subject=%s: %s", subject, type(problem).__name__)
        return False
