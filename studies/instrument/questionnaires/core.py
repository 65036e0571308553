"""The questions behind the study's own measures: their wording may change, but they cannot be removed."""

from __future__ import annotations

from studies.instrument.questionnaires.kinds import Likert, YesNo
from studies.instrument.questionnaires.problems import Problem
from studies.instrument.questionnaires.questions import Question
from studies.instrument.questionnaires.schema import ITEMS, OVERALL, Questionnaire

MEASURED = {
    ITEMS: {"watched": YesNo.kind, "heard": YesNo.kind, "trailer_seen": YesNo.kind, "rating": Likert.kind},
    OVERALL: {"satisfaction": Likert.kind},
}
WITH_TRAILERS = frozenset({"trailer_seen"})  # asked only where items have trailers
LOW, HIGH = 1, 5


def is_measured(block: str, key: str) -> bool:
    """Whether perceived accuracy, novelty or satisfaction is computed from this question.

    Examples
    --------
    >>> is_measured("items", "rating"), is_measured("about", "age")
    (True, False)
    """
    return key in MEASURED.get(block, {})


def core_problems(questionnaire: Questionnaire) -> list[Problem]:
    """Return the problems that prevent the study's own measures from being computed.

    Empty if every required question is present in the required form.
    """
    problems = []
    for block, wanted in MEASURED.items():
        questions = {question.key: (number, question) for number, question in enumerate(questionnaire.block(block))}
        for key, kind in wanted.items():
            if key not in questions and key in WITH_TRAILERS:
                continue
            if key not in questions:
                problems.append(
                    Problem(
                        (block,),
                        f"The question {key!r} is missing, but perceived accuracy, novelty or satisfaction is computed "
                        f"from it. Add it to the block {block!r} as a question of the kind {kind}.",
                    )
                )
                continue
            number, question = questions[key]
            if fault := _fault(question, kind):
                problems.append(Problem((block, number), f"The question {key!r} {fault}"))
    return problems


def _fault(question: Question, kind: str) -> str:
    if question.kind != kind:
        return f"must be of the kind {kind}: the study's measures are computed from it."
    if kind == Likert.kind and (question.minimum, question.maximum) != (LOW, HIGH):
        return f"must have a scale from {LOW} to {HIGH}, as the study's measures do."
    if question.may_decline or not question.required:
        return "must be required and must not allow declining: the study's measures are computed from it."
    if question.is_identifying:
        return "must not identify a person: the study's measures are computed from it."
    return ""
