"""Web addresses that pages may link to."""

from __future__ import annotations

import re

LONGEST_ADDRESS = 500
_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"]+")


def address_problem(address: str) -> str:
    """The problem of a text as a link, as text that follows it; empty if there is none.

    Examples
    --------
    >>> address_problem("https://example.org/trailer")
    ''
    >>> address_problem("javascript:alert(1)")
    'is not a web address (https://…) of at most 500 characters'
    """
    if len(address) <= LONGEST_ADDRESS and _WEB_ADDRESS.fullmatch(address):
        return ""
    return f"is not a web address (https://…) of at most {LONGEST_ADDRESS} characters"
