"""Questionnaires: their blocks and scales, and what is asked of somebody who gave certain answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import ParameterError
from studies.questionnaires.questions import ATTENTION, Question, Texts

ABOUT = "about"
ITEMS = "items"
OVERALL = "overall"
AFTER = "after"
BLOCKS = (ABOUT, ITEMS, OVERALL, AFTER)
# The blocks whose answers are known where a block is asked, itself the last.
KNOWN_IN = {ABOUT: (ABOUT,), ITEMS: (ABOUT, ITEMS), OVERALL: (ABOUT, OVERALL), AFTER: (ABOUT, OVERALL, AFTER)}
LEAST_ANSWERED = 0.5


@dataclass(frozen=True)
class Scale:
    """Questions that measure one thing together.

    Parameters
    ----------
    key : str
        Its name in exports.
    name : mapping of str to str
        What it measures, by language.
    least_answered : float
        The share of its questions that has to be answered for a score, above 0 and at most 1.
    """

    key: str
    name: Texts
    least_answered: float = LEAST_ANSWERED


@dataclass(frozen=True)
class Questionnaire:
    """The questions of a study in four blocks, and its scales.

    Parameters
    ----------
    about, items, overall, after : tuple of Question
        Asked about the person, about each recommended item, about the list as a whole, and after that.
    scales : tuple of Scale
        What questions measure together.
    attention_ends_after : int
        After so many failed attention checks someone's part ends; 0 for never.
    """

    about: tuple[Question, ...]
    items: tuple[Question, ...]
    overall: tuple[Question, ...]
    after: tuple[Question, ...] = ()
    scales: tuple[Scale, ...] = field(default=())
    attention_ends_after: int = 0

    def block(self, name: str) -> tuple[Question, ...]:
        """The questions of one block.

        Parameters
        ----------
        name : str
            One of `BLOCKS`.

        Returns
        -------
        tuple of Question
        """
        return {ABOUT: self.about, ITEMS: self.items, OVERALL: self.overall, AFTER: self.after}[name]

    @property
    def questions(self) -> tuple[Question, ...]:
        """Every question, block by block."""
        return (*self.about, *self.items, *self.overall, *self.after)

    @property
    def identifying(self) -> frozenset[str]:
        """Keys of the questions whose answers name people."""
        return frozenset(question.key for question in self.questions if question.is_identifying)

    @property
    def expected(self) -> dict[str, str]:
        """The answer that passes each attention check, as a form sends it."""
        return {question.key: str(question.expects) for question in self.questions if question.expects is not None}

    def find(self, key: str, *, about_item: bool) -> tuple[str, Question]:
        """The block and the question of that key.

        Parameters
        ----------
        key : str
            Key of the question.
        about_item : bool
            Whether it is asked about a recommended item.

        Returns
        -------
        tuple of str and Question

        Raises
        ------
        ParameterError
            No such question.
        """
        for name in (ITEMS,) if about_item else (ABOUT, OVERALL, AFTER):
            for question in self.block(name):
                if question.key == key:
                    return name, question
        where = "about a recommended item" if about_item else "about the person or the whole list"
        raise ParameterError(f"This study asks no question {key!r} {where}.")

    def known(self, block: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The answers that count where a block is asked: those to questions that are themselves asked.

        Parameters
        ----------
        block : str
            One of `BLOCKS`.
        given : mapping
            Question key to value; of the items, the answers about one of them.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = {}
        for name in KNOWN_IN[block]:
            for question in self.block(name):
                if given.get(question.key) is not None and question.is_shown(found):
                    found[question.key] = given[question.key]
        return found

    def asked(self, block: str, given: Mapping[str, Any]) -> tuple[Question, ...]:
        """The questions of a block that are asked of somebody who gave these answers.

        Parameters
        ----------
        block : str
            One of `BLOCKS`.
        given : mapping
            Question key to value, as for `known`.

        Returns
        -------
        tuple of Question
        """
        found = self.known(block, given)
        return tuple(question for question in self.block(block) if question.is_shown(found))

    def missing(self, block: str, given: Mapping[str, Any]) -> tuple[str, ...]:
        """Keys of the block's questions that still want an answer.

        Parameters
        ----------
        block : str
            One of `BLOCKS`.
        given : mapping
            Question key to value, as for `known`.

        Returns
        -------
        tuple of str

        Examples
        --------
        >>> from studies.questionnaires.schema import questionnaire_from
        >>> asked = questionnaire_from({"overall": [{"key": "why", "kind": "text", "text": {"en": "Why?"}}]})
        >>> asked.missing("overall", {})
        ('why',)
        """
        return tuple(q.key for q in self.asked(block, given) if q.is_wanting(given.get(q.key)))

    def failed_checks(self, block: str, given: Mapping[str, Any]) -> tuple[tuple[str, bool], ...]:
        """The attention checks of a block that were answered, each with whether it was passed.

        Parameters
        ----------
        block : str
            One of `BLOCKS`.
        given : mapping
            Question key to value, as for `known`.

        Returns
        -------
        tuple of (str, bool)
        """
        return tuple(
            (q.key, given[q.key] == q.expects)
            for q in self.asked(block, given)
            if q.kind == ATTENTION and given.get(q.key) is not None
        )
