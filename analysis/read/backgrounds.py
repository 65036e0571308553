"""What is known of participants before assignment: stratification factors, declared covariates, interviewers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inference.covariates import Covariate
from studies.allocation.assignment.strata import NOT_GIVEN, stratum_of
from studies.design.selectors.placeholders import key_in_words
from studies.instrument.questionnaires.conditions import plain_answer
from studies.models import Interview, Response, Study
from studies.settings import StratumRule


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
                f"{key_in_words(rule.question, study.design)} (stratum)", [_level(answers[key], rule) for key in keys]
            )
            for rule in rules
        ),
        covariates=tuple(
            Covariate(key_in_words(name, study.design), [_value(answers[key].get(name)) for key in keys])
            for name in covariates
        ),
        interviewers=tuple(numbers.get(key) for key in keys),
    )


def _level(answers: dict[str, Any], rule: StratumRule) -> str | None:
    """The level of one factor; None where it is not known."""
    level = stratum_of(answers, [rule])
    return None if level == NOT_GIVEN else level


def _value(answer: Any) -> float | str | None:
    """An answer as a number or a label."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, int | float):
        return float(answer)
    return None if answer is None else str(answer)
