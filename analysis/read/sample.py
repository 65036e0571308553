"""What is known of participants beside their judgements: answers about themselves, what they opened, comments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from analysis.models import Report
from core.provenance import digest_of
from inference.covariates import Covariate
from studies.allocation.assignment.strata import NOT_GIVEN, stratum_of
from studies.design.selectors.placeholders import asked_questions, key_in_words
from studies.instrument.flow import flow_of
from studies.instrument.questionnaires.conditions import plain_answer
from studies.instrument.questionnaires.questions import Question
from studies.instrument.questionnaires.schema import ABOUT, Questionnaire
from studies.models import Event, Interview, Response, Study
from studies.monitoring.selectors.exclusions import exclusions
from studies.participation.selectors.choices import Chosen
from studies.participation.selectors.responses import LOOKED_AT, Record, completed_answers


@dataclass(frozen=True)
class Respondent:
    """One completer; `answers` are those about the person, `seconds` the time from consent to the end."""

    condition: str
    answers: Mapping[str, Any]
    seconds: float | None
    has_commented: bool


@dataclass(frozen=True)
class Opened:
    """How often the details and the trailers of recommended items were opened, by the participant's key."""

    details: Mapping[int, int]
    trailers: Mapping[int, int]


def questions_about(questionnaire: Questionnaire) -> tuple[Question, ...]:
    """The questions about the participant that a report describes: without attention checks, and without those that
    identify a person.
    """
    return tuple(
        question for question in questionnaire.block(ABOUT) if not question.is_check and not question.is_identifying
    )


def comment_questions(questionnaire: Questionnaire) -> tuple[Question, ...]:
    """The questions after the list that are answered in words and do not identify a person."""
    return tuple(
        question
        for block in questionnaire.whole
        if block != ABOUT
        for question in questionnaire.block(block)
        if question.is_in_words and not question.is_identifying
    )


def comments_in(answers: Mapping[str, Any], questions: Sequence[Question]) -> Iterator[tuple[Question, str]]:
    """The comments among a participant's answers."""
    for question in questions:
        text = plain_answer(answers.get(question.key))
        if isinstance(text, str) and text.strip():
            yield question, text


def respondent_of(record: Record, condition: str, questionnaire: Questionnaire) -> Respondent:
    """A completer as a respondent."""
    participant = record.participant
    started, ended = participant.consented_at, participant.completed_at
    return Respondent(
        condition=condition,
        answers={
            question.key: plain_answer(record.answers.get(question.key)) for question in questions_about(questionnaire)
        },
        seconds=None if ended is None else (ended - started).total_seconds(),
        has_commented=any(
            any(comments_in(answers, comment_questions(questionnaire)))
            for answers in (record.answers, *(each.answers for each in record.occasions))
        ),
    )


def opened_by(study: Study, mode: str) -> Opened:
    """Read how often participants opened details and trailers since their list was there."""
    counts: dict[str, dict[int, int]] = defaultdict(dict)
    pages = flow_of(study).with_list
    rows = (
        Event.objects.filter(participant__study=study, participant__mode=mode, kind__in=LOOKED_AT, page__in=pages)
        .order_by()
        .values_list("participant_id", "kind")
        .annotate(n=Count("pk"))
    )
    for key, kind, n in rows:
        counts[kind][key] = n
    details, trailers = (counts[kind] for kind in LOOKED_AT)
    return Opened(details, trailers)


def sample_digest(
    respondents: Sequence[Respondent], keys: Sequence[int], opened: Opened, choices: Mapping[int, Chosen]
) -> str:
    """Digest of everything that the sample is described from, in order of entry."""
    return digest_of(
        [
            {
                **vars(person),
                "details": opened.details.get(key, 0),
                "trailers": opened.trailers.get(key, 0),
                **({"choice": vars(choices[key])} if key in choices else {}),
            }
            for person, key in zip(respondents, keys, strict=True)
        ]
    )


@dataclass(frozen=True)
class Comment:
    """What one participant wrote in answer to one question."""

    condition: str
    question: str
    text: str


def comments_of(report: Report) -> list[Comment]:
    """The comments of participants not excluded by the report's plan, by question, condition and entry.

    Answers to questions that identify a person are not among them, and neither is anything erased since.
    """
    study, plan = report.study, report.read_plan()
    excluded = exclusions(study, [report.mode], by_hand=plan.by_hand, rule=plan.exclude)
    questions = comment_questions(asked_questions(study))
    comments = [
        Comment(str(arm), next(iter(question.text.values())), text)
        for record in completed_answers(study, report.mode)
        if any(own.measures is not None for own in record.by_occasion())
        if record.participant.pk not in excluded
        for arm, answers in (
            (record.participant.condition or record.participant.sequence, record.answers),
            *((each.conditions[0], each.answers) for each in record.occasions),
        )
        if arm is not None
        for question, text in comments_in(answers, questions)
    ]
    order = [next(iter(question.text.values())) for question in questions]
    return sorted(comments, key=lambda comment: (order.index(comment.question), comment.condition))


@dataclass(frozen=True)
class Backgrounds:
    """One value per participant in every column, in the order of the participants asked for.

    `interviewers` are the numbers of interviewers, None for participants without one.
    """

    factors: tuple[Covariate, ...]
    covariates: tuple[Covariate, ...]
    interviewers: tuple[int | None, ...]


def backgrounds_of(study: Study, keys: Sequence[int], covariates: Sequence[str]) -> Backgrounds:
    """Read the backgrounds of the participants with these keys; `covariates` are keys of questions."""
    rules = study.design.strata
    questions = {*(rule.question for rule in rules), *covariates}
    answers: dict[int, dict[str, Any]] = {key: {} for key in keys}
    rows = Response.objects.filter(participant__study=study, rank=0, question__in=questions)
    for key, question, value in rows.values_list("participant_id", "question", "value"):
        if key in answers:
            answers[key][question] = plain_answer(value)
    numbers = dict(
        Interview.objects.filter(participant__study=study).order_by("-pk").values_list("participant_id", "number")
    )
    return Backgrounds(
        factors=tuple(
            Covariate(
                f"{key_in_words(rule.question, study.design)} (stratum)",
                [None if (level := stratum_of(answers[key], [rule])) == NOT_GIVEN else level for key in keys],
            )
            for rule in rules
        ),
        covariates=tuple(
            Covariate(key_in_words(name, study.design), [_value(answers[key].get(name)) for key in keys])
            for name in covariates
        ),
        interviewers=tuple(numbers.get(key) for key in keys),
    )


def _value(answer: Any) -> float | str | None:
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, int | float):
        return float(answer)
    return None if answer is None else str(answer)
