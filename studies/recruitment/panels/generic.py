"""Other recruiting sites: `participant_label`, or parameters named by the researcher."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ParameterError
from studies.recruitment.panels.panel import (
    APPROVED,
    AWAITING,
    REJECTED,
    RETURNED,
    TIMED_OUT,
    UNDER_WAY,
    Columns,
    Panel,
)

KEY = "generic"
LABEL = "participant_label"
RESERVED = frozenset({"as", "lang", "csrfmiddlewaretoken"})  # used by this site
MOST_NAMES = 5
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}")
STATES = {
    "active": UNDER_WAY,
    "started": UNDER_WAY,
    "awaiting review": AWAITING,
    "submitted": AWAITING,
    "completed": AWAITING,
    "approved": APPROVED,
    "paid": APPROVED,
    "rejected": REJECTED,
    "returned": RETURNED,
    "timed out": TIMED_OUT,
    "expired": TIMED_OUT,
}


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Validate parameter names.

    Unique names, in order. Raises ParameterError when a name is invalid or reserved, or there are too many.
    """
    unique = tuple(dict.fromkeys(names))
    if len(unique) > MOST_NAMES:
        raise ParameterError(f"At most {MOST_NAMES} parameters can identify a participant; got {len(unique)}.")
    for name in unique:
        if not _NAME.fullmatch(name):
            raise ParameterError(f"A parameter has letters, digits and . _ - in its name; got {name!r}.")
        if name in RESERVED:
            raise ParameterError(f"The parameter {name!r} is used by this site; ask the panel for another name.")
    return unique


def panel_with(names: Mapping[str, Any]) -> Panel:
    """Return a panel with the researcher's own parameters.

    ``person`` and ``submission``, both optional, name the parameters that identify them. Raises ParameterError as
    `checked_names` does.

    Examples
    --------
    >>> panel_with({"person": ["pid"]}).who({"pid": "7"})
    ('pid', '7')
    """
    person = checked_names(list(names.get("person") or ())) or (LABEL,)
    submission = checked_names(list(names.get("submission") or ()))
    return Panel(
        key=KEY,
        name="Another site",
        person=person,
        submission=submission,
        placeholders={person[0]: "…"},
        columns=Columns(person, submission, ("status", "Status"), ("code", "Completion code", "completion_code")),
        states=STATES,
    )
