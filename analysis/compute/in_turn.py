"""Conditions that everybody met in turn: the mixed model of a measure, and what stands beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.read.inputs import Answers
from analysis.results.in_turn import InTurn, InTurnTests
from analysis.results.rankings import order_result
from inference.average_advantage import MeanEstimates
from inference.contrasts import ContrastResult, contrast_of_means
from inference.paired import friedman, nemenyi
from inference.partial_order import partial_order
from inference.posthoc import games_howell
from inference.power import within_power
from inference.results import Undefined
from inference.sequences import Occasions, WithinFit, carry_over, fit_within, repeated_measures
from studies.settings import Contrast

NOT_INDEPENDENT = Undefined("Everybody met all conditions, so the answers are not those of independent people.")
CORRELATION = 0.5  # between a participant's values, of the stated power
Values = Sequence[float | None]  # one for each of `Answers.people`


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
    fit, complete, table = fitted(occasions), occasions.complete, occasions.table
    model = fit if isinstance(fit, Undefined) else fit.result(alpha)
    pairs = model if isinstance(model, Undefined) else model.pairs
    with threadpool_limits(limits=1, user_api="blas"):
        n_participants = len({at.participant for at in answers.occasions})
        n_missing = n_participants * len(answers.conditions) - len(occasions.values)
        of_complete = fitted(complete) if n_missing else None
        order = partial_order(means, ()) if isinstance(pairs, Undefined) else partial_order(pairs.locations, pairs)
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
    occasions = occasions_of(answers, values)
    fit = fitted(occasions)
    if isinstance(fit, Undefined):
        return fit
    result = fit.result(alpha)
    return contrast_of_means(
        fit.means,
        contrast.higher,
        contrast.lower,
        sd=math.hypot(result.sd_participants, result.sd_residual),
        n=result.n_occasions,
        alpha=alpha,
        sides=contrast.sides,
    )


def design_in_turn(answers: Answers, f: float, alpha: float) -> InTurn | None:
    """How everybody met all conditions; None in studies with independent conditions."""
    if not answers.occasions:
        return None
    n, k = len({at.participant for at in answers.occasions}), len(answers.conditions)
    power = within_power(k, n, f, CORRELATION, alpha=alpha) if n > 1 < k else None
    return InTurn(n_participants=n, n_conditions=k, f=f, correlation=CORRELATION, power=power)
