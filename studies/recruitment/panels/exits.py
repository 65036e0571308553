"""Exits of a study: for each outcome a text and a redirect address or completion code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from core.errors import ParameterError
from studies.recruitment.panels.panel import Panel

COMPLETE = "complete"
SCREENED_OUT = "screened_out"
QUOTA_FULL = "quota_full"
ATTENTION_FAILED = "attention_failed"
WITHDREW = "withdrew"
OUTCOMES = (COMPLETE, SCREENED_OUT, QUOTA_FULL, ATTENTION_FAILED, WITHDREW)
NAMES = {
    COMPLETE: "Completed",
    SCREENED_OUT: "Screened out",
    QUOTA_FULL: "Study full",
    ATTENTION_FAILED: "Attention check failed",
    WITHDREW: "Withdrew",
}
NO_CODE = "none"
STATIC = "static"
UNIQUE = "unique"
CODES = (NO_CODE, STATIC, UNIQUE)
LONGEST_URL = 1000
LONGEST_CODE = 64
LONGEST_TEXT = 5000
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_.-]{1,80})\}")


@dataclass(frozen=True)
class Exit:
    """What a participant sees at the end, for one outcome."""

    code: str = NO_CODE  # one of `CODES`: no code, one shared code, or a unique code for each participant
    static_code: str = ""  # the shared code
    # redirect address, with ``{code}``, ``{id}`` or the name of a link parameter as placeholders; empty for the
    # panel's own
    url: str = ""
    text: Mapping[str, str] = field(default_factory=dict)  # markdown by language; may be empty

    def template(self, panel: Panel) -> str:
        """Return the redirect address with its placeholders: the researcher's, or else the panel's.

        Empty if there is no redirect. The panel's own address requires a shared code.
        """
        if self.url:
            return self.url
        return panel.exit_url if self.code == STATIC and self.static_code else ""


def checked_exit(outcome: str, exit_: Exit, panel: Panel) -> Exit:
    """Validate and normalise an exit.

    The address of the result is a template with placeholders. Raises ParameterError when the outcome or kind of code is
    unknown, a code or text is missing or too long, or the address is not a web address with a fixed host.
    """
    if outcome not in OUTCOMES:
        raise ParameterError(f"There is no outcome {outcome!r}; there are {', '.join(OUTCOMES)}.")
    if exit_.code not in CODES:
        raise ParameterError(f"A code is one of {', '.join(CODES)}; got {exit_.code!r}.")
    if problems := code_problems({outcome: exit_}, panel):
        raise ParameterError(problems[0])
    static = exit_.static_code.strip()
    if exit_.code == STATIC and not re.fullmatch(rf"[!-~]{{1,{LONGEST_CODE}}}", static):
        raise ParameterError(
            f"The shared code must have 1 to {LONGEST_CODE} characters without spaces; got {static!r}."
        )
    url = panel.exit_from(exit_.url.strip())
    _check_url(url, exit_.code)
    if any(len(words) > LONGEST_TEXT for words in exit_.text.values()):
        raise ParameterError(f"The text of an exit has at most {LONGEST_TEXT} characters.")
    words = {language: text.strip() for language, text in exit_.text.items() if text.strip()}
    return Exit(exit_.code, static if exit_.code == STATIC else "", url, words)


def code_problems(exits: Mapping[str, Exit], panel: Panel) -> list[str]:
    """Return the conflicts between the exits' codes and a panel with fixed codes.

    One sentence per conflicting exit, with the remedy.
    """
    if not panel.has_fixed_codes:
        return []
    return [
        f"{panel.name} takes fixed completion codes only. Choose “Fixed code” for the exit “{NAMES[outcome]}”."
        for outcome, exit_ in exits.items()
        if exit_.code == UNIQUE
    ]


def _check_url(url: str, code: str) -> None:
    if not url:
        return
    if len(url) > LONGEST_URL:
        raise ParameterError(f"An address has at most {LONGEST_URL} characters; got {len(url)}.")
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https") or re.search(r"[\s\\\x00-\x1f]", url):
        raise ParameterError(f"An address begins with https:// and a host; got {url!r}.")
    if "{" in parts.netloc or "}" in parts.netloc:
        raise ParameterError("The host of an address is fixed: link parameters must not decide where participants go.")
    if "{code}" in url and code == NO_CODE:
        raise ParameterError("The address has {code} in it, and this exit has no code.")


def exits_from(settings: Mapping[str, Any], panel: Panel) -> dict[str, Exit]:
    """Return every exit of a study; by default, completers get a unique code.

    The settings hold the fields of an `Exit` by outcome; the result has an exit for each of `OUTCOMES`.
    """
    exits = {}
    for outcome in OUTCOMES:
        stored = settings.get(outcome) or {}
        code = stored.get("code") or (UNIQUE if outcome == COMPLETE else NO_CODE)
        exits[outcome] = Exit(code, stored.get("static_code", ""), stored.get("url", ""), stored.get("text") or {})
    return exits


def redirect_url(template: str, *, code: str, known_as: str, parameters: Mapping[str, str]) -> str:
    """Return the address that a participant is redirected to.

    Every placeholder of the template is filled and URL-quoted; empty if a placeholder has no value. `known_as` is the
    participant's id on the panel; `parameters` are those of the participant's link, including ids.

    Examples
    --------
    >>> redirect_url("https://a.example/?cc={code}&p={pid}", code="X1", known_as="", parameters={"pid": "a b"})
    'https://a.example/?cc=X1&p=a%20b'
    """
    values = {**parameters, "code": code, "id": known_as}
    if any(not values.get(name) for name in _PLACEHOLDER.findall(template)):
        return ""
    return _PLACEHOLDER.sub(lambda match: quote(str(values[match[1]]), safe=""), template)
