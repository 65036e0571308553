"""The ways out of a study: one for each outcome, with its own words and its address or code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from core.errors import ParameterError
from studies.recruiting.panel import Panel

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
_BLANK = re.compile(r"\{([A-Za-z0-9_.-]{1,80})\}")


@dataclass(frozen=True)
class Exit:
    """What somebody meets who leaves by one outcome.

    Parameters
    ----------
    code : str
        One of `CODES`: no code, one for everybody, or one of each participant's own.
    static_code : str
        The code of everybody.
    url : str
        The address to go on to, with ``{code}``, ``{id}`` or the name of a parameter of the link in it; empty for
        the panel's own.
    text : mapping of str to str
        Markdown by language; may be empty.
    """

    code: str = NO_CODE
    static_code: str = ""
    url: str = ""
    text: Mapping[str, str] = field(default_factory=dict)

    def template(self, panel: Panel) -> str:
        """The address with its blanks, the researcher's before the panel's.

        Parameters
        ----------
        panel : Panel
            The study's.

        Returns
        -------
        str
            Empty where there is no way on. The panel's own needs a code for everybody: it knows no others.
        """
        if self.url:
            return self.url
        return panel.exit_url if self.code == STATIC and self.static_code else ""

    def as_settings(self) -> dict[str, Any]:
        """The exit as it is stored.

        Returns
        -------
        dict
        """
        return {"code": self.code, "static_code": self.static_code, "url": self.url, "text": dict(self.text)}


def checked_exit(outcome: str, exit_: Exit, panel: Panel) -> Exit:
    """An exit as it is kept, or a refusal.

    Parameters
    ----------
    outcome : str
        One of `OUTCOMES`.
    exit_ : Exit
        As the researcher gave it.
    panel : Panel
        The study's.

    Returns
    -------
    Exit
        Its address is a template: where the panel shows an address with a stand-in, the stand-in is a blank.

    Raises
    ------
    ParameterError
        An unknown outcome or kind of code, a code or text that is missing or too long, or an address that is not
        one of the web, or that leaves its host open.
    """
    if outcome not in OUTCOMES:
        raise ParameterError(f"There is no outcome {outcome!r}; there are {', '.join(OUTCOMES)}.")
    if exit_.code not in CODES:
        raise ParameterError(f"A code is one of {', '.join(CODES)}; got {exit_.code!r}.")
    if problems := code_problems({outcome: exit_}, panel):
        raise ParameterError(problems[0])
    static = exit_.static_code.strip()
    if exit_.code == STATIC and not re.fullmatch(rf"[!-~]{{1,{LONGEST_CODE}}}", static):
        raise ParameterError(f"A code for everybody has 1 to {LONGEST_CODE} characters without spaces; got {static!r}.")
    url = panel.exit_from(exit_.url.strip())
    _check_url(url, exit_.code)
    if any(len(words) > LONGEST_TEXT for words in exit_.text.values()):
        raise ParameterError(f"The text of an exit has at most {LONGEST_TEXT} characters.")
    words = {language: text.strip() for language, text in exit_.text.items() if text.strip()}
    return Exit(exit_.code, static if exit_.code == STATIC else "", url, words)


def code_problems(exits: Mapping[str, Exit], panel: Panel) -> list[str]:
    """What is wrong with the kinds of code, for a panel that knows a study's codes beforehand.

    Parameters
    ----------
    exits : mapping of str to Exit
        By outcome.
    panel : Panel
        The study's.

    Returns
    -------
    list of str
        One sentence an exit, with what to do.
    """
    if not panel.has_fixed_codes:
        return []
    return [
        f"{panel.name} takes fixed completion codes only, and the exit “{NAMES[outcome]}” gives each participant a "
        f"code of their own. Choose “One code for everybody” for it, and enter the code that {panel.name} shows."
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
        raise ParameterError("The host of an address is fixed: what a link says must not decide where people go.")
    if "{code}" in url and code == NO_CODE:
        raise ParameterError("The address has {code} in it, and this exit has no code.")


def exits_from(settings: Mapping[str, Any], panel: Panel) -> dict[str, Exit]:
    """Every exit of a study; who completes gets a code of their own where nothing else is said.

    Parameters
    ----------
    settings : mapping of str to mapping
        Outcome to `Exit.as_settings`; each may be missing.
    panel : Panel
        The study's.

    Returns
    -------
    dict of str to Exit
        One for each of `OUTCOMES`.
    """
    found = {}
    for outcome in OUTCOMES:
        given = settings.get(outcome) or {}
        code = given.get("code") or (UNIQUE if outcome == COMPLETE else NO_CODE)
        found[outcome] = Exit(code, given.get("static_code", ""), given.get("url", ""), given.get("text") or {})
    return found


def way_on(template: str, *, code: str, known_as: str, parameters: Mapping[str, str]) -> str:
    """The address that somebody goes on to.

    Parameters
    ----------
    template : str
        An address with blanks.
    code : str
        Their completion code; may be empty.
    known_as : str
        The id by which the panel knows them; may be empty.
    parameters : mapping of str to str
        Parameters of their link, ids among them.

    Returns
    -------
    str
        Every blank filled, with what is special in addresses escaped; empty where one cannot be filled: half an
        address leads nowhere.

    Examples
    --------
    >>> way_on("https://a.example/?cc={code}&p={pid}", code="X1", known_as="", parameters={"pid": "a b"})
    'https://a.example/?cc=X1&p=a%20b'
    """
    values = {**parameters, "code": code, "id": known_as}
    if any(not values.get(name) for name in _BLANK.findall(template)):
        return ""
    return _BLANK.sub(lambda blank: quote(str(values[blank[1]]), safe=""), template)
