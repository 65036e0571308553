"""Any other site: `participant_label`, or the parameters that the researcher names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ParameterError
from studies.recruiting.panel import APPROVED, AWAITING, REJECTED, RETURNED, TIMED_OUT, UNDER_WAY, Columns, Panel

KEY = "generic"
LABEL = "participant_label"
RESERVED = frozenset({"as", "lang", "csrfmiddlewaretoken"})  # parameters of our own
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
    """Names of parameters, or a refusal.

    Parameters
    ----------
    names : sequence of str
        As the researcher gave them.

    Returns
    -------
    tuple of str
        Each once, in order.

    Raises
    ------
    ParameterError
        A name that no link should have, one of ours, or too many.
    """
    found = tuple(dict.fromkeys(names))
    if len(found) > MOST_NAMES:
        raise ParameterError(f"At most {MOST_NAMES} parameters name somebody; got {len(found)}.")
    for name in found:
        if not _NAME.fullmatch(name):
            raise ParameterError(f"A parameter has letters, digits and . _ - in its name; got {name!r}.")
        if name in RESERVED:
            raise ParameterError(f"The parameter {name!r} is used by this site; ask the panel for another name.")
    return found


def panel_with(names: Mapping[str, Any]) -> Panel:
    """The panel of a researcher's own mapping.

    Parameters
    ----------
    names : mapping of str to sequence of str
        ``person`` and ``submission``: the parameters that name them; each may be missing.

    Returns
    -------
    Panel

    Raises
    ------
    ParameterError
        As `checked_names`.

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
