"""The questions behind the study's own measures: they are asked where the plan names a measure, in one form."""

from __future__ import annotations

from collections.abc import Collection

from studies.instrument.questionnaires.kinds import Likert, YesNo
from studies.instrument.questionnaires.problems import Problem
from studies.instrument.questionnaires.questions import Question
from studies.instrument.questionnaires.schema import ITEMS, OVERALL, Questionnaire
from studies.settings import PERCEIVED

# Each question by its block and key: its kind, and the measures that are computed from it.
MEASURED = {
    (ITEMS, "watched"): (YesNo.kind, ("fon", "son")),
    (ITEMS, "heard"): (YesNo.kind, ("son",)),
    (ITEMS, "trailer_seen"): (YesNo.kind, ("son",)),
    (ITEMS, "rating"): (Likert.kind, ("accuracy",)),
    (OVERALL, "satisfaction"): (Likert.kind, ("satisfaction",)),
}
NAMES = {
    "accuracy": "perceived accuracy",
    "fon": "first-order novelty",
    "son": "second-order novelty",
    "satisfaction": "global satisfaction",
}
WITH_TRAILERS = frozenset({"trailer_seen"})  # asked only where items have trailers
LOW, HIGH = 1, 5


def is_measured(block: str, key: str, tested: Collection[str] = PERCEIVED) -> bool:
    """Whether a measure that is tested is computed from this question.

    Examples
    --------
    >>> is_measured("items", "rating"), is_measured("items", "rating", ["scale.trust"]), is_measured("about", "age")
    (True, False, False)
    """
    _kind, measures = MEASURED.get((block, key), ("", ()))
    return not set(measures).isdisjoint(tested)


def measures_of(questionnaire: Questionnaire) -> frozenset[str]:
    """The measures that can be computed from the questions, whether or not a plan names them.

    Examples
    --------
    >>> from studies.instrument.questionnaires.schema import questionnaire_from
    >>> watched = {"key": "watched", "kind": "yes_no", "text": {"en": "Have you watched it?"}}
    >>> measures_of(questionnaire_from({"items": [watched]}))
    frozenset({'fon'})
    """
    return frozenset(name for name in PERCEIVED if not core_problems(questionnaire, [name]))


def core_problems(questionnaire: Questionnaire, tested: Collection[str] = PERCEIVED) -> list[Problem]:
    """Return the problems that prevent the measures among the tested variables from being computed.

    Empty if every question that they need is present in the required form.
    """
    problems = []
    for (block, key), (kind, measures) in MEASURED.items():
        needed = " and ".join(NAMES[name] for name in measures if name in tested)
        questions = {question.key: (number, question) for number, question in enumerate(questionnaire.block(block))}
        if not needed or (key not in questions and key in WITH_TRAILERS):
            continue
        if key not in questions:
            problems.append(
                Problem(
                    (block,),
                    f"The question {key!r} is missing, but {needed} is computed from it. Add it to the block {block!r} "
                    f"as a question of the kind {kind}, or leave {needed} out of the plan.",
                )
            )
            continue
        number, question = questions[key]
        if fault := _fault(question, kind):
            problems.append(Problem((block, number), f"The question {key!r} {fault}: {needed} is computed from it."))
    return problems


def _fault(question: Question, kind: str) -> str:
    if question.kind != kind:
        return f"must be of the kind {kind}"
    if kind == Likert.kind and (question.minimum, question.maximum) != (LOW, HIGH):
        return f"must have a scale from {LOW} to {HIGH}"
    if question.may_decline or not question.required:
        return "must be required and must not allow declining"
    if question.is_identifying:
        return "must not identify a person"
    return ""
