"""Logs without what would let their readers in."""

from __future__ import annotations

import logging
import re

# A participant's own link, and a personal one that was not used yet.
_SECRET = re.compile(r"(/s/p/|/s/[a-z0-9-]+/link/)[^/\s?]+")


class Masked(logging.Filter):
    """Takes the secret part of participants' links out of every line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask the line, and let it pass."""
        said = record.getMessage()
        masked = _SECRET.sub(r"\1…", said)
        if masked != said:
            record.msg, record.args = masked, ()
        return True
