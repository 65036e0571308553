"""Scale scores: reversed answers turned round, and the mean of those answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from studies.questionnaires.questions import MATRIX, Question, Texts, is_declined
from studies.questionnaires.schema import ITEMS, Questionnaire, Scale


@dataclass(frozen=True)
class Member:
    """One question, or one row of a matrix, that belongs to a scale.

    Parameters
    ----------
    question : str
        Key of the question.
    row : str
        Key of the row; empty for every other kind.
    minimum, maximum : int or float
        Ends of its answers.
    is_reversed : bool
        Whether a high answer means little of what the scale measures.
    """

    question: str
    row: str
    minimum: Any
    maximum: Any
    is_reversed: bool

    @property
    def name(self) -> str:
        """How it is called in exports: the question, or the question and the row."""
        return f"{self.question}.{self.row}" if self.row else self.question

    def given(self, answers: Mapping[str, Any]) -> Any:
        """The answer as it was given, or None where there is none.

        Parameters
        ----------
        answers : mapping
            Question key to stored value.

        Returns
        -------
        int, float, str or None

        Examples
        --------
        >>> Member("q", "r", 1, 7, True).given({"q": {"r": 2}})
        2
        """
        value = answers.get(self.question)
        if is_declined(value):
            return None
        if self.row:
            return value.get(self.row) if isinstance(value, Mapping) else None
        return value

    def scored(self, answers: Mapping[str, Any]) -> Fraction | None:
        """The answer in the direction of the scale: minimum + maximum - x where it is reversed.

        Parameters
        ----------
        answers : mapping
            Question key to stored value.

        Returns
        -------
        Fraction or None
            None where there is no answer.

        Examples
        --------
        >>> Member("q", "", 1, 7, True).scored({"q": 2})
        Fraction(6, 1)
        """
        value = self.given(answers)
        if value is None:
            return None
        exact = _exact(value)
        return _exact(self.minimum) + _exact(self.maximum) - exact if self.is_reversed else exact


def _exact(value: Any) -> Fraction:
    # By way of its digits: a slider's .1 is a tenth.
    return Fraction(str(value))


@dataclass(frozen=True)
class ScaleOfStudy:
    """A scale with the questions that belong to it.

    Parameters
    ----------
    key : str
        Its name in exports.
    name : mapping of str to str
        What it measures, by language.
    members : tuple of Member
        At least one.
    least_answered : float
        The share of its members that has to be answered for a score.
    is_about_items : bool
        Whether it is asked about each recommended item.
    """

    key: str
    name: Texts
    members: tuple[Member, ...]
    least_answered: float
    is_about_items: bool

    @property
    def minimum(self) -> Any:
        """The lowest score."""
        return self.members[0].minimum

    @property
    def maximum(self) -> Any:
        """The highest score."""
        return self.members[0].maximum

    def score(self, answers: Mapping[str, Any]) -> Fraction | None:
        """The mean of the answers in the scale's direction.

        Parameters
        ----------
        answers : mapping
            Question key to stored value.

        Returns
        -------
        Fraction or None
            None where fewer were answered than the scale asks for.

        Examples
        --------
        >>> members = (Member("a", "", 1, 5, False), Member("b", "", 1, 5, True))
        >>> trust = ScaleOfStudy("trust", {"en": "Trust"}, members, 0.5, False)
        >>> trust.score({"a": 4, "b": 1}), trust.score({"a": 4}), trust.score({})
        (Fraction(9, 2), Fraction(4, 1), None)
        """
        return self.mean([member.scored(answers) for member in self.members])

    def mean(self, scored: Sequence[Fraction | None]) -> Fraction | None:
        """The mean of scored answers, or None where too few are there.

        Parameters
        ----------
        scored : sequence of Fraction or None
            One for each member.

        Returns
        -------
        Fraction or None
        """
        given = [value for value in scored if value is not None]
        if not given or len(given) < self.least_answered * len(self.members) - 1e-9:
            return None
        return sum(given, start=Fraction(0)) / len(given)


def members_of(question: Question) -> tuple[Member, ...]:
    """What of a question is answered by a number of its own: the question itself, or each row of a matrix.

    Parameters
    ----------
    question : Question
        One that is answered by numbers.

    Returns
    -------
    tuple of Member
    """
    if question.kind == MATRIX:
        return tuple(
            Member(question.key, row.key, question.minimum, question.maximum, row.is_reversed) for row in question.rows
        )
    return (Member(question.key, "", question.minimum, question.maximum, question.is_reversed),)


def scales_of(questionnaire: Questionnaire) -> tuple[ScaleOfStudy, ...]:
    """The scales that questions belong to, in the order of their declaration.

    Parameters
    ----------
    questionnaire : Questionnaire
        The whole.

    Returns
    -------
    tuple of ScaleOfStudy
        A scale without questions is left out.
    """
    found = []
    for scale in questionnaire.scales:
        asked = [question for question in questionnaire.questions if question.scale == scale.key]
        members = tuple(member for question in asked for member in members_of(question))
        if members:
            found.append(_scale(scale, members, any(q in questionnaire.block(ITEMS) for q in asked)))
    return tuple(found)


def _scale(scale: Scale, members: tuple[Member, ...], is_about_items: bool) -> ScaleOfStudy:
    return ScaleOfStudy(scale.key, scale.name, members, scale.least_answered, is_about_items)


def negative_members(questionnaire: Questionnaire) -> frozenset[str]:
    """Names of the questions and rows whose statements say the opposite of what their scale measures.

    Parameters
    ----------
    questionnaire : Questionnaire
        The whole.

    Returns
    -------
    frozenset of str
    """
    return frozenset(
        member.name for scale in scales_of(questionnaire) for member in scale.members if member.is_reversed
    )


def answers_of_member(
    scale: ScaleOfStudy, member: Member, answers: Mapping[str, Any], items: Sequence[Mapping[str, Any]]
) -> Fraction | None:
    """A participant's scored answer: the mean over the items where the scale is about them.

    Parameters
    ----------
    scale : ScaleOfStudy
        The scale.
    member : Member
        One of its members.
    answers : mapping
        Answers about the person and the list.
    items : sequence of mapping
        Answers about each item.

    Returns
    -------
    Fraction or None
    """
    if not scale.is_about_items:
        return member.scored(answers)
    given = [value for value in (member.scored(item) for item in items) if value is not None]
    return sum(given, start=Fraction(0)) / len(given) if given else None


def score_of_participant(
    scale: ScaleOfStudy, answers: Mapping[str, Any], items: Sequence[Mapping[str, Any]]
) -> Fraction | None:
    """A participant's score: of a scale about items the mean of the items' scores.

    Parameters
    ----------
    scale : ScaleOfStudy
        The scale.
    answers : mapping
        Answers about the person and the list.
    items : sequence of mapping
        Answers about each item.

    Returns
    -------
    Fraction or None
    """
    if not scale.is_about_items:
        return scale.score(answers)
    scores = [score for score in map(scale.score, items) if score is not None]
    return sum(scores, start=Fraction(0)) / len(scores) if scores else None
