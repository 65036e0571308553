"""Answers to questions about the person, about items and about the list as a whole; each is stored at once.

The same answers have the same result when they are sent again. A request out of order is refused with
`study.out_of_order` and the participant's current step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from core.errors import ParameterError
from studies.enums import Provenance
from studies.instrument.flow import Place
from studies.instrument.questionnaires.schema import ITEMS, Question, Questionnaire
from studies.models import Participant, Response
from studies.participation.selectors.participant_rows import answers_known, questionnaire_at
from studies.participation.services.events import record_event
from studies.participation.services.participant_state import (
    flow_of_participant,
    require_open,
    touch,
)


@dataclass(frozen=True, kw_only=True)
class AnswerSource:
    """Provenance of answers, and their time by the browser's clock."""

    provenance: str = Provenance.PERSON
    client_at: datetime | None = None


class PageAnswers:
    """The stored answers that one page of questions depends on; the caller holds the participant's lock.

    `values` are the answers about the person and the list, with those about the page's item, by question.
    """

    def __init__(self, participant: Participant, at: Place) -> None:
        self.participant = participant
        self.at = at
        self.block = flow_of_participant(participant).page(at.page).block
        # Answers about the item come last and take precedence.
        rows = list(answers_known(participant, at.occasion).filter(rank__in={0, at.rank}).order_by("rank"))
        self.values: dict[str, Any] = {row.question: row.value for row in rows}
        self._rows = {row.question: row for row in rows if (row.rank, row.occasion) == (at.rank, at.occasion)}

    @cached_property
    def questionnaire(self) -> Questionnaire:
        return questionnaire_at(self.participant, self.at)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the page's own questions."""
        return frozenset(question.key for question in self.questionnaire.block(self.block))

    @property
    def missing(self) -> tuple[str, ...]:
        return self.questionnaire.missing(self.block, self.values)

    def save(self, checked: Mapping[str, Any], source: AnswerSource) -> None:
        """Store the answers that differ from the stored ones, and clear those that are None.

        The values have been checked. Questions that are not asked after these answers are left out.
        """
        # Whether a question is asked can depend on another answer of the same page.
        after = {**self.values, **checked}
        changes = [
            (question, checked[question.key])
            for question in self.questionnaire.shown(self.block, after)
            if question.key in checked and not is_same(checked[question.key], self.values.get(question.key))
        ]
        if not changes:
            return
        require_open(self.participant, self.at)
        touch(self.participant)
        for question, value in changes:
            if value is None:
                self._clear(question.key)
            else:
                self._store(question, value, source)

    def replace(self, checked: Mapping[str, Any], source: AnswerSource) -> None:
        """Store the whole page's checked answers, and clear those to questions that are no longer asked."""
        for key in self.keys:
            if checked.get(key) is None:
                self._clear(key)
        for question in self.questionnaire.block(self.block):
            if checked.get(question.key) is not None:
                self._store(question, checked[question.key], source)

    def _store(self, question: Question, value: Any, source: AnswerSource) -> None:
        """Store a checked value; a changed answer about an item is recorded as an event."""
        row = self._rows.get(question.key)
        if row is not None and row.value != value and self.block == ITEMS:
            values = {} if question.is_identifying else {"from": row.value, "to": value}
            record_event(
                participant=self.participant,
                kind="rating_changed" if question.key == "rating" else "answer_changed",
                at=self.at,
                facts={"question": question.key, "rank": self.at.rank, **values},
                client_at=source.client_at,
            )
        if row is None:
            row = Response(
                participant=self.participant, question=question.key, rank=self.at.rank, occasion=self.at.occasion
            )
        elif row.value == value:
            return
        else:
            row.n_changes += 1
        row.value, row.provenance = value, source.provenance
        row.save()
        self._rows[question.key] = row
        self.values[question.key] = value

    def _clear(self, key: str) -> None:
        if (row := self._rows.pop(key, None)) is not None:
            row.delete()
            del self.values[key]


def checked_values(questions: Sequence[Question], posted: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the posted values as they are stored, None for a cleared one, and those that cannot be stored."""
    checked: dict[str, Any] = {}
    invalid: dict[str, Any] = {}
    for question in questions:
        if question.key not in posted:
            continue
        value = posted[question.key]
        try:
            checked[question.key] = None if value is None else question.check(value)
        except ParameterError:
            invalid[question.key] = value
    return checked, invalid


def is_same(value: Any, stored: Any) -> bool:
    """Return whether two answers are equal and of one type."""
    # In Python True equals 1: a yes is not a number.
    return type(value) is type(stored) and bool(value == stored)
