"""The comments of participants, read where they are stored: no report holds them."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.models import Report
from analysis.read.sample import comment_questions, comments_in
from studies.design.selectors.placeholders import asked_questions
from studies.monitoring.selectors.exclusions import exclusions
from studies.participation.selectors.responses import completed_answers


@dataclass(frozen=True)
class Comment:
    """What one participant wrote in answer to one question."""

    condition: str
    question: str
    text: str


def comments_of(report: Report) -> list[Comment]:
    """The comments of the participants whom the report's plan does not exclude, by question, condition and entry.

    Answers to questions that identify a person are not among them, and neither is anything erased since.
    """
    study, plan = report.study, report.read_plan()
    excluded = exclusions(study, [report.mode], by_hand=plan.by_hand, rule=plan.exclude)
    questions = comment_questions(asked_questions(study))
    comments = [
        Comment(record.participant.condition.label, next(iter(question.text.values())), text)
        for record in completed_answers(study, report.mode)
        if record.participant.condition is not None and record.measures is not None
        if record.participant.pk not in excluded
        for question, text in comments_in(record.answers, questions)
    ]
    order = [next(iter(question.text.values())) for question in questions]
    return sorted(comments, key=lambda comment: (order.index(comment.question), comment.condition))
