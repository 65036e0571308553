"""Registry of the panels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.errors import ParameterError
from studies.recruitment.panels import generic, mturk, prolific, sona
from studies.recruitment.panels.panel import Panel

NONE = "none"
# Without a panel, unambiguous parameters of known sites are still recognised.
OPEN = Panel(
    key=NONE,
    name="No panel",
    person=(
        *prolific.PANEL.person, "prolific_pid", *mturk.PANEL.person, "worker_id", generic.LABEL, "external_id",
    ),
    submission=(),
    preview=mturk.PANEL.preview,
)  # fmt: skip
SITES = (prolific.PANEL, mturk.PANEL, sona.PANEL)
KEYS = (NONE, *(panel.key for panel in SITES), generic.KEY)
NAMES = {
    **{panel.key: panel.name for panel in (OPEN, *SITES)},
    generic.KEY: "Another site, by its own parameters",
}


def panel_of(key: str, names: Mapping[str, Any] | None = None) -> Panel:
    """Return a panel by key.

    `names` are the researcher's parameters, for the generic panel; see `generic.panel_with`. Raises ParameterError when
    the key is unknown, or a name is invalid.

    Examples
    --------
    >>> panel_of("prolific").who({"SESSION_ID": "s1"})
    ('SESSION_ID', 's1')
    """
    if key == generic.KEY:
        return generic.panel_with(names or {})
    for panel in (OPEN, *SITES):
        if panel.key == key:
            return panel
    raise ParameterError(f"There is no panel {key!r}. The panels are {', '.join(KEYS)}.")
