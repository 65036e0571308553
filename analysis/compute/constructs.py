"""Models of the questionnaire's constructs, for studies with scales of at least three questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from analysis.enums import VARIABLE_OF
from analysis.read.inputs import Answers, ScaleAnswers
from analysis.results.constructs import Constructs, ScaleConstruct
from inference.factor_analysis import LEAST_ITEMS, confirmatory_factors, mcdonald_omega
from inference.indicators import indicators
from inference.invariance import measurement_invariance
from inference.results import Undefined
from inference.structural import Outcome, StructuralModel, structural_model

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
