"""Conditions that each participant met in turn: the mixed model of a measure, and the tests beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.read.inputs import Answers
from analysis.results.in_turn import InTurnTests
from analysis.results.rankings import order_result
from inference.average_advantage import MeanEstimates
from inference.contrasts import ContrastResult, contrast_of_means
from inference.factorial import MeanContrast
from inference.groups import in_words
from inference.paired import friedman, nemenyi
from inference.partial_order import partial_order
from inference.posthoc import games_howell
from inference.results import Undefined
from inference.sequences import Occasions, WithinFit, carry_over, fit_within, repeated_measures
from inference.t_tests import t_test
from studies.settings import Contrast

NOT_INDEPENDENT = Undefined("Each participant met all conditions, so the answers are not independent.")
Values = Sequence[float | None]  # one for each of `Answers.people`
TIED_DIGITS = 10  # decimals in which estimates of a model differ; those after them differ between processors


def with_ties(estimates: Mapping[str, float]) -> dict[str, float]:
    """Estimates that are equal on paper as equal numbers."""
    return {name: round(value, TIED_DIGITS) for name, value in estimates.items()}


def occasions_of(answers: Answers, values: Values) -> Occasions:
    """The occasions with a value."""
    met = zip(values, answers.people, answers.occasions, strict=True)
    rows = [
        (value, person.condition, at.position, at.previous, at.participant)
        for value, person, at in met
        if value is not None
    ]
    values_met, conditions, positions, previous, participants = zip(*rows, strict=True) if rows else ((),) * 5
    return Occasions(values_met, conditions, positions, previous, participants, answers.conditions)


@lru_cache(maxsize=64)
def fitted(occasions: Occasions) -> WithinFit | Undefined:
    """The mixed model; many analyses of a report rest on the same."""
    with threadpool_limits(limits=1, user_api="blas"):  # sums over threads differ in their last bits
        return fit_within(occasions)


def means_in_turn(answers: Answers, values: Values) -> MeanEstimates | Undefined:
    """The conditions' means by the mixed model."""
    fit = fitted(occasions_of(answers, values))
    return fit if isinstance(fit, Undefined) else fit.means


def tests_in_turn(answers: Answers, values: Values, means: Mapping[str, float], alpha: float) -> InTurnTests:
    """Every test of one measure; `means` are the observed ones, whose order stands where the model has none."""
    occasions = occasions_of(answers, values)
    fit, table = fitted(occasions), occasions.table
    complete = occasions.only([each not in answers.left for each in occasions.participants]).complete
    model = fit if isinstance(fit, Undefined) else fit.result(alpha)
    pairs = model if isinstance(model, Undefined) else model.pairs
    with threadpool_limits(limits=1, user_api="blas"):
        n_missing = (answers.n_people + len(answers.left)) * len(answers.conditions) - len(occasions.values)
        of_complete = fitted(complete) if n_missing or answers.left else None
        if isinstance(pairs, Undefined):
            order = partial_order(means, ())
        else:
            order = partial_order(with_ties(pairs.locations), pairs)
        return InTurnTests(
            n_missing=n_missing,
            model=model,
            completers=of_complete.result(alpha) if isinstance(of_complete, WithinFit) else of_complete,
            repeated=repeated_measures(table),
            friedman=friedman(table),
            nemenyi=nemenyi(table, alpha),
            first=games_howell(occasions.first, alpha),
            carry_over=carry_over(occasions, alpha=alpha),
            order=order_result(order, pairs),
        )


def contrast_in_turn(answers: Answers, values: Values, contrast: Contrast, alpha: float) -> ContrastResult | Undefined:
    """The planned contrast of the mixed model's means; `d` is in standard deviations of a condition's values."""
    fit = fitted(occasions_of(answers, values))
    if isinstance(fit, Undefined):
        return fit
    if missing := [name for name in (*contrast.higher, *contrast.lower) if name not in fit.names]:
        return Undefined(f"{in_words(missing)} of the planned contrast lack values.")
    result = fit.result(alpha)
    sd = math.hypot(result.sd_participants, result.sd_residual)
    return contrast_of_means(fit.means, contrast.higher, contrast.lower, sd, result.n_occasions, alpha, contrast.sides)


def effect_in_turn(
    answers: Answers, values: Values, weights: Mapping[str, float], alpha: float
) -> MeanContrast | Undefined:
    """A weighted sum of the mixed model's means, the only contrast of its family."""
    means = means_in_turn(answers, values)
    if isinstance(means, Undefined):
        return means
    contrast = np.array([weights.get(name, 0.0) for name in means.names])
    value, se = float(contrast @ means.means), math.sqrt(contrast @ means.covariance @ contrast)
    p, interval = t_test(value, se, df := means.df(contrast), 1 - alpha)
    return MeanContrast(value, se, df, value / se, p, interval, p, interval, dict(weights))
