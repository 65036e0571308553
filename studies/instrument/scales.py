"""Scale scores: the mean of the answered members after reverse-scoring, on the range of the scale.

Batteries: questions of one block with equally long scales, checked for straight-lining.

`answers` maps the keys of questions to stored values throughout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from studies.instrument.questionnaires.questions import Question, Texts, is_declined
from studies.instrument.questionnaires.schema import ITEMS, Questionnaire


@dataclass(frozen=True)
class Member:
    """One question or matrix row that belongs to a scale."""

    question: str  # key of the question
    row: str  # key of the row; empty for other kinds
    # `minimum`, `maximum`: lowest and highest answer
    minimum: Any
    maximum: Any
    is_reversed: bool  # whether it is reverse-scored

    @property
    def name(self) -> str:
        """Its name in exports: the question, or the question and the row."""
        return f"{self.question}.{self.row}" if self.row else self.question

    def raw(self, answers: Mapping[str, Any]) -> Any:
        """The stored answer before reverse-scoring; None without an answer.

        Examples
        --------
        >>> Member("q", "r", 1, 7, True).raw({"q": {"r": 2}})
        2
        """
        value = answers.get(self.question)
        if is_declined(value):
            return None
        if self.row:
            return value.get(self.row) if isinstance(value, Mapping) else None
        return value

    def scored(self, answers: Mapping[str, Any]) -> Fraction | None:
        """Return the answer after reverse-scoring: minimum + maximum - x for reversed members.

        None without an answer.

        Examples
        --------
        >>> Member("q", "", 1, 7, True).scored({"q": 2})
        Fraction(6, 1)
        """
        value = self.raw(answers)
        if value is None:
            return None
        exact = _exact(value)
        return _exact(self.minimum) + _exact(self.maximum) - exact if self.is_reversed else exact


def _exact(value: Any) -> Fraction:
    # From the decimal digits: a slider's 0.1 is exactly 1/10.
    return Fraction(str(value))


@dataclass(frozen=True)
class ScaleOfStudy:
    """A scale with the questions that belong to it."""

    key: str  # its name in exports
    name: Texts  # name of the construct, by language
    members: tuple[Member, ...]  # at least one
    least_answered: float  # share of its members that must be answered for a score
    is_about_items: bool  # whether it is asked about each recommended item
    # lowest and highest score that the mean is mapped to; None for the range of the answers
    score_range: tuple[float, float] | None = None

    @property
    def minimum(self) -> Any:
        """The lowest score."""
        return self.members[0].minimum if self.score_range is None else self.score_range[0]

    @property
    def maximum(self) -> Any:
        """The highest score."""
        return self.members[0].maximum if self.score_range is None else self.score_range[1]

    def score(self, answers: Mapping[str, Any]) -> Fraction | None:
        """Return the mean of the reverse-scored answers, mapped to the range of the score.

        None if too few members were answered.

        Examples
        --------
        >>> members = (Member("a", "", 1, 5, False), Member("b", "", 1, 5, True))
        >>> trust = ScaleOfStudy("trust", {"en": "Trust"}, members, 0.5, False)
        >>> trust.score({"a": 4, "b": 1}), trust.score({"a": 4}), trust.score({})
        (Fraction(9, 2), Fraction(4, 1), None)
        >>> ScaleOfStudy("trust", {"en": "Trust"}, members, 0.5, False, (0, 100)).score({"a": 4, "b": 1})
        Fraction(175, 2)
        """
        return self.mean([member.scored(answers) for member in self.members])

    def mean(self, scored: Sequence[Fraction | None]) -> Fraction | None:
        """Return the mean of scored answers on the range of the score, or None if there are too few."""
        values = [value for value in scored if value is not None]
        if not values or len(values) < self.least_answered * len(self.members) - 1e-9:
            return None
        mean = sum(values, start=Fraction(0)) / len(values)
        if self.score_range is None:
            return mean
        low, high = _exact(self.members[0].minimum), _exact(self.members[0].maximum)
        least, most = map(_exact, self.score_range)
        return least + (mean - low) / (high - low) * (most - least)


def members_of(question: Question) -> tuple[Member, ...]:
    """Return the members of a question: the question itself, or each row of a matrix."""
    if question.rows:
        return tuple(
            Member(question.key, row.key, question.minimum, question.maximum, row.is_reversed) for row in question.rows
        )
    return (Member(question.key, "", question.minimum, question.maximum, question.is_reversed),)


def scales_of(questionnaire: Questionnaire) -> tuple[ScaleOfStudy, ...]:
    """Return the scales that have questions, in the order of declaration."""
    scales = []
    for scale in questionnaire.scales:
        questions = [question for question in questionnaire.questions if question.scale == scale.key]
        members = tuple(member for question in questions for member in members_of(question))
        if members:
            about_items = any(question in questionnaire.block(ITEMS) for question in questions)
            scales.append(
                ScaleOfStudy(scale.key, scale.name, members, scale.least_answered, about_items, scale.score_range)
            )
    return tuple(scales)


def negative_members(questionnaire: Questionnaire) -> frozenset[str]:
    """Return the names of all reverse-scored questions and rows."""
    return frozenset(
        member.name for scale in scales_of(questionnaire) for member in scale.members if member.is_reversed
    )


def answers_of_member(
    scale: ScaleOfStudy, member: Member, answers: Mapping[str, Any], items: Sequence[Mapping[str, Any]]
) -> Fraction | None:
    """Return a participant's scored answer; for scales about items, the mean over the items.

    `answers` are those about the participant and the list, `items` those about each item.
    """
    if not scale.is_about_items:
        return member.scored(answers)
    values = [value for value in (member.scored(item) for item in items) if value is not None]
    return sum(values, start=Fraction(0)) / len(values) if values else None


def score_of_participant(
    scale: ScaleOfStudy, answers: Mapping[str, Any], items: Sequence[Mapping[str, Any]]
) -> Fraction | None:
    """Return a participant's score; for scales about items, the mean of the items' scores.

    `answers` are those about the participant and the list, `items` those about each item.
    """
    if not scale.is_about_items:
        return scale.score(answers)
    scores = [score for score in map(scale.score, items) if score is not None]
    return sum(scores, start=Fraction(0)) / len(scores) if scores else None


@dataclass(frozen=True)
class Battery:
    """The Likert questions and matrix rows of one block that have the same number of points."""

    block: str
    n_points: int  # scale points of each, >= 2
    members: tuple[Member, ...]  # in the order of the block; a member of no scale counts as not reverse-scored

    def points(self, answers: Mapping[str, Any]) -> list[tuple[int, bool]]:
        """Return the points that a participant chose.

        For each answered member: the point as shown on the page, from 0 and before reverse-scoring, and whether the
        member is reverse-scored.

        Examples
        --------
        >>> pair = (Member("a", "", 1, 5, False), Member("b", "r", 1, 5, True))
        >>> Battery("after", 5, pair).points({"a": 4, "b": {"r": 5}})
        [(3, False), (4, True)]
        """
        values = [(member, member.raw(answers)) for member in self.members]
        return [(value - member.minimum, member.is_reversed) for member, value in values if value is not None]


def batteries_of(questionnaire: Questionnaire) -> tuple[Battery, ...]:
    """Return the batteries of a questionnaire, block by block."""
    batteries = []
    for block in questionnaire.whole:  # answers about items are compared between items instead
        questions = [q for q in questionnaire.block(block) if q.is_on_points and not q.is_check]
        for n_points in dict.fromkeys(q.maximum - q.minimum + 1 for q in questions):
            own = [q for q in questions if q.maximum - q.minimum + 1 == n_points]
            members = (
                replace(member, is_reversed=member.is_reversed and bool(q.scale))
                for q in own
                for member in members_of(q)
            )
            batteries.append(Battery(block, n_points, tuple(members)))
    return tuple(batteries)
