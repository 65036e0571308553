"""The panels by name; the only list of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.errors import ParameterError
from studies.recruiting import generic, mturk, prolific, sona
from studies.recruiting.panel import Panel

NONE = "none"
# Nobody's panel: what other sites' parameters unmistakably say is understood all the same.
OPEN = Panel(
    key=NONE,
    name="No panel",
    person=(
        *prolific.PANEL.person, "prolific_pid", *mturk.PANEL.person, "worker_id", generic.LABEL, "external_id",
    ),
    submission=(),
    preview=mturk.PANEL.preview,
)  # fmt: skip
KEYS = (NONE, prolific.PANEL.key, mturk.PANEL.key, sona.PANEL.key, generic.KEY)
NAMES = {
    **{panel.key: panel.name for panel in (OPEN, prolific.PANEL, mturk.PANEL, sona.PANEL)},
    generic.KEY: "Another site, by its own parameters",
}


def panel_of(key: str, names: Mapping[str, Any] | None = None) -> Panel:
    """The panel of a study.

    Parameters
    ----------
    key : str
        One of `KEYS`.
    names : mapping or None
        The researcher's own mapping, for the generic one; see `generic.panel_with`.

    Returns
    -------
    Panel

    Raises
    ------
    ParameterError
        An unknown key, or names that cannot be used.

    Examples
    --------
    >>> panel_of("prolific").who({"SESSION_ID": "s1"})
    ('SESSION_ID', 's1')
    """
    if key == generic.KEY:
        return generic.panel_with(names or {})
    for panel in (OPEN, prolific.PANEL, mturk.PANEL, sona.PANEL):
        if panel.key == key:
            return panel
    raise ParameterError(f"There is no panel {key!r}; there are {', '.join(KEYS)}.")
