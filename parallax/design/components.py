"""What the gallery is made of: pages of sections, each with a component in its states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class State:
    """A component in one state: the template that pages include, and its context; a `wide` one has a row to itself."""

    label: str
    template: str
    context: Mapping[str, Any] = field(default_factory=dict)
    wide: bool = False


@dataclass(frozen=True)
class Section:
    """A component under its heading; the states of a `wide` one stand below each other."""

    key: str
    title: str
    states: tuple[State, ...]
    wide: bool = False


@dataclass(frozen=True)
class GalleryPage:
    """A page of the gallery: the template it extends, its style sheets beyond those, and its sections.

    With `is_form` its specimens are questions, which scripts look for in one form.
    """

    title: str
    shell: str
    sections: Callable[[], tuple[Section, ...]]
    styles: tuple[str, ...] = ()
    body_class: str = ""
    is_form: bool = False
    context: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_participant(self) -> bool:
        """Whether it has the frame of participant pages, which has no heading of its own."""
        return self.shell == "participant/base.html"

    @property
    def is_report(self) -> bool:
        """Whether its specimens have the style of reports."""
        return "css/report.css" in self.styles
