"""Masks secrets in log lines."""

from __future__ import annotations

import logging
import re

# A participant's own link, a personal link that has not been used, an invitation, and a link to a new password.
_SECRET = re.compile(r"(/s/p/|/s/[a-z0-9-]+/link/|/account/invitation/|/account/password/reset/[^/\s?]+/)[^/\s?]+")


def masked(text: str) -> str:
    """The text without the secret parts of links."""
    return _SECRET.sub(r"\1…", text)


class MaskLinks(logging.Filter):
    """Removes the secret part of links of participants, invitations and new passwords from every line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask the line, and let it pass."""
        message = record.getMessage()
        if (without := masked(message)) != message:
            record.msg, record.args = without, ()
        return True
