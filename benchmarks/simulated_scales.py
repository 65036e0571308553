"""What the procedures for constructs decide about simulated questionnaires, for `supplement_characteristics.py`.

Three conditions, two perceived qualities of three items each with five answers, and an outcome that depends on both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from report_decisions import ALPHA, COVERAGE, ERROR, POWER, Decision

from inference.factor_analysis import confirmatory_factors, mcdonald_omega
from inference.indicators import Indicators
from inference.invariance import measurement_invariance
from inference.reliability import cronbach_alpha
from inference.results import Undefined
from inference.structural import Outcome, structural_model

CONDITIONS, QUALITIES, ITEMS = 3, 2, 3
LOADINGS = np.tile([0.8, 0.7, 0.6], QUALITIES)
FACTORS = ("Accuracy",) * ITEMS + ("Variety",) * ITEMS
NAMES = tuple(f"q{number}" for number in range(1, QUALITIES * ITEMS + 1))
THRESHOLDS = np.array([-1.4, -0.5, 0.5, 1.4])
LARGE = 500_000  # people of a sample that serves as the truth


@dataclass(frozen=True)
class Questionnaire:
    """How many participants each condition has, and how much the last one raises the first quality."""

    name: str
    n: int
    effect: float  # in standard deviations of the quality


QUESTIONNAIRES = (
    Questionnaire("null, 40 each", 40, 0.0),
    Questionnaire("null, 100 each", 100, 0.0),
    Questionnaire("effect, 40 each", 40, 0.5),
    Questionnaire("effect, 100 each", 100, 0.5),
)


@dataclass(frozen=True)
class Answered:
    """Simulated answers of all participants."""

    data: Indicators
    outcome: Outcome


def draw(questionnaire: Questionnaire, rng: np.random.Generator) -> Answered:
    """Draw qualities that correlate by .4, their items cut into five answers, and an outcome."""
    conditions = np.repeat(np.arange(CONDITIONS), questionnaire.n)
    qualities = rng.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], conditions.size)
    qualities[:, 0] += questionnaire.effect * (conditions == CONDITIONS - 1)
    latent = np.repeat(qualities, ITEMS, axis=1) * LOADINGS
    latent += rng.normal(size=latent.shape) * np.sqrt(1 - LOADINGS**2)
    answers = 1.0 + np.searchsorted(THRESHOLDS, latent.ravel()).reshape(latent.shape)
    outcome = 0.5 * qualities[:, 0] + 0.3 * qualities[:, 1] + rng.normal(size=conditions.size)
    return Answered(
        Indicators(answers, NAMES, FACTORS, 0),
        Outcome("Satisfaction", outcome, tuple("ABC"[condition] for condition in conditions)),
    )


def decisions(questionnaire: Questionnaire, rng: np.random.Generator) -> Iterator[Decision]:
    """Every decision about one drawn questionnaire."""
    sample, truth = draw(questionnaire, rng), _truth(questionnaire.effect)
    first = _of_first(sample.data)
    omega = mcdonald_omega(first)
    if not isinstance(omega, Undefined):
        yield COVERAGE, "McDonald's ω", omega.ci_low <= truth.omega <= omega.ci_high
    alpha = cronbach_alpha(first.answers.tolist())
    if not isinstance(alpha, Undefined):
        yield COVERAGE, "Cronbach's α", alpha.ci_low <= truth.alpha <= alpha.ci_high
    model = confirmatory_factors(sample.data)
    if not isinstance(model, Undefined) and model.fit.p is not None:
        yield ERROR, "χ² of the factor model, which is true", model.fit.p < ALPHA
    invariance = measurement_invariance(first, sample.outcome.conditions)
    if not isinstance(invariance, Undefined):
        for level in invariance.models:
            if level.change is not None:
                yield ERROR, f"{level.level.capitalize()} invariance, which holds", level.change.p < ALPHA
    yield from _structural(questionnaire, sample, truth, rng)


def _structural(
    questionnaire: Questionnaire, sample: Answered, truth: Truth, rng: np.random.Generator
) -> Iterator[Decision]:
    model = structural_model(sample.data, sample.outcome, rng)
    if isinstance(model, Undefined):
        return
    for test in model.tests:
        is_changed = questionnaire.effect != 0 and test.quality == FACTORS[0]
        yield POWER if is_changed else ERROR, "Structural model, conditions on a quality", test.p < ALPHA
    inside = []
    for effect in model.indirect:
        true = truth.indirect[effect.condition, effect.quality]
        inside.append(effect.ci_low <= true <= effect.ci_high)
        if true != 0:
            yield POWER, "Indirect effect", not effect.ci_low <= 0 <= effect.ci_high
    yield COVERAGE, "Indirect effects, all together", all(inside)


@dataclass(frozen=True)
class Truth:
    """What a very large sample gives; effects that are 0 by design are exactly that."""

    omega: float
    alpha: float
    indirect: dict[tuple[str, str], float]


@cache
def _truth(effect: float) -> Truth:
    sample = draw(Questionnaire("truth", LARGE // CONDITIONS, effect), np.random.default_rng(LARGE))
    omega = mcdonald_omega(_of_first(sample.data))
    model = structural_model(sample.data, sample.outcome, np.random.default_rng(LARGE))
    if isinstance(omega, Undefined) or isinstance(model, Undefined):
        raise RuntimeError("A sample of half a million gives no estimate.")
    answers = _of_first(sample.data).answers
    covariance = np.cov(answers.T)
    return Truth(
        omega.omega,
        ITEMS / (ITEMS - 1) * (1 - covariance.trace() / covariance.sum()),
        {
            (part.condition, part.quality): part.estimate
            if effect and part.condition == "C" and part.quality == FACTORS[0]
            else 0.0
            for part in model.indirect
        },
    )


def _of_first(data: Indicators) -> Indicators:
    """The items of the first quality alone."""
    columns = data.of(FACTORS[0])
    return replace(
        data, answers=data.answers[:, columns], items=NAMES[: len(columns)], factors=data.factors[: len(columns)]
    )
