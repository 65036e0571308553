"""Scales of the questionnaire: each as a variable, its reliability and means, and the constructs behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from analysis.compute.perceived import groups_of
from analysis.enums import VARIABLE_OF, Variable
from analysis.read.inputs import Answers, ScaleAnswers
from analysis.results.constructs import Constructs, ScaleConstruct
from analysis.results.perceived import QuestionnaireScale
from inference.anova import one_way
from inference.descriptive import describe
from inference.factor_analysis import LEAST_ITEMS, confirmatory_factors, mcdonald_omega
from inference.indicators import indicators
from inference.invariance import measurement_invariance
from inference.reliability import cronbach_alpha
from inference.results import Undefined
from inference.structural import Outcome, StructuralModel, structural_model
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


SATISFACTION = "satisfaction"  # a scale of this key measures the outcome itself, so it is not a quality


def constructs_of(answers: Answers, rng: np.random.Generator, progress: Callable[[str], None]) -> Constructs | None:
    """Every model of the scales with enough questions; None where there are none."""
    scales = [scale for scale in answers.scales if len(scale.questions) >= LEAST_ITEMS]
    if not scales or not answers.people:
        return None
    progress("Fitting factor and structural models of the scales")
    # In the order of the design, so that its first condition is the reference.
    order = sorted(range(len(answers.people)), key=lambda index: answers.conditions.index(_condition(answers, index)))
    data, _complete = indicators(_items(scales), _rows(scales, order))
    return Constructs(
        scales=tuple(_scale(answers, scale, order) for scale in scales),
        factors=confirmatory_factors(data),
        structural=_structural(answers, [scale for scale in scales if scale.key != SATISFACTION], order, rng),
    )


def _condition(answers: Answers, index: int) -> str:
    return answers.people[index].condition


def _items(scales: Sequence[ScaleAnswers]) -> dict[str, tuple[str, ...]]:
    return {scale.name: scale.questions for scale in scales}


def _rows(scales: Sequence[ScaleAnswers], order: Sequence[int]) -> list[list[float | None]]:
    return [
        [None if value is None else float(Fraction(value)) for scale in scales for value in scale.rows[index][2]]
        for index in order
    ]


def _scale(answers: Answers, scale: ScaleAnswers, order: Sequence[int]) -> ScaleConstruct:
    data, complete = indicators(_items([scale]), _rows([scale], order))
    positions = [order[index] for index in complete]
    languages = [answers.languages[index] for index in positions]
    return ScaleConstruct(
        key=scale.key,
        name=scale.name,
        omega=mcdonald_omega(data),
        across_conditions=measurement_invariance(data, [_condition(answers, index) for index in positions]),
        across_languages=measurement_invariance(data, languages) if len(set(languages)) > 1 else None,
    )


def _structural(
    answers: Answers, qualities: Sequence[ScaleAnswers], order: Sequence[int], rng: np.random.Generator
) -> StructuralModel | Undefined:
    """Conditions act on the qualities, and both on the answer about satisfaction."""
    if not qualities:
        return Undefined("The study has no scale of a perceived quality with three questions or more.")
    data, complete = indicators(_items(qualities), _rows(qualities, order))
    positions = [order[index] for index in complete]
    outcome = Outcome(
        VARIABLE_OF["satisfaction"].name,
        np.array([float(answers.people[index].satisfaction) for index in positions]),
        tuple(_condition(answers, index) for index in positions),
    )
    return structural_model(data, outcome, rng)
