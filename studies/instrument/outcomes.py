"""Outcomes that a plan names by their keys, beside the study's own measures and scales: one number per participant.

A key is a block and a question, as in export columns: ``after.difficulty``, or ``items.interest`` for the participant's
mean over the shown items. The page of a choice gives ``pick.chosen``, and recorded behaviour ``behaviour.opened``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from core.field_problems import FieldProblems, Problem
from studies.flow_pages import CHOSEN, ITEMS, NONE
from studies.instrument.flow import whole_flow
from studies.instrument.questionnaires.kinds import Preference
from studies.instrument.questionnaires.questions import Question
from studies.instrument.questionnaires.schema import Questionnaire
from studies.instrument.scales import ScaleOfStudy, members_of, score_of_participant
from studies.settings import OPENED, PLAYED, StudySettings

DETAILS_OPENED, TRAILER_OPENED, SAMPLE_PLAYED = "details_opened", "trailer_opened", "sample_played"  # kinds of events


class AnsweredItem(Protocol):
    """A recommended item with what a participant did about it."""

    @property
    def answers(self) -> Mapping[str, Any]: ...
    @property
    def looked_at(self) -> Mapping[str, float]: ...


class Answered(Protocol):
    """What a participant did; records have it."""

    @property
    def answers(self) -> Mapping[str, Any]: ...
    @property
    def items(self) -> Sequence[AnsweredItem]: ...


@dataclass(frozen=True)
class Outcome:
    """An outcome that a plan can name; `low` and `high` are the ends of its range."""

    key: str
    name: str
    low: float
    high: float
    how: str  # the number in words
    value: Callable[[Answered], Fraction | None]  # of a participant; None without an answer
    scale: ScaleOfStudy | None = None  # of a question, which is a scale of its own
    is_of_events: bool = False


def is_opened(item: AnsweredItem) -> bool:
    """Whether an item's details were opened."""
    return DETAILS_OPENED in item.looked_at


def is_played(item: AnsweredItem) -> bool:
    """Whether an item's sample was played, or opened on another site."""
    return TRAILER_OPENED in item.looked_at or SAMPLE_PLAYED in item.looked_at


BEHAVIOUR: Mapping[str, tuple[str, Callable[[AnsweredItem], bool]]] = {
    OPENED: ("Share of recommendations whose details were opened", is_opened),
    PLAYED: ("Share of recommendations whose sample was played", is_played),
}


def possible_outcomes(questionnaire: Questionnaire, design: StudySettings) -> dict[str, Outcome]:
    """Every outcome that a plan of this study can name, by key.

    Questions, in the order of the pages, are those that are answered by one number between two ends, from the list on;
    names are in English if the study has it.
    """
    return {outcome.key: outcome for outcome in _outcomes(questionnaire, design)}


def _outcomes(questionnaire: Questionnaire, design: StudySettings) -> Iterator[Outcome]:
    flow = whole_flow(design)
    if flow.compared:  # no question is about the list of one condition
        for question in questionnaire.block(flow.compared):
            if isinstance(question, Preference):
                yield from _of_question(flow.compared, question, "one answer, below 0 for list A, above 0 for list B")
        return
    for page in flow.pages:
        if page.key in flow.with_list and page.block:
            for question in questionnaire.block(page.block):
                if question.is_numeric and not (question.rows or question.is_check or question.is_identifying):
                    yield from _of_question(page.block, question)
    if flow.choice is not None:
        how = "1 for a recommendation, 0 for none of them"
        yield Outcome(f"{flow.choice.key}.{CHOSEN}", "Share who picked something", 0.0, 1.0, how, _has_chosen)
    for kind in design.recorded:
        name, is_so = BEHAVIOUR[kind]
        yield Outcome(f"behaviour.{kind}", name, 0.0, 1.0, "from events", _share_of_items(is_so), is_of_events=True)


def _has_chosen(participant: Answered) -> Fraction | None:
    chosen = participant.answers.get(CHOSEN)
    return None if chosen is None else Fraction(chosen != NONE)


def _share_of_items(is_so: Callable[[AnsweredItem], bool]) -> Callable[[Answered], Fraction | None]:
    def share(participant: Answered) -> Fraction | None:
        items = participant.items
        return Fraction(sum(map(is_so, items)), len(items)) if items else None

    return share


def planned_outcomes(questionnaire: Questionnaire, design: StudySettings) -> tuple[Outcome, ...]:
    """The outcomes that the plan names, in its order. Raises FieldProblems for those that the study does not have."""
    known, keys = possible_outcomes(questionnaire, design), design.plan.outcomes
    if wrong := [key for key in keys if key not in known]:
        raise FieldProblems(
            [
                Problem(
                    ("plan", "outcomes"),
                    f"The plan names the outcome {key!r}. An outcome is a question from the list on that is answered "
                    "by one number between a minimum and a maximum and identifies no one, a choice, or recorded "
                    f"behaviour; here they are {', '.join(known) or 'none'}.",
                )
                for key in wrong
            ]
        )
    return tuple(known[key] for key in keys)


def _of_question(block: str, question: Question, how: str = "one answer") -> Iterator[Outcome]:
    if question.minimum is None or question.maximum is None:
        return
    (member,) = members_of(question)
    text = question.text.get("en") or next(iter(question.text.values()))
    # As it was answered: a scale that has the question may score it in reverse.
    key = f"{block}.{question.key}"
    scale = ScaleOfStudy(key, question.text, (replace(member, is_reversed=False),), 1.0, block == ITEMS)
    yield Outcome(
        key=key,
        name=text.rstrip(" .:"),
        low=question.minimum,
        high=question.maximum,
        how="the mean of a participant's answers about the items" if block == ITEMS else how,
        value=lambda person: score_of_participant(scale, person.answers, [item.answers for item in person.items]),
        scale=scale,
    )
