"""Pages as text in which line breaks of templates do not matter."""

from __future__ import annotations

import re


def flat(html: str) -> str:
    """A page with single spaces, and with none between tags."""
    return re.sub(r">\s+<", "><", " ".join(html.split()))


# What two runs of the tests need not have in common: seconds, speeds, threads and versions of packages.
MEASURED = {
    r"(?m)^(Succeeded in|Failed after|Cancelled after) [^.\n]*\.": r"\1 TIME.",
    r" \| \d+\.\d{2}(?= \||$|\n)": " | TIME",
    r"[\d,]+ cases/s": "SPEED",
    r"· [^·\n]* (so far|left)\b": r"· TIME \1",
    r"(?m)^(Versions|Numeric threads) \| .*$": r"\1 | …",
}
