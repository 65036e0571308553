"""Pages as text in which line breaks of templates and links to the glossary do not matter."""

from __future__ import annotations

import re


def flat(html: str) -> str:
    """A page with single spaces, with none between tags, and with terms as they are in its parts: no links."""
    plain = re.sub(r'<a class="term"[^>]*>([^<]*)</a>', r"\1", html)
    return re.sub(r">\s+<", "><", " ".join(plain.split()))


# What two runs of the tests need not have in common: seconds, speeds, threads and versions of packages.
MEASURED = {
    r"(?m)^(Succeeded in|Failed after|Cancelled after) [^.\n]*\.": r"\1 TIME.",
    r" \| \d+\.\d{2}(?= \||$|\n)": " | TIME",
    r"[\d,]+ cases/s": "SPEED",
    r"· [^·\n]* (so far|left)\b": r"· TIME \1",
    r"(?m)^(Versions|Numeric threads) \| .*$": r"\1 | …",
}
