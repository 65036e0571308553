"""Scales of the questionnaire: each as a variable, its reliability, and its means by condition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from analysis.compute.perceived import groups_of
from analysis.enums import Variable
from analysis.read.inputs import Answers, ScaleAnswers
from analysis.results.perceived import QuestionnaireScale
from inference.anova import one_way
from inference.descriptive import describe
from inference.reliability import cronbach_alpha
from studies.settings import SCALE_PREFIX

LEAST_N = 2
OUTSIDE = 0.05  # of an interval of reliability, which describes and tests nothing


def variable_of_scale(scale: ScaleAnswers) -> Variable:
    """A scale as a variable, under its prefix; a single question that was answered in whole numbers is in steps."""
    scores = [Fraction(score) for _condition, score, _answers in scale.rows if score is not None]
    return Variable.of_scale(
        f"{SCALE_PREFIX}{scale.key}",
        name=scale.name,
        low=scale.low,
        high=scale.high,
        in_steps=len(scale.questions) == 1 and all(score.denominator == 1 for score in scores),
    )


def planned_scales(answers: Answers, planned: Sequence[str]) -> list[Variable]:
    """The scales that the plan names as variables, in the order of the questionnaire."""
    return [variable_of_scale(scale) for scale in answers.scales if scale.key in planned]


def study_scale(answers: Answers, scale: ScaleAnswers, planned: Sequence[str] = ()) -> QuestionnaireScale:
    """Describe one scale: alpha over all participants, means by condition, one analysis of variance."""
    groups = groups_of(answers, variable_of_scale(scale))
    table = [
        [None if answer is None else Fraction(answer) for answer in row] for _condition, _score, row in scale.rows
    ]  # fmt: skip
    return QuestionnaireScale(
        key=scale.key,
        is_planned=scale.key in planned,
        name=scale.name,
        low=scale.low,
        high=scale.high,
        questions=scale.questions,
        n_scored=sum(groups.sizes.values()),
        n=len(scale.rows),
        conditions=tuple(groups),
        reliability=cronbach_alpha(table, OUTSIDE),
        described=dict(describe(groups)),
        anova=one_way(groups, least_n=LEAST_N),
    )
