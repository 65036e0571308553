"""Outcomes that a plan names by their keys, beside the study's own measures and scales: one number per participant.

A key is a block and a question, as in export columns: ``after.difficulty``, or ``items.interest`` for the participant's
mean over the shown items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from core.field_problems import FieldProblems, Problem
from studies.flow_pages import ITEMS
from studies.instrument.flow import Flow
from studies.instrument.questionnaires.questions import Question
from studies.instrument.questionnaires.schema import Questionnaire
from studies.instrument.scales import ScaleOfStudy, members_of, score_of_participant


class _OfItem(Protocol):
    @property
    def answers(self) -> Mapping[str, Any]: ...


class Answered(Protocol):
    """What a participant did; records have it."""

    @property
    def answers(self) -> Mapping[str, Any]: ...
    @property
    def items(self) -> Sequence[_OfItem]: ...


@dataclass(frozen=True)
class Outcome:
    """An outcome that a plan can name; `low` and `high` are the ends of its range."""

    key: str
    name: str
    low: float
    high: float
    value: Callable[[Answered], Fraction | None]  # of a participant; None without an answer
    scale: ScaleOfStudy | None = None  # of a question, which is a scale of its own

    @property
    def is_about_items(self) -> bool:
        return self.scale is not None and self.scale.is_about_items


def possible_outcomes(questionnaire: Questionnaire, flow: Flow) -> dict[str, Outcome]:
    """Every outcome that a plan of this study can name, by key, in the order of the pages.

    Those of questions that are answered by one number between two ends, from the list on; names are in English if the
    study has it.
    """
    blocks = [page.block for page in flow.pages if page.key in flow.with_list and page.block]
    return {
        outcome.key: outcome
        for block in blocks
        for question in questionnaire.block(block)
        if question.is_numeric and not (question.rows or question.is_check or question.is_identifying)
        if question.minimum is not None and question.maximum is not None
        for outcome in (_of_question(block, question),)
    }


def planned_outcomes(questionnaire: Questionnaire, flow: Flow, keys: Sequence[str]) -> tuple[Outcome, ...]:
    """The outcomes with these keys, in their order. Raises FieldProblems for keys that are none of the study's."""
    known = possible_outcomes(questionnaire, flow)
    if wrong := [key for key in keys if key not in known]:
        raise FieldProblems(
            [
                Problem(
                    ("plan", "outcomes"),
                    f"The plan names the outcome {key!r}. An outcome is a question from the list on that is answered "
                    "by one number between a minimum and a maximum and identifies no one; here they are "
                    f"{', '.join(known) or 'none'}.",
                )
                for key in wrong
            ]
        )
    return tuple(known[key] for key in keys)


def _of_question(block: str, question: Question) -> Outcome:
    (member,) = members_of(question)
    text = question.text.get("en") or next(iter(question.text.values()))
    # As it was answered: a scale that has the question may score it in reverse.
    key = f"{block}.{question.key}"
    scale = ScaleOfStudy(key, question.text, (replace(member, is_reversed=False),), 1.0, block == ITEMS)
    return Outcome(
        key=key,
        name=text.rstrip(" .:"),
        low=question.minimum,
        high=question.maximum,
        value=lambda person: score_of_participant(scale, person.answers, [item.answers for item in person.items]),
        scale=scale,
    )
