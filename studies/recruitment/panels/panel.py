"""Description of a panel: link parameters, redirect address and columns of its submission list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

# Status of a submission, shared by all panels.
UNDER_WAY = "under_way"
AWAITING = "awaiting"
APPROVED = "approved"
REJECTED = "rejected"
RETURNED = "returned"
TIMED_OUT = "timed_out"
SCREENED_OUT = "screened_out"
STATES = (UNDER_WAY, AWAITING, APPROVED, REJECTED, RETURNED, TIMED_OUT, SCREENED_OUT)
GIVEN_BACK = frozenset({RETURNED, TIMED_OUT})  # the slot is released


@dataclass(frozen=True)
class Columns:
    """Possible names of the columns of a panel's list, the likeliest first; case and outer spaces are ignored."""

    # `person`, `submission`, `status`, `code`: participant id, submission id, submission status, completion code. A
    # trailing "*" matches any ending.
    person: tuple[str, ...]
    submission: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    code: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    """One panel."""

    # `key`, `name`: key in the settings; displayed name
    key: str
    name: str
    # Parameters with the participant's id; the first one present in a link is used. Case-sensitive.
    person: tuple[str, ...]
    submission: tuple[str, ...] = ()  # parameters with the submission's id
    # Query of the link to paste: the panel's placeholder by parameter. Empty if the panel appends its parameters
    # itself.
    placeholders: Mapping[str, str] = field(default_factory=dict)
    preview: tuple[str, str] | None = None  # the parameter and value that mark a preview of the task
    # redirect address after completion, with ``{code}`` or ``{id}``; empty if there is none or the researcher enters
    # it
    exit_url: str = ""
    has_fixed_codes: bool = False  # whether the panel requires a study's codes in advance, which rules out unique codes
    # converts the address that the panel shows to the researcher into a template
    exit_from: Callable[[str], str] = str
    columns: Columns = field(default_factory=lambda: Columns(()))  # columns of the list of submissions
    states: Mapping[str, str] = field(default_factory=dict)  # `STATES` by the panel's own words in lower case

    @property
    def ids(self) -> tuple[str, ...]:
        return (*self.person, *self.submission)

    @property
    def query(self) -> str:
        """The query string of the link to paste into the panel, with its question mark; may be empty."""
        pairs = "&".join(f"{name}={value}" for name, value in self.placeholders.items())
        return f"?{pairs}" if pairs else ""

    def is_preview(self, parameters: Mapping[str, str]) -> bool:
        """Return whether the link is a preview of the task, not yet accepted."""
        return self.preview is not None and parameters.get(self.preview[0]) == self.preview[1]

    def identify(self, parameters: Mapping[str, str]) -> tuple[str, str] | None:
        """Return the parameter that identifies the participant, with its value.

        A participant's id takes precedence over a submission's; None if the link has no id. Unfilled placeholders do
        not count.
        """
        return next(iter(self.filled(self.ids, parameters).items()), None)

    def filled(self, names: Iterable[str], parameters: Mapping[str, str]) -> dict[str, str]:
        """Return the values that parameters of these names have in a link, in the order of the names."""
        return {name: value for name in names if (value := parameters.get(name)) and not self.is_unfilled(name, value)}

    def is_unfilled(self, name: str, value: str) -> bool:
        """Return whether a value is the unfilled placeholder, as in a test of the link, or cannot be an id."""
        return "\x00" in value or (bool(value) and value == self.placeholders.get(name))
