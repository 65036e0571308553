"""Pages as text in which line breaks of templates do not matter."""

from __future__ import annotations

import re


def flat(html: str) -> str:
    """A page with single spaces, and with none between tags."""
    return re.sub(r">\s+<", "><", " ".join(html.split()))
