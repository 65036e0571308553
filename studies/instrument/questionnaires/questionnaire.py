"""Questionnaires: their blocks and scales, and the questions that follow from a participant's answers.

`block` is one of `BLOCKS` throughout, and `answers` maps the keys of questions to values, as for `known`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from studies.instrument.questionnaires.questions import Question, Texts

ABOUT = "about"
ITEMS = "items"
OVERALL = "overall"
AFTER = "after"
BLOCKS = (ABOUT, ITEMS, OVERALL, AFTER)
# The blocks whose answers are known when a block is asked; the block itself comes last.
KNOWN_IN = {ABOUT: (ABOUT,), ITEMS: (ABOUT, ITEMS), OVERALL: (ABOUT, OVERALL), AFTER: (ABOUT, OVERALL, AFTER)}
EVALUATOR = "evaluator"  # questions that the interviewer answers after a session; no block of the participant's
LEAST_ANSWERED = 0.5


@dataclass(frozen=True)
class Scale:
    """A set of questions that measure one construct."""

    key: str  # its name in exports
    name: Texts  # name of the construct, by language
    # share of its questions that must be answered for a score, above 0 and at most 1
    least_answered: float = LEAST_ANSWERED
    # lowest and highest score that the mean of the answers is mapped to; None for the range of the answers
    score_range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Questionnaire:
    """The questions of a study in four blocks, and its scales."""

    # `about`, `items`, `overall`, `after`: questions about the participant, about each recommended item, about the
    # whole list, and at the end
    about: tuple[Question, ...]
    items: tuple[Question, ...]
    overall: tuple[Question, ...]
    after: tuple[Question, ...] = ()
    scales: tuple[Scale, ...] = field(default=())  # the scales that questions belong to
    attention_ends_after: int = 0  # number of failed attention checks that ends participation; 0 for never
    evaluator: tuple[Question, ...] = ()  # asked of the interviewer after each session

    def block(self, name: str) -> tuple[Question, ...]:
        """The questions of one block."""
        return {ABOUT: self.about, ITEMS: self.items, OVERALL: self.overall, AFTER: self.after}[name]

    @property
    def questions(self) -> tuple[Question, ...]:
        """Every question, block by block."""
        return (*self.about, *self.items, *self.overall, *self.after)

    @property
    def identifying(self) -> frozenset[str]:
        """Keys of the questions whose answers identify a person."""
        return frozenset(question.key for question in self.questions if question.is_identifying)

    @property
    def passing(self) -> dict[str, str]:
        """The answer that passes each screening question and attention check, as submitted by a form."""
        answers = {question.key: question.admits[0] for question in self.questions if question.admits}
        answers |= {question.key: question.expects for question in self.questions if question.expects is not None}
        return {
            key: ("yes" if value else "no") if isinstance(value, bool) else str(value) for key, value in answers.items()
        }

    def known(self, block: str, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answers that conditions in a block may use: those to questions that are themselves shown.

        For the items block, `answers` are those about one item.
        """
        known: dict[str, Any] = {}
        for name in KNOWN_IN[block]:
            for question in self.block(name):
                if answers.get(question.key) is not None and question.is_shown(known):
                    known[question.key] = answers[question.key]
        return known

    def shown(self, block: str, answers: Mapping[str, Any]) -> tuple[Question, ...]:
        """Return the questions of a block that are shown after these answers."""
        known = self.known(block, answers)
        return tuple(question for question in self.block(block) if question.is_shown(known))

    def missing(self, block: str, answers: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the keys of the block's questions that still need an answer.

        Examples
        --------
        >>> from studies.instrument.questionnaires.schema import questionnaire_from
        >>> asked = questionnaire_from({"overall": [{"key": "why", "kind": "text", "text": {"en": "Why?"}}]})
        >>> asked.missing("overall", {})
        ('why',)
        """
        return tuple(q.key for q in self.shown(block, answers) if q.is_incomplete(answers.get(q.key)))

    def failed_checks(self, block: str, answers: Mapping[str, Any]) -> tuple[tuple[str, bool], ...]:
        """Return the answered attention checks of a block, each with whether it was passed."""
        return tuple(
            (q.key, answers[q.key] == q.expects)
            for q in self.shown(block, answers)
            if q.is_check and answers.get(q.key) is not None
        )
