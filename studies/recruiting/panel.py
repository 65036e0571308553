"""What is known of a panel: the parameters of its links, its way back, the columns of its lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

# What became of a submission, in one vocabulary for all panels.
UNDER_WAY = "under_way"
AWAITING = "awaiting"
APPROVED = "approved"
REJECTED = "rejected"
RETURNED = "returned"
TIMED_OUT = "timed_out"
SCREENED_OUT = "screened_out"
STATES = (UNDER_WAY, AWAITING, APPROVED, REJECTED, RETURNED, TIMED_OUT, SCREENED_OUT)
GIVEN_BACK = frozenset({RETURNED, TIMED_OUT})  # the place is free again


def as_it_is(url: str) -> str:
    """The address itself.

    Parameters
    ----------
    url : str
        An address.

    Returns
    -------
    str
    """
    return url


@dataclass(frozen=True)
class Columns:
    """Names that the columns of a panel's list may have, the likeliest first; case and spaces around do not matter.

    Parameters
    ----------
    person, submission, status, code : tuple of str
        Who, which submission, what became of it, the completion code. A name that ends in "*" stands for every
        name that begins so.
    """

    person: tuple[str, ...]
    submission: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    code: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    """One panel.

    Parameters
    ----------
    key, name : str
        In settings; as people read it.
    person : tuple of str
        Parameters that name a person; the first that a link has counts. Case matters.
    submission : tuple of str
        Parameters that name one submission of theirs.
    placeholders : mapping of str to str
        The query of the link to paste: parameter to what the panel puts in its place. Empty where the panel adds
        its parameters by itself.
    preview : tuple of (str, str) or None
        The parameter and value of somebody who only looks at the task.
    exit_url : str
        The way back after completion, with ``{code}`` or ``{id}`` in it; empty where there is none or where it is
        the researcher's to paste.
    has_fixed_codes : bool
        Whether the panel knows the codes of a study beforehand, so that no participant can have one of their own.
    exit_from : callable
        Makes the template of an address out of the one that the panel shows to the researcher.
    columns : Columns
        Of the list of submissions.
    states : mapping of str to str
        The panel's words, in small letters, to `STATES`.
    """

    key: str
    name: str
    person: tuple[str, ...]
    submission: tuple[str, ...] = ()
    placeholders: Mapping[str, str] = field(default_factory=dict)
    preview: tuple[str, str] | None = None
    exit_url: str = ""
    has_fixed_codes: bool = False
    exit_from: Callable[[str], str] = as_it_is
    columns: Columns = field(default_factory=lambda: Columns(()))
    states: Mapping[str, str] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, ...]:
        """Every parameter that names a person or their submission."""
        return (*self.person, *self.submission)

    @property
    def query(self) -> str:
        """The end of the link to paste into the panel, from the question mark on; may be empty."""
        pairs = "&".join(f"{name}={value}" for name, value in self.placeholders.items())
        return f"?{pairs}" if pairs else ""

    def is_preview(self, parameters: Mapping[str, str]) -> bool:
        """Whether somebody only looks at the task and has not taken it.

        Parameters
        ----------
        parameters : mapping of str to str
            Of the link.

        Returns
        -------
        bool
        """
        return self.preview is not None and parameters.get(self.preview[0]) == self.preview[1]

    def who(self, parameters: Mapping[str, str]) -> tuple[str, str] | None:
        """The parameter by which somebody is known, and its value.

        Parameters
        ----------
        parameters : mapping of str to str
            Of the link.

        Returns
        -------
        tuple of (str, str) or None
            A person's id before that of a submission; None where the link names nobody. What a panel left unfilled
            names nobody either.
        """
        for name in self.ids:
            value = parameters.get(name, "")
            if value and not self.is_unfilled(name, value):
                return name, value
        return None

    def is_unfilled(self, name: str, value: str) -> bool:
        """Whether a value is the placeholder itself, as in links that are tried out, or no text that could be an id.

        Parameters
        ----------
        name, value : str
            A parameter of a link.

        Returns
        -------
        bool
        """
        return "\x00" in value or (bool(value) and value == self.placeholders.get(name))
