"""The questions that the study's own measures are made of: they may be reworded, and not left out."""

from __future__ import annotations

from studies.questionnaires.problems import Problem
from studies.questionnaires.questions import LIKERT, YES_NO, Question
from studies.questionnaires.schema import ITEMS, OVERALL, Questionnaire

MEASURED = {
    ITEMS: {"watched": YES_NO, "heard": YES_NO, "trailer_seen": YES_NO, "rating": LIKERT},
    OVERALL: {"satisfaction": LIKERT},
}
LOW, HIGH = 1, 5


def is_measured(block: str, key: str) -> bool:
    """Whether perceived accuracy, novelty or satisfaction is made of this question.

    Parameters
    ----------
    block, key : str
        Where the question stands, and its name.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_measured("items", "rating"), is_measured("about", "age")
    (True, False)
    """
    return key in MEASURED.get(block, {})


def core_problems(questionnaire: Questionnaire) -> list[Problem]:
    """What keeps the study's own measures from being computed.

    Parameters
    ----------
    questionnaire : Questionnaire
        The whole.

    Returns
    -------
    list of Problem
        Empty where every question that they need is asked as they need it.
    """
    problems = []
    for block, wanted in MEASURED.items():
        asked = {question.key: (number, question) for number, question in enumerate(questionnaire.block(block))}
        for key, kind in wanted.items():
            if key not in asked:
                problems.append(
                    Problem(
                        (block,),
                        f"The question {key!r} is not asked, and perceived accuracy, novelty or satisfaction is made "
                        f"of it. Add it to the block {block!r}, of the kind {kind}.",
                    )
                )
                continue
            number, question = asked[key]
            if fault := _fault(question, kind):
                problems.append(Problem((block, number), f"The question {key!r} {fault}"))
    return problems


def _fault(question: Question, kind: str) -> str:
    if question.kind != kind:
        return f"has to be of the kind {kind}: the study's measures are made of it."
    if kind == LIKERT and (question.minimum, question.maximum) != (LOW, HIGH):
        return f"goes from {LOW} to {HIGH}, as the study's measures do."
    if question.may_decline or not question.required:
        return "has to be required, without a way to decline: the study's measures are made of it."
    if question.is_identifying:
        return "cannot be one that identifies a person: the study's measures are made of it."
    return ""
