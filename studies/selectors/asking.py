"""Questions as a page asks them: their wordings, their options, and the answer they have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from studies import flow
from studies.questionnaires import schema


@dataclass(frozen=True)
class Option:
    """One radio button."""

    value: str
    label: Any
    is_chosen: bool
    aside: str = ""


@dataclass(frozen=True)
class Conditional:
    """Words or a question that show only after certain answers.

    `when` is what the page's script looks at: conditions joined by "&", each ``name`` (answered), ``name=value``
    or ``name!=value``; empty for always. `is_hidden` is how it stands with the answers stored so far, for
    readers without the script.
    """

    text: str
    when: str = ""
    is_hidden: bool = False


@dataclass(frozen=True)
class Asked:
    """A question as a page asks it; where it has several wordings, one of them shows at a time."""

    key: str
    wordings: tuple[Conditional, ...]
    options: tuple[Option, ...]
    layout: str
    when: str = ""
    is_hidden: bool = False
    hint: Any = ""
    ends: tuple[str, str] | None = None
    problem: Any = ""


@dataclass(frozen=True)
class OpenQuestion:
    """A question answered in one's own words."""

    key: str
    text: str
    value: str
    required: bool
    longest: int
    problem: Any = ""


def _raw(value: Any) -> str:
    """Return an answer as its radio button says it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def holds(when: str, answers: Mapping[str, Any]) -> bool:
    """Return whether the conditions hold for the answers stored so far, as the page's script reads them."""
    for condition in filter(None, when.split("&")):
        name, differs, value = condition.partition("!=")
        if not differs:
            name, _equals, value = condition.partition("=")
        given = answers.get(name)
        is_met = given is not None if not value else (given is not None and _raw(given) == value) != bool(differs)
        if not is_met:
            return False
    return True


WHEN_BRANCH = {
    flow.WATCHED: "watched=yes",
    flow.TRAILER_SEEN: "watched=no&trailer_seen=yes",
    flow.NEITHER: "watched=no&trailer_seen!=yes",
}


def asked(
    question: schema.Question,
    answers: Mapping[str, Any],
    *,
    language: str,
    when: str = "",
    hint: Any = "",
    problem: Any = "",
) -> Asked:
    """Return a yes-or-no or Likert question with its wordings and the answer it has."""

    def in_language(texts: Mapping[str, Any]) -> Any:
        return texts.get(language) or next(iter(texts.values()), "")

    if question.shown_if:
        when = f"{question.shown_if[0]}={_raw(question.shown_if[1])}"
    wordings = tuple(
        Conditional(in_language(question.wordings[branch]), condition, not holds(condition, answers))
        for branch, condition in WHEN_BRANCH.items()
        if branch in question.wordings
    ) or (Conditional(in_language(question.text)),)
    given = answers.get(question.key)
    ends: tuple[str, str] | None = None
    if question.kind == schema.YES_NO:
        options: tuple[Option, ...] = (Option("yes", _("Yes"), given is True), Option("no", _("No"), given is False))
    else:
        low, high = question.minimum or 1, question.maximum or 5
        ends = in_language(question.ends) or ("", "")
        asides = {low: ends[0], high: ends[1]}
        options = tuple(Option(str(p), str(p), given == p, asides.get(p, "")) for p in range(low, high + 1))
    layout = "yes-no" if question.kind == schema.YES_NO else "likert"
    is_hidden = not holds(when, answers)
    return Asked(question.key, wordings, options, layout, when, is_hidden, hint, ends, problem)
